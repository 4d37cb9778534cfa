"""Every page: for members only, with strict headers, and whatever others wrote on it is only ever text."""

import re
from collections.abc import AsyncIterator
from dataclasses import dataclass

import httpx2
import pytest
import pytest_asyncio

from protocol.answers import DeclareResult
from protocol.asks import CreateAsk
from protocol.intents import WithdrawInput
from protocol.projects import ChangeSettings, CreateLine
from protocol.states import State
from tests.support.engine import ProjectUnderTest
from tests.web.served import TEMPORAL_UI, Pages
from tests.web.visitor import Visitor, words

HTML = "<script>alert(1)</script><img src=x onerror=alert(2)>"
HOSTILE = f"{HTML} '\"><b>bold</b> **md** [l](javascript:alert(3)) \x1b[31mred\x1b[0m \u202egnp.exe \u2066x"
QUIET = re.compile(r"<script(?! src=)|<style| style=| on[a-z]+=\"|javascript:alert\(3\)\"", re.IGNORECASE)


@dataclass
class Full:
    """A project whose every text is hostile, with an intent that failed its checks and another that it holds."""

    project: ProjectUnderTest
    first: DeclareResult
    held: DeclareResult
    check: str

    @property
    def paths(self) -> list[str]:
        """Every page that shows something of it."""
        root, number = f"/p/{self.project.slug}", self.first.intent.number
        return [
            "/",
            "/projects",
            "/account",
            root,
            f"{root}/i/{number}",
            f"{root}/i/{self.held.intent.number}",
            f"{root}/checks/{self.check}",
            f"{root}/settings",
            f"{root}/audit",
            f"{root}/audit?before=5",
            f"{root}/asks",
            f"{root}/asks?show=taken",
            f"{root}/finished",
            f"{root}/members",
        ]


@pytest_asyncio.fixture(scope="module")
async def full(pages: Pages) -> AsyncIterator[Full]:
    """The project, its work pushed and its checks failed."""
    project = await pages.engine.project(test="cat note.txt && exit 1; exit 0")
    places = {"use": [{"path": "app/f2.py"}]}
    plan = {
        "summary": HOSTILE,
        "steps": [HOSTILE],
        "checks": [HOSTILE],
        "scope": {"change": [{"path": "app/f1.py"}, {"path": "app/<img src=x>.py"}], **places},
    }
    first = await project.declare(title=HOSTILE, goal=HOSTILE, plan=plan)
    held = await project.declare("app/f1.py", title=HOSTILE)
    files = {"app/<img src=x>.py": f"{HOSTILE}\n", "note.txt": f"{HOSTILE}\nstopped\n", "app/f1.py": "1\n"}
    await project.push(first, files)
    await project.submit(first)
    returned = await project.returned(first)
    await pages.engine.operations.create_line(pages.engine.owner, project.slug, _line("release/2.x"))
    await _hostile_leftovers(pages, project)
    yield Full(project, first, held, returned.checks[0].id)


async def _hostile_leftovers(pages: Pages, project: ProjectUnderTest) -> None:
    """An open ask with a draft, one that was taken up, an intent that was withdrawn, and a member, all hostile."""
    operations, owner = pages.engine.operations, pages.engine.owner
    draft = {
        "title": HOSTILE[:300],
        "goal": HOSTILE,
        "plan": {"scope": {"change": [{"path": "app/<img>.py"}]}},
    }
    await operations.open_ask(
        owner, project.slug, CreateAsk.model_validate({"text": HOSTILE, "draft": draft})
    )
    ask = await operations.open_ask(owner, project.slug, CreateAsk(text=HOSTILE))
    taken = await project.declare("app/f3.py", title=HOSTILE, askId=ask.id)
    await operations.withdraw(project.agent, WithdrawInput(intent_id=taken.intent.id, reason=HOSTILE))
    await pages.person("<script>alert(1)</script>", project)


def _line(name: str) -> CreateLine:
    return CreateLine(name=name, start="main")


async def test_what_others_wrote_is_text_on_every_page(full: Full, owner: Visitor) -> None:
    for path in full.paths:
        page = await owner.get(path)
        assert page.status_code == 200, path
        assert "<script>alert" not in page.text and "<img" not in page.text and "<b>bold" not in page.text, (
            path
        )
        assert not QUIET.search(page.text), (path, QUIET.search(page.text))
        assert not {"\x1b", "\u202e", "\u2066", "\x00"} & set(page.text), path
    intent = await owner.get(full.paths[4])
    shown = words(intent)
    assert shown.count("<script>alert(1)</script>") >= 6, "title, goal, summary, step, check, patch, log"
    assert "app/<img src=x>.py" in shown and "\ufffdgnp.exe" in shown
    assert f"{TEMPORAL_UI}/namespaces/gitring/workflows/intent-{full.first.intent.id}" in intent.text


async def test_every_page_says_what_a_browser_may_do_with_it(full: Full, owner: Visitor) -> None:
    for path in [*full.paths, "/sign-in", "/p/none/of/ours"]:
        headers = (await owner.get(path)).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy and "script-src 'self'" in policy
        assert headers["cache-control"] == "no-store"
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "same-origin"


async def test_a_held_intent_says_who_holds_it_and_by_which_rule(full: Full, owner: Visitor) -> None:
    first, second = full.first.intent.number, full.held.intent.number
    sentence = f"#{second} holds until #{first} merges or is withdrawn (rule R4)"
    assert sentence in words(await owner.get(full.paths[3]))
    board = await owner.get(full.paths[3])
    assert f'aria-label="Who lands before whom: #{first} before #{second}"' in board.text
    assert sentence in words(await owner.get(full.paths[5]))


async def test_a_failed_check_is_read_on_the_page_of_its_intent(full: Full, owner: Visitor) -> None:
    page = words(await owner.get(full.paths[4]))
    assert "tests failed (exited 1)" in page and "stopped" in page
    log = words(await owner.get(full.paths[6]))
    assert "<script>alert(1)</script>" in log and "red" in log and "[31m" not in log


async def test_who_is_not_signed_in_sees_no_page(full: Full, pages: Pages) -> None:
    async with Visitor(pages.url) as stranger:
        for path in [*full.paths, "/live", f"/p/{full.project.slug}/live"]:
            response = await stranger.get(path)
            assert (response.status_code, response.headers["location"][:8]) == (303, "/sign-in"), path


def _forms(full: Full) -> list[tuple[str, dict[str, str]]]:
    root, intent = f"/p/{full.project.slug}", f"/p/{full.project.slug}/i/{full.first.intent.number}"
    return [
        (f"{root}/pause", {"line": "main", "reason": "x"}),
        (f"{root}/resume", {"line": "main"}),
        (f"{root}/drain", {"line": "main", "reason": "x"}),
        (f"{intent}/land-now", {"reason": "x"}),
        (f"{intent}/decide", {"decision": "approve", "subject": "plan"}),
        (f"{intent}/withdraw", {"reason": "x"}),
        (f"{intent}/comment", {"text": "x"}),
        (f"{intent}/settle", {"conflict": "cnf_01JBR2K3D5F7H9J1K3M5N7P9Q2", "first": "1"}),
        (f"{intent}/accept-drift", {}),
        (f"{root}/settings/rules", {"test": "true"}),
        (f"{root}/settings/tokens", {"name": "x"}),
        (f"{root}/settings/checks", {"test": "true"}),
        (f"{root}/settings/lines", {"name": "x", "from": "main"}),
        (f"{root}/settings/lines/pause", {"line": "main", "reason": "x"}),
        (f"{root}/settings/lines/resume", {"line": "main"}),
        (f"{root}/settings/series", {"prefix": "X"}),
        (f"{root}/members/invite", {"name": "x", "role": "owner"}),
        (f"{root}/members/add", {"person": full.project.engine.owner.person_id, "role": "owner"}),
        (f"{root}/members/role", {"person": full.project.engine.owner.person_id, "role": "viewer"}),
        (f"{root}/members/remove", {"person": full.project.engine.owner.person_id}),
        (f"{root}/members/link", {"person": full.project.engine.owner.person_id}),
        (f"{root}/asks", {"text": "x"}),
        (f"{root}/asks/close", {"id": "ask_01JBR7Q2W4E6R8T0Y2T4V6X8Z0"}),
    ]


async def test_a_project_of_others_is_not_there_on_any_route(full: Full, pages: Pages) -> None:
    stranger = await pages.person("Mallory")
    async with Visitor(pages.url) as visitor:
        await visitor.sign_in(await pages.link(stranger.person_id))
        for ref in (full.project.slug, full.project.id):
            for path in full.paths[3:]:
                page = await visitor.get(path.replace(full.project.slug, ref))
                assert (page.status_code, "nothing at this address" in words(page)) == (404, True), path
            assert (await visitor.get(f"/p/{ref}/live")).status_code == 404
        for path, fields in _forms(full):
            assert (await visitor.post(path, **fields)).status_code == 404, path
    detail = await full.project.status(full.first)
    assert (detail.intent.state, detail.decisions) == (State.ACTIVE, [])


async def test_an_id_of_another_project_is_not_there_in_ones_own(
    full: Full, pages: Pages, owner: Visitor
) -> None:
    own = await pages.engine.project()
    for path in (
        "i/1",
        "i/99999999999999999999",
        "i/-1",
        "i/x",
        f"i/{full.first.intent.id}",
        f"checks/{full.check}",
    ):
        assert (await owner.get(f"/p/{own.slug}/{path}")).status_code == 404, path
    stranger = await pages.person("Mallory", own)
    async with Visitor(pages.url) as visitor:
        await visitor.sign_in(await pages.link(stranger.person_id))
        assert (await visitor.get(f"/p/{own.slug}/checks/{full.check}")).status_code == 404
        assert full.project.slug not in words(await visitor.get("/projects"))


async def test_a_viewer_reads_and_changes_nothing(full: Full, pages: Pages) -> None:
    viewer = await pages.person("Vera", full.project, "viewer")
    async with Visitor(pages.url) as visitor:
        await visitor.sign_in(await pages.link(viewer.person_id))
        for path in full.paths[3:]:
            page = await visitor.get(path)
            assert page.status_code == 200, path
            assert not re.search("(Withdraw|Pause|Remove|Change)[^…]{0,20}…", words(page)), path
        for path, fields in _forms(full):
            if not path.endswith("tokens"):
                refused = await visitor.post(path, **fields)
                assert refused.status_code in (403, 404), path
                assert 'role="alert"' in refused.text or "nothing at this address" in words(refused), path


async def test_static_files_are_kept_by_their_digest_and_no_other_file_is_served(owner: Visitor) -> None:
    page = await owner.get("/")
    (sheet,) = re.findall(r'href="(/static/app\.css\?v=\w+)"', page.text)
    assert "immutable" in (await owner.get(sheet)).headers["cache-control"]
    assert (await owner.get("/static/app.css")).headers["cache-control"] == "no-cache"
    for path in ("/static/app.py", "/static/..%2fapp.py", "/static/%2e%2e/app.py"):
        assert (await owner.get(path)).status_code == 404


async def test_an_old_part_of_the_ledger_is_read_page_by_page(full: Full, owner: Visitor) -> None:
    newest = words(await owner.get(full.paths[8]))
    assert "The chain holds." in newest and "intent.declared" in newest
    older = await owner.get(full.paths[9])
    assert "The chain holds." not in words(older)
    assert re.findall(r'<td class="n">(\d+)</td>', older.text) == ["4", "3", "2", "1"]


async def test_rules_are_changed_by_their_form_and_a_wrong_one_is_told(pages: Pages, owner: Visitor) -> None:
    project = await pages.engine.project(test="true")
    root = f"/p/{project.slug}/settings"
    await owner.get(root)
    checks = {"test": "make test", "timeout_sec": "120", "environment": "LANG\nTZ", "network": "on"}
    assert (await owner.post(f"{root}/checks", **checks)).headers["location"] == f"{root}?done=saved"
    rules = {
        "max_places": "7",
        "plan_review": "always", "merge_approval": "never", "mediation": "narrow", "shared_files": "docs/LOG.md\n",
        "people_only": ".github/\nLICENSE", "owner_approves": "billing/", "folder-1": "deploy/", "folder-2": "",
        f"writer-1-{pages.engine.owner.person_id}": "on",
    }  # fmt: skip
    assert (await owner.post(f"{root}/rules", **rules)).headers["location"] == f"{root}?done=saved"
    page = await owner.get(root)
    for shown in (
        'value="make test"',
        'value="120"',
        "LANG\nTZ",
        'value="7"',
        "docs/LOG.md",
        'value="always" selected',
        "LICENSE",
        "billing/",
        'name="folder-1" value="deploy/"',
        f'name="writer-1-{pages.engine.owner.person_id}" checked',
    ):
        assert shown in page.text, shown
    assert 'name="network" checked' in page.text
    refused = await owner.post(f"{root}/checks", **{**checks, "timeout_sec": "soon"})
    assert (refused.status_code, "timeout_sec is not a number." in words(refused)) == (400, True)
    refused = await owner.post(f"{root}/rules", **{**rules, "shared_files": "../x"})
    assert (refused.status_code, "may not hold '.', '..'" in words(refused)) == (400, True)


async def test_a_token_is_shown_once_works_and_ends(pages: Pages, owner: Visitor) -> None:
    project = await pages.engine.project()
    root = f"/p/{project.slug}/settings"
    await owner.get(root)
    made = await owner.post(f"{root}/tokens", name="laptop")
    (token,) = re.findall(r"gitring_agent_[\w-]+", made.text)
    assert made.status_code == 201 and token not in (await owner.get(root)).text
    async with httpx2.AsyncClient(base_url=pages.url, headers={"Authorization": f"Bearer {token}"}) as agent:
        assert (await agent.get("/api/v1/projects")).json()["projects"][0]["slug"] == project.slug
        (token_id, *_) = re.findall(r'name="id" value="(tok_\w+)"', (await owner.get(root)).text)
        await owner.post(f"{root}/tokens/revoke", id=token_id)
        assert (await agent.get("/api/v1/projects")).status_code == 401


async def test_a_project_is_made_by_its_form(pages: Pages, owner: Visitor) -> None:
    source = (await pages.engine.project()).source
    await owner.get("/projects")
    refused = await owner.post("/projects", slug="made-here", source="ext::sh -c id", test="")
    assert refused.status_code == 400 and "cannot be imported" in words(refused)
    assert 'value="ext::sh -c id"' in refused.text, "what was typed is still there"
    made = await owner.post("/projects", slug="made-here", source=str(source), test="true")
    assert made.headers["location"] == "/p/made-here/settings"
    assert 'value="true"' in (await owner.get("/p/made-here/settings")).text


async def test_an_owner_lets_a_queue_stand_still_and_move_again(pages: Pages, owner: Visitor) -> None:
    project = await pages.engine.project(test="true")
    root = f"/p/{project.slug}"
    await owner.get(root)
    assert (await owner.post(f"{root}/pause", line="main", reason="Release day")).status_code == 303
    work = await project.declare("app/f1.py")
    await project.push(work, {"app/f1.py": "value = 9\n"})
    await project.submit(work)
    inbox = words(await owner.get("/"))
    assert "The queue of main stands still" in inbox and "Release day" in inbox
    board = words(await owner.get(root))
    assert "Paused" in board and "Resume" in board
    assert (await owner.post(f"{root}/resume", line="main")).headers["location"] == f"{root}?done=resumed"
    await project.until(work, State.MERGED)
    assert "Landed lately #1" in words(await owner.get(root))


async def test_the_inbox_holds_what_waits_in_every_project_the_oldest_first(pages: Pages) -> None:
    one, two = await pages.engine.project(), await pages.engine.project(test="true")
    person = await pages.person("Jonas Weber", one)
    for project in (one, two):
        settings = ChangeSettings(plan_review="always")
        await pages.engine.operations.change_settings(pages.engine.owner, project.slug, settings)
    await one.declare("app/f1.py", title="First of one")
    await two.declare("app/f1.py", title="Of two")
    await one.declare("app/f2.py", title="Second of one")
    async with Visitor(pages.url) as visitor:
        await visitor.sign_in(await pages.link(person.person_id))
        shown = words(await visitor.get("/"))
    assert "Inbox 2 waiting" in shown and "Of two" not in shown
    assert shown.index("First of one") < shown.index("Second of one")
    assert "The project asks a person about every plan." in shown


@pytest.mark.parametrize("path", ["/p/x/y/z", "/p/"])
async def test_an_address_without_a_page_is_told_as_one(owner: Visitor, path: str) -> None:
    response = await owner.get(path)
    assert (response.status_code, response.headers["content-type"]) == (404, "text/html; charset=utf-8")
