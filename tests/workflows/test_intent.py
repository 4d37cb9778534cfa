"""The life of an intent on the real engine: hold and release, verify, decide, withdraw, refuse."""

import pytest

from protocol.intents import DecideInput, SubmitInput, UpdatePlanInput, WithdrawInput
from protocol.refusals import Refused
from protocol.states import State, WaitsFor
from tests.support.engine import Engine


async def test_two_that_change_one_file_the_second_is_held_until_the_first_lands(engine: Engine) -> None:
    project = await engine.project(test="true")
    first, second = await project.declare("app/f1.py"), await project.declare("app/f1.py")
    assert (first.intent.state, second.intent.state) == (State.ACTIVE, State.HELD)
    assert second.waiting_for is WaitsFor.OTHER_INTENT
    assert second.conflicts[0].text == (
        "#1 and #2. Range 0: Same place (app/f1.py). #2 holds until #1 merges or is withdrawn (rule R5)."
    )
    await project.push(first, {"app/f1.py": "value = 'new'\n"})
    await project.submit(first)
    assert (await project.until(first, State.MERGED)).can_stop
    released = await project.until(second, State.ACTIVE)
    assert released.conflicts == []
    assert "base.moved" in {event.event_type for event in released.events} | {
        e.event_type for e in await engine.operations.events(project.agent, project.slug, 0, 500)
    }
    assert project.line() == ["Merge #1: Work", "first"]


async def test_a_withdrawal_releases_who_waited(engine: Engine) -> None:
    project = await engine.project(test="true")
    first, second = await project.declare("app/"), await project.declare("app/f2.py", "docs/x.md")
    assert first.intent.state is State.PLAN_REVIEW  # a whole folder is risky
    assert second.intent.state is State.HELD
    await engine.operations.withdraw(
        project.agent, WithdrawInput(intent_id=first.intent.id, reason="superseded")
    )
    assert (await project.until(second, State.ACTIVE)).intent.number == 2


async def test_failed_checks_send_the_intent_back_and_a_new_head_closes_the_request(engine: Engine) -> None:
    project = await engine.project(test="! grep -rq broken app || { echo 'not ok 1 - greets'; exit 1; }")
    intent = await project.declare("app/f1.py")
    bad = await project.push(intent, {"app/f1.py": "broken\n"})
    await project.submit(intent)
    back = await project.returned(intent)
    request = back.change_requests[0]
    assert (request.kind, request.blocking) == ("check", True)
    assert request.reason.startswith(
        "Checks failed on main plus your work: tests failed (exited 1): not ok 1 - greets"
    )
    with pytest.raises(Refused, match="submit the new head") as again:
        await project.submit(intent)
    assert again.value.refusal.code == "open_change_requests"
    await project.push(back, {"app/f1.py": "fine\n"}, onto=bad)
    assert (await project.submit(intent)).change_requests == []
    assert (await project.until(intent, State.MERGED)).checks[0].state == "passed"


async def test_without_a_test_command_the_check_is_skipped_and_a_person_approves(engine: Engine) -> None:
    project = await engine.project()
    intent = await project.declare("app/f1.py")
    await project.push(intent, {"app/f1.py": "new\n"})
    await project.submit(intent)
    waiting = await project.until(intent, State.AWAITING_APPROVAL)
    assert [check.state for check in waiting.checks] == ["skipped"]
    assert waiting.waiting_for is WaitsFor.PERSON
    with pytest.raises(
        Refused, match=r"Only a person can decide\. Ask Ana Ruiz to open intent #1 in gitring\."
    ):
        await engine.operations.decide(
            project.agent, intent.intent.id, DecideInput(decision="approve", subject="merge")
        )
    assert (await project.decide(intent, "approve", "merge")).intent.state in (State.QUEUED, State.MERGED)
    await project.until(intent, State.MERGED)


async def test_a_person_sends_a_risky_plan_back_and_a_harmless_version_needs_no_review(
    engine: Engine,
) -> None:
    project = await engine.project(test="true")
    intent = await project.declare("pyproject.toml")
    assert intent.intent.state is State.PLAN_REVIEW
    assert intent.intent.risk_reasons == ["changes a dependency manifest or lock file (pyproject.toml)"]
    back = await project.decide(intent, "send_back", "plan", "Leave the dependencies alone.")
    assert back.waiting_for is WaitsFor.YOU
    assert back.change_requests[0].do == "Send plan v2 with gitring_update_plan. No push or ack is needed."
    plan = {"summary": "Less.", "steps": [], "scope": {"change": [{"path": "app/f1.py"}]}}
    changed = await engine.operations.update_plan(
        project.agent,
        UpdatePlanInput(intent_id=intent.intent.id, plan=plan),  # type: ignore[arg-type]
    )
    assert (changed.intent.state, changed.intent.plan.version) == (State.ACTIVE, 2)
    assert changed.change_requests == []


async def test_an_approved_plan_becomes_active_or_held_as_the_rules_say(engine: Engine) -> None:
    project = await engine.project(test="true")
    await project.declare("pyproject.toml")
    second = await project.declare("pyproject.toml")
    assert (await project.decide(second, "approve", "plan")).intent.state is State.HELD


async def test_a_plan_change_that_leaves_the_shared_place_frees_the_held_intent(engine: Engine) -> None:
    project = await engine.project(test="true")
    await project.declare("app/f1.py")
    second = await project.declare("app/f1.py", "app/f2.py")
    plan = {"summary": "Less.", "scope": {"change": [{"path": "app/f2.py"}]}}
    changed = await engine.operations.update_plan(
        project.agent,
        UpdatePlanInput(intent_id=second.intent.id, plan=plan),  # type: ignore[arg-type]
    )
    assert (changed.intent.state, changed.conflicts) == (State.ACTIVE, [])


async def test_work_that_does_not_merge_comes_back_with_the_files_named(engine: Engine) -> None:
    project = await engine.project(test="true")
    first = await project.declare("app/f1.py")
    await project.push(first, {"app/f1.py": "one\n"})
    await project.submit(first)
    await project.until(first, State.MERGED)
    second = await project.declare("app/f2.py")
    await project.push(second, {"app/f1.py": "two\n"}, onto=first.intent.base)
    await project.submit(second)
    back = await project.returned(second)
    assert back.change_requests[0].kind == "merge"
    assert back.change_requests[0].reason.endswith("the lines conflict in app/f1.py.")
    assert back.drift == ["app/f1.py"]


async def test_a_final_intent_refuses_every_command_with_the_next_step(engine: Engine) -> None:
    project = await engine.project(test="true")
    intent = await project.declare("app/f1.py")
    await engine.operations.withdraw(project.agent, WithdrawInput(intent_id=intent.intent.id, reason="no"))
    with pytest.raises(Refused, match=r"#1 is withdrawn\. Declare a new intent") as again:
        await engine.operations.submit(project.agent, SubmitInput(intent_id=intent.intent.id))
    assert again.value.refusal.code == "wrong_state"


async def test_a_workflow_that_was_lost_is_rebuilt_by_the_next_command(engine: Engine) -> None:
    project = await engine.project(test="true")
    intent = await project.declare("app/f1.py")
    handle = engine.found.temporal.get_workflow_handle(f"intent-{intent.intent.id}")
    await handle.terminate("lost")
    await engine.operations.withdraw(project.agent, WithdrawInput(intent_id=intent.intent.id, reason="no"))
    assert await handle.result() == "withdrawn"
