"""Owners let people in: by REST and by the page, with a link that opens no more than the owner's own projects."""

import httpx2
import pytest

from protocol.people import InvitePerson, MakeLink
from protocol.refusals import Refused
from tests.web.served import Pages
from tests.web.visitor import Visitor, words


async def test_an_owner_invites_a_person_who_then_decides(pages: Pages) -> None:
    project = await pages.engine.project()
    made = await pages.engine.operations.invite(
        pages.engine.owner, InvitePerson(name="Jonas Weber", projects=[project.slug], role="writer")
    )
    address, _, secret = made.link.partition("#")
    assert address == "http://gitring.test/sign-in"
    async with Visitor(pages.url) as visitor:
        await visitor.sign_in(secret)
        assert "Jonas Weber" in words(await visitor.get(f"/p/{project.slug}/members"))
        assert project.slug in words(await visitor.get("/projects"))
    events = await pages.engine.operations.events(pages.engine.owner, project.slug, 0, 100)
    added = [event for event in events if event.event_type == "member.added"]
    assert [(event.entity_id, event.payload) for event in added] == [
        (made.person_id, {"name": "Jonas Weber", "role": "writer"})
    ]


async def test_a_person_is_invited_on_the_page_and_signs_in_by_the_link_on_it(
    pages: Pages, owner: Visitor
) -> None:
    project = await pages.engine.project()
    root = f"/p/{project.slug}/members"
    await owner.get(root)
    made = await owner.post(f"{root}/invite", name="Vera <i>", role="viewer")
    secret = made.text.partition("/sign-in#")[2].partition("<")[0]
    assert made.status_code == 201 and "Sign-in link for Vera <i>" in words(made)
    async with Visitor(pages.url) as visitor:
        assert (await visitor.sign_in(secret)).status_code == 303
    assert secret not in (await owner.get(root)).text


async def test_rest_takes_a_persons_token_to_invite(pages: Pages) -> None:
    project = await pages.engine.project()
    boss = await pages.person("Boss", project, "owner")
    headers = {"Authorization": f"Bearer {await pages.token(boss.person_id)}"}
    async with httpx2.AsyncClient(base_url=pages.url, headers=headers) as http:
        made = (await http.post("/api/v1/people", json={"name": "Jonas", "projects": [project.id]})).json()
        again = (await http.post("/api/v1/sign-in-links", json={"personId": made["personId"]})).json()
    async with Visitor(pages.url) as visitor:
        assert (await visitor.sign_in(made["link"])).status_code == 403, "the later link ended it"
        assert (await visitor.sign_in(again["link"])).status_code == 303


async def test_an_agent_neither_invites_nor_makes_links(pages: Pages) -> None:
    project = await pages.engine.project()
    with pytest.raises(Refused, match="forbidden"):
        await pages.engine.operations.invite(
            project.agent, InvitePerson(name="Mallory", projects=[project.slug])
        )
    with pytest.raises(Refused, match="people_only"):
        await pages.engine.operations.make_link(project.agent, MakeLink())


async def test_nobody_invites_to_a_project_they_do_not_own(pages: Pages) -> None:
    project, other = await pages.engine.project(), await pages.engine.project()
    writer = await pages.person("Jonas Weber", project, "writer")
    for refs, code in (([project.slug], "forbidden"), ([other.slug], "not_found")):
        with pytest.raises(Refused, match=code):
            await pages.engine.operations.invite(writer, InvitePerson(name="Mallory", projects=refs))


async def test_a_link_for_another_is_made_only_by_an_owner_of_all_their_projects(pages: Pages) -> None:
    project, secret_project = await pages.engine.project(), await pages.engine.project()
    boss = await pages.person("Boss", project, "owner")
    helper = await pages.person("Helper", project, "writer")
    both = await pages.person("Both", project, "writer")
    async with pages.engine.found.pool.acquire() as connection:
        await connection.execute(
            "INSERT INTO member (project_id, person_id, role) VALUES ($1, $2, 'viewer')",
            secret_project.id,
            both.person_id,
        )
    make_link = pages.engine.operations.make_link
    assert (await make_link(boss, MakeLink(person_id=helper.person_id))).name == "Helper"
    assert (await make_link(helper, MakeLink())).person_id == helper.person_id
    for caller, person in ((boss, both), (helper, boss), (boss, await pages.person("Nobody"))):
        with pytest.raises(Refused, match="not_found"):
            await make_link(caller, MakeLink(person_id=person.person_id))


async def test_a_made_up_role_is_refused_with_the_field_named(pages: Pages, owner: Visitor) -> None:
    project = await pages.engine.project()
    await owner.get(f"/p/{project.slug}/members")
    refused = await owner.post(f"/p/{project.slug}/members/invite", name="Vera", role="king")
    assert (refused.status_code, "role should be" in words(refused)) == (400, True)
    async with httpx2.AsyncClient(base_url=pages.url) as nobody:
        assert (await nobody.post("/api/v1/people", json={})).status_code == 401
