"""Numbers and names that intents reserve when they are declared."""

import asyncio
from typing import Any

import pytest
from pydantic import ValidationError

from gateway.text import render
from protocol.answers import DeclareResult
from protocol.claims import ClaimInput
from protocol.intents import BoardInput, DeclareInput, WithdrawInput
from protocol.projects import CreateSeries
from protocol.refusals import Refused
from protocol.states import State
from tests.support.engine import Engine, ProjectUnderTest

D = [{"series": "D", "count": 2}]
INVOICES = [{"name": "table:invoices"}]


async def with_series(engine: Engine, prefix: str = "D", first: int = 560) -> ProjectUnderTest:
    """A project with one series."""
    project = await engine.project(test="true")
    await engine.operations.create_series(engine.owner, project.slug, CreateSeries(prefix=prefix, next=first))
    return project


async def withdraw(project: ProjectUnderTest, intent: DeclareResult) -> None:
    given = WithdrawInput(intent_id=intent.intent.id, reason="not needed")
    await project.engine.operations.withdraw(project.agent, given)


async def board_entries(project: ProjectUnderTest) -> dict[int, list[str]]:
    board = await project.engine.operations.board(project.agent, BoardInput(project_id=project.slug))
    return {entry.number: entry.reserves for entry in board.entries}


async def test_an_intent_gets_the_next_numbers_and_its_name_in_the_order_it_asked(engine: Engine) -> None:
    project = await with_series(engine)
    declared = await project.declare("app/f1.py", claims=[*D, *INVOICES])
    assert declared.reserved == ["D560", "D561", "table:invoices"]
    assert [claim["reserved"] for claim in declared.claims] == declared.reserved
    assert "\nReserved: D560, D561, table:invoices.\n" in render(declared, "gitring_declare")
    assert await board_entries(project) == {1: declared.reserved}
    events = await engine.operations.events(project.agent, project.slug, 0, 100)
    [reserved] = [event for event in events if event.event_type == "claim.reserved"]
    assert reserved.intent_id == declared.intent.id
    assert reserved.payload == {"number": 1, "reserved": declared.reserved}


async def test_a_prefix_is_the_same_whatever_its_case_and_one_number_is_asked_by_default(
    engine: Engine,
) -> None:
    project = await with_series(engine)
    declared = await project.declare("app/f1.py", claims=[{"series": "d"}])
    assert declared.reserved == ["D560"]
    listed = await engine.operations.series(project.agent, project.slug)
    assert [(one.prefix, one.next) for one in listed.series] == [("D", 561)]
    with pytest.raises(Refused, match="exists: A series d exists already"):
        await engine.operations.create_series(engine.owner, project.slug, CreateSeries(prefix="d"))


async def test_no_number_is_given_twice_though_many_ask_at_once_and_some_withdraw(engine: Engine) -> None:
    project = await with_series(engine)
    asked = [project.declare(f"app/f{n}.py", claims=[{"series": "D", "count": 3}]) for n in range(6)]
    first = await asyncio.gather(*asked)
    await withdraw(project, first[0])
    later = await project.declare("app/f7.py", claims=D)
    given = [text for declared in (*first, later) for text in declared.reserved]
    assert sorted(given) == [f"D{560 + n}" for n in range(20)]


async def test_a_name_is_held_while_its_intent_lives_whatever_its_case_and_free_when_it_ends(
    engine: Engine,
) -> None:
    project = await with_series(engine)
    holder = await project.declare("app/f1.py", claims=INVOICES)
    wanted: dict[str, Any] = {"claims": [{"series": "D"}, {"name": "TABLE:Invoices"}]}
    with pytest.raises(Refused) as told:
        await project.declare("app/f2.py", **wanted)
    assert (told.value.refusal.code, told.value.refusal.status) == ("claim_held", 409)
    assert told.value.refusal.message == "table:invoices is reserved by intent #1 for as long as it lives."
    assert "#1 is merged or withdrawn" in told.value.refusal.next
    await withdraw(project, holder)
    again = await project.declare("app/f2.py", **wanted)
    # The declare that was refused took neither the intent's number nor the series'.
    assert (again.intent.number, again.reserved) == (2, ["D560", "TABLE:Invoices"])


async def test_a_name_is_free_again_once_its_intent_has_merged(engine: Engine) -> None:
    project = await with_series(engine)
    intent = await project.declare("app/f1.py", claims=INVOICES)
    await project.push(intent, {"app/f1.py": "new\n"})
    await project.submit(intent)
    await project.until(intent, State.MERGED)
    assert (await project.declare("app/f1.py", claims=INVOICES)).reserved == ["table:invoices"]


async def test_a_series_the_project_does_not_have_is_refused_and_nothing_is_declared(engine: Engine) -> None:
    project = await with_series(engine)
    with pytest.raises(Refused) as told:
        await project.declare("app/f1.py", claims=[*INVOICES, {"series": "ADR"}])
    refusal = told.value.refusal
    assert (refusal.code, refusal.status) == ("unknown_series", 400)
    assert "has no series ADR" in refusal.message
    assert "(D)" in refusal.next and "Ana Ruiz" in refusal.next
    assert await board_entries(project) == {}
    assert (await project.declare("app/f1.py", claims=INVOICES)).intent.number == 1


async def test_a_repeat_with_its_request_id_gives_the_same_numbers(engine: Engine) -> None:
    project = await with_series(engine)
    first, again = [await project.declare("app/f1.py", claims=D, requestId="once") for _ in range(2)]
    assert first.reserved == again.reserved == ["D560", "D561"]
    assert (await project.declare("app/f2.py", claims=D)).reserved == ["D562", "D563"]


async def test_a_name_that_reads_as_a_number_of_a_series_is_refused_whichever_came_first(
    engine: Engine,
) -> None:
    project = await with_series(engine)
    with pytest.raises(Refused, match="d7 reads as a number of the series D"):
        await project.declare("app/f1.py", claims=[{"name": "x"}, {"name": "d7"}])
    holder = await project.declare("app/f1.py", claims=[{"name": "ADR-12"}])
    with pytest.raises(Refused, match="claim_held: Intent #1 holds the name ADR-12"):
        await engine.operations.create_series(engine.owner, project.slug, CreateSeries(prefix="adr-"))
    await withdraw(project, holder)
    await engine.operations.create_series(engine.owner, project.slug, CreateSeries(prefix="adr-"))
    assert (await project.declare("app/f1.py", claims=[{"series": "ADR-"}])).reserved == ["adr-1"]


async def test_only_an_owner_creates_a_series(engine: Engine) -> None:
    project = await with_series(engine)
    with pytest.raises(Refused, match="Only an owner"):
        await engine.operations.create_series(project.agent, project.slug, CreateSeries(prefix="ADR"))
    events = await engine.operations.events(project.agent, project.slug, 0, 100)
    [made] = [event for event in events if event.event_type == "series.created"]
    assert (made.entity_id, made.payload, made.agent_id) == ("D", {"next": 560}, "owner")


@pytest.mark.parametrize(
    ("claims", "problem"),
    [
        ([{}], "has either `series`"),
        ([{"series": "D", "name": "x"}], "has either `series`"),
        ([{"name": "x", "count": 1}], "`count` belongs to `series`"),
        ([{"series": "D", "count": 11}], "less than or equal to 10"),
        ([{"series": "D", "count": 0}], "greater than or equal to 1"),
        ([{"series": "D", "count": 10}] * 6, "at most 50 numbers"),
        ([{"name": "a b"}], "no spaces"),
        ([{"name": "a,b"}], "no spaces, commas"),
        ([{"name": "Straße"}, {"name": "STRASSE"}], "a name is there twice"),
        ([{"series": "D5"}], "pattern"),
        ([{"name": f"n{n}"} for n in range(51)], "at most 50"),
    ],
)
def test_claims_that_cannot_be_meant_are_refused(claims: list[dict[str, Any]], problem: str) -> None:
    given: dict[str, Any] = {
        "title": "t",
        "goal": "g",
        "plan": {"summary": "s", "scope": {"change": [{"path": "a"}]}},
        "claims": claims,
    }
    with pytest.raises(ValidationError, match=problem):
        DeclareInput(**given)


def test_a_claim_survives_the_way_through_the_workflow() -> None:
    for claim in (ClaimInput(series="D"), ClaimInput(name="x"), ClaimInput(series="D", count=3)):
        assert ClaimInput.model_validate_json(claim.model_dump_json()) == claim
