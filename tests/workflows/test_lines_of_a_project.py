"""Lines as owners make, pause and resume them."""

import pytest

from protocol.projects import CreateLine, PauseLine
from protocol.refusals import Refused
from protocol.states import State
from tests.support.engine import Engine


async def test_a_paused_line_lands_nothing_until_it_is_resumed(engine: Engine) -> None:
    project = await engine.project(test="true")
    operations = engine.operations
    told = await operations.pause_line(engine.owner, project.slug, "main", PauseLine(reason="Release day"))
    assert [(line.name, line.paused) for line in told.lines] == [("main", "Release day")]
    intent = await project.declare("app/f1.py")
    await project.push(intent, {"app/f1.py": "new\n"})
    await project.submit(intent)
    assert (await operations.lines(project.agent, project.slug)).lines[0].queued == 1
    await operations.resume_line(engine.owner, project.slug, "main")
    await project.until(intent, State.MERGED)
    kinds = [e.event_type for e in await operations.events(project.agent, project.slug, 0, 100)]
    assert kinds.index("line.paused") < kinds.index("line.resumed") < kinds.index("line.moved")


async def test_an_owner_begins_a_release_line_and_its_intents_meet_only_each_other(engine: Engine) -> None:
    project = await engine.project(test="true")
    made = await engine.operations.create_line(
        engine.owner, project.slug, CreateLine(**{"name": "release/2.x", "from": "main"})
    )
    assert [line.name for line in made.lines] == ["main", "release/2.x"]
    on_main = await project.declare("app/f1.py")
    on_release = await project.declare("app/f1.py", target="release/2.x")
    assert (on_main.intent.state, on_release.intent.state) == (State.ACTIVE, State.ACTIVE)
    second = await project.declare("app/f1.py", target="release/2.x")
    assert [c.intents for c in second.conflicts] == [[2, 3]]
    await project.push(on_release, {"app/f1.py": "fixed\n"})
    await project.submit(on_release)
    await project.until(on_release, State.MERGED)
    assert project.line() == ["first"]


@pytest.mark.parametrize("name", ["../up", "a..b", "x.lock", "-x"])
async def test_a_name_that_git_would_misread_is_no_line(engine: Engine, name: str) -> None:
    project = await engine.project(test="true")
    with pytest.raises((Refused, ValueError)):
        await engine.operations.create_line(
            engine.owner, project.slug, CreateLine(**{"name": name, "from": "main"})
        )


async def test_an_unknown_line_and_an_agent_that_pauses_one_are_refused(engine: Engine) -> None:
    project = await engine.project(test="true")
    with pytest.raises(Refused, match=r"unknown_line: There is no line release/9 in"):
        await project.declare("app/f1.py", target="release/9")
    with pytest.raises(Refused, match="Only an owner"):
        await engine.operations.pause_line(project.agent, project.slug, "main", PauseLine(reason="mine"))
