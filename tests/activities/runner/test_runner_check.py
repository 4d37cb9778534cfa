"""A check's result says how it ended, which test failed first, and what the last lines were."""

import asyncio
import os
import shutil
import sys
from pathlib import Path

import pytest

from activities.runner.check import run_check
from activities.runner.isolation import Isolation
from activities.runner.launched import NOBODY, Watching
from protocol.checks import CheckDefinition, CheckState, RunResult, TestFailure
from tests.activities.runner.conftest import BARE, Log

CORPUS = Path(__file__).parents[2] / "rules" / "failures_corpus"


class Checks:
    """Runs checks in one checkout."""

    def __init__(self, checkout: Path, log: Log, scratch: Path) -> None:
        self.checkout = checkout
        self.log = log
        self.scratch = scratch

    async def run(
        self, command: str, name: str = "test", timeout_sec: int = 60, environment: tuple[str, ...] = (),
        isolation: Isolation = BARE, watching: Watching = NOBODY, server: dict[str, str] | None = None,
    ) -> RunResult:  # fmt: skip
        """Run one command as a check."""
        definition = CheckDefinition(
            name=name, command=command, timeout_sec=timeout_sec, environment=environment
        )
        return await run_check(
            definition, self.checkout, self.log.path,
            isolation=isolation, watching=watching, scratch=self.scratch, server=server,
        )  # fmt: skip

    def write(self, name: str, text: str) -> None:
        """A file of the checkout."""
        path = self.checkout / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


@pytest.fixture
def checks(checkout: Path, log: Log, tmp_path: Path) -> Checks:
    """Checks in an empty checkout."""
    return Checks(checkout, log, tmp_path)


async def test_a_command_that_ends_with_zero_has_passed(checks: Checks) -> None:
    result = await checks.run("echo fine")
    assert (result.state, result.exit_code, result.summary) == (CheckState.PASSED, 0, "tests passed")
    assert (result.last_lines, result.failure, result.log_bytes) == (("fine",), None, 5)


async def test_a_failing_test_is_named_with_what_it_expected_and_got(checks: Checks) -> None:
    if shutil.which("node") is None:
        pytest.skip("no Node.js here")
    checks.write(
        "greet.test.js",
        "const test = require('node:test'); const assert = require('node:assert');\n"
        "test('greets', () => assert.strictEqual('HELLO, a!', 'Hello, a!'));\n",
    )
    result = await checks.run("node --test --test-reporter=tap")
    assert result.state == CheckState.FAILED
    assert result.summary == (
        "tests failed (exited 1): not ok 1 - greets: expected 'Hello, a!', actual 'HELLO, a!'"
    )
    assert result.failure is not None
    assert (result.failure.file, result.failure.line) == ("greet.test.js", 2)


async def test_a_real_python_suite_is_read(checks: Checks) -> None:
    checks.write(
        "test_sum.py",
        "import unittest\nclass SumTest(unittest.TestCase):\n    def test_sum(self):\n"
        "        self.assertEqual(1 + 1, 3)\n",
    )
    result = await checks.run(f"{sys.executable} -m unittest", isolation=Isolation())
    assert result.failure == TestFailure(
        test="test_sum (test_sum.SumTest.test_sum)",
        expected="3",
        actual="2",
        message="AssertionError: 2 != 3",
        file="test_sum.py",
        line=4,
    )


async def test_a_failure_without_a_known_format_is_told_by_its_last_line(checks: Checks) -> None:
    result = await checks.run(
        "echo building; printf '\\033[31mundefined symbol\\033[0m\\n'; exit 2", name="build"
    )
    assert result.summary == "build failed (exited 2): undefined symbol"
    assert (result.failure, result.last_lines) == (None, ("building", "undefined symbol"))


async def test_only_the_last_lines_are_quoted(checks: Checks) -> None:
    result = await checks.run("i=0; while [ $i -lt 100 ]; do echo line $i; echo; i=$((i+1)); done; exit 1")
    assert result.last_lines == tuple(f"line {number}" for number in range(80, 100))


@pytest.mark.parametrize(
    ("command", "code", "words"),
    [
        ("no-such-program --version", 127, "tests could not run (exited 127: no such command): "),
        ("./tool", 126, "tests could not run (exited 126: the command is not executable): "),
    ],
)
async def test_a_command_that_cannot_start_is_an_error_and_no_failure(
    checks: Checks, command: str, code: int, words: str
) -> None:
    checks.write("tool", "#!/bin/sh\n")
    result = await checks.run(command)
    assert (result.state, result.exit_code) == (CheckState.ERROR, code)
    assert result.summary.startswith(words)
    assert "not found" in result.summary or "denied" in result.summary


async def test_a_tool_that_counts_its_failures_in_its_exit_code_has_failed(checks: Checks) -> None:
    result = await checks.run(f"cat {CORPUS / 'mocha.txt'}; exit 127")
    assert (result.state, result.exit_code) == (CheckState.FAILED, 127)
    assert result.failure is not None and result.failure.test == "greeting > greets"


async def test_a_checkout_that_is_gone_is_an_error(checks: Checks) -> None:
    checks.checkout.rmdir()
    result = await checks.run("true")
    assert (result.state, result.exit_code) == (CheckState.ERROR, None)
    assert result.summary == "tests could not run: No such file or directory, while entering the checkout"


async def test_a_killed_command_has_failed_and_the_signal_is_named(checks: Checks) -> None:
    result = await checks.run("echo working; kill -9 $$")
    assert (result.state, result.signal) == (CheckState.FAILED, "SIGKILL")
    assert result.summary == "tests failed (killed by SIGKILL): working"


async def test_a_check_past_its_time_has_failed_and_says_so(checks: Checks) -> None:
    for limit in (1, 30):  # the second for a machine so busy that the first is over before the command began
        result = await checks.run("echo waiting for the port; sleep 1000", timeout_sec=limit)
        assert (result.state, result.timed_out) == (CheckState.FAILED, True)
        if "port" in result.summary:
            break
    assert result.summary == f"tests failed (stopped after {limit} s, the time limit): waiting for the port"


async def test_a_cancelled_check_is_neither_failed_nor_passed(checks: Checks) -> None:
    cancel = asyncio.Event()
    watching = Watching(cancel=cancel, on_output=lambda _: cancel.set())
    result = await checks.run("echo up; sleep 1000", watching=watching)
    assert (result.state, result.summary) == (CheckState.CANCELLED, "tests stopped before they ended")


async def test_a_check_sees_what_its_project_passes_through_and_no_secret(checks: Checks) -> None:
    server = {
        **os.environ,
        "GITRING_OWNER_TOKEN": "s3cret",
        "API_TOKEN": "s3cret",
        "NPM_CONFIG_REGISTRY": "r",
    }
    await checks.run("env; cat /proc/$PPID/environ", environment=("NPM_CONFIG_REGISTRY",), server=server)
    text = checks.log.text()
    assert "s3cret" not in text
    assert "NPM_CONFIG_REGISTRY=r" in text and "CI=true" in text


async def test_the_first_failing_test_of_a_report_is_taken_when_the_output_tells_of_none(
    checks: Checks,
) -> None:
    checks.write(
        "fixtures/TEST-old.xml",
        "<testsuite><testcase name='of the repository'><failure/></testcase></testsuite>",
    )
    report = CORPUS / "pytest_junit.xml"
    result = await checks.run(
        f"mkdir -p build/test-results/unit; cp {report} build/test-results/unit/a.xml; exit 1"
    )
    assert result.failure is not None
    assert result.failure.test == "tests.test_greet > test_greets"
    assert result.summary.endswith("test_greets: expected 'Hello, a!', actual 'HELLO, a!'")


async def test_a_report_is_never_read_through_a_link_or_from_what_is_no_file(
    checks: Checks, tmp_path: Path
) -> None:
    failing = "<testsuite><testcase name='outside'><failure/></testcase></testsuite>"
    outside = tmp_path / "outside"
    await asyncio.to_thread(_write_reports, outside, failing)
    result = await checks.run(
        f"touch {outside}/TEST-a.xml; ln -s {outside}/TEST-a.xml junit.xml; ln -s {outside} test-results; "
        f"mkfifo junit-pipe.xml; mkdir TEST-folder.xml; ln -s . loop; exit 1"
    )
    assert (result.state, result.failure) == (CheckState.FAILED, None)


def _write_reports(folder: Path, text: str) -> None:
    folder.mkdir()
    (folder / "TEST-a.xml").write_text(text)


async def test_reports_are_bounded_in_size(checks: Checks) -> None:
    fill = "(echo '<testsuite><testcase name=\"x\"><failure>'; head -c 3000000 /dev/zero | tr '\\0' a; "
    result = await checks.run(fill + "echo '</failure></testcase></testsuite>') >junit.xml; exit 1")
    assert (result.state, result.failure) == (CheckState.FAILED, None)


async def test_nothing_of_a_run_is_left_but_its_log_and_its_checkout(checks: Checks) -> None:
    await checks.run('echo x >"$HOME/a"; echo y >"$TMPDIR/b"; echo z >kept')
    assert sorted(os.listdir(checks.scratch)) == ["checkout", "run.log"]
    assert os.listdir(checks.checkout) == ["kept"]
