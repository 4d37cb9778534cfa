import asyncio
import os
from pathlib import Path

import psutil
import pytest

from storage.git.command import environment, run, started
from storage.git.errors import GitFailed, GitTimedOut, OutputTooLarge


def test_the_environment_of_git_inherits_nothing_that_steers_git(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_DIR", "/elsewhere")
    monkeypatch.setenv("GIT_SSH_COMMAND", "surprise")
    monkeypatch.setenv("HOME", "/home/somebody")
    made = environment({"GIT_INDEX_FILE": "mine"})
    assert "GIT_DIR" not in made
    assert "GIT_SSH_COMMAND" not in made
    assert made["HOME"] == "/nonexistent"
    assert made["GIT_INDEX_FILE"] == "mine"


async def test_an_operators_own_git_settings_do_not_reach_the_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".gitconfig").write_text("[user]\n\tname = Operator\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    answer = await run("config", "--get", "user.name", accept=(0, 1))
    assert (answer.code, answer.stdout) == (1, b"")


async def test_an_unexpected_exit_code_says_what_git_said(tmp_path: Path) -> None:
    with pytest.raises(GitFailed, match="not a git repository") as caught:
        await run("status", cwd=tmp_path)
    assert caught.value.code == 128
    assert caught.value.command == ("status",)


async def test_input_larger_than_a_pipe_goes_through(tmp_path: Path) -> None:
    data = os.urandom(3_000_000)
    answer = await run("hash-object", "--stdin", stdin=data)
    again = await run("hash-object", "--stdin", stdin=data)
    assert answer.stdout == again.stdout
    assert len(answer.stdout.strip()) == 40


async def test_output_above_the_limit_is_refused_or_cut_as_the_caller_chose(tmp_path: Path) -> None:
    await run("init", "--quiet", str(tmp_path))
    oid = (
        (await run("hash-object", "-w", "--stdin", cwd=tmp_path, stdin=b"x" * 500_000))
        .stdout.decode()
        .strip()
    )
    with pytest.raises(OutputTooLarge):
        await run("cat-file", "blob", oid, cwd=tmp_path, limit=1_000)
    cut = await run("cat-file", "blob", oid, cwd=tmp_path, limit=1_000, truncate=True)
    assert cut.truncated
    assert cut.stdout == b"x" * 1_000


async def test_a_command_that_takes_too_long_is_ended_with_all_it_started(tmp_path: Path) -> None:
    marker = f"GITRING_MARK_{tmp_path.name}"
    with pytest.raises(GitTimedOut):
        await run("-c", "alias.wait=!sleep 600", "wait", env={marker: "1"}, timeout=0.3)
    assert not _carrying(marker)


async def test_cancelling_the_caller_ends_the_command_with_all_it_started(tmp_path: Path) -> None:
    marker = f"GITRING_MARK_{tmp_path.name}"
    running = asyncio.Event()

    async def command() -> None:
        async with started("-c", "alias.say=!echo up; sleep 600", "say", env={marker: "1"}) as process:
            assert process.stdout is not None
            await process.stdout.readline()
            running.set()
            await process.wait()

    task = asyncio.create_task(command())
    await running.wait()
    assert len(_carrying(marker)) >= 2
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not _carrying(marker)


def _carrying(marker: str) -> list[psutil.Process]:
    found = []
    for process in psutil.process_iter():
        try:
            if marker in process.environ() and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except psutil.Error:
            continue
    return found
