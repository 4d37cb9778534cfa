"""The stories whose histories are kept: each runs on the real engine and names the workflows it leaves behind."""

from collections.abc import Awaitable, Callable

from protocol.intents import WithdrawInput
from protocol.names import intent_workflow, line_workflow, setup_workflow
from protocol.states import State
from tests.support.engine import Engine

Story = Callable[[Engine], Awaitable[dict[str, str]]]


async def held_then_landed(engine: Engine) -> dict[str, str]:
    """Two on one file: the second is held, released by the first's landing, and withdrawn."""
    project = await engine.project(test="true")
    first, second = await project.declare("app/f1.py"), await project.declare("app/f1.py")
    await project.push(first, {"app/f1.py": "new\n"})
    await project.submit(first)
    await project.until(first, State.MERGED)
    await project.until(second, State.ACTIVE)
    await engine.operations.withdraw(project.agent, WithdrawInput(intent_id=second.intent.id, reason="done"))
    return {
        "intent-landed": intent_workflow(first.intent.id),
        "intent-held-released-withdrawn": intent_workflow(second.intent.id),
        "line-one-landing": line_workflow(project.id, "main"),
        "setup-imported": setup_workflow(project.id),
    }


async def returned_then_landed(engine: Engine) -> dict[str, str]:
    """Red alone: returned, fixed, landed."""
    project = await engine.project(test="! grep -rq broken app")
    intent = await project.declare("app/f1.py")
    bad = await project.push(intent, {"app/f1.py": "broken\n"})
    await project.submit(intent)
    await project.returned(intent)
    await project.push(intent, {"app/f1.py": "fine\n"}, onto=bad)
    await project.submit(intent)
    await project.until(intent, State.MERGED)
    return {
        "intent-returned-then-landed": intent_workflow(intent.intent.id),
        "line-red-then-green": line_workflow(project.id, "main"),
    }


async def decided_by_a_person(engine: Engine) -> dict[str, str]:
    """A risky plan approved, checks skipped, the merge approved."""
    project = await engine.project()
    intent = await project.declare("pyproject.toml")
    await project.decide(intent, "approve", "plan")
    await project.push(intent, {"pyproject.toml": "[project]\n"})
    await project.submit(intent)
    await project.until(intent, State.AWAITING_APPROVAL)
    await project.decide(intent, "approve", "merge")
    await project.until(intent, State.MERGED)
    return {"intent-decided-by-a-person": intent_workflow(intent.intent.id)}


STORIES: tuple[Story, ...] = (held_then_landed, returned_then_landed, decided_by_a_person)
