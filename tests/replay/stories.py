"""The stories whose histories are kept: each runs on the real engine and names the workflows it leaves behind."""

from collections.abc import Awaitable, Callable

from protocol.intents import WithdrawInput
from protocol.names import intent_workflow, line_workflow, setup_workflow
from protocol.project_checks import ChecksInput
from protocol.projects import ChangeSettings, PauseLine
from protocol.states import State
from tests.foremerge.work import Bench
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


async def clashing(engine: Engine) -> dict[str, str]:
    """Four tested together, of which two fail only together: halved, searched, one returned and withdrawn."""
    project = await engine.project(test="! (grep -q new app/f1.py && grep -q new app/f3.py)")
    intents = [await project.declare(f"app/f{n}.py") for n in (1, 2, 3, 4)]
    for n, intent in enumerate(intents, 1):
        await project.push(intent, {f"app/f{n}.py": "new\n"})
    await engine.operations.pause_line(engine.owner, project.slug, "main", PauseLine(reason="until all wait"))
    for intent in intents:
        await project.submit(intent)
    await engine.operations.resume_line(engine.owner, project.slug, "main")
    await project.until(intents[3], State.MERGED)
    await project.returned(intents[2])
    given = WithdrawInput(intent_id=intents[2].intent.id, reason="done")
    await engine.operations.withdraw(project.agent, given)
    return {
        "line-halved-and-searched": line_workflow(project.id, "main"),
        "intent-clashed-withdrawn": intent_workflow(intents[2].intent.id),
    }


async def line_failing_by_itself(engine: Engine) -> dict[str, str]:
    """A risky intent whose line is red: nobody is blamed, the line is mended by its settings, the merge is approved."""
    project = await engine.project(test="false")
    intent = await project.declare("pyproject.toml")
    await project.decide(intent, "approve", "plan")
    await project.push(intent, {"pyproject.toml": "[project]\n"})
    await project.submit(intent)
    async for event in engine.operations.live_events(project.agent, project.slug, 0):
        if event.event_type == "line.paused":
            break
    settings = ChangeSettings(checks=ChecksInput(test="true"))
    await engine.operations.change_settings(engine.owner, project.slug, settings)
    await engine.operations.resume_line(engine.owner, project.slug, "main")
    await project.until(intent, State.AWAITING_APPROVAL)
    await project.decide(intent, "approve", "merge")
    await project.until(intent, State.MERGED)
    return {
        "intent-on-a-red-line": intent_workflow(intent.intent.id),
        "line-red-by-itself": line_workflow(project.id, "main"),
    }


async def of_the_foremerge_face(engine: Engine) -> dict[str, str]:
    """One published, claimed, validated, accepted and landed by its own Git; another one given up."""
    bench = await Bench.of(engine)
    landed, given_up = await bench.work("one"), await bench.work("two")
    changeset = await landed.accepted()
    await bench.land(changeset, str(changeset.accepted_commit))
    await bench.face.start(given_up.agent, given_up.intent)
    await bench.face.discard(given_up.agent, given_up.intent)
    return {
        "intent-foremerge-landed": intent_workflow(landed.intent),
        "intent-foremerge-given-up": intent_workflow(given_up.intent),
    }


STORIES: tuple[Story, ...] = (
    held_then_landed,
    returned_then_landed,
    decided_by_a_person,
    clashing,
    line_failing_by_itself,
    of_the_foremerge_face,
)
