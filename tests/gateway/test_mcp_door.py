"""Who may come in at /mcp, and with what."""

from typing import Any

import httpx2
import pytest

from tests.gateway.edge import TOKEN, Edge

PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
ACCEPT = {"Accept": "application/json, text/event-stream"}


async def post(edge: Edge, **options: Any) -> httpx2.Response:
    """A ping, changed by `options`."""
    headers = {"Authorization": f"Bearer {TOKEN}", **ACCEPT, **options.pop("headers", {})}
    async with httpx2.AsyncClient(base_url=edge.url) as http:
        return await http.post("/mcp", headers=headers, **(options or {"json": PING}))


def code(response: httpx2.Response) -> str:
    """The code word of an error in our shape."""
    error = response.json()["error"]
    assert set(error) == {"code", "message", "next"}
    assert error["message"] and error["next"]
    return str(error["code"])


async def test_a_ping_is_answered(edge: Edge) -> None:
    response = await post(edge)
    assert (response.status_code, response.json()["id"]) == (200, 1)


@pytest.mark.parametrize(
    "authorization",
    ["", "Bearer", "Bearer x", "Basic abc", "Bearer gitring_agent_unknown", "gitring_agent_x"],
)
async def test_a_call_without_an_accepted_token_is_401_and_told_how_to_sign_in(
    edge: Edge, authorization: str
) -> None:
    response = await post(edge, headers={"Authorization": authorization})
    assert (response.status_code, code(response)) == (401, "unauthenticated")
    assert response.headers["www-authenticate"].startswith("Bearer")


async def test_a_git_token_is_told_what_it_is_for(edge: Edge) -> None:
    response = await post(edge, headers={"Authorization": "Bearer gitring_git_abc"})
    assert (response.status_code, code(response)) == (403, "forbidden")
    assert "Git only" in response.json()["error"]["message"]


async def test_an_oauth_token_opens_mcp(edge: Edge) -> None:
    assert (await post(edge, headers={"Authorization": "Bearer gitring_mcp_for-tests"})).status_code == 200


@pytest.mark.parametrize(
    "host", ["gitring.example.com", "GITRING.example.com:8443", "localhost:1", "127.0.0.1", "[::1]:80"]
)
async def test_the_public_host_and_loopback_are_served(edge: Edge, host: str) -> None:
    assert (await post(edge, headers={"Host": host})).status_code == 200


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "[::1"])
async def test_another_host_name_is_refused(edge: Edge, host: str) -> None:
    response = await post(edge, headers={"Host": host})
    assert (response.status_code, code(response)) == (421, "forbidden")


async def test_a_page_of_another_site_is_refused(edge: Edge) -> None:
    response = await post(edge, headers={"Origin": "https://evil.example"})
    assert (response.status_code, code(response)) == (403, "forbidden")
    assert (await post(edge, headers={"Origin": "https://gitring.example.com"})).status_code == 200


@pytest.mark.parametrize("body", [b"", b"{nope", b"\xff\xfe", b"[" * 100_000])
async def test_a_body_that_is_not_json_is_400(edge: Edge, body: bytes) -> None:
    response = await post(edge, content=body, headers={"Content-Type": "application/json"})
    assert (response.status_code, code(response)) == (400, "invalid_input")


async def test_a_body_that_does_not_call_itself_json_is_400(edge: Edge) -> None:
    response = await post(edge, content=b"{}", headers={"Content-Type": "text/plain"})
    assert (response.status_code, code(response)) == (400, "invalid_input")


async def test_a_client_that_takes_no_json_is_406(edge: Edge) -> None:
    response = await post(edge, headers={"Accept": "text/event-stream"})
    assert (response.status_code, code(response)) == (406, "invalid_input")


async def test_a_body_over_a_mebibyte_is_413_before_it_was_sent_whole(edge: Edge) -> None:
    sent = 0

    async def endless() -> Any:
        nonlocal sent
        for _ in range(2000):
            sent += 1
            yield b" " * 65_536

    response = await post(edge, content=endless(), headers={"Content-Type": "application/json"})
    assert (response.status_code, code(response)) == (413, "too_large")
    declared = await post(
        edge, content=b" " * (1024 * 1024 + 1), headers={"Content-Type": "application/json"}
    )
    assert (declared.status_code, code(declared)) == (413, "too_large")


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT"])
async def test_only_post_is_taken(edge: Edge, method: str) -> None:
    response = await edge.http.request(method, "/mcp", headers=ACCEPT)
    assert (response.status_code, code(response)) == (405, "method_not_allowed")
    assert response.headers["allow"] == "POST"
