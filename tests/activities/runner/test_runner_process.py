"""A run is ended as a whole, in time, whatever its command does."""

import asyncio
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from activities.runner.isolation import Isolation
from activities.runner.launched import Watching
from activities.runner.process import Ended
from tests.activities.runner.conftest import BARE, Holders, Log, Run

GROUNDS = pytest.mark.parametrize("ground", [BARE, Isolation()], ids=["bare", "isolated"])
ESCAPES = "exec 3>{pipe}; setsid sh -c 'setsid sleep 1000 & echo up >&3; exec sleep 1000' & "


async def test_both_streams_of_a_command_are_in_the_log_in_the_order_they_were_written(
    run: Run, log: Log
) -> None:
    ended = await run("echo one; echo two >&2; echo three")
    assert log.text() == "one\ntwo\nthree\n"
    assert (ended.exit_code, ended.signal, ended.problem, ended.log_bytes) == (0, None, None, 14)


async def test_a_command_reads_an_empty_input(run: Run, log: Log) -> None:
    await run("cat; echo read")
    assert log.text() == "read\n"


async def test_an_argument_list_runs_without_a_shell(run: Run, log: Log) -> None:
    ended = await run(["/bin/echo", "$HOME; exit 3"])
    assert (ended.exit_code, log.text()) == (0, "$HOME; exit 3\n")


async def test_an_exit_code_and_a_signal_are_told_apart(run: Run) -> None:
    assert (await run("exit 7")).exit_code == 7
    killed = await run("kill -SEGV $$")
    assert (killed.exit_code, killed.signal) == (None, "SIGSEGV")


async def test_a_program_that_does_not_exist_is_a_problem_and_no_exit_code(run: Run) -> None:
    ended = await run(["no-such-program"])
    assert (ended.exit_code, ended.problem) == (
        None,
        "No such file or directory, while starting no-such-program",
    )


async def test_a_file_that_may_not_be_executed_is_a_problem(run: Run, checkout: Path) -> None:
    (checkout / "tool").write_text("#!/bin/sh\n")
    ended = await run(["./tool"])
    assert ended.problem == "Permission denied, while starting ./tool"


async def test_a_checkout_that_is_gone_is_a_problem(run: Run, tmp_path: Path) -> None:
    ended = await run("true", cwd=tmp_path / "gone")
    assert ended.problem == "No such file or directory, while entering the checkout"


@GROUNDS
async def test_what_runs_past_its_time_is_ended_with_all_it_forked(
    run: Run, holders: Holders, ground: Isolation
) -> None:
    escapes = ESCAPES.format(pipe=holders.path) + "sleep 1000"
    ended = await _past_its_time(run, holders.said, escapes, isolation=ground)
    assert (ended.timed_out, ended.signal) == (True, "SIGTERM")


@GROUNDS
async def test_what_ignores_the_request_to_end_is_killed_after_the_grace(
    run: Run, holders: Holders, ground: Isolation
) -> None:
    deaf = f"exec 3>{holders.path}; trap '' TERM; echo up >&3; while :; do sleep 1000; done"
    ended = await _past_its_time(run, holders.said, deaf, isolation=ground, grace_sec=0.2)
    assert (ended.timed_out, ended.exit_code, ended.signal) == (True, None, "SIGKILL")


@GROUNDS
async def test_a_command_may_clean_up_when_its_time_is_over(run: Run, log: Log, ground: Isolation) -> None:
    polite = "trap 'echo cleaned; exit 5' TERM; echo up; while :; do sleep 0.05; done"
    ended = await _past_its_time(run, lambda: log.data()[:3], polite, isolation=ground, grace_sec=30.0)
    assert log.text().endswith("cleaned\n")
    assert (ended.timed_out, ended.exit_code) == (True, 5)


async def _past_its_time(run: Run, said: Callable[[], bytes], command: str, **asked: object) -> Ended:
    """How a run ends whose time is over once its processes are up; a busy machine gets more time for that."""
    for limit in (0.5, 4.0, 30.0):
        ended = await run(command, timeout_sec=limit, **asked)
        if words := said():
            assert words == b"up\n"
            return ended
    pytest.fail(f"its processes were not up after {limit:g} s")


@GROUNDS
async def test_a_background_child_that_keeps_the_output_open_does_not_hold_up_the_run(
    run: Run, holders: Holders, ground: Isolation
) -> None:
    started = (
        f"mkfifo ready; {ESCAPES.format(pipe=holders.path).replace('echo up >&3', 'echo up >&3; : >ready')}"
    )
    ended = await run(started + "cat ready; exit 4", isolation=ground)
    assert (ended.exit_code, ended.timed_out) == (4, False)
    assert holders.said() == b"up\n"


@GROUNDS
async def test_hundreds_of_processes_that_fork_on_are_all_ended(
    run: Run, holders: Holders, ground: Isolation
) -> None:
    forks = (
        f"exec 3>{holders.path}; b() {{ [ $1 -eq 0 ] || {{ b $(($1-1)) & b $(($1-1)) & }}; sleep 1000; }}; "
    )
    ended = await run(forks + "b 6 & b 6 & echo up >&3; exit 0", isolation=ground)
    assert ended.exit_code == 0
    assert holders.said() == b"up\n"


@GROUNDS
async def test_a_cancelled_task_raises_only_after_all_processes_are_gone(
    run: Run, holders: Holders, ground: Isolation
) -> None:
    up = asyncio.Event()
    watching = Watching(on_output=lambda _: up.set())
    waits = (
        f"mkfifo ready; {ESCAPES.format(pipe=holders.path).replace('echo up >&3', 'echo up >&3; : >ready')}"
    )
    task = asyncio.create_task(
        run(waits + "cat ready; echo up; sleep 1000", isolation=ground, watching=watching)
    )
    await up.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert holders.said() == b"up\n"


async def test_a_task_cancelled_again_and_again_still_ends_its_processes(run: Run, holders: Holders) -> None:
    up = asyncio.Event()
    deaf = f"exec 3>{holders.path}; trap '' TERM; echo up >&3; echo up; while :; do sleep 1000; done"
    task = asyncio.create_task(run(deaf, watching=Watching(on_output=lambda _: up.set()), grace_sec=0.3))
    await up.wait()
    while not task.done():
        task.cancel()
        await asyncio.wait({task}, timeout=0.05)
    assert task.cancelled()
    assert holders.said() == b"up\n"


async def test_setting_the_cancel_event_ends_the_run_and_is_said(run: Run, holders: Holders) -> None:
    cancel = asyncio.Event()
    watching = Watching(cancel=cancel, on_output=lambda _: cancel.set())
    ended = await run(f"exec 3>{holders.path}; echo up; sleep 1000", watching=watching)
    assert (ended.cancelled, ended.timed_out, ended.signal) == (True, False, "SIGTERM")
    assert holders.said() == b""


@GROUNDS
async def test_a_run_dies_with_the_server_that_started_it(
    tmp_path: Path, checkout: Path, holders: Holders, ground: Isolation
) -> None:
    server = tmp_path / "server.py"
    server.write_text(SERVER.format(checkout=str(checkout), log=str(tmp_path / "l"), ground=ground))
    waits = ESCAPES.format(pipe=holders.path).replace("echo up >&3", "echo up >&3; : >ready")
    process = await asyncio.create_subprocess_exec(
        sys.executable, server, f"mkfifo ready; {waits}cat ready; echo up; sleep 1000",
        stdout=asyncio.subprocess.PIPE, cwd=Path(__file__).parents[3],
    )  # fmt: skip
    assert process.stdout is not None
    assert await process.stdout.readline() == b"up\n"
    process.kill()
    await process.wait()
    await asyncio.to_thread(holders.wait)
    assert holders.said() == b"up\n"


SERVER = """
import asyncio, os, sys
sys.path.insert(0, os.getcwd())
from pathlib import Path
from activities.runner.isolation import Isolation, Limits, plan
from activities.runner.launched import Watching
from activities.runner.process import run_command

asyncio.run(run_command(sys.argv[1], cwd=Path({checkout!r}), environment=dict(os.environ), timeout_sec=60,
    log_path=Path({log!r}), plan=plan({ground!r}, Limits(), 60, "", dict(os.environ), ()),
    watching=Watching(on_output=lambda data: os.write(1, data))))
"""


async def test_a_command_that_kills_its_own_keeper_leaves_nothing_behind(run: Run, holders: Holders) -> None:
    ended = await run(f"exec 3>{holders.path}; echo up >&3; setsid sleep 1000 & kill -9 $PPID; sleep 1000")
    assert ended.problem is not None and "ended from outside" in ended.problem
    assert holders.said() == b"up\n"


async def test_a_process_of_an_isolated_run_sees_and_reaches_only_its_own(run: Run, log: Log) -> None:
    probe = f"ls /proc | grep -c '^[0-9]*$'; kill -0 {os.getpid()} 2>/dev/null || echo out of reach"
    ended = await run(probe, isolation=Isolation())
    if "own process namespace" not in ended.isolation:
        pytest.skip("this kernel gives no process namespaces")
    count, words = log.text().split("\n", 1)
    assert int(count) <= 5
    assert words == "out of reach\n"


async def test_output_that_is_not_text_is_kept_as_it_is(run: Run, log: Log) -> None:
    await run(["printf", r"\377\376\000\001a\r\n\033[31m"])
    assert log.data() == b"\xff\xfe\x00\x01a\r\n\x1b[31m"


async def test_a_flood_of_output_neither_blocks_the_run_nor_fills_the_disk(run: Run, log: Log) -> None:
    longest = 0

    def seen(_: bytes) -> None:
        nonlocal longest
        longest = max(longest, log.size())

    ended = await run(
        "echo first; yes | head -c 300000000; echo last", log_limit=100_000, watching=Watching(on_output=seen)
    )
    assert (ended.exit_code, ended.log_bytes, ended.truncated) == (0, 300_000_011, True)
    assert longest <= 100_000
    kept = log.data()
    assert len(kept) < 100_100
    assert kept.startswith(b"first\ny\n") and kept.endswith(b"y\nlast\n")
    assert b"\n[299900011 bytes of output are left out here]\n" in kept


async def test_the_log_can_be_followed_while_the_run_goes_on(run: Run, log: Log, checkout: Path) -> None:
    seen: list[str] = []
    gate = checkout / "gate"
    os.mkfifo(gate)
    end = os.open(gate, os.O_RDWR)

    def follow(_: bytes) -> None:
        seen.append(log.text())
        os.write(end, b"go\n")

    await run("echo one; read go <gate; echo two", watching=Watching(on_output=follow))
    os.close(end)
    assert seen == ["one\n", "one\ntwo\n"]


async def test_the_heartbeat_goes_on_while_a_silent_command_runs(run: Run) -> None:
    cancel = asyncio.Event()
    beats: list[int] = []

    def beat(written: int) -> None:
        beats.append(written)
        if len(beats) == 3:
            cancel.set()

    ended = await run("sleep 1000", watching=Watching(cancel=cancel, heartbeat=beat, heartbeat_sec=0.05))
    assert ended.cancelled
    assert beats[:3] == [0, 0, 0]


async def test_what_a_heartbeat_raises_ends_the_run_and_is_raised_on(run: Run, holders: Holders) -> None:
    def beat(written: int) -> None:
        if written:
            raise LookupError("no such activity")

    with pytest.raises(LookupError, match="no such activity"):
        await run(
            f"exec 3>{holders.path}; echo up >&3; echo up; sleep 1000",
            watching=Watching(heartbeat=beat, heartbeat_sec=0.05),
        )
    assert holders.said() == b"up\n"


async def test_a_log_that_cannot_be_written_ends_the_run_and_is_raised(run: Run, log: Log) -> None:
    os.symlink("/dev/full", log.path)
    with pytest.raises(OSError, match="No space left"):
        await run("yes")


async def test_the_folders_of_a_run_are_removed_with_whatever_it_left_in_them(
    run: Run, tmp_path: Path
) -> None:
    closed = 'mkdir -p "$HOME/a/b/c"; echo x >"$HOME/a/b/c/d"; chmod 000 "$HOME/a/b" "$HOME/a"; ls -d "$TMPDIR" "$HOME"'
    await run(closed)
    assert [name for name in os.listdir(tmp_path) if name.startswith("gr-")] == []


async def test_a_run_leaves_no_file_descriptor_open(run: Run) -> None:
    await run("true")
    before = set(os.listdir("/proc/self/fd"))
    for _ in range(3):
        await run("echo one")
        await run("sleep 1000", timeout_sec=0.1)
    assert set(os.listdir("/proc/self/fd")) == before


async def test_a_command_ignores_no_signal_that_a_shell_would_not(run: Run, log: Log) -> None:
    await run(["grep", "SigIgn", "/proc/self/status"])
    ignored = int(log.text().split()[-1], 16)
    usual = (signal.SIGPIPE, signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGXFSZ, signal.SIGCHLD)
    assert [number.name for number in usual if ignored & (1 << (number - 1))] == []
