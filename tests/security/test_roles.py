"""Viewers read: neither a viewer nor a viewer's agent gets through any door that writes."""

from typing import Any

import pytest

from protocol.projects import CreateToken
from protocol.tools import TOOLS
from tests.security.house import House
from tests.security.routes import IN_PATH, KINDS, READS, page_routes, rest_calls, tool_arguments
from tests.web.visitor import Visitor, words

# What concerns the viewer alone: an agent's token that reads as they do, a link for their own browser.
THEIR_OWN = {
    "POST /api/v1/tokens",
    "POST /api/v1/sign-in-links",
    "POST /p/{slug}/settings/tokens",
    "POST /account/link",
    "POST /account/end",
    "POST /sign-out",
    "POST /sign-in",
}


def filled(body: Any, house: House) -> Any:
    """A valid body whose ids are those of the project that the viewer reads."""
    if not isinstance(body, dict):
        return body
    found = {k: v for k, v in body.items() if k != "requestId"}
    for name in found:
        if name in KINDS and name != "target":
            one = house.ours.one(*KINDS[name])
            found[name] = [one] if isinstance(found[name], list) else one
    return found


async def viewer_tokens(house: House) -> dict[str, str]:
    caller = await house.pages.person("Vera", house.ours.project, "viewer")
    made = await house.engine.operations.create_token(
        caller, CreateToken(name="reader", projects=[house.ours.project.slug])
    )
    return {"person": await house.pages.token(caller.person_id), "agent": made.token}


@pytest.mark.parametrize("who", ["person", "agent"])
async def test_no_route_of_the_api_writes_for_a_viewer(house: House, who: str) -> None:
    token = (await viewer_tokens(house))[who]
    before = await house.prints(house.ours)
    tried = 0
    async with house.http(token) as http:
        project = house.ours.project.slug
        assert (await http.get(f"/api/v1/projects/{project}/board")).status_code == 200
        for call in rest_calls(house.pages.app):
            if call.method in READS or call.name in THEIR_OWN:
                continue
            ids = {name: house.ours.one(*KINDS[name]) for name in call.parameters}
            answer = await http.request(call.method, call.address(ids), json=filled(call.body, house))
            assert answer.status_code in (403, 404), (call.name, answer.status_code, answer.text[:300])
            tried += 1
    assert tried > 20
    assert await house.prints(house.ours) == before


async def test_no_tool_writes_for_a_viewers_agent(house: House) -> None:
    token = (await viewer_tokens(house))["agent"]
    before = await house.prints(house.ours)
    async with house.http(token) as http:
        for tool in TOOLS:
            if not tool.writes and tool.name != "gitring_clone":
                continue
            given = filled(tool_arguments(tool.name), house)
            call = {"name": tool.name, "arguments": given}
            answer = await http.post(
                "/mcp",
                json={"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call},
                headers={"Accept": "application/json, text/event-stream"},
            )
            result = answer.json()["result"]
            assert result["isError"] and result["content"][0]["text"].startswith("forbidden: "), answer.text
    assert await house.prints(house.ours) == before


async def test_no_form_writes_for_a_viewer(house: House) -> None:
    caller = await house.pages.person("Vera", house.ours.project, "viewer")
    before = await house.prints(house.ours)
    tried = 0
    async with Visitor(house.pages.url) as visitor:
        await visitor.sign_in(await house.pages.link(caller.person_id))
        for method, path in page_routes(house.pages.app):
            if method in READS or f"{method} {path}" in THEIR_OWN:
                continue
            address = IN_PATH.sub(lambda found: house.ours.one(*KINDS[found[1]]), path)
            fields = {
                "decision": "approve", "subject": "plan", "note": "n", "reason": "r", "text": "t", "first": "1",
                "conflict": house.ours.ids["conflict"][0], "line": "main", "id": house.ours.ids["token"][0],
                "name": "n", "role": "viewer", "person": house.ours.owner.person_id, "slug": "viewers-own", "command": "true",
                "test": "true", "from": "main", "prefix": "X", "ask": house.ours.ids["ask"][0], "plan_review": "never",
            }  # fmt: skip
            answer = await visitor.post(address, **fields)
            assert answer.status_code != 400, (
                f"give fields that {path} takes, so that the role decides: {words(answer)[:600]}"
            )
            assert answer.status_code in (403, 404), (path, answer.status_code)
            assert "did not come from" not in answer.text, path
            tried += 1
    assert tried > 10
    assert await house.prints(house.ours) == before
