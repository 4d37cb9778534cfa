"""The log keeps both ends of an output, says what is missing, and never grows past its limit."""

import itertools
from pathlib import Path

import pytest

from activities.runner.log import CappedLog, read_ends


def _logged(path: Path, output: bytes, pieces: int, limit: int) -> CappedLog:
    log = CappedLog(path, limit)
    for start in range(0, len(output), pieces):
        log.append(output[start : start + pieces])
        assert path.stat().st_size <= limit
    log.close()
    return log


OUTPUT = b"".join(b"line %06d\n" % number for number in range(1000))


@pytest.mark.parametrize("pieces", [1, 7, 1000, 5000, 20_000])
def test_a_long_output_keeps_its_first_and_last_half_limit(tmp_path: Path, pieces: int) -> None:
    log = _logged(tmp_path / "log", OUTPUT, pieces, 2000)
    assert (log.written, log.truncated) == (12_000, True)
    marker = b"\n[10000 bytes of output are left out here]\n"
    assert (tmp_path / "log").read_bytes() == OUTPUT[:1000] + marker + OUTPUT[-1000:]


@pytest.mark.parametrize(
    ("length", "pieces"), list(itertools.product([0, 1, 1000, 1999, 2000], [1, 300, 5000]))
)
def test_an_output_within_the_limit_is_kept_whole(tmp_path: Path, length: int, pieces: int) -> None:
    log = _logged(tmp_path / "log", OUTPUT[:length], pieces, 2000)
    assert (log.written, log.truncated) == (length, False)
    assert (tmp_path / "log").read_bytes() == OUTPUT[:length]


def test_one_byte_over_the_limit_is_said(tmp_path: Path) -> None:
    log = _logged(tmp_path / "log", OUTPUT[:2001], 100, 2000)
    assert log.truncated
    assert b"\n[1 bytes of output are left out here]\n" in (tmp_path / "log").read_bytes()


def test_a_limit_that_keeps_nothing_readable_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="at least 1024"):
        CappedLog(tmp_path / "log", 100)


def test_a_log_is_the_servers_alone(tmp_path: Path) -> None:
    CappedLog(tmp_path / "log").close()
    assert (tmp_path / "log").stat().st_mode & 0o777 == 0o600


def test_the_two_ends_of_a_log_are_read_without_the_middle(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(OUTPUT)
    assert read_ends(path, 100) == OUTPUT[:100] + b"\n" + OUTPUT[-100:]
    assert read_ends(path, 6000) == OUTPUT
