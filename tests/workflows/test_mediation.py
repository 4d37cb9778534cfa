"""Who goes first, and what the other does: order, adapt, narrow, on the real engine."""

from typing import Any

import pytest

from protocol.intents import AckInput, UpdatePlanInput
from protocol.projects import ChangeSettings
from protocol.refusals import Refused
from protocol.states import Mediation, State, Verdict
from tests.support.engine import Engine, ProjectUnderTest


async def narrowing(engine: Engine) -> ProjectUnderTest:
    """A project that narrows instead of holding."""
    project = await engine.project(test="true")
    await engine.operations.change_settings(
        engine.owner, project.slug, ChangeSettings(mediation=Mediation.NARROW)
    )
    return project


async def test_one_that_uses_what_another_changes_adapts_and_acknowledges_after_a_push(
    engine: Engine,
) -> None:
    project = await engine.project(test="true")
    user = await project.declare("app/f1.py", use=[{"path": "app/f2.py"}])
    changer = await project.declare("app/f2.py")
    assert (changer.intent.state, changer.conflicts[0].verdict) == (State.ACTIVE, Verdict.ADAPT)
    answer = await project.status(user)
    (request,) = answer.change_requests
    assert (request.conflict_id, request.place) == (changer.conflicts[0].id, "app/f2.py")
    await project.push(user, {"app/f1.py": "adapted\n"})
    answer = await engine.operations.ack(
        project.agent, AckInput(intent_id=user.intent.id, change_request_id=request.id)
    )
    assert answer.change_requests == []
    assert answer.said[0].startswith(f"Change request {request.id} closed: commit ")


async def test_an_acknowledgement_without_a_push_stays_open_and_says_what_is_missing(engine: Engine) -> None:
    project = await engine.project(test="true")
    user = await project.declare("app/f1.py", use=[{"path": "app/f2.py"}])
    await project.declare("app/f2.py")
    (request,) = (await project.status(user)).change_requests
    answer = await engine.operations.ack(
        project.agent, AckInput(intent_id=user.intent.id, change_request_id=request.id)
    )
    assert [r.id for r in answer.change_requests] == [request.id]
    assert "stays open: nothing was pushed since it came" in answer.said[0]


async def test_in_a_conflict_the_intent_whose_change_the_other_uses_goes_first(engine: Engine) -> None:
    project = await engine.project(test="true")
    first = await project.declare("app/f1.py", "app/f2.py", use=[{"path": "app/f3.py"}])
    second = await project.declare("app/f1.py", "app/f3.py")
    assert second.intent.state is State.ACTIVE
    assert (second.conflicts[0].first, second.conflicts[0].rule) == (2, "R1a")
    assert (await project.status(first)).intent.state is State.HELD


async def test_a_push_into_the_overlap_turns_the_order_and_its_loss_turns_it_back(engine: Engine) -> None:
    project = await engine.project(test="true")
    first, second = await project.declare("app/f1.py"), await project.declare("app/f2.py")
    await project.push(second, {"app/f1.py": "mine\n"})
    held = await project.status(first)
    assert (held.intent.state, held.conflicts[0].rule) == (State.HELD, "R4")
    await project.push(second, {"app/f2.py": "mine\n"}, onto=second.intent.base)
    assert (await project.status(first)).intent.state is State.ACTIVE


async def test_high_priority_goes_before_normal_and_the_held_one_hears_of_it(engine: Engine) -> None:
    project = await engine.project(test="true")
    first = await project.declare("app/f1.py")
    urgent = await project.declare("app/f1.py", priority="high")
    assert (urgent.intent.state, urgent.conflicts[0].rule) == (State.ACTIVE, "R3")
    assert (await project.status(first)).intent.state is State.HELD


async def test_a_server_that_narrows_lets_the_later_one_go_on_elsewhere(engine: Engine) -> None:
    project = await narrowing(engine)
    first = await project.declare("app/f1.py")
    second = await project.declare("app/f1.py", "app/f2.py")
    assert (second.intent.state, second.conflicts[0].verdict) == (State.ACTIVE, Verdict.NARROW)
    (request,) = second.change_requests
    assert (
        request.do
        == "change your plan with gitring_update_plan to leave out app/f1.py; that closes this request."
    )
    (notice,) = (await project.status(first)).change_requests
    assert (notice.kind, notice.blocking) == ("notice", False)
    assert [d.place for d in second.do_not_change if d.keeper] == ["app/f1.py"]
    plan: Any = {"summary": "Less.", "scope": {"change": [{"path": "app/f2.py"}]}}
    changed = await engine.operations.update_plan(
        project.agent, UpdatePlanInput(intent_id=second.intent.id, plan=plan)
    )
    assert (changed.change_requests, changed.conflicts) == ([], [])
    assert (await project.status(first)).change_requests == []


async def test_what_lies_wholly_in_the_overlap_or_was_pushed_into_is_held_as_before(engine: Engine) -> None:
    project = await narrowing(engine)
    await project.declare("app/f1.py")
    assert (await project.declare("app/f1.py")).intent.state is State.HELD
    pusher = await project.declare("app/f5.py", "app/f6.py")
    await project.push(pusher, {"app/f5.py": "mine\n"})
    other = await project.declare("app/f5.py", "app/f7.py")
    assert (other.conflicts[0].first, other.conflicts[0].verdict) == (3, Verdict.NARROW)
    urgent = await project.declare("app/f5.py", "app/f0.py", priority="high")
    assert urgent.conflicts[0].first == urgent.intent.number
    assert (await project.status(pusher)).intent.state is State.HELD


async def test_the_yielded_place_is_free_again_when_its_keeper_lands(engine: Engine) -> None:
    project = await narrowing(engine)
    first = await project.declare("app/f1.py")
    second = await project.declare("app/f1.py", "app/f2.py")
    await project.push(first, {"app/f1.py": "landed\n"})
    await project.submit(first)
    await project.until(first, State.MERGED)
    free = await project.status(second)
    assert (free.conflicts, free.change_requests) == ([], [])
    assert not any(d.keeper for d in free.do_not_change)


async def test_a_list_of_dependencies_that_closes_a_circle_changes_nothing(engine: Engine) -> None:
    project = await engine.project(test="true")
    first = await project.declare("app/f1.py")
    second = await project.declare("app/f2.py", dependsOn=[first.intent.id])
    plan: Any = {"summary": "s", "scope": {"change": [{"path": "app/f1.py"}]}}
    with pytest.raises(Refused, match="dependency_cycle: #1 cannot go after #2, which goes after #1"):
        await engine.operations.update_plan(
            project.agent,
            UpdatePlanInput(intent_id=first.intent.id, plan=plan, depends_on=[second.intent.id]),
        )
    assert (await project.status(first)).intent.plan.version == 1
