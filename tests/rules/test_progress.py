"""How far a check is, counted from what the usual test tools print, in pieces of any size."""

import pytest

from protocol.live import LOG_LIMIT, Progress
from rules.kept_log import rest_of, whole_characters
from rules.progress import Counter, in_words

OUTPUTS = {
    "tap": (b"1..5\nok 1 - a\nnot ok 2 - b\n  ok 1 - inner\nok 3 # SKIP x\nok 4", (2, 1, 1, 5, 80)),
    "pytest dots": (
        b"collected 120 items\n\ntests/test_a.py ....F...s  [ 10%]\n.....",
        (12, 1, 1, 120, 10),
    ),
    "pytest names": (
        b"a/test_x.py::test_a PASSED   [ 50%]\na/t.py::test_b[x y] FAILED [100%]\n",
        (1, 1, 0, None, 100),
    ),
    "go verbose": (
        b"--- PASS: TestA (0.00s)\n    --- SKIP: TestA/b\nok  \tx.com/y\t0.1s\n",
        (1, 0, 1, None, None),
    ),
    "go packages": (
        b"ok  \tx.com/y\t0.1s\nFAIL\tx.com/z\t0.2s\nok  \tx.com/a\t(cached)\n",
        (2, 1, 0, None, None),
    ),
    "jest": (
        "PASS src/a.test.js\n  ✓ adds (2 ms)\n  ✕ subs\n  ○ skipped later\n".encode(),
        (1, 1, 1, None, None),
    ),
    "unittest": (b"test_a (m.T.test_a) ... ok\ntest_b (m.T) ... FAIL\n", (1, 1, 0, None, None)),
    "cargo": (
        b"running 3 tests\ntest a::b ... ok\ntest c ... FAILED\ntest d ... ignored\n",
        (1, 1, 1, 3, 100),
    ),
    "maven": (
        b"\x1b[31m[INFO] Tests run: 5, Failures: 1, Errors: 0, Skipped: 1, Time elapsed: 1 s\x1b[0m\n",
        (3, 1, 1, None, None),
    ),
    "prose": (b"......\nok, let us begin\nFAIL or pass\n1..2..3\n", (0, 0, 0, None, None)),
    "binary": (bytes(range(256)) * 20, (0, 0, 0, None, None)),
}


@pytest.mark.parametrize("size", [1, 7, 100_000])
@pytest.mark.parametrize("tool", OUTPUTS)
def test_tests_are_counted_as_their_tool_tells_of_them(tool: str, size: int) -> None:
    output, (passed, failed, skipped, total, percent) = OUTPUTS[tool]
    counter = Counter()
    for start in range(0, len(output), size):
        counter.feed(output[start : start + size])
        counter.progress()  # asking changes nothing
    found = counter.progress()
    assert (found.passed, found.failed, found.skipped) == (passed, failed, skipped)
    assert (found.total, found.percent) == (total, percent)
    assert found.lines == len(output.splitlines()) if tool != "binary" else found.lines > 0


def test_a_line_without_an_end_takes_no_room() -> None:
    counter = Counter()
    for _ in range(200):
        counter.feed(b"x" * 65_536)
    assert counter.progress().lines == 1
    assert len(counter._open) <= 4096
    counter.pass_over(2, b"c")
    counter.feed(b"\nok 1\n")
    assert (counter.progress().lines, counter.progress().passed) == (4, 1)


@pytest.mark.parametrize(
    ("progress", "elapsed", "words"),
    [
        (Progress(lines=1), 4.9, "4 s · 1 line"),
        (Progress(lines=1204, passed=1, failed=2, total=1500, percent=0), 125, "2 min 5 s · 1,204 lines · 1 test "
         "passed, 2 failed, of 1,500 (0 %)"),
        (Progress(lines=2, total=3), 7300, "2 h 1 min · 2 lines · 3 tests to run"),
        (Progress(lines=2, failed=1), 60, "1 min 0 s · 2 lines · 1 test failed"),
    ],
)  # fmt: skip
def test_progress_is_one_line_of_words(progress: Progress, elapsed: float, words: str) -> None:
    assert in_words(progress, elapsed) == words


def test_a_follower_goes_on_in_the_kept_log_where_it_was() -> None:
    assert rest_of(b"all of it", 4) == 4
    assert rest_of(b"short", 400) == 5
    half = LOG_LIMIT // 2
    cut = b"a" * half + b"\n[17 bytes of output are left out here]\n" + b"z" * half
    assert rest_of(cut, 10) == 10
    assert rest_of(cut, half + 9) == half
    share = LOG_LIMIT // 3 // 2
    cut = b"a" * share + b"\n[17 bytes of output are left out here]\n" + b"z" * share
    assert rest_of(cut, LOG_LIMIT) == share


@pytest.mark.parametrize("text", ["plain", "é", "a✓", "x\U0001f600", ""])
def test_a_piece_never_ends_inside_a_character(text: str) -> None:
    data = text.encode()
    for end in range(len(data) + 1):
        piece = whole_characters(data[:end])
        assert text.startswith(piece.decode())
    assert whole_characters(data) == data


def test_bytes_that_are_no_characters_are_passed_on() -> None:
    for piece in (b"\x80\x80\x80\x80\x80", b"a\xff", b"\x80"):
        assert whole_characters(piece) == piece
