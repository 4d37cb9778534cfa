"""The members page: owners let people in, give roles and take them out; everybody else reads."""

from tests.web.served import Pages
from tests.web.visitor import Visitor, words


async def test_an_owner_gives_roles_and_takes_members_out(pages: Pages, owner: Visitor) -> None:
    project = await pages.engine.project()
    jonas = await pages.person("Jonas <b>Weber</b>", project)
    path = f"/p/{project.slug}/members"
    async with Visitor(pages.url) as visitor:
        await visitor.sign_in(await pages.link(jonas.person_id))
        seen = words(await visitor.get(path))
        assert "Ana Ruiz" in seen and "Jonas <b>Weber</b> you" in seen
        assert (
            "Only owners add people" in seen
            and "Change the role" not in seen
            and "agents may act" not in seen
        )
        page = words(await owner.get(path))
        assert "Signed in from 1 browser, seen" in page and "no agents may act for them here" in page
        saved = await owner.post(f"{path}/role", person=jonas.person_id, role="viewer")
        assert saved.headers["location"] == f"{path}?done=saved"
        assert "Jonas <b>Weber</b> viewer" in words(await owner.get(path))
        removed = await owner.post(f"{path}/remove", person=jonas.person_id)
        assert removed.headers["location"] == f"{path}?done=removed"
        assert (await visitor.get(path)).status_code == 404
        assert (await visitor.get("/")).status_code == 200, "the session is theirs, not the project's"
    gone = await owner.post(f"{path}/role", person=jonas.person_id, role="owner")
    assert gone.status_code == 404, "an old page takes nobody in again"
    assert "Members 1 Ana Ruiz" in words(await owner.get(path))


async def test_the_last_owner_stays_and_any_other_owner_may_leave(pages: Pages, owner: Visitor) -> None:
    project = await pages.engine.project()
    path, ana = f"/p/{project.slug}/members", pages.engine.owner.person_id
    page = words(await owner.get(path))
    assert "The last owner stays" in page and "Leave the project" not in page
    for form, fields in (("role", {"role": "viewer"}), ("remove", {})):
        refused = await owner.post(f"{path}/{form}", person=ana, **fields)
        assert (refused.status_code, "is the last owner" in words(refused)) == (409, True)
    second = await pages.person("Jonas Weber", project, "owner")
    assert "Leave the project" in words(await owner.get(path))
    async with Visitor(pages.url) as other:
        await other.sign_in(await pages.link(second.person_id))
        await other.get(path)
        assert (await other.post(f"{path}/remove", person=second.person_id)).headers[
            "location"
        ] == "/projects?done=left"
        assert project.slug not in words(await other.get("/projects"))


async def test_an_owner_adds_people_they_know_from_projects_of_theirs_and_nobody_else(
    pages: Pages, owner: Visitor
) -> None:
    one, two = await pages.engine.project(), await pages.engine.project()
    jonas = await pages.person("Jonas Known", one)
    stranger = await pages.person("Zoe Unknown")
    path = f"/p/{two.slug}/members"
    page = await owner.get(path)
    assert "Jonas Known" in page.text and "Zoe" not in page.text
    refused = await owner.post(f"{path}/add", person=stranger.person_id, role="writer")
    assert (refused.status_code, "Zoe" in words(await owner.get(path))) == (404, False)
    assert (await owner.post(f"{path}/add", person=jonas.person_id, role="writer")).status_code == 303
    assert "Jonas Known writer" in words(await owner.get(path))
