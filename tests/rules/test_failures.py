"""Outputs of real runs, kept in `failures_corpus`, tell which test failed first and what it expected and got."""

from pathlib import Path

import pytest

from protocol.checks import CheckState, TestFailure
from rules.failures import first_failure, last_lines, summary, told

CORPUS = Path(__file__).parent / "failures_corpus"
HELLO = {"expected": "'Hello, a!'", "actual": "'HELLO, a!'"}
HELLO_DOUBLE = {"expected": '"Hello, a!"', "actual": '"HELLO, a!"'}

# Each row: the output, and what is known of its first failing test but the message.
OUTPUTS: dict[str, dict[str, object]] = {
    "node_tap.txt": {"test": "not ok 1 - greets", "file": "greet.test.js", "line": 4, **HELLO},
    "node_tap_nested.txt": {
        "test": "not ok 2 - cart > total > adds prices",
        "expected": "3",
        "actual": "2",
        "file": "cart.test.js",
        "line": 3,
    },
    "node_tap_long.txt": {
        "test": "not ok 1 - long",
        "expected": "line one line 2",
        "actual": "line one line two",
        "file": "long.test.js",
        "line": 3,
    },
    "node_spec.txt": {"test": "greets", "file": "greet.test.js", "line": 4, **HELLO},
    "node_spec_nested.txt": {
        "test": "adds prices",
        "expected": "3",
        "actual": "2",
        "file": "cart.test.js",
        "line": 3,
    },
    "node_spec_long.txt": {
        "test": "long",
        "expected": r"'line one\nline 2'",
        "actual": r"'line one\nline two'",
        "file": "long.test.js",
        "line": 3,
    },
    "mocha_tap.txt": {"test": "not ok 2 - greeting greets", **HELLO},
    "mocha.txt": {"test": "greeting > greets", "file": "m.mocha.js", "line": 2, **HELLO},
    "pytest_long.txt": {
        "test": "tests/test_greet.py::test_greets",
        "file": "tests/test_greet.py",
        "line": 15,
        **HELLO,
    },
    "pytest_color_short.txt": {
        "test": "tests/test_greet.py::test_greets",
        "file": "tests/test_greet.py",
        "line": 15,
        **HELLO,
    },
    "pytest_tb_line.txt": {
        "test": "tests/test_greet.py::test_greets",
        "file": "tests/test_greet.py",
        "line": 15,
        **HELLO,
    },
    "pytest_tb_no.txt": {"test": "tests/test_greet.py::test_greets"},
    "pytest_q.txt": {
        "test": "tests/test_cart.py::test_len[2]",
        "expected": "1",
        "actual": "2",
        "file": "tests/test_cart.py",
        "line": 6,
    },
    "pytest_collect.txt": {"test": "tests/test_broken.py", "file": "tests/test_broken.py", "line": 1},
    "pytest_unittest.txt": {
        "test": "tests/test_uni.py::GreetTest::test_crash",
        "file": "tests/test_uni.py",
        "line": 16,
    },
    "unittest.txt": {
        "test": "test_crash (tests.test_uni.GreetTest.test_crash)",
        "file": "tests/test_uni.py",
        "line": 16,
    },
    "unittest_many.txt": {
        "test": "test_dict (tests.test_uni.ManyTest.test_dict)",
        "expected": "{'a': 2, 'b': [1, 2]}",
        "actual": "{'a': 1, 'b': [1, 2]}",
        "file": "tests/test_uni.py",
        "line": 21,
    },
    "unittest_import.txt": {
        "test": "test_broken (unittest.loader._FailedTest.test_broken)",
        "file": "tests/test_broken.py",
        "line": 1,
    },
    "go.txt": {"test": "TestGreet", "file": "greet_test.go", "line": 10, **HELLO_DOUBLE},
    "go_panic.txt": {"test": "TestGreet", "file": "greet_test.go", "line": 10, **HELLO_DOUBLE},
    "go_v.txt": {
        "test": "TestTable/two_items",
        "expected": "4",
        "actual": "3",
        "file": "greet_test.go",
        "line": 17,
    },
    "go_json.txt": {
        "test": "TestTable/two_items",
        "expected": "4",
        "actual": "3",
        "file": "greet_test.go",
        "line": 17,
    },
    "go_testify.txt": {"test": "TestTestify", "file": "a_test.go", "line": 5, **HELLO_DOUBLE},
    "go_build.txt": {"test": "example.com/greet/br [build failed]", "file": "br/a.go", "line": 3},
    "jest.txt": {"test": "greeting › greets", "file": "greet.test.js", "line": 4, **HELLO_DOUBLE},
    "jest_color.txt": {"test": "greeting › greets", "file": "greet.test.js", "line": 4, **HELLO_DOUBLE},
    "jest_diff.txt": {
        "test": "cart › total",
        "expected": '"c", "total": 4',
        "actual": '"b", "total": 3',
        "file": "total.test.js",
        "line": 1,
    },
    "vitest.txt": {
        "test": "greet.test.js > greeting > greets",
        "file": "greet.test.js",
        "line": 5,
        **HELLO_DOUBLE,
    },
    "vitest_color.txt": {
        "test": "total.test.js > cart > total",
        "expected": '"c", "total": 4',
        "actual": '"b", "total": 3',
        "file": "total.test.js",
        "line": 2,
    },
    "vitest_diff.txt": {
        "test": "total.test.js > cart > total",
        "expected": '"c", "total": 4',
        "actual": '"b", "total": 3',
        "file": "total.test.js",
        "line": 2,
    },
}

MESSAGES = {
    "node_tap_nested.txt": "2 == 3",
    "pytest_tb_no.txt": "AssertionError: assert 'HELLO, a!' ...",
    "pytest_collect.txt": "ModuleNotFoundError: No module named 'nothing_of_this_name'",
    "pytest_unittest.txt": "RuntimeError: no such product",
    "unittest.txt": "RuntimeError: no such product",
    "unittest_import.txt": "ModuleNotFoundError: No module named 'nothing_of_this_name'",
    "go_build.txt": 'cannot use "a" (untyped string constant) as int value in return statement',
    "go_testify.txt": "Not equal: greeting",
    "vitest.txt": "AssertionError: expected 'HELLO, a!' to be 'Hello, a!' // Object.is equality",
}

REPORTS: dict[str, dict[str, object]] = {
    "pytest_junit.xml": {"test": "tests.test_greet > test_greets", **HELLO},
    "node_junit.xml": {"test": "test > greets", **HELLO},
    "vitest_junit.xml": {"test": "greet.test.js > greeting > greets", **HELLO_DOUBLE},
}


def _read(name: str) -> bytes:
    return (CORPUS / name).read_bytes()


def _known(failure: TestFailure | None) -> dict[str, object]:
    assert failure is not None
    return failure.model_dump(exclude_none=True, exclude={"message"})


def test_every_output_of_the_corpus_is_told_of_here() -> None:
    assert sorted({*OUTPUTS, *REPORTS}) == sorted(path.name for path in CORPUS.iterdir())


@pytest.mark.parametrize("name", OUTPUTS)
def test_the_first_failing_test_of_a_real_run_is_found(name: str) -> None:
    assert _known(first_failure(_read(name), root="/build")) == OUTPUTS[name]


@pytest.mark.parametrize("name", OUTPUTS)
def test_it_is_found_as_well_behind_other_output_and_with_windows_line_ends(name: str) -> None:
    output = b"> npm test\n\x1b[2Kbuilding 1%\rbuilding 100%\n\n" + _read(name) + b"\nnpm ERR! code 1\n"
    assert _known(first_failure(output.replace(b"\n", b"\r\n"), root="/build")) == OUTPUTS[name]


@pytest.mark.parametrize("name", MESSAGES)
def test_the_message_of_the_failure_is_kept(name: str) -> None:
    failure = first_failure(_read(name))
    assert failure is not None and failure.message == MESSAGES[name]


@pytest.mark.parametrize("name", REPORTS)
def test_the_first_failing_case_of_a_real_report_is_found(name: str) -> None:
    assert _known(first_failure(b"no words of ours\n", [b"not xml", _read(name)])) == REPORTS[name]


def test_the_output_is_believed_before_a_report() -> None:
    failure = first_failure(_read("go.txt"), [_read("pytest_junit.xml")])
    assert failure is not None and failure.test == "TestGreet"


def test_of_two_suites_in_one_output_the_first_to_fail_is_named() -> None:
    both = first_failure(_read("jest.txt") + _read("pytest_q.txt"))
    turned = first_failure(_read("pytest_q.txt") + _read("jest.txt"))
    assert both is not None and both.test == "greeting › greets"
    assert turned is not None and turned.test == "tests/test_cart.py::test_len[2]"


@pytest.mark.parametrize(
    "output",
    [
        b"",
        b"make: *** [Makefile:3: test] Error 2\n",
        b"ok 1 - greets\nnot ok 2 - later # TODO not yet\nnot ok 3 - off # SKIP\n1..3\n",
        b"=== RUN   TestOK\n--- PASS: TestOK (0.00s)\nPASS\nok  \texample.com/greet\t0.002s\n",
        b"FAIL: the disk\nERROR: something (else)\n",
        "● a bullet in a text\n✓ done\n".encode(),
    ],
)
def test_an_output_without_a_failed_test_tells_of_none(output: bytes) -> None:
    assert first_failure(output) is None


def test_perl_comments_under_a_result_are_read() -> None:
    output = b"not ok 1 - greets\n#   Failed test 'greets'\n#          got: 'HELLO'\n#     expected: 'Hello'\nok 2\n"
    assert _known(first_failure(output)) == {
        "test": "not ok 1 - greets",
        "expected": "'Hello'",
        "actual": "'HELLO'",
    }


def test_the_words_of_other_tap_producers_are_understood() -> None:
    output = b"TAP version 14\nnot ok 3 total\n  ---\n  found: 3\n  wanted: 4\n  at:\n    line: 9\n    file: cart.js\n  ...\n"
    assert _known(first_failure(output)) == {
        "test": "not ok 3 - total",
        "expected": "4",
        "actual": "3",
        "file": "cart.js",
        "line": 9,
    }


@pytest.mark.parametrize(
    ("message", "expected", "actual"),
    [
        ("expected:&lt;[a]&gt; but was:&lt;[b]&gt;", "[a]", "[b]"),
        ("org.opentest4j.AssertionFailedError: expected: &lt;4&gt; but was: &lt;3&gt;", "4", "3"),
    ],
)
def test_java_reports_are_read(message: str, expected: str, actual: str) -> None:
    report = (
        f'<testsuite><testcase classname="com.x.CartTest" name="total"><failure message="{message}">'
        "at com.x.CartTest.total(CartTest.java:9)</failure></testcase></testsuite>"
    )
    failure = first_failure(b"", [report.encode()])
    assert failure is not None
    assert (failure.test, failure.expected, failure.actual) == ("com.x.CartTest > total", expected, actual)


@pytest.mark.parametrize(
    ("line", "expected", "actual"),
    [
        ("got 3, want 4", "4", "3"),
        ("Sum() = 3; want 4", "4", "3"),
        ("expected 4, got 3", "4", "3"),
        ("expected 4 but got 3", "4", "3"),
        ("want: 4, got: 3", "4", "3"),
        ("no such product", None, None),
    ],
)
def test_the_usual_sentences_of_go_tests_are_understood(
    line: str, expected: str | None, actual: str | None
) -> None:
    failure = first_failure(f"--- FAIL: TestSum (0.00s)\n    sum_test.go:9: {line}\nFAIL\n".encode())
    assert failure is not None
    assert (failure.expected, failure.actual, failure.message) == (expected, actual, line)


@pytest.mark.parametrize(
    ("assertion", "expected", "actual"),
    [
        ("assert 3 < 2", "< 2", "3"),
        ("assert 'a == b' == 'c'", "'c'", "'a == b'"),
        ("assert f(a == b) == [1, 2]", "[1, 2]", "f(a == b)"),
        ("assert 'x' in ['a']", "in ['a']", "'x'"),
        ("assert None is not None", "is not None", "None"),
        ("assert False", None, None),
    ],
)
def test_comparisons_are_split_at_their_own_operator(
    assertion: str, expected: str | None, actual: str | None
) -> None:
    output = f"=== FAILURES ===\n____ test_a ____\n\n>   {assertion}\nE   {assertion}\n\ntest_a.py:1: AssertionError\n"
    failure = first_failure(output.encode())
    assert failure is not None
    assert (failure.test, failure.expected, failure.actual) == ("test_a", expected, actual)


def test_the_summary_is_the_documents_line() -> None:
    failure = first_failure(_read("node_tap.txt"))
    assert summary("test", CheckState.FAILED, exit_code=1, failure=failure) == (
        "tests failed (exited 1): not ok 1 - greets: expected 'Hello, a!', actual 'HELLO, a!'"
    )


def test_a_summary_without_values_tells_the_message() -> None:
    failure = TestFailure(test="TestPanic", message="panic: nil map")
    assert told(failure) == "TestPanic: panic: nil map"
    assert told(TestFailure(test="TestPanic")) == "TestPanic"


@pytest.mark.parametrize(
    ("state", "details", "line"),
    [
        (CheckState.PASSED, {"exit_code": 0}, "lint passed"),
        (CheckState.RUNNING, {}, "lint running"),
        (CheckState.FAILED, {"exit_code": 2, "last_line": "a: b"}, "lint failed (exited 2): a: b"),
        (CheckState.FAILED, {"exit_code": 2}, "lint failed (exited 2)"),
        (CheckState.FAILED, {"signal": "SIGSEGV"}, "lint failed (killed by SIGSEGV)"),
        (
            CheckState.FAILED,
            {"signal": "SIGTERM", "timed_out_after": 900},
            "lint failed (stopped after 900 s, the time limit)",
        ),
        (CheckState.ERROR, {"reason": "no disk"}, "lint could not run: no disk"),
        (CheckState.ERROR, {"exit_code": 127}, "lint could not run (exited 127: no such command)"),
        (CheckState.CANCELLED, {}, "lint stopped before it ended"),
    ],
)
def test_each_end_has_its_sentence(state: CheckState, details: dict[str, object], line: str) -> None:
    assert summary("lint", state, **details) == line  # type: ignore[arg-type]


def test_a_summary_is_one_bounded_line_whatever_the_output_held() -> None:
    line = summary("test", CheckState.FAILED, exit_code=1, last_line="a\nb\x1b[31m\u202e" + "x" * 5000)
    assert len(line) <= 1000
    assert line.startswith("tests failed (exited 1): a b[31mxxx")


def test_the_last_lines_are_those_a_person_would_have_seen() -> None:
    output = b"one\n\n\x1b[1mtwo\x1b[0m\n 10%\r 100%\n\n\xff\x00three\n\n"
    assert last_lines(output, 3) == ["two", "100%", "\ufffdthree"]
    assert last_lines(b"") == []
