"""A run that uses more than it may is ended, with all of its processes, and says in words by which limit."""

import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from activities.runner.check import run_check
from activities.runner.isolation import Isolation, Limits
from activities.runner.users import FIRST_USER, USERS, RunUsers
from protocol.checks import CheckDefinition, CheckState, RunResult
from tests.activities.runner.conftest import BARE, Holders, Log

MIB = 1024 * 1024
GROUNDS = pytest.mark.parametrize("ground", [BARE, Isolation()], ids=["bare", "isolated"])
EATS = f"{sys.executable} -S -c \"import time; kept = b'x' * {300 * MIB}; print('full', flush=True); time.sleep(1000)\""
SPINS = f'{sys.executable} -S -c "while True: pass"'
MANY = "for n in $(seq 40); do sleep 1000 & done; wait"


class Run:
    """Runs a check in a checkout of its own."""

    def __init__(self, checkout: Path, log: Log, scratch: Path) -> None:
        self.checkout, self.log, self.scratch = checkout, log, scratch

    async def __call__(self, command: str, ground: Isolation, limits: Limits) -> RunResult:
        return await run_check(
            CheckDefinition(command=command, timeout_sec=60),
            self.checkout,
            self.log.path,
            isolation=ground,
            limits=limits,
            scratch=self.scratch,
        )


@pytest.fixture
def check(checkout: Path, log: Log, tmp_path: Path) -> Run:
    """Runs one check."""
    return Run(checkout, log, tmp_path)


@GROUNDS
@pytest.mark.parametrize(
    ("command", "limits", "words"),
    [
        (EATS, Limits(memory_bytes=128 * MIB), "128 MiB of memory"),
        (f"{SPINS} & {SPINS} & wait", Limits(cpu_sec=1), "1 s of CPU time"),
        (MANY, Limits(processes=20), "20 processes"),
    ],
    ids=["memory", "cpu of two", "processes"],
)
async def test_a_run_over_a_limit_is_ended_and_the_limit_is_named(
    check: Run, holders: Holders, ground: Isolation, command: str, limits: Limits, words: str
) -> None:
    result = await check(f"exec 3>{holders.path}; {command}", ground, limits)
    assert (result.state, result.timed_out) == (CheckState.FAILED, True)
    assert result.summary.startswith(f"tests failed (stopped: it used more than {words}, the check's limit)")
    assert any(words in said for said in result.isolation)
    assert holders.said() == b""


@GROUNDS
async def test_a_run_within_its_limits_is_left_alone(check: Run, ground: Isolation) -> None:
    result = await check("sh -c 'echo fine'", ground, Limits(memory_bytes=64 * MIB, cpu_sec=20, processes=20))
    assert (result.state, result.summary) == (CheckState.PASSED, "tests passed")


def test_each_run_under_way_has_a_user_number_of_its_own() -> None:
    users = RunUsers()
    if os.geteuid() != 0:
        with users.one() as user:
            assert user is None
        return
    with users.one() as one, users.one() as other:
        assert isinstance(one, int) and isinstance(other, int) and one != other
        assert {one, other} <= set(range(FIRST_USER, FIRST_USER + USERS))
    with RunUsers("builder").one() as named:
        assert named == "builder"


@pytest.fixture
def open_checkout() -> Iterator[Path]:
    """A checkout that every user can reach."""
    with tempfile.TemporaryDirectory(prefix="gr-test-") as folder:
        os.chmod(folder, 0o755)
        (Path(folder) / "tree").mkdir()
        yield Path(folder) / "tree"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may change to another user")
async def test_a_run_as_a_user_without_an_account_owns_what_it_works_in(open_checkout: Path) -> None:
    log = open_checkout.parent / "log"
    result = await run_check(
        CheckDefinition(
            command='id -u; echo x >new; echo y >"$HOME/f"; grep processes /proc/self/limits; test -w / || echo closed'
        ),
        open_checkout,
        log,
        isolation=Isolation(user=FIRST_USER),
        limits=Limits(processes=100),
        scratch=open_checkout.parent,
        server={"PATH": "/usr/bin:/bin"},
    )
    assert result.isolation[-1] == f"runs as a user of its own, {FIRST_USER}"
    assert log.read_text().split() == f"{FIRST_USER} Max processes 400 400 processes closed".split()
    assert (open_checkout / "new").stat().st_uid == FIRST_USER
