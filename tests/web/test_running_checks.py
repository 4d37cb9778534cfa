"""A check while it runs, over HTTP on real servers: its log grows before the reader's eyes and ends with the verdict."""

import asyncio
import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import psutil
import pytest
from playwright.async_api import expect

from protocol.answers import DeclareResult
from protocol.intents import WithdrawInput
from protocol.project_checks import NamedCheck
from protocol.projects import ChangeSettings
from protocol.states import State
from tests.support.engine import ProjectUnderTest
from tests.support.stack import COMMAND
from tests.web.browser import CHROMIUM, NONE_HERE, chromium
from tests.web.served import Pages
from tests.web.visitor import Visitor, words

BEGIN = r"printf 'TAP version 13\n1..2\n\033[31mok 1 - <b>one</b>\033[0m\n'"
FIRST = "TAP version 13\n1..2\n\x1b[31mok 1 - <b>one</b>\x1b[0m\n"


# The line itself passes.
ON_WORK = "grep -q new app/f1.py || exit 0"


@dataclass
class Held:
    """A project whose check prints, and then reads a pipe to its end before it prints the rest."""

    project: ProjectUnderTest
    pipe: Path
    intent: DeclareResult
    check: str

    async def say(self, text: str) -> None:
        """Let the check print this and go on."""
        await asyncio.to_thread(self.pipe.write_text, text)


async def held(pages: Pages, folder: Path, **more: Any) -> Held:
    """An intent whose check runs and has printed its first lines; a person would decide about the merge."""
    pipe = folder / "pipe"
    os.mkfifo(pipe)
    project = await pages.engine.project()
    check = NamedCheck.model_validate(
        {"name": "slow", "command": f"{BEGIN}; cat {pipe}; echo 'ok 2 - two'", **more}
    )
    changes = {"checks": {"named": [check.model_dump(by_alias=True)]}, "mergeApproval": "always"}
    await pages.engine.operations.change_settings(
        pages.engine.owner, project.slug, ChangeSettings.model_validate(changes)
    )
    intent = await project.declare("app/f1.py")
    await project.push(intent, {"app/f1.py": "new\n"})
    await project.submit(intent)
    async with asyncio.timeout(60):
        async for event in pages.engine.operations.live_events(project.agent, project.slug, 0):
            if event.event_type == "check.started":
                return Held(project, pipe, intent, event.entity_id)
    raise AssertionError("no check began")


@asynccontextmanager
async def rest(pages: Pages, person_id: str) -> AsyncIterator[httpx2.AsyncClient]:
    """REST as a person."""
    token = await pages.token(person_id)
    async with httpx2.AsyncClient(
        base_url=f"{pages.url}/api/v1",
        headers={"Authorization": f"Bearer {token}"},
        timeout=30,
        trust_env=False,
    ) as http:
        yield http


async def events(lines: AsyncIterator[str]) -> AsyncIterator[tuple[str, str, dict[str, Any]]]:
    """Id, name and data of each event."""
    found: dict[str, str] = {}
    async for line in lines:
        if line:
            name, _, value = line.partition(": ")
            found[name] = value
        elif "data" in found:
            yield found.get("id", ""), found.get("event", ""), json.loads(found["data"] or "{}")
            found = {}


@asynccontextmanager
async def followed(
    http: httpx2.AsyncClient, check: str, **headers: str
) -> AsyncIterator[AsyncIterator[tuple[str, str, dict[str, Any]]]]:
    """The events of a running check's log."""
    async with (
        asyncio.timeout(60),
        http.stream("GET", f"/checks/{check}/log/stream", headers=headers) as answer,
    ):
        assert answer.status_code == 200
        yield events(answer.aiter_lines())


async def output(stream: AsyncIterator[tuple[str, str, dict[str, Any]]], wanted: str) -> tuple[str, str]:
    """The output from here up to `wanted`, and where to go on."""
    said = ""
    async for at, name, data in stream:
        if name == "output":
            said += data["text"]
            if wanted in said:
                return said, at
    raise AssertionError(f"the stream ended after {said!r}")


async def test_a_log_is_followed_left_taken_up_again_and_ends_with_the_verdict(
    pages: Pages, tmp_path: Path
) -> None:
    run = await held(pages, tmp_path)
    async with rest(pages, pages.engine.owner.person_id) as http:
        async with followed(http, run.check) as stream:
            said, at = await output(stream, "</b>\x1b[0m\n")
            assert said == FIRST
            at, name, far = await anext(stream)
            assert (name, far["lines"], far["passed"], far["total"], far["percent"]) == (
                "progress",
                3,
                1,
                2,
                50,
            )
            assert far["said"].endswith(" · 3 lines · 1 test passed, of 2 (50 %)")
        so_far = await http.get(f"/checks/{run.check}/log")
        assert (so_far.text, so_far.headers["content-type"]) == (FIRST, "text/plain; charset=utf-8")
        await run.say("middle ✓\n")
        async with followed(http, run.check, **{"Last-Event-ID": at}) as stream:
            heard = [(name, data) async for _, name, data in stream]
        rest_of_it = "".join(data["text"] for name, data in heard if name == "output")
        assert rest_of_it == "middle ✓\nok 2 - two\n"
        assert (heard[-1][0], heard[-1][1]["state"]) == ("end", "passed")
        whole = FIRST + rest_of_it
        assert (await http.get(f"/checks/{run.check}/log")).text == whole
        later = await http.get(f"/checks/{run.check}/log/stream", params={"offset": len(FIRST)})
        assert later.text.count("event: output") == 1 and "event: end" in later.text
    left = "SELECT count(*) FROM check_output WHERE check_id = $1"
    assert await pages.engine.found.pool.fetchval(left, run.check) == 0


async def test_the_page_shows_the_last_lines_as_text_and_the_verdict_when_it_is_there(
    pages: Pages, owner: Visitor, tmp_path: Path
) -> None:
    command = f"{ON_WORK}; {BEGIN}; cat {tmp_path / 'pipe'}; mkdir out; echo '<x/>' >out/a.xml; exit 1"
    run = await held(pages, tmp_path, command=command, artifacts=["out/"], memoryMb=500)
    page = f"/p/{run.project.slug}/checks/{run.check}"
    async with asyncio.timeout(60), owner.http.stream("GET", f"{page}/output") as stream:
        lines = stream.aiter_lines()
        assert await anext(lines) == "retry: 2000"
        block = await owner.get(f"{page}/lately")
        while "&lt;b&gt;one" not in block.text:  # each ring of the stream may bring it
            assert "event: output" in [
                await anext(lines),
                await anext(lines),
                await anext(lines),
                await anext(lines),
            ]
            block = await owner.get(f"{page}/lately")
        assert "\x1b" not in block.text and "<b>" not in block.text
        assert "slow" in words(block) and "1 test passed, of 2 (50 %)" in words(block)
        assert f'data-output="{page}/output"' in (await owner.get(page)).text
        intent = await owner.get(f"/p/{run.project.slug}/i/{run.intent.intent.number}")
        assert "&lt;b&gt;one" in intent.text and f'data-output="{page}/output"' in intent.text
        await run.say("")
        assert "event: ended" in [line async for line in lines]
    ended = await owner.get(f"{page}/lately")
    assert "data-output" not in ended.text and "slow failed" in words(ended)
    shown = await owner.get(page)
    assert "out/a.xml" in words(shown) and "500 MiB of memory" in words(shown)
    file = await owner.get(f"{page}/files/1")
    assert (file.content, file.headers["content-type"]) == (b"<x/>\n", "application/octet-stream")
    assert file.headers["content-disposition"].startswith('attachment; filename="a.xml"')
    for number in ("2", "x", "..%2f1"):
        assert (await owner.get(f"{page}/files/{number}")).status_code == 404


async def test_a_stream_ends_when_its_reader_leaves_the_project_and_strangers_see_nothing(
    pages: Pages, tmp_path: Path
) -> None:
    run = await held(pages, tmp_path)
    reader = await pages.person("Vera Holm", run.project, "viewer")
    stranger = await pages.person("Jonas Weber")
    async with rest(pages, stranger.person_id) as http:
        for path in ("log", "log/stream", "artifacts", "artifacts/1"):
            assert (await http.get(f"/checks/{run.check}/{path}")).status_code == 404
    async with rest(pages, reader.person_id) as http, followed(http, run.check) as stream:
        await output(stream, "</b>")
        await pages.engine.operations.remove_member(pages.engine.owner, run.project.slug, reader.person_id)
        last = [(name, data) async for _, name, data in stream][-1]
        assert (last[0], last[1]["error"]["code"]) == ("error", "not_found")
        await run.say("secret\n")
        assert (await http.get(f"/checks/{run.check}/log")).status_code == 404


def of_the_run(pipe: Path) -> list[psutil.Process]:
    """The processes that know the pipe by name: the run's shell, what it started, and its launchers."""
    found = []
    for process in psutil.process_iter():
        try:
            if any(str(pipe) in word for word in process.cmdline()):
                found.append(process)
        except psutil.NoSuchProcess:
            continue
    return found


async def test_a_withdrawn_intents_check_is_gone_with_all_it_started_and_keeps_what_it_printed(
    pages: Pages, tmp_path: Path
) -> None:
    pipe = tmp_path / "pipe"
    command = f"trap '' TERM; {BEGIN}; setsid sh -c 'cat {pipe}' & (trap '' TERM; cat {pipe}) & cat {pipe}"
    run = await held(pages, tmp_path, command=command)
    async with rest(pages, pages.engine.owner.person_id) as http, followed(http, run.check) as stream:
        await output(stream, "</b>")
        started = of_the_run(pipe)
        assert len(started) > 3
        given = WithdrawInput(intent_id=run.intent.intent.id, reason="Nobody wants it.")
        await pages.engine.operations.withdraw(run.project.agent, given)
        _, alive = await asyncio.to_thread(psutil.wait_procs, started, timeout=8)
        assert alive == []
        heard = [(name, data) async for _, name, data in stream]
        assert (heard[-1][0], heard[-1][1]["state"]) == ("end", "cancelled")
        assert (await http.get(f"/checks/{run.check}/log")).text == FIRST
    assert (await run.project.status(run.intent)).intent.state is State.WITHDRAWN


async def test_output_that_no_ring_told_of_is_found_all_the_same(
    pages: Pages, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.live_logs.LOOK_SEC", 0.05)
    monkeypatch.setattr("bus.live.live_subject", lambda *_: "gitring.live.nobody.listens")
    run = await held(pages, tmp_path)
    async with rest(pages, pages.engine.owner.person_id) as http, followed(http, run.check) as stream:
        await output(stream, "</b>")
        await run.say("unrung\n")
        await output(stream, "ok 2")


async def test_the_command_follows_a_log_line_by_line_and_ends_as_the_check_did(
    pages: Pages, tmp_path: Path
) -> None:
    command = f"{ON_WORK}; {BEGIN}; cat {tmp_path / 'pipe'}; printf 'no line end'; exit 3"
    run = await held(pages, tmp_path, command=command)
    token = await pages.token(pages.engine.owner.person_id)
    following = await asyncio.create_subprocess_exec(
        *(COMMAND, "log", run.check, "--follow", "--url", pages.url, "--token", token),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    async with asyncio.timeout(60):
        assert following.stdout
        lines = [(await following.stdout.readline()).decode() for _ in range(3)]
        # A terminal that reads it is sent no escape of the check's.
        assert lines == ["TAP version 13\n", "1..2\n", "\ufffd[31mok 1 - <b>one</b>\ufffd[0m\n"]
        await run.say("more\n")
        out, err = await following.communicate()
    said = out.decode().splitlines()
    assert said[:2] == ["more", "no line end"]
    assert said[2].startswith("[failed: slow failed (exited 3)") and said[3:] == []
    assert following.returncode == 1 and err.decode().startswith("slow failed (exited 3)")


@pytest.mark.skipif(CHROMIUM is None, reason=NONE_HERE)
@pytest.mark.timeout(150)
async def test_an_open_page_grows_with_the_log_and_shows_the_verdict_by_itself(
    pages: Pages, tmp_path: Path
) -> None:
    expect.set_options(timeout=30_000)
    run = await held(pages, tmp_path)
    complaints: list[str] = []
    async with chromium() as browser:
        page = await browser.new_page(base_url=pages.url)
        page.on("pageerror", lambda problem: complaints.append(str(problem)))
        page.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
        await page.goto(f"/sign-in#{await pages.link(pages.engine.owner.person_id)}")
        await expect(page).to_have_url(f"{pages.url}/sign-in")
        await page.keyboard.press("Enter")
        await expect(page).to_have_url(f"{pages.url}/")
        await page.goto(f"/p/{run.project.slug}/i/{run.intent.intent.number}")
        await page.evaluate("window.mark = true")
        block = page.locator(".running")
        await expect(block).to_contain_text("ok 1 - <b>one</b>")
        with await asyncio.to_thread(run.pipe.open, "w") as pipe:
            pipe.write("<i>more</i>\n")
            pipe.flush()
            await expect(block).to_contain_text("<i>more</i>")
        await expect(page.locator("ul.checks")).to_contain_text("passed")
        await expect(page.locator("[data-output]")).to_have_count(0)
        assert await page.evaluate("window.mark")  # and it was never loaded anew
    assert complaints == []
