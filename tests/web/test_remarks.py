"""Comments inside the patch: at their lines, followed as the work moves on, and always text."""

import re
from html import unescape

import httpx2

from protocol.answers import DeclareResult
from protocol.intents import AckInput, CommentInput, SuggestInput
from tests.support.engine import ProjectUnderTest, git
from tests.web.served import Pages
from tests.web.visitor import Visitor, words

LINES = [f"value_{n} = {n}\n" for n in range(1, 41)]
EVIL = "</td></table><script>alert(1)</script> \u202e \x1b[31m **x**"


def text_of(lines: list[str]) -> str:
    return "".join(lines)


def shown(page: httpx2.Response, path: str) -> str:
    """The words of one file's part of the patch."""
    part = next(one for one in page.text.split('<details class="file"')[1:] if f"<code>{path}</code>" in one)
    return words(httpx2.Response(200, text=part.partition('<details class="ask"')[0]))


async def commented(
    pages: Pages, project: ProjectUnderTest, work: DeclareResult, text: str, **at: object
) -> None:
    given = CommentInput.model_validate({"text": text, **at})
    await pages.engine.operations.comment(pages.engine.owner, work.intent.id, given)


async def pushed_project(pages: Pages) -> tuple[ProjectUnderTest, DeclareResult, str]:
    """A project with one intent that changed a line at each end of a file; the path of its page."""
    project = await pages.engine.project(test="true", files={"app/f.py": text_of(LINES), "b.txt": "b\n"})
    work = await project.declare("app/f.py", "b.txt")
    changed = ["first = 1\n", *LINES[1:39], "last = 40\n"]
    await project.push(work, {"app/f.py": text_of(changed), "b.txt": "c\n"})
    return project, work, f"/p/{project.slug}/i/{work.intent.number}"


async def test_a_comment_stands_under_its_lines_with_who_when_and_state(pages: Pages, owner: Visitor) -> None:
    project, work, path = await pushed_project(pages)
    head = (await project.status(work)).intent.head or ""
    assert "Comment on this file…" in words(await owner.get(path))
    fields = {"path": "app/f.py", "start_line": "1", "end_line": "2", "text": f"Why <first>? {EVIL}"}
    answer = await owner.post(f"{path}/comment", **fields)
    (request,) = (await project.status(work)).change_requests
    assert answer.headers["location"] == f"{path}?done=asked#remark-{head[:7]}-{request.id}"
    assert request.place == "app/f.py lines 1-2"
    page = await owner.get(path)
    file = shown(page, "app/f.py")
    assert re.search(
        r"\+ first = 1 2 2 value_2 = 2 Ana Ruiz \d+ s Open Why <first>\? </td></table><script>", file
    )
    assert file.index("Why <first>") < file.index("value_3 = 3")
    assert "<script>alert" not in page.text and "\u202e" not in page.text and "\x1b" not in page.text
    assert f'href="#remark-{head[:7]}-{request.id}"' in page.text, "the list of open requests leads there"
    again = await owner.get(f"{path}?has={re.search(r'has=([0-9a-f-]+)', page.text)[1]}")  # type: ignore[index]
    assert "data-same" in again.text and "first = 1" not in again.text, (
        "who has the patch is not sent it again"
    )


async def test_comments_follow_their_lines_and_say_so_when_they_cannot(pages: Pages, owner: Visitor) -> None:
    project, work, path = await pushed_project(pages)
    await commented(pages, project, work, "Kept.", path="app/f.py", startLine=39, endLine=40)
    await commented(pages, project, work, "Rewritten.", path="app/f.py", startLine=1)
    await commented(pages, project, work, "Unseen.", path="app/f.py", startLine=20)
    await commented(pages, project, work, "No such file.", path="gone/x.py", startLine=3)
    await commented(pages, project, work, "Whole file.", path="b.txt")
    suggestion = SuggestInput(text="A thought.", place="b.txt")
    await pages.engine.operations.suggest(project.agent, work.intent.id, suggestion)
    requests = {one.reason: one for one in (await project.status(work)).change_requests}
    changed = ["# a heading\n", "first_of_all = 1\n", *LINES[1:39], "last = 40\n"]
    await project.push(work, {"app/f.py": text_of(changed), "b.txt": "c\n"})
    ack = AckInput(intent_id=work.intent.id, change_request_id=requests["Rewritten."].id)
    await pages.engine.operations.ack(project.agent, ack)

    page = await owner.get(path)
    file, other = shown(page, "app/f.py"), shown(page, "b.txt")
    assert re.search(
        r"last = 40 Ana Ruiz \d+ s Open Was about lines 39–40 of \w{7}, which became these. Kept.", file
    )
    assert re.search(
        r"Closed .*Was about line 1 of \w{7}, changed since. Rewritten.", file.partition("@@")[0]
    )
    assert "About line 21, which this difference does not touch. Unseen." in file.partition("@@")[0]
    assert "Whole file." in other.partition("@@")[0] and "Suggestion A thought." in other.partition("@@")[0]
    above = words(page).partition("What it changes")[2].partition("No such file.")[0] + "No such file."
    assert (
        "About gone/x.py, line 3. That file is not among what the intent changes now. No such file." in above
    )


async def test_a_comment_that_was_refused_keeps_what_was_typed(pages: Pages, owner: Visitor) -> None:
    _, _, path = await pushed_project(pages)
    await owner.get(path)
    fields = {"path": "app/f.py", "start_line": "9", "end_line": "2", "text": "Half a <thought>"}
    refused = await owner.post(f"{path}/comment", **fields)
    assert (refused.status_code, "endLine comes before startLine" in words(refused)) == (400, True)
    form = next(one for one in refused.text.split("<form") if 'name="path" value="app/f.py"' in one)
    assert ">Half a &lt;thought&gt;</textarea>" in form and 'value="9"' in form and 'value="2"' in form
    assert refused.text.count("Half a") == 1, "no other file's form holds it"


async def test_hostile_names_and_odd_files_are_told_in_words(pages: Pages, owner: Visitor) -> None:
    project = await pages.engine.project(test="true", files={"run.sh": "x\n", "old.py": "1\n" * 30})
    work = await project.declare("run.sh")
    source = project.engine.folder / f"odd-{project.slug}"
    git(project.engine.folder, "clone", "-q", str(project.source), str(source))
    (source / '<img src=x onerror=alert(1)> "é".py').write_text(f"{EVIL}\n")
    (source / "link").symlink_to("/etc/passwd")
    (source / "logo.bin").write_bytes(bytes(range(256)))
    (source / "run.sh").chmod(0o755)
    git(source, "mv", "old.py", "new.py")
    git(source, "add", "-A")
    git(source, "commit", "-qm", "odd")
    head = git(source, "rev-parse", "HEAD")
    git(project.repository_path, "fetch", "-q", str(source), head)
    await project.push(work, {"more.txt": "m\n"}, onto=head)
    page = await owner.get(f"/p/{project.slug}/i/{work.intent.number}")
    said = words(page)
    for note in (
        '<img src=x onerror=alert(1)> "é".py new file',
        "link new symbolic link",
        "logo.bin new file binary: its content is not shown",
        "run.sh made executable",
        "old.py → new.py renamed, content unchanged",
    ):
        assert note in said, note
    assert "<img" not in page.text and "<script>alert" not in page.text
    name = '<img src=x onerror=alert(1)> "é".py'
    fields = {"path": name, "start_line": "1", "end_line": "1", "text": "Rename it."}
    assert f'name="path" value="{name}"' in unescape(page.text).replace("&#34;", '"')
    await owner.post(f"/p/{project.slug}/i/{work.intent.number}/comment", **fields)
    assert (
        "Rename it."
        in words(await owner.get(f"/p/{project.slug}/i/{work.intent.number}"))
        .partition("passwd")[0]
        .rpartition("script>")[2]
    ), "under its line"


async def test_a_difference_too_long_for_a_page_says_how_much_is_missing(
    pages: Pages, owner: Visitor
) -> None:
    project = await pages.engine.project(test="true")
    work = await project.declare("lib/")
    if work.intent.state.value == "plan_review":
        await project.decide(work, "approve", "plan")
    files = {f"lib/{n:02}.py": "".join(f"v{k} = {k}\n" for k in range(300)) for n in range(30)}
    await project.push(work, files)
    page = await owner.get(f"/p/{project.slug}/i/{work.intent.number}")
    said = words(page)
    assert "30 files +9000 −0 against the line" in said
    assert re.search(r"shown are its first 58\d\d changed lines of 9000, in 20 of 30 files", said)
    assert f"fetch refs/intents/{work.intent.id}" in said and "The rest of this file is not shown." in said
    assert "lib/29.py not shown +300 −0" in said
    assert page.text.count('<details class="file"') == 20
    assert page.text.count(" lines, closed") > 10, "not all of it is open at once"
