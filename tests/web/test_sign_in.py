"""Signing in: a link works once and not for long, a session is always a new one, no form comes from elsewhere."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import asyncpg
import pytest
from pydantic import SecretStr
from starlette.responses import Response

from gateway.web.sessions import SESSION, keep
from gateway.web.site import Site, own_path
from runtime.bootstrap import bootstrap
from runtime.settings import Settings
from storage.sql import sessions
from storage.sql.pool import transaction
from tests.web.served import Pages
from tests.web.visitor import Visitor, words


def session_cookie(visitor: Visitor) -> str | None:
    found = [cookie.value for cookie in visitor.http.cookies.jar if "_session" in cookie.name]
    return found[0] if found else None


async def test_a_link_signs_in_once(pages: Pages) -> None:
    secret = await pages.link(pages.engine.owner.person_id)
    async with Visitor(pages.url) as first, Visitor(pages.url) as second:
        assert (await first.sign_in(secret)).headers["location"] == "/"
        assert "Inbox" in words(await first.get("/"))
        refused = await second.sign_in(secret)
        assert (refused.status_code, "not good any more" in words(refused)) == (403, True)
        assert (await second.get("/")).headers["location"] == "/sign-in"


async def test_a_whole_link_pasted_without_scripts_signs_in(pages: Pages) -> None:
    secret = await pages.link(pages.engine.owner.person_id)
    async with Visitor(pages.url) as visitor:
        assert (await visitor.sign_in(f" {pages.url}/sign-in#{secret} ")).status_code == 303


async def test_looking_at_the_page_uses_no_link_up(pages: Pages) -> None:
    secret = await pages.link(pages.engine.owner.person_id)
    async with Visitor(pages.url) as preview, Visitor(pages.url) as person:
        assert (await preview.get(f"/sign-in?link={secret}")).status_code == 200
        assert (await person.sign_in(secret)).status_code == 303


async def test_a_link_that_is_too_old_signs_nobody_in(pages: Pages) -> None:
    secret = await pages.link(pages.engine.owner.person_id, timedelta(seconds=-1))
    async with Visitor(pages.url) as visitor:
        assert (await visitor.sign_in(secret)).status_code == 403


async def test_a_newer_link_ends_the_older_one(pages: Pages) -> None:
    person = (await pages.person("Jonas Weber")).person_id
    older, newer = await pages.link(person), await pages.link(person)
    async with Visitor(pages.url) as visitor:
        assert (await visitor.sign_in(older)).status_code == 403
        assert (await visitor.sign_in(newer)).status_code == 303


async def test_a_session_that_was_laid_ready_is_never_signed_in_to(pages: Pages) -> None:
    async with Visitor(pages.url) as visitor, Visitor(pages.url) as attacker:
        name = Site(pages.url, "h").cookie(SESSION)
        visitor.http.cookies.set(name, "planted", domain="127.0.0.1")
        await visitor.sign_in(await pages.link(pages.engine.owner.person_id))
        attacker.http.cookies.set(name, "planted", domain="127.0.0.1")
        assert session_cookie(visitor) not in (None, "planted")
        assert (await attacker.get("/")).headers["location"] == "/sign-in"


async def test_signing_in_again_ends_the_session_before(pages: Pages) -> None:
    async with Visitor(pages.url) as visitor, Visitor(pages.url) as old:
        await visitor.sign_in(await pages.link(pages.engine.owner.person_id))
        first = session_cookie(visitor)
        await visitor.sign_in(await pages.link(pages.engine.owner.person_id))
        assert session_cookie(visitor) != first
        old.http.cookies.set(Site(pages.url, "h").cookie(SESSION), str(first), domain="127.0.0.1")
        assert (await old.get("/")).status_code == 303


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {},
        {"Origin": "http://localhost:1"},
        {"Sec-Fetch-Site": "cross-site"},
    ],
    ids=str,
)
async def test_a_sign_in_sent_from_elsewhere_is_refused(pages: Pages, headers: dict[str, str]) -> None:
    secret = await pages.link(pages.engine.owner.person_id)
    async with Visitor(pages.url) as visitor:
        await visitor.get("/sign-in")
        if "Sec-Fetch-Site" in headers:
            headers = {**headers, "Origin": pages.url}
        form = {"key": visitor.key, "method": "link", "link": secret}
        assert (await visitor.http.post("/sign-in", data=form, headers=headers)).status_code == 403
        assert session_cookie(visitor) is None
        assert (await visitor.sign_in(secret)).status_code == 303


async def test_a_sign_in_without_the_key_of_the_page_is_refused(pages: Pages) -> None:
    secret = await pages.link(pages.engine.owner.person_id)
    async with Visitor(pages.url) as visitor:
        response = await visitor.post("/sign-in", method="link", link=secret)
        assert response.status_code == 403


@pytest.mark.parametrize("path", ["/account/link", "/sign-out", "/projects"])
async def test_a_form_from_another_page_or_session_is_refused(
    pages: Pages, owner: Visitor, path: str
) -> None:
    async with Visitor(pages.url) as other:
        await other.sign_in(await pages.link(pages.engine.owner.person_id))
        owner.key, own = other.key, owner.key
        assert (await owner.post(path)).status_code == 403
        owner.key = own
        assert (await owner.post(path, origin="https://evil.example")).status_code == 403
        assert (await owner.get("/account")).status_code == 200


@pytest.mark.parametrize(
    "wanted",
    ["//evil.example/", "https://evil.example", "/\\evil.example", "javascript:alert(1)", "/\t/evil.example", "x"],
)  # fmt: skip
async def test_a_sign_in_sends_nobody_elsewhere(pages: Pages, wanted: str) -> None:
    assert own_path(wanted) == "/"
    async with Visitor(pages.url) as visitor:
        secret = await pages.link(pages.engine.owner.person_id)
        assert (await visitor.sign_in(secret, next=wanted)).headers["location"] == "/"


async def test_a_sign_in_leads_back_to_the_page_that_was_wanted(pages: Pages) -> None:
    async with Visitor(pages.url) as visitor:
        asked = await visitor.get("/p/storefront?cursor=main%401")
        assert asked.headers["location"] == "/sign-in?next=%2Fp%2Fstorefront%3Fcursor%3Dmain%25401"
        page = await visitor.get(asked.headers["location"])
        assert 'value="/p/storefront?cursor=main%401"' in page.text
        secret = await pages.link(pages.engine.owner.person_id)
        answer = await visitor.post(
            "/sign-in", method="link", link=secret, next="/p/storefront?cursor=main%401"
        )
        assert answer.headers["location"] == "/p/storefront?cursor=main%401"


async def test_signing_out_ends_the_session_in_the_record_too(pages: Pages, owner: Visitor) -> None:
    secret = session_cookie(owner)
    response = await owner.post("/sign-out")
    assert response.headers["location"] == "/sign-in"
    assert session_cookie(owner) is None
    async with transaction(pages.engine.found.pool) as connection:
        assert await sessions.find(connection, str(secret), datetime.now(UTC)) is None


async def test_a_page_that_asks_for_itself_after_the_session_is_reloaded(pages: Pages) -> None:
    async with Visitor(pages.url) as visitor:
        response = await visitor.get("/", **{"HX-Request": "true"})
        assert (response.status_code, response.headers["hx-refresh"]) == (204, "true")


async def test_sessions_are_listed_and_each_can_be_ended(pages: Pages) -> None:
    person = (await pages.person("Jonas Weber")).person_id
    async with Visitor(pages.url) as here, Visitor(pages.url) as there:
        await there.sign_in(await pages.link(person))
        await here.sign_in(await pages.link(person))
        _, older = await _sessions(pages, person)
        assert (await here.post("/account/end", id=older.id)).headers["location"] == "/account?done=ended"
        assert (await there.get("/")).status_code == 303
        assert (await here.get("/")).status_code == 200


async def _sessions(pages: Pages, person: str) -> list[sessions.SessionInfo]:
    async with transaction(pages.engine.found.pool) as connection:
        return list(await sessions.list_of_person(connection, person, datetime.now(UTC)))


async def test_nobody_ends_the_session_of_somebody_else(pages: Pages, owner: Visitor) -> None:
    person = (await pages.person("Jonas Weber")).person_id
    async with Visitor(pages.url) as other:
        await other.sign_in(await pages.link(person))
        (session,) = await _sessions(pages, person)
        assert (await owner.post("/account/end", id=session.id)).status_code == 404
        assert (await other.get("/")).status_code == 200


async def test_a_session_ends_by_itself_when_it_lies_idle_or_gets_old(pages: Pages) -> None:
    now = datetime.now(UTC)
    person = (await pages.person("Jonas Weber")).person_id
    async with transaction(pages.engine.found.pool) as connection:
        secret = await sessions.start(connection, person, "link", "a browser", now)
        idle = now + sessions.SESSION_IDLE + timedelta(minutes=1)
        assert await sessions.find(connection, secret, idle) is None
        for day in range(0, 30, 5):
            assert await sessions.find(connection, secret, now + timedelta(days=day)) is not None
        assert await sessions.find(connection, secret, now + sessions.SESSION_LIFE) is None


async def test_the_record_keeps_no_secret(pages: Pages, owner: Visitor) -> None:
    link = await pages.link(pages.engine.owner.person_id)
    secret = session_cookie(owner)
    async with transaction(pages.engine.found.pool) as connection:
        rows = [
            *await connection.fetch("SELECT sign_in_link::text FROM sign_in_link"),
            *await connection.fetch("SELECT session::text FROM session"),
        ]
    text = "\n".join(row[0] for row in rows)
    assert secret and link not in text and secret not in text


def test_cookies_keep_to_the_host_and_from_scripts() -> None:
    response = Response()
    keep(response, Site("https://gitring.example.com", "h"), SESSION, "s")
    (cookie,) = response.headers.getlist("set-cookie")
    assert cookie.startswith("__Host-gitring_session=s;")
    assert {"HttpOnly", "Secure", "Path=/", "SameSite=lax"} <= {part.strip() for part in cookie.split(";")}
    assert "Domain" not in cookie


async def test_the_first_start_gives_a_link_and_no_later_one(database: str, tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path, database_url=SecretStr(database))
    first = await bootstrap(settings)
    assert first.signin_link is not None
    address, _, secret = first.signin_link.partition("#")
    assert address == f"{settings.url}/sign-in"
    (tmp_path / "owner_token").write_text(first.owner_token)
    assert (await bootstrap(settings)).signin_link is None
    connection = await asyncpg.connect(database)
    try:
        late = datetime.now(UTC) + timedelta(hours=23)
        assert await sessions.use_link(connection, secret, late) is not None
    finally:
        await connection.close()
