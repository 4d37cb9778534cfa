"""The pure parts of the comparison: what a cell says, the table of all columns, and rounds read from a ledger."""

from pathlib import Path

import pytest

from benchmarks.landings import rounds_of
from benchmarks.peers import mergetrain
from benchmarks.peers.cases import CASES, Case, Measured, told
from benchmarks.peers.columns import BATCH, ORDERED, PEERS, PLAIN, Peers, comparison, mark_missing
from benchmarks.peers.programs import ProgramFailed, last_error
from benchmarks.rows import Row

TRUE, SLEEP, BAD = CASES


def test_a_cell_tells_the_median_of_its_runs_for_each_intent() -> None:
    runs = [Measured(sec, 1, 20) for sec in (9.0, 0.8, 1.0)]
    assert told(TRUE, runs) == "50 ms an intent (1.00 s in all, 1 check)"


def test_a_cell_takes_every_check_that_was_slept_through_from_the_time_of_an_intent() -> None:
    assert told(SLEEP, [Measured(26.0, 20, 20)]) == "300 ms an intent beside 20 checks (26.00 s in all)"


def test_a_cell_says_when_not_all_landed() -> None:
    assert told(TRUE, [Measured(1.0, 1, 20), Measured(1.0, 1, 7)]).endswith("1 check, ONLY 7 LANDED)")


@pytest.mark.parametrize("case", [TRUE, SLEEP, BAD], ids=lambda case: case.name)
def test_a_missing_peer_says_so_in_words_beside_gitrings_figure(case: Case) -> None:
    peers = Peers(0.2)
    peers.cells[case.name, True, PLAIN] = "10 ms a merge"
    mark_missing(peers)
    row = Row("20 disjoint", "19 ms an intent", beside=peers.beside(case, queue_first=True))
    shown = comparison([Row("one small push", "239 ms"), row], "mergetrain could not be installed: no route")
    head, _, line, *rest = shown.splitlines()
    assert [cell.strip() for cell in head.strip("|").split("|")] == ["the same work", "gitring", *PEERS]
    assert [cell.strip() for cell in line.strip("|").split("|")] == [
        "20 disjoint",
        "19 ms an intent",
        "not measured: not installed",
        "not measured: not installed",
        "10 ms a merge",
    ]
    assert rest == ["", "  mergetrain could not be installed: no route"]


def test_all_lines_of_the_comparison_are_as_wide_as_its_head() -> None:
    rows = [
        Row("short", "1 ms", beside={BATCH: "2 ms", ORDERED: "a much longer cell than its column's name"}),
        Row("a longer name of what was done", "1 ms", beside={PLAIN: ""}),
    ]
    assert len({len(line) for line in comparison(rows).splitlines()}) == 1


def test_there_is_no_comparison_when_nothing_was_compared() -> None:
    assert comparison([Row("one small push", "239 ms")]) == ""


async def test_an_index_out_of_reach_is_a_failure_that_says_what_pip_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("PIP_NO_CACHE_DIR", "1")
    with pytest.raises(ProgramFailed, match="No matching distribution found for mergetrain"):
        await mergetrain.install(tmp_path)


def test_the_error_of_a_program_is_its_last_line_that_says_error_and_short() -> None:
    assert (
        last_error("WARNING: a\nERROR: first\nERROR: " + "x" * 500 + "\nnotice: b\n") == "ERROR: " + "x" * 153
    )
    assert last_error("\n") == "it said nothing"


def test_the_peers_settings_run_the_same_check_and_count_its_runs() -> None:
    text = mergetrain.settings(SLEEP, Path("/tmp/runs"), "batch")
    assert '"run": "echo >> /tmp/runs; sleep 1"' in text
    assert '"processing": "batch"' in text


def _ledger(*events: str) -> list[dict[str, object]]:
    """`+a` is the start of check a, `-a` its end; in this order."""
    kinds = {"+": "check.started", "-": "check.finished"}
    return [
        {"seq": seq, "event_type": kinds[event[0]], "entity_id": event[1:]}
        for seq, event in enumerate(events, 1)
    ]


@pytest.mark.parametrize(
    ("events", "rounds"),
    [
        ([], 0),
        (["+a", "+a", "-a", "-a"], 1),
        (["+a", "+b", "-a", "-b"], 1),
        (["+a", "-a", "+b", "+c", "-b", "-c"], 2),
        (["+a", "+b", "-a", "+c", "-b", "-c"], 2),
        (["+a", "+b", "-a", "+c", "-b", "+d", "-c", "+e", "-d", "-e"], 3),
        (["-z", "+a", "-a"], 1),
    ],
    ids=["none", "one for many", "side by side", "then two", "overlapping", "a pipeline", "remembered"],
)
def test_rounds_are_the_longest_chain_of_checks_in_the_order_of_the_ledger(
    events: list[str], rounds: int
) -> None:
    log = _ledger(*events)
    assert rounds_of(log) == rounds
    assert rounds_of(list(reversed(log))) == rounds
