"""What a killed `up` left running is ended; what merely has its number is not."""

import signal
from pathlib import Path

from runtime.leftovers import end_leftovers, is_alive, record_of
from tests.support.running import outlived

WITH_A_CHILD = "import subprocess; subprocess.Popen(['sleep', '600'])"
DEAF = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)"


def test_a_leftover_is_asked_with_its_own_signal_and_its_children_go_too(tmp_path: Path) -> None:
    said = tmp_path / "asked"
    polite = f"import pathlib, signal, sys\ndef asked(*_): sys.exit(pathlib.Path({str(said)!r}).touch())\n"
    with outlived(polite + "signal.signal(signal.SIGINT, asked)\n" + WITH_A_CHILD) as process:
        (child,) = process.children()
        record = record_of(process.pid, signal.SIGINT)
        assert record
        assert end_leftovers({"postgres": record}, grace=2) == ["postgres"]
        assert said.exists()
        assert not is_alive(process)
        assert not is_alive(child)


def test_a_leftover_that_does_not_listen_is_killed() -> None:
    with outlived(DEAF) as process:
        record = record_of(process.pid, signal.SIGTERM)
        assert record
        assert end_leftovers({"temporal": record}, grace=0.2) == ["temporal"]
        assert not is_alive(process)


def test_a_process_that_only_has_the_number_is_left_alone() -> None:
    with outlived() as process:
        record = record_of(process.pid, signal.SIGTERM)
        assert record
        earlier = record | {"started": record["started"] - 60}
        assert end_leftovers({"nats": earlier}) == []
        assert is_alive(process)


def test_a_process_that_is_gone_is_nothing_to_end() -> None:
    gone = {"pid": 2**22 + 1, "started": 0.0, "stop": int(signal.SIGTERM)}
    assert end_leftovers({"nats": gone}) == []
    assert record_of(2**22 + 1, signal.SIGTERM) is None
