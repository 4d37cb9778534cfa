"""Forms and cookies: what another site can make a browser send, and what of it is taken."""

from collections.abc import Mapping

import httpx2
import pytest

from gateway.web.sessions import SESSION
from gateway.web.site import Site
from tests.security.house import House, address, signed_in
from tests.security.routes import ABSENT, READS, is_stream, page_routes, rest_calls
from tests.web.visitor import Visitor

FORM = "application/x-www-form-urlencoded"
# What an attacking page changes of an honest form: headers, and the form's key (None: it knows none).
FORGED: dict[str, tuple[Mapping[str, str], bool]] = {
    "no key": ({}, False),
    "another site": ({"Origin": "https://evil.example"}, True),
    "a site whose name begins like ours": ({"Origin": "http://127.0.0.1.evil.example"}, True),
    "a sandboxed frame": ({"Origin": "null"}, True),
    "no origin": ({"Origin": ""}, True),
    "cross-site by its fetch metadata": ({"Sec-Fetch-Site": "cross-site"}, True),
    "same-site by its fetch metadata": ({"Sec-Fetch-Site": "same-site"}, True),
    "typed by the user": ({"Sec-Fetch-Site": "none"}, True),
    "json": ({"Content-Type": "application/json"}, True),
    "plain text": ({"Content-Type": "text/plain"}, True),
    "multipart": ({"Content-Type": "multipart/form-data; boundary=x"}, True),
    "no content type": ({"Content-Type": ""}, True),
}


def posts(house: House) -> list[str]:
    return [path for method, path in page_routes(house.pages.app) if method not in READS]


async def send(visitor: Visitor, path: str, headers: Mapping[str, str], key: str) -> httpx2.Response:
    """A form with the session's cookie, as a browser sends it for whoever made the page."""
    sent = {"Origin": visitor.url, "Content-Type": FORM, **headers}
    return await visitor.http.post(path, content=f"key={key}&method=link&link=x", headers=sent)


@pytest.mark.parametrize("forged", FORGED)
async def test_no_form_of_another_page_changes_anything(house: House, forged: str) -> None:
    headers, knows_the_key = FORGED[forged]
    async with Visitor(house.pages.url) as visitor:
        await signed_in(house, visitor)
        before = await house.prints(house.ours)
        for path in posts(house):
            if path == "/sign-in":
                await visitor.get("/sign-in")
            answer = await send(
                visitor, address(house, path), headers, visitor.key if knows_the_key else "0" * 64
            )
            assert answer.status_code == 403, (path, answer.status_code, answer.text[:200])
            assert "did not come from" in answer.text, path
            if path == "/sign-in":
                await visitor.get("/account")
        assert await house.prints(house.ours) == before
        assert (await visitor.get("/account")).status_code == 200, "and nobody was signed out"


async def test_each_form_is_taken_from_our_own_page(house: House) -> None:
    """The counterpart: what the test above finds refused is refused for its origin and nothing else."""
    async with Visitor(house.pages.url) as visitor:
        for path in posts(house):
            await signed_in(house, visitor)
            if path == "/sign-in":
                await visitor.get("/sign-in")
            answer = await send(visitor, address(house, path), {}, visitor.key)
            assert "did not come from" not in answer.text and answer.status_code < 500, path


async def test_looking_at_any_page_changes_nothing(house: House) -> None:
    async with Visitor(house.pages.url) as visitor:
        await signed_in(house, visitor)
        before = await house.prints(house.ours)
        for method, path in page_routes(house.pages.app):
            if method in READS and not is_stream(path):
                answer = await visitor.get(address(house, path))
                assert answer.status_code in (200, 303, 404), (path, answer.status_code)
        assert await house.prints(house.ours) == before


async def test_the_api_takes_no_cookie(house: House) -> None:
    """So no other site can use a browser's session on it."""
    async with Visitor(house.pages.url) as visitor:
        await signed_in(house, visitor)
        for call in rest_calls(house.pages.app):
            ids = dict.fromkeys(call.parameters, "x") | {"intent_id": ABSENT["intent"]}
            answer = await visitor.http.request(
                call.method,
                call.address(ids),
                json=call.body,
                params=call.query,
                headers={"Origin": visitor.url},
            )
            assert answer.status_code == 401, (call.name, answer.status_code)
            assert "access-control-allow-origin" not in answer.headers
        mcp = await visitor.http.post(
            "/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "ping"}, headers={"Accept": "application/json"}
        )
        assert mcp.status_code == 401


async def test_no_page_is_shown_to_whoever_is_not_signed_in(house: House) -> None:
    open_to_all = {"/sign-in", "/static/{name}", "/p/{rest}"}
    async with Visitor(house.pages.url) as visitor:
        for method, path in page_routes(house.pages.app):
            if path in open_to_all:
                continue
            given = address(house, path)
            answer = await (visitor.get(given) if method in READS else visitor.post(given))
            assert answer.status_code == 303, path
            assert answer.headers["location"].startswith("/sign-in")
            assert house.ours.project.id not in answer.text


async def test_a_session_that_another_gave_the_browser_is_never_adopted(house: House) -> None:
    """Neither a made-up secret nor the attacker's own live session survives the sign-in as the victim's."""
    name = Site(house.pages.url, "h").cookie(SESSION)
    async with Visitor(house.pages.url) as attacker, Visitor(house.pages.url) as victim:
        await attacker.sign_in(await house.pages.link(house.theirs.owner.person_id))
        (planted,) = [c.value for c in attacker.http.cookies.jar if c.name == name]
        victim.http.cookies.set(name, str(planted), domain="127.0.0.1")
        await signed_in(house, victim)
        held = [c.value for c in victim.http.cookies.jar if c.name == name]
        assert planted not in held
        assert (await attacker.get("/account")).status_code == 303, "the planted session is over for both"
