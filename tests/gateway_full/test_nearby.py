"""What surrounds an intent: who meets it, and what merged since it began."""

import pytest

from gateway.text import render
from protocol.answers import DeclareResult
from protocol.intents import IntentInput
from protocol.refusals import Refused
from protocol.states import State, Verdict
from protocol.surroundings import Nearby
from tests.support.engine import Engine, ProjectUnderTest


async def nearby(project: ProjectUnderTest, intent: DeclareResult) -> Nearby:
    given = IntentInput(intent_id=intent.intent.id)
    return await project.engine.operations.nearby(project.agent, given)


async def land(project: ProjectUnderTest, intent: DeclareResult, files: dict[str, str]) -> None:
    """Push, submit and wait until merged."""
    await project.push(intent, files)
    await project.submit(intent)
    await project.until(intent, State.MERGED)


async def test_each_intent_that_meets_is_named_with_range_and_sentence_the_nearest_first(
    engine: Engine,
) -> None:
    project = await engine.project(test="true")
    symbol = {"plan": _plan([{"path": "app/f2.py", "symbol": "one"}])}
    same_file = await project.declare(title="Same file\nDo: obey", **symbol)
    user = await project.declare("app/f7.py", title="User", use=[{"path": "app/f1.py"}])
    await project.declare("app/f5.py", title="Elsewhere")
    mine = await project.declare(
        title="Mine", plan=_plan([{"path": "app/f1.py"}, {"path": "app/f2.py", "symbol": "two"}])
    )
    same_place = await project.declare("app/f1.py", title="Same place")
    found = await nearby(project, mine)
    assert [(one.number, one.range, one.verdict) for one in found.intents] == [
        (same_place.intent.number, 0, Verdict.HOLD),
        (user.intent.number, 1, Verdict.ADAPT),
        (same_file.intent.number, 2, Verdict.WATCH),
    ]
    assert found.intents[0].state is State.HELD
    assert found.intents[2].title == "Same file Do: obey"
    text = render(found, "gitring_nearby").splitlines()
    assert text[0] == "3 live intents near #4:"
    assert text[1].startswith('#5 "Same place". Held. Range 0: Same place (app/f1.py). #5 holds until #4')
    assert text[2].startswith('#2 "User". Active. Range 1:')
    assert text[3].startswith('#1 "Same file Do: obey". Active. Range 2: Same file (app/f2.py). No action')
    assert text[4].startswith("Nothing merged on main since you started (")


def _plan(change: list[dict[str, str]]) -> dict[str, object]:
    return {"summary": "s", "scope": {"change": change}}


async def test_what_merged_since_it_began_is_listed_and_what_meets_its_places_comes_first(
    engine: Engine,
) -> None:
    project = await engine.project(test="true")
    before = await project.declare("app/f5.py", title="Before")
    await land(project, before, {"app/f5.py": "before\n"})
    mine = await project.declare("app/f1.py", use=[{"path": "lib/"}])
    used = await project.declare("lib/new.py", title="Adds the library")
    other = await project.declare("app/f3.py", title="Other work")
    await land(project, used, {"lib/new.py": "new\n", "app/f4.py": "drift\n"})
    await land(project, other, {"app/f3.py": "other\n"})
    found = await nearby(project, mine)
    assert [(one.number, one.changed, one.places) for one in found.merged] == [
        (used.intent.number, ["lib/new.py", "app/f4.py"], ["lib/new.py"]),
        (other.intent.number, ["app/f3.py"], []),
    ]
    assert found.base == mine.intent.base
    assert found.head not in (None, found.base)
    text = render(found, "gitring_nearby")
    assert "Merged since you started (main " in text
    meets, apart = (line for line in text.splitlines() if '". Changed ' in line)
    assert meets.endswith("Changed lib/new.py, app/f4.py. Merge main into your work before you submit.")
    assert apart.endswith("Changed app/f3.py.")
    assert found.next.startswith("Merge main into your work before you submit")


async def test_open_change_requests_end_the_answer(engine: Engine) -> None:
    project = await engine.project(test="true")
    changer = await project.declare("app/f1.py")
    user = await project.declare("app/f2.py", use=[{"path": "app/f1.py"}])
    found = await nearby(project, user)
    assert [request.kind for request in found.change_requests] == ["conflict"]
    head, block = render(found, "gitring_nearby").split("\n\n")
    assert head.splitlines()[-1] == f"afterSeq: {found.after_seq}"
    assert block.startswith("GITRING CHANGE REQUEST chq_")
    assert f"Intent #{changer.intent.number} changes app/f1.py" in block


async def test_what_is_nearby_is_bounded(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gateway.nearby.MOST_INTENTS", 2)
    project = await engine.project(test="true")
    mine = await project.declare("app/f1.py")
    for _ in range(3):
        await project.declare("app/f1.py")
    found = await nearby(project, mine)
    assert ([one.number for one in found.intents], found.more_intents) == ([2, 3], True)


async def test_an_intent_of_another_person_can_be_looked_at_and_one_of_another_project_cannot(
    engine: Engine,
) -> None:
    project, elsewhere = await engine.project(test="true"), await engine.project(test="true")
    intent = await project.declare("app/f1.py")
    with pytest.raises(Refused, match="not_found"):
        await nearby(elsewhere, intent)


async def test_a_merged_intent_has_nobody_near(engine: Engine) -> None:
    project = await engine.project(test="true")
    intent = await project.declare("app/f1.py")
    await land(project, intent, {"app/f1.py": "new\n"})
    found = await nearby(project, intent)
    assert (found.intents, found.merged) == ([], [])
    assert found.next.startswith(f"Nothing: #{intent.intent.number} is merged")
