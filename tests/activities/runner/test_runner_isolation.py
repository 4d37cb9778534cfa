"""What the kernel gives is in force and said; what it does not give is said too, and the run goes on."""

import asyncio
import json
import os
import shutil
import socket
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import activities.runner
from activities.runner.environment import check_environment, make_folders
from activities.runner.isolation import Isolation, Limits, identity_of, plan
from activities.runner.launched import LAUNCHER
from activities.runner.process import run_command
from tests.activities.runner.conftest import BARE, Holders, Log, Run

OPEN_PATH = "/usr/bin:/bin"
SYSTEM_PYTHON = "/usr/bin/python3"
NO_NETWORK = "no network but localhost"

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root may change to another user")


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder every user can reach, which pytest's own are not."""
    folder = Path(tempfile.mkdtemp(prefix="gr-test-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


async def test_a_run_is_told_what_held_for_it(run: Run) -> None:
    ended = await run("true", isolation=BARE, limits=Limits(open_files=512, processes=900))
    assert ended.isolation[0] == "own session"
    assert ended.isolation[1] == "no new privileges"
    assert ended.isolation[2] == "limits: no core files, 512 open files a process, 900 processes"
    assert ended.isolation[3:] == ("runs as the server's user",)


async def test_limits_are_the_commands_own(run: Run, log: Log) -> None:
    await run(
        "ulimit -n; ulimit -c; ulimit -d; ulimit -t",
        limits=Limits(open_files=512, memory_bytes=512 * 1024 * 1024, cpu_sec=7),
    )
    assert log.text().split() == ["512", "0", str(3 * 1024 * 1024), "12"]


async def test_no_program_of_a_run_can_gain_privileges(run: Run, log: Log) -> None:
    await run("grep NoNewPrivs /proc/self/status")
    assert log.text().split() == ["NoNewPrivs:", "1"]


async def test_an_isolated_run_reaches_no_address_but_its_own_localhost(run: Run, log: Log) -> None:
    with socket.create_server(("127.0.0.1", 0)) as outside:
        port = outside.getsockname()[1]
        ended = await run(
            [SYSTEM_PYTHON, "-I", "-c", PROBE, str(port)], isolation=Isolation(own_processes=False)
        )
    if NO_NETWORK not in ended.isolation:
        pytest.skip("this kernel gives no network namespaces")
    assert log.text() == "outside: refused\nown: reached\ninternet: unreachable\n"


async def test_a_run_with_the_network_open_reaches_it(run: Run, log: Log) -> None:
    with socket.create_server(("127.0.0.1", 0)) as outside:
        port = outside.getsockname()[1]
        ended = await run([SYSTEM_PYTHON, "-I", "-c", PROBE.split("own =")[0], str(port)], isolation=BARE)
    assert NO_NETWORK not in ended.isolation
    assert log.text() == "outside: reached\n"


PROBE = """
import socket, sys
def reach(address, words):
    try:
        socket.create_connection(address, timeout=5).close()
        return "reached"
    except OSError:
        return words
print("outside:", reach(("127.0.0.1", int(sys.argv[1])), "refused"))
own = socket.create_server(("127.0.0.1", 0))
print("own:", reach(own.getsockname(), "refused"))
print("internet:", reach(("192.0.2.1", 80), "unreachable"))
"""


@as_root
async def test_a_run_as_another_user_owns_its_checkout_and_nothing_of_the_server(
    open_folder: Path, log: Log
) -> None:
    checkout = _checkout_with_links(open_folder)
    folders = make_folders(open_folder)
    environment = check_environment(folders, [], {"PATH": OPEN_PATH})
    made = plan(
        Isolation(user="nobody"), Limits(), 60, "id", environment, (checkout, folders.top)
    )  # fmt: skip
    ended = await run_command(
        'id -un; echo x >new; echo y >old; cat "$HOME"/../home/. 2>/dev/null; echo z >"$HOME/f" && echo home; '
        "test -w shared || echo shared is closed; test -r /root || echo root is closed",
        cwd=checkout, environment=environment, timeout_sec=60, log_path=log.path, plan=made, remove=(folders.top,),
    )  # fmt: skip
    assert ended.isolation[-1] == "runs as nobody"
    assert log.text() == "nobody\nhome\nshared is closed\nroot is closed\n"
    assert (open_folder / "secret").stat().st_uid == 0
    assert (open_folder / "linked").stat().st_uid == 0
    assert not folders.top.exists()


def _checkout_with_links(folder: Path) -> Path:
    """A checkout with a file, a link out of it, and a file that has a second name outside, as Git's local clones have."""
    checkout = folder / "checkout"
    checkout.mkdir()
    (checkout / "old").write_text("old")
    (folder / "secret").write_text("secret")
    (checkout / "link").symlink_to(folder / "secret")
    (folder / "linked").write_text("linked")
    (checkout / "shared").hardlink_to(folder / "linked")
    return checkout


@as_root
def test_the_user_is_kept_when_another_could_not_reach_what_the_command_needs(open_folder: Path) -> None:
    closed = open_folder / "closed"
    (closed / "bin").mkdir(parents=True)
    closed.chmod(0o700)
    tool = closed / "bin" / "tool"
    tool.write_text("#!/bin/sh\n")
    tool.chmod(0o755)
    (open_folder / "open").mkdir()
    (open_folder / "open" / "tool").symlink_to(tool)

    on_path = identity_of("nobody", "true", f"{closed}/bin:{OPEN_PATH}", [])
    linked = identity_of("nobody", "env A=1 tool --fast", f"{open_folder}/open:{OPEN_PATH}", [])
    folder = identity_of("nobody", "true", OPEN_PATH, [str(closed / "checkout")])
    fine = identity_of("nobody", "sh -c 'true", OPEN_PATH, [str(open_folder / "checkout")])

    assert (on_path.uid, on_path.words) == (
        None,
        f"runs as the server's user: {closed}/bin is closed to nobody",
    )
    assert (linked.uid, linked.words) == (None, f"runs as the server's user: {tool} is closed to nobody")
    assert (folder.uid, folder.words) == (None, f"runs as the server's user: {closed} is closed to nobody")
    assert fine.words == "runs as nobody"


@as_root
def test_a_user_that_does_not_exist_is_said_and_not_guessed() -> None:
    identity = identity_of("no-such-user", "true", OPEN_PATH, [])
    assert (identity.uid, identity.words) == (
        None,
        "runs as the server's user: there is no user no-such-user",
    )


@as_root
async def test_a_server_that_is_not_root_isolates_its_runs_as_well(open_folder: Path) -> None:
    """The launcher as an ordinary user starts it, in a user namespace of its own."""
    if not os.access(SYSTEM_PYTHON, os.X_OK):
        pytest.skip("no Python that every user can run")
    package = open_folder / "activities" / "runner"
    shutil.copytree(Path(activities.runner.__file__).parent / "launch", package / "launch")
    for folder in (package.parent, package):
        (folder / "__init__.py").write_text("")
    launcher = package / "launch" / "__main__.py"
    report = await _report_of(
        [SYSTEM_PYTHON, "-I", "-S", str(launcher)], "id -u; ls /proc | grep -c '^[0-9]*$'; exit 6", 65534
    )
    if "namespaces" in report["refused"]:
        assert report["status"] == 6 << 8
        pytest.skip(f"user namespaces are off here: {report['refused']['namespaces']}")
    assert (report["held"], report["processes"]) == (["no_network"], True)
    assert (report["status"], report["said"]) == (6 << 8, ["65534", "4"])


@as_root
async def test_a_kernel_that_gives_no_namespaces_is_said_and_the_run_goes_on(holders: Holders) -> None:
    """Root without its capabilities, as in many containers."""
    setpriv = shutil.which("setpriv")
    if setpriv is None:
        pytest.skip("no setpriv here")
    bare = [setpriv, "--bounding-set", "-all", "--", sys.executable, "-I", "-S", str(LAUNCHER)]
    command = f"exec 3>{holders.path}; setsid sleep 1000 & exit 6"
    report = await _report_of(bare, command, 0)
    assert report["held"] == []
    assert report["refused"] == {"no_network": "Operation not permitted"}
    assert report["no_processes"] == "Operation not permitted"
    assert (report["status"], report["left"]) == (6 << 8, 0)
    assert holders.said() == b""


async def _report_of(launcher: list[str], command: str, user: int) -> dict[str, Any]:
    """What a launcher reports of a command when `user` starts it, and what the command said."""
    control, keep = os.pipe()
    end, report = os.pipe()
    spec = {
        "argv": ["/bin/sh", "-c", command], "cwd": "/", "grace": 1, "no_network": True, "own_processes": True,
        "uid": None, "gid": None, "give": [], "remove": [], "limits": {"RLIMIT_CORE": 0}, "control": control,
        "report": report,
    }  # fmt: skip
    process = await asyncio.create_subprocess_exec(
        *launcher, json.dumps(spec),
        pass_fds=(control, report), user=user, group=user, env={"PATH": OPEN_PATH}, stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    os.close(report)
    said, _ = await process.communicate()
    data = os.read(end, 65_536)
    for fd in (control, keep, end):
        os.close(fd)
    answer: dict[str, Any] = json.loads(data)
    return answer | {"said": said.decode().split()}
