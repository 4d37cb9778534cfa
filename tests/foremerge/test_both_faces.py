"""One record, two faces: each sees the other's live work, and each keeps to its own rules for it."""

import pytest

from protocol.foremerge.agents import ListAgentsInput
from protocol.foremerge.words import ConflictKind, IntentStatus, Severity
from protocol.intents import BoardInput, IntentInput, SubmitInput, UpdatePlanInput, WithdrawInput
from protocol.refusals import Refused
from protocol.states import State, Verdict
from rules.foremerge.faces import status_of
from storage.sql.pool import transaction
from tests.foremerge.face import Face
from tests.support.engine import Engine


async def test_a_publication_meets_gitring_work_declared_before_anybody_registered(engine: Engine) -> None:
    project = await engine.project()
    theirs = await project.declare("app/f1.py", title="Round totals")
    face = await Face.of(engine, project)
    agent = await face.register("foreign")
    told = await face.publish(agent, "Drop the module", "file:app/f1.py=remove")
    (conflict,) = told.conflicts
    assert (conflict.kind, conflict.severity) == (ConflictKind.DESTRUCTIVE_VS_ADDITIVE, Severity.HIGH)
    (related,) = told.related_work
    assert (related.intent_id, related.status) == (theirs.intent.id, IntentStatus.IN_PROGRESS)
    heard = await project.status(theirs)
    (notice,) = heard.change_requests
    assert not notice.blocking
    assert "Foremerge" in notice.reason
    assert heard.intent.state is State.ACTIVE
    names = {each.name for each in await face.reads.list_agents(face.visit, ListAgentsInput())}
    assert names == {"foreign", "claude"}
    (own,) = await face.query(agent_id=agent)
    assert own.open_conflicts == 1


async def test_an_intent_of_gitring_hears_of_published_work_and_waits_for_its_files(engine: Engine) -> None:
    face = await Face.of(engine)
    project = face.project
    agent = await face.register("foreign")
    published = await face.publish(agent, "Rework the module", "file:app/f1.py=replace")
    held = await project.declare("app/f1.py", title="Round totals")
    assert held.intent.state is State.HELD
    (notice,) = held.change_requests
    assert "Foremerge" in notice.reason
    assert (await face.check(intent_id=published.intent.id)).blocking
    board = await engine.operations.board(project.agent, BoardInput(project_id=project.slug))
    assert {entry.id for entry in board.entries} == {published.intent.id, held.intent.id}
    await face.discard(agent, published.intent.id)
    released = await project.until(held, State.ACTIVE)
    assert released.change_requests == []


async def test_published_work_is_never_held_and_lands_nothing_by_gitring(engine: Engine) -> None:
    face = await Face.of(engine)
    project = face.project
    first = await project.declare("app/f1.py", title="Round totals")
    agent = await face.register("foreign")
    told = await face.publish(agent, "Rework the module", "file:app/f1.py=modify")
    assert told.intent.status is IntentStatus.INTENT
    mine = await engine.operations.status(project.agent, IntentInput(intent_id=told.intent.id))
    assert mine.intent.state is State.ACTIVE
    (conflict,) = mine.conflicts
    assert conflict.verdict is Verdict.WATCH
    assert mine.change_requests == []
    with pytest.raises(Refused, match="wrong_state"):
        await engine.operations.submit(project.agent, SubmitInput(intent_id=told.intent.id))
    withdrawn = await engine.operations.withdraw(
        project.agent, WithdrawInput(intent_id=told.intent.id, reason="its agent is gone")
    )
    assert withdrawn.intent.state is State.WITHDRAWN
    assert (await face.shown(told.intent.id)).intent.status is IntentStatus.DISCARDED
    assert (await project.status(first)).intent.state is State.ACTIVE


async def test_a_new_plan_is_compared_anew_and_what_is_gone_is_dismissed(engine: Engine) -> None:
    face = await Face.of(engine)
    project = face.project
    agent = await face.register("foreign")
    published = (
        await face.publish(agent, "Rework", "symbol:Cart::total=replace", "file:app/f2.py=modify")
    ).intent.id
    theirs = await project.declare_symbols(("app/f1.py", "Cart.total"))
    (conflict,) = (await face.check(intent_id=published)).conflicts
    assert conflict.severity is Severity.HIGH
    plan = {"summary": "Other", "scope": {"change": [{"path": "app/f3.py"}]}}
    given = UpdatePlanInput(**{"intentId": theirs.intent.id, "plan": plan, "reason": "elsewhere"})
    await engine.operations.update_plan(project.agent, given)
    assert (await face.check(intent_id=published)).conflicts == []
    assert "conflict.dismissed" in {event.event_type for event in await face.events()}
    (item,) = await face.query(scope={"kind": "file", "key": "app/f3.py"})
    assert item.intent.id == theirs.intent.id


async def test_a_message_reaches_the_agent_of_gitring_as_a_notice(engine: Engine) -> None:
    project = await engine.project()
    theirs = await project.declare("app/f1.py")
    face = await Face.of(engine, project)
    agent = await face.register("foreign")
    told = await face.publish(agent, "Drop it", "file:app/f1.py=remove")
    await face.say(agent, told.related_work[0].agent_id, "May I go first?", told.conflicts[0].id)
    heard = await project.status(theirs)
    assert any("May I go first?" in request.reason for request in heard.change_requests)
    with pytest.raises(Refused, match="FORBIDDEN"):
        await face.say(told.related_work[0].agent_id, agent, "as somebody else")


async def test_the_view_of_both_faces_says_what_the_rules_say(engine: Engine) -> None:
    async with transaction(engine.found.pool) as connection:
        text = await connection.fetchval("SELECT pg_get_viewdef('fm_work')")
    for state in State:
        if state is not State.WITHDRAWN:
            assert f"WHEN '{state}'::text THEN '{status_of(state)}'::text" in text
