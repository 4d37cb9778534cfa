"""No output of a run, however made, raises, takes long, or gets a control character past the reader."""

import random
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocol.checks import CheckState, TestFailure
from rules.failures import first_failure, last_lines, summary
from rules.failures.text import WINDOW, cut

LIMITS = {"test": 300, "expected": 500, "actual": 500, "message": 500, "file": 300}
UNSEEN = {"Cc", "Cf", "Zl", "Zp", "Cs"}
MIB = 1024 * 1024

# What the readers look for, so that random outputs reach deep into them.
WORDS = [
    "not ok 1 - a", "ok 2", "# Subtest: a", "  ---", "  expected: |-", "  actual: 'b'", "  location: 'a.js:1:2'", "  ...",
    "✖ a (1.2ms)", "✖ failing tests:", "test at a.js:1:2", "    actual: {", "    },", "    expected: 'a',",
    "=== FAILURES ===", "___ test_a ___", "E   assert 'a' == \"b", "E   AssertionError: 1 != 2", "a.py:3: Error",
    "=== short test summary info ===", "FAILED a.py::b - c", "=" * 70, "-" * 70, "FAIL: a (b)", "ERROR: a (b)",
    '  File "a.py", line 3', "AssertionError: 'a' != 'b'", "--- FAIL: TestA (0.0s)", "    --- FAIL: TestA/b",
    "    a_test.go:3: got 1, want 2", "     Error:  Not equal", "panic: a", "FAIL a [build failed]", "=== RUN TestA",
    '{"Action":"output","Output":"--- FAIL: A\\n"}', '{"Action":"output","Output":[1]}', "FAIL a.js", " FAIL  a > b",
    "  ● a › b", "- Expected  - 1", "+ Received  + 1", "- a", "+ b", "Expected: 1", "Received: 2", "    at a (b.js:1:2)",
    "1 failing", "  1) a", "+ expected - actual", "⎯⎯⎯⎯⎯⎯", "\x1b[31m", "\x1b]0;", "\u202e", "\x00", "\r", "\u2028", "\U000e0041",
    "9" * 30, "٣", "<testsuite>", "",
]  # fmt: skip


def _assert_bounded(failure: TestFailure | None) -> None:
    if failure is None:
        return
    for name, limit in LIMITS.items():
        text = getattr(failure, name)
        if text is not None:
            assert 0 < len(text) <= limit
            _assert_one_line(text)
    assert failure.line is None or 0 <= failure.line <= 10_000_000
    line = summary("test", CheckState.FAILED, exit_code=1, failure=failure)
    assert len(line) <= 1000
    _assert_one_line(line)


def _assert_one_line(text: str) -> None:
    assert not {unicodedata.category(char) for char in text} & UNSEEN
    assert text == text.strip()


@given(st.binary(max_size=4000), st.lists(st.binary(max_size=500), max_size=2))
def test_any_bytes_are_read_without_an_error(output: bytes, reports: list[bytes]) -> None:
    _assert_bounded(first_failure(output, reports, root="/build"))
    for line in last_lines(output):
        assert len(line) <= 300
        _assert_one_line(line)


@given(
    st.lists(st.one_of(st.sampled_from(WORDS), st.text(max_size=20)), max_size=40),
    st.sampled_from(["\n", "\r\n", " ", "\n  "]),
)
def test_any_mixture_of_what_tools_print_stays_bounded(parts: list[str], between: str) -> None:
    output = between.join(parts).encode("utf-8", "surrogatepass")
    _assert_bounded(first_failure(output))


@given(st.lists(st.sampled_from(WORDS), max_size=12), st.text(max_size=40))
def test_any_report_stays_bounded(parts: list[str], name: str) -> None:
    clean = "".join(char for char in name + "\n".join(parts) if char.isprintable() or char == "\n")
    text = clean.replace("&", "").replace("<", "").replace('"', "")
    report = f'<testsuite><testcase name="{text}" file="{text}" line="{text}"><error message="{text}">{text}</error></testcase>'
    failure = first_failure(b"", [f"{report}</testsuite>".encode("utf-8", "ignore")])
    assert failure is not None
    _assert_bounded(failure)


# Each would cost minutes if a reader's time grew with the square of its input: the test's own limit tells.
@pytest.mark.timeout(30)
@pytest.mark.parametrize(
    "output",
    [
        b"\x1b[" * (MIB // 2),
        b"\x1b[" + b"0" * MIB,
        b"\x1b]" + b"a" * MIB,
        b" " * MIB,
        b"\r" * MIB,
        b"\n" * MIB,
        b"not ok 1 # TODO\n" * (MIB // 16),
        b"# Subtest: a\n" * (MIB // 13) + b"    not ok 1 - b\n",
        b"not ok 1\n---\n" + b"expected:\n" * (MIB // 10),
        "✖ failing tests:\n".encode() * (MIB // 18),
        ("✖ a " + " (1" * 600 + "\n").encode() * 500,
        b"=== FAILURES ===\n" + b"___ a ___\n" * (MIB // 10),
        (b"___ a " + b"_ " * 900 + b"\n") * 500,
        b"= short test summary info =\n" + b"FAILED \n" * (MIB // 8),
        (b"FAIL: x\n" + b"=" * 70 + b"\n") * (MIB // 80),
        b"=== RUN a\n" * (MIB // 10) + b"--- FAIL: a (0.00s)\n",
        b"--- FAIL: x (0)\n" + (b"   a.go:2: " + b"got x want " * 150 + b"\n") * 500,
        b'{"Time":1,"Action":"output","Output":"--- FAIL: x\\n"}\n' * (MIB // 54),
        b"[" * MIB + b'\n{"Action":"output"' + b'{"a":' * 1000,
        "FAIL x\n● Console\n".encode() * (MIB // 20),
        b"FAIL a > b" + b" > " * MIB,
        b"=== FAILURES ===\n___ a ___\nE   assert " + b"'(" * MIB,
        random.Random(7).randbytes(MIB),
    ],
    ids=range(23),
)
def test_hostile_output_takes_no_longer_than_its_length(output: bytes) -> None:
    _assert_bounded(first_failure(output))
    assert len(last_lines(output)) <= 20


@pytest.mark.timeout(30)
@pytest.mark.parametrize(
    "report",
    [
        b"<a>" * 200_000 + b"</a>" * 200_000,
        b"<a>" + b"<b/>" * 500_000 + b"</a>",
        b"<a " + b" ".join(b'a%d="x"' % number for number in range(150_000)) + b"/>",
        b'<!DOCTYPE l [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><l><testcase name="&b;"><failure/></testcase></l>',
        b'<!DOCTYPE l SYSTEM "file:///etc/passwd"><l><testcase name="x"><failure/></testcase></l>',
        b'<?xml version="1.0" encoding="x-none"?><a/>',
        b"<testsuite>" + b" " * (3 * MIB) + b'<testcase name="x"><failure/></testcase></testsuite>',
        b"\0" * 100,
    ],
    ids=["deep", "wide", "attributes", "entities", "external", "encoding", "huge", "binary"],
)
def test_hostile_reports_are_refused_quietly(report: bytes) -> None:
    assert first_failure(b"", [report]) is None


def test_a_report_with_many_failures_is_read_only_to_the_first() -> None:
    report = b"<testsuite>" + b'<testcase name="x"><failure/></testcase>' * 30_000 + b"</testsuite"
    failure = first_failure(b"", [report])
    assert failure is not None and failure.test == "x"


def test_a_huge_output_is_read_at_its_two_ends_only() -> None:
    middle = b"not ok 1 - in the middle\n"
    output = b"a" * WINDOW + b"\n" + middle + b"b" * WINDOW
    assert first_failure(output) is None
    assert len(cut(output + b"c" * 10 * MIB)) == 2 * WINDOW + 1
    ends = first_failure(b"x\n" * WINDOW + middle + b"not ok 2 - at the end\n")
    assert ends is not None and ends.test == "not ok 1 - in the middle"


def test_an_escape_cannot_hide_or_forge_a_line() -> None:
    output = b"not ok 1 - a\x1b[2K\x1b]0;title\x07\x1b[8m hidden\x1b[0m\x9b31m\n"
    failure = first_failure(output)
    assert failure is not None and failure.test.startswith("not ok 1 - a hidden")
