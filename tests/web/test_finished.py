"""Finished work is found by state, line and title, page by page; and the list of projects says what lives and waits."""

import re

from protocol.intents import WithdrawInput
from protocol.projects import ChangeSettings, CreateLine
from protocol.states import State
from tests.support.engine import ProjectUnderTest
from tests.web.served import Pages
from tests.web.visitor import Visitor, words


async def withdrawn(project: ProjectUnderTest, title: str, **more: str) -> None:
    work = await project.declare("app/f5.py", title=title, **more)
    given = WithdrawInput(intent_id=work.intent.id, reason="enough")
    await project.engine.operations.withdraw(project.agent, given)


async def test_finished_work_is_found_by_state_line_and_title(pages: Pages, owner: Visitor) -> None:
    project = await pages.engine.project(test="true")
    path = f"/p/{project.slug}/finished"
    assert "Nothing is finished yet." in words(await owner.get(path))
    await pages.engine.operations.create_line(
        pages.engine.owner, project.slug, CreateLine(name="release/2.x", start="main")
    )
    landed = await project.declare("app/f1.py", title="Land <b>this</b> 100%")
    await project.push(landed, {"app/f1.py": "value = 9\n"})
    await project.submit(landed)
    await project.until(landed, State.MERGED)
    await withdrawn(project, "Given up")
    await withdrawn(project, "For release", target="release/2.x")
    await project.declare("app/f7.py", title="Still under way")

    async def found(query: str) -> list[str]:
        page = await owner.get(path + query)
        assert page.status_code == 200 and "<b>this" not in page.text
        return re.findall(r"#(\d+)</span>", page.text)

    assert await found("") == ["3", "2", "1"]
    assert await found("?state=merged") == ["1"]
    assert await found("?state=withdrawn&line=main") == ["2"]
    assert await found("?line=release%2F2.x") == ["3"]
    assert await found("?q=%3CB%3EThis") == ["1"], "in any case, as text"
    assert await found("?q=%25") == ["1"], "a percent sign is a percent sign"
    assert await found("?q=_") == []
    assert await found("?before=3&state=king&x=1") == ["2", "1"]
    page = await owner.get(f"{path}?q=nowhere&state=merged")
    assert "Nothing finished looks like this." in words(page) and 'value="nowhere"' in page.text
    assert (await owner.get(f"{path}?before=9999999999999999")).status_code == 200
    assert f'href="{path}"' in (await owner.get(f"/p/{project.slug}")).text


async def test_older_finished_work_is_on_the_next_page_with_the_same_search(
    pages: Pages, owner: Visitor
) -> None:
    project = await pages.engine.project()
    for _ in range(3):
        await withdrawn(project, "Same & same")
    async with pages.engine.found.pool.acquire() as connection:
        await connection.execute(
            "INSERT INTO intent (id, project_id, number, title, goal, state, line, base, plan_version, risk, person_id, "
            "token_id, agent_name, created_at, state_since) SELECT id || n, project_id, number + n, title, goal, state, "
            "line, base, plan_version, risk, person_id, token_id, agent_name, created_at, state_since "
            "FROM intent, generate_series(1, 50) AS n WHERE project_id = $1 AND number = 3",
            project.id,
        )
    newest = await owner.get(f"/p/{project.slug}/finished?q=same+%26")
    (older,) = re.findall(r'class="button" href="([^"]+)">Older', newest.text)
    assert "q=same+%26" in older and "#53<" in newest.text and "#3<" not in newest.text
    rest = await owner.get(older.replace("&amp;", "&"))
    assert re.findall(r"#(\d+)</span>", rest.text) == ["3", "2", "1"] and "Newest" in words(rest)


async def test_the_list_of_projects_says_what_lives_and_what_waits(pages: Pages, owner: Visitor) -> None:
    project = await pages.engine.project(test="true")
    await project.declare("app/f1.py", title="At work")
    await pages.engine.operations.change_settings(
        pages.engine.owner, project.slug, ChangeSettings(plan_review="always")
    )
    await project.declare("app/f2.py", title="Needs <eyes>")
    jonas = await pages.person("Jonas Weber", project)
    async with Visitor(pages.url) as visitor:
        await visitor.sign_in(await pages.link(jonas.person_id))
        shown = words(await visitor.get("/projects"))
    assert "2 live: 1 plan review 1 active" in shown
    assert "1 waits for a person: #2 Needs <eyes> (plan," in shown
