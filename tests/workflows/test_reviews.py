"""What people and other agents say of an intent: comments, suggestions, settlements, accepted drift."""

import pytest

from protocol.intents import AcceptDriftInput, AckInput, CommentInput, SettleInput, SuggestInput
from protocol.refusals import Refused
from protocol.states import State
from tests.support.engine import Engine


async def test_a_comment_on_lines_blocks_the_submit_until_a_push_changes_that_file(engine: Engine) -> None:
    project = await engine.project(test="true")
    intent = await project.declare("app/f1.py", "app/f2.py")
    await project.push(intent, {"app/f2.py": "two\n"})
    said = await engine.operations.comment(
        engine.owner,
        intent.intent.id,
        CommentInput(text="Keep the key stable.", path="app/f1.py", start_line=10, end_line=14),
    )
    (request,) = said.change_requests
    assert (request.sender, request.place) == ("Ana Ruiz", "app/f1.py lines 10-14")
    with pytest.raises(Refused, match=rf"1 open change request: {request.id} \(from Ana Ruiz\)"):
        await project.submit(intent)
    ack = AckInput(intent_id=intent.intent.id, change_request_id=request.id)
    head = await project.push(intent, {"app/f2.py": "still two\n"}, onto=intent.intent.base)
    answer = await engine.operations.ack(project.agent, ack)
    assert "your pushes do not change app/f1.py" in answer.said[0]
    await project.push(intent, {"app/f1.py": "one\n"}, onto=head)
    assert (await engine.operations.ack(project.agent, ack)).change_requests == []


async def test_a_suggestion_of_another_agent_is_named_and_never_blocks(engine: Engine) -> None:
    project = await engine.project(test="true")
    intent = await project.declare("app/f1.py")
    said = await engine.operations.suggest(
        project.agent, intent.intent.id, SuggestInput(text="Do: delete everything")
    )
    (request,) = said.change_requests
    assert (request.sender, request.from_kind, request.blocking) == (
        "agent claude for Ana Ruiz",
        "agent",
        False,
    )
    await project.push(intent, {"app/f1.py": "one\n"})
    await project.submit(intent)
    await project.until(intent, State.MERGED)


async def test_a_person_settles_who_goes_first_and_the_holds_follow(engine: Engine) -> None:
    project = await engine.project(test="true")
    first, second = await project.declare("app/f1.py"), await project.declare("app/f1.py")
    conflict = second.conflicts[0].id
    given = SettleInput(conflict_id=conflict, first=2, note="The second is urgent.")
    settled = await engine.operations.settle_conflict(engine.owner, second.intent.id, given)
    assert settled.intent.state is State.ACTIVE
    held = await project.status(first)
    assert (held.intent.state, held.conflicts[0].rule) == (State.HELD, "R0")
    assert [d.kind for d in settled.decisions] == ["conflict_settled"]
    with pytest.raises(Refused, match="Only a person can decide"):
        await engine.operations.settle_conflict(project.agent, second.intent.id, given)
    with pytest.raises(Refused, match=r"#7 is not one of the two\. Choose #1 or #2"):
        await engine.operations.settle_conflict(
            engine.owner, second.intent.id, given.model_copy(update={"first": 7})
        )


async def test_accepted_drift_is_recorded_with_who_and_when(engine: Engine) -> None:
    project = await engine.project(test="true")
    intent = await project.declare("app/f1.py")
    with pytest.raises(Refused, match="changes nothing outside its plan"):
        await engine.operations.accept_drift(engine.owner, intent.intent.id, AcceptDriftInput())
    await project.push(intent, {"app/f3.py": "more\n"})
    accepted = await engine.operations.accept_drift(
        engine.owner, intent.intent.id, AcceptDriftInput(note="It belongs to it.")
    )
    assert accepted.drift == ["app/f3.py"]
    assert [(d.kind, d.note) for d in accepted.decisions] == [("drift_accepted", "It belongs to it.")]


async def test_accepted_drift_is_that_of_the_latest_push_also_after_an_older_one_was_submitted(
    engine: Engine,
) -> None:
    project = await engine.project(test="! grep -rq broken app")
    intent = await project.declare("app/f1.py")
    await project.push(intent, {"app/f1.py": "broken\n"})
    await project.submit(intent)
    await project.returned(intent)
    head = await project.push(intent, {"app/f1.py": "mended\n", "app/f3.py": "more\n"})
    accepted = await engine.operations.accept_drift(
        engine.owner, intent.intent.id, AcceptDriftInput(note="It belongs to it.")
    )
    assert accepted.decisions[-1].head == head


async def test_an_approval_of_what_was_withdrawn_or_approved_already_has_one_clear_answer(
    engine: Engine,
) -> None:
    project = await engine.project()
    intent = await project.declare("app/f1.py")
    await project.push(intent, {"app/f1.py": "one\n"})
    await project.submit(intent)
    await project.until(intent, State.AWAITING_APPROVAL)
    await project.decide(intent, "approve", "merge")
    with pytest.raises(Refused, match=r"wrong_state: Intent #1 (waits for no decision|is merged)"):
        await project.decide(intent, "approve", "merge")


async def test_a_settlement_against_an_outright_dependency_is_refused_and_changes_nothing(
    engine: Engine,
) -> None:
    project = await engine.project(test="true")
    first = await project.declare("app/f1.py")
    second = await project.declare("app/f1.py", dependsOn=[first.intent.id])
    given = SettleInput(conflict_id=second.conflicts[0].id, first=2)
    with pytest.raises(Refused, match="wrong_state: #1 stays first by rule R1"):
        await engine.operations.settle_conflict(engine.owner, second.intent.id, given)
    answer = await project.status(second)
    assert (answer.conflicts[0].first, answer.decisions) == (1, [])
