"""One wait for several intents: the first that moves answers, and nothing is missed."""

import asyncio
from typing import Any

import pytest
from pydantic import ValidationError

from gateway.text import render
from protocol.answers import IntentDetail, WaitAnswer
from protocol.ids import new_id
from protocol.intents import WaitInput, WithdrawInput
from protocol.refusals import Refused
from protocol.states import State, WaitsFor
from tests.support.engine import Engine, ProjectUnderTest


def wait(
    project: ProjectUnderTest, intents: list[IntentDetail], after: int, seconds: int = 30
) -> asyncio.Task[WaitAnswer]:
    given = WaitInput(intent_ids=[i.intent.id for i in intents], after_seq=after, seconds=seconds)
    return asyncio.create_task(project.engine.operations.wait(project.agent, given))


async def withdraw(project: ProjectUnderTest, intent: IntentDetail) -> IntentDetail:
    given = WithdrawInput(intent_id=intent.intent.id, reason="not needed")
    return await project.engine.operations.withdraw(project.agent, given)


async def held(engine: Engine, count: int) -> None:
    """Until so many waits are held."""
    async with asyncio.timeout(40):
        while engine.waiters.held < count:  # noqa: ASYNC110
            await asyncio.sleep(0)


async def test_the_intent_that_moves_first_answers_a_held_wait(engine: Engine) -> None:
    project = await engine.project(test="true")
    one, two, three = [await project.declare(f"app/f{n}.py") for n in range(3)]
    before = engine.waiters.held
    waiting = wait(project, [one, two, three], three.after_seq)
    await held(engine, before + 1)
    assert not waiting.done()
    await withdraw(project, two)
    async with asyncio.timeout(20):
        answer = await waiting
    assert (answer.intent.number, answer.intent.state) == (2, State.WITHDRAWN)
    assert [event.event_type for event in answer.events] == ["intent.state_changed"]
    assert "Of the 3 intents you wait for, #2 moved first" in render(answer, "gitring_wait").splitlines()[0]
    # The others live on and wait for their agent.
    assert not answer.can_stop


async def test_events_of_several_are_told_one_intent_at_a_time_and_none_is_missed(engine: Engine) -> None:
    project = await engine.project(test="true")
    one, two = await project.declare("app/f1.py"), await project.declare("app/f2.py")
    await project.push(two, {"app/f2.py": "a\n"})
    await project.push(one, {"app/f1.py": "a\n"})
    await project.push(two, {"app/f2.py": "b\n"})
    told, seq = [], two.after_seq
    for _ in range(3):
        answer = await wait(project, [one, two], seq)
        assert {event.intent_id for event in answer.events} == {answer.intent.id}
        told += [(answer.intent.number, event.event_type) for event in answer.events]
        seq = answer.after_seq
        assert f"Pass afterSeq {seq} next time." in render(answer, "gitring_wait")
    assert told == [(2, "intent.pushed"), (1, "intent.pushed"), (2, "intent.pushed")]
    nothing = await wait(project, [one, two], seq, seconds=0)
    assert (nothing.events, nothing.after_seq) == ([], seq)


async def test_without_news_the_one_that_waits_for_its_agent_is_shown(engine: Engine) -> None:
    project = await engine.project(test="true")
    first = await project.declare("app/f1.py")
    second = await project.declare("app/f1.py")
    assert second.intent.state is State.HELD
    answer = await wait(project, [second, first], second.after_seq, seconds=0)
    assert (answer.intent.number, answer.waiting_for, answer.can_stop) == (1, WaitsFor.YOU, False)
    assert render(answer, "gitring_wait").startswith(
        "Of the 2 intents you wait for, none moved; this is #1.\nNothing new.\n"
    )


async def test_final_intents_answer_at_once_only_when_all_are_final(engine: Engine) -> None:
    project = await engine.project(test="true")
    one, two = await project.declare("app/f1.py"), await project.declare("app/f2.py")
    seq = (await withdraw(project, one)).after_seq
    before = engine.waiters.held
    waiting = wait(project, [one, two], seq)
    await held(engine, before + 1)
    assert not waiting.done()
    seq = (await withdraw(project, two)).after_seq
    async with asyncio.timeout(20):
        assert (await waiting).intent.number == 2
    over = await wait(project, [one, two], seq)
    assert (over.events, over.can_stop) == ([], True)


async def test_intents_of_two_projects_and_such_as_cannot_be_seen_are_refused(engine: Engine) -> None:
    project, elsewhere = await engine.project(test="true"), await engine.project(test="true")
    mine, other = await project.declare("app/f1.py"), await elsewhere.declare("app/f1.py")
    with pytest.raises(Refused, match=f"not_found: There is no intent {other.intent.id}"):
        await wait(project, [mine, other], 0)
    missing = WaitInput(intent_ids=[mine.intent.id, new_id("int")], after_seq=0)  # type: ignore[list-item]
    with pytest.raises(Refused, match="not_found"):
        await engine.operations.wait(project.agent, missing)
    ids = [mine.intent.id, other.intent.id]
    with pytest.raises(Refused, match="intents of several projects"):
        await engine.operations.wait(engine.owner, WaitInput(intent_ids=ids, after_seq=0))


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"intentIds": []},
        {"intentId": "int_01JBQ8M4ZK7V3XW9N2D5HT6RYE", "intentIds": ["int_01JBQ8M4ZK7V3XW9N2D5HT6RYE"]},
        {"intentIds": [new_id("int") for _ in range(51)]},
        {"intentIds": ["49"]},
    ],
)
def test_a_wait_names_one_intent_or_up_to_50(given: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        WaitInput(**given, after_seq=0)


async def test_the_next_step_of_an_answer_goes_on_from_the_same_event_as_the_answer(engine: Engine) -> None:
    project = await engine.project(test="true")
    one = await project.declare("app/f1.py")
    two = await project.declare("app/f1.py")
    answer = await wait(project, [one, two], one.after_seq)
    assert (answer.intent.number, answer.intent.state) == (2, State.HELD)
    assert answer.after_seq < two.after_seq
    assert f"afterSeq {answer.after_seq}" in answer.next
