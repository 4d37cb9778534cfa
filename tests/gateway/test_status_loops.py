"""An agent that asks for a status in a loop is pointed to the wait."""

import json

import pytest

from gateway.mcp.loops import MOST_KEPT, StatusLoops
from gateway.text import render, render_again
from protocol.states import State, WaitsFor
from tests.gateway import samples
from tests.gateway.edge import REVISIONS, Edge
from tests.gateway.test_mcp import texts


class Clock:
    """A clock that stands until it is moved."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def looks(loops: StatusLoops, *seqs: int, **changes: object) -> list[bool]:
    return [loops.looked(samples.AGENT, samples.detail(after_seq=seq, **changes)) for seq in seqs]


def test_the_fourth_look_within_a_minute_that_shows_nothing_new_is_one_too_many() -> None:
    loops = StatusLoops(Clock())
    # Events of others move afterSeq and nothing else.
    assert looks(loops, 1, 2, 2, 9, 9) == [False, False, False, True, True]


def test_news_begins_the_count_again() -> None:
    loops = StatusLoops(Clock())
    assert looks(loops, 1, 1, 1, 1) == [False, False, False, True]
    held = samples.view(state=State.HELD)
    assert looks(loops, 2, 2, 2, 2, intent=held) == [False, False, False, True]


def test_a_look_every_half_minute_is_no_loop() -> None:
    clock = Clock()
    loops = StatusLoops(clock)
    for _ in range(10):
        assert looks(loops, 1) == [False]
        clock.now += 30


def test_another_token_has_a_count_of_its_own() -> None:
    loops = StatusLoops(Clock())
    assert looks(loops, 1, 1, 1) == [False, False, False]
    other = samples.AGENT.model_copy(update={"token_id": "tok_2"})
    assert not loops.looked(other, samples.detail())


def test_what_is_remembered_is_bounded_and_the_oldest_is_forgotten_first() -> None:
    loops = StatusLoops(Clock())
    looks(loops, 1, 1, 1)
    for number in range(MOST_KEPT):
        other = samples.AGENT.model_copy(update={"token_id": f"tok_{number + 10}"})
        loops.looked(other, samples.detail())
    assert len(loops._kept) == MOST_KEPT
    assert looks(loops, 1) == [False]


@pytest.mark.parametrize("revision", REVISIONS)
async def test_the_text_becomes_one_line_that_names_the_wait_and_the_structure_stays_whole(
    own_edge: Edge, revision: str
) -> None:
    async def quiet(_: object) -> object:
        return samples.detail()

    own_edge.operations.script["status"] = quiet
    async with own_edge.mcp(revision) as client:
        arguments = {"intentId": samples.INTENT}
        given = [await client.call_tool("gitring_status", arguments) for _ in range(4)]
    shown = [texts(result)[0] for result in given]
    assert shown[:3] == [render(samples.detail(), "gitring_status")] * 3
    assert "\n" not in shown[3]
    assert f"call gitring_wait with intentId {samples.INTENT} and afterSeq 230" in shown[3]
    assert given[3].structured_content == given[0].structured_content
    assert json.loads(texts(given[3])[1]) == given[0].structured_content


def test_open_change_requests_still_end_the_answer() -> None:
    answer = samples.detail(change_requests=[samples.from_gitring()], waiting_for=WaitsFor.YOU)
    line, block = render_again(answer).split("\n\n")
    assert "It waits for you" in line
    assert block == render(answer, "gitring_status").split("\n\n")[1]
