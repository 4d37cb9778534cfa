"""Acceptance cases around the gate and the record that no other test says whole."""

import asyncpg
import pytest

from gateway.foremerge.status import status_report
from gateway.reads import Reads
from protocol.foremerge.changesets import PublishChangeSetInput
from protocol.foremerge.queries import ConflictsQuery
from protocol.foremerge.words import ChangeSetStatus, ConflictStatus
from protocol.refusals import Refused
from storage.sql.pool import transaction
from tests.foremerge.face import Face
from tests.foremerge.work import Bench
from tests.support.engine import Engine


async def test_what_an_intent_depends_on_is_told_and_never_enforced(engine: Engine) -> None:
    bench = await Bench.of(engine)
    first, later = await bench.work("first"), await bench.work("later")
    own = await bench.face.publish(
        later.agent, "Built on it", "config:later=add", depends_on=[first.intent, "int_nobody"]
    )
    await bench.face.claim(later.agent, own.intent.id, "config:later")
    later.intent = own.intent.id
    changeset = await later.published()
    await bench.verify(changeset)
    assert (await bench.accept(changeset)).status is ChangeSetStatus.ACCEPTED
    needed = next(item for item in await bench.face.query() if item.intent.id == first.intent)
    assert needed.dependents == [own.intent.id]


async def test_giving_up_opens_the_gate_of_the_other_party(engine: Engine) -> None:
    bench = await Bench.of(engine)
    one = await bench.work("one", "symbol:Cart=replace")
    two = await bench.work("two", "symbol:Cart=extend")
    changeset = await two.published()
    await bench.verify(changeset)
    with pytest.raises(Refused, match="BLOCKING_CONFLICT"):
        await bench.accept(changeset)
    before = await bench.now(changeset)
    with pytest.raises(Refused, match="INVALID_INPUT"):
        await bench.face.discard(one.agent, one.intent, " ")
    with pytest.raises(Refused, match="BLOCKING_CONFLICT"):
        await bench.accept(changeset)
    assert await bench.now(changeset) == before
    await bench.face.discard(one.agent, one.intent, "theirs is better")
    known = await bench.face.reads.conflicts(bench.face.visit, ConflictsQuery())
    assert {found.status for found in known} == {ConflictStatus.DISMISSED}
    assert (await bench.accept(changeset)).status is ChangeSetStatus.ACCEPTED


async def test_nobody_publishes_a_changeset_for_the_work_of_another_agent(engine: Engine) -> None:
    bench = await Bench.of(engine)
    one, two = await bench.work("one"), await bench.work("two")
    one.commit(one.edited())
    given = PublishChangeSetInput(agent_id=two.agent, intent_id=one.intent, summary="taken")
    with pytest.raises(Refused, match="FORBIDDEN"):
        await bench.face.writes.publish_changeset(bench.face.visit, given)
    (item,) = await bench.face.query(agent_id=one.agent)
    assert item.latest_changeset is None


async def test_a_claim_whose_lease_has_passed_is_no_part_of_the_overview(engine: Engine) -> None:
    face = await Face.of(engine)
    agent = await face.register("one")
    intent = (await face.publish(agent, "Mine")).intent.id
    await face.claim(agent, intent, "symbol:Cart", "symbol:Till")
    reads = Reads(engine.found.pool, "")
    assert len((await status_report(reads, face.visit)).claims) == 2
    async with transaction(engine.found.pool) as connection:
        await connection.execute(
            "UPDATE fm_claim SET lease_expires_at = now() WHERE intent_id = $1 AND key = 'Cart'", intent
        )
    (left,) = (await status_report(reads, face.visit)).claims
    assert left.scope.key == "Till"


async def test_neither_the_ledger_nor_a_run_of_a_check_can_be_written_over(engine: Engine) -> None:
    bench = await Bench.of(engine)
    changeset = await (await bench.work()).published()
    await bench.verify(changeset)
    (attempt,) = await bench.attempts(changeset)
    project = bench.face.project.id
    for statement in (
        f"INSERT INTO event SELECT * FROM event WHERE project_id = '{project}' "
        "ON CONFLICT (project_id, seq) DO UPDATE SET payload = '{}'",
        f"DELETE FROM event WHERE project_id = '{project}'",
        f"UPDATE fm_validation_attempt SET passed = false WHERE id = '{attempt.id}'",
        f"DELETE FROM fm_validation_attempt WHERE id = '{attempt.id}'",
        "TRUNCATE fm_validation_attempt",
    ):
        with pytest.raises(asyncpg.IntegrityConstraintViolationError, match="append-only"):
            async with transaction(engine.found.pool) as connection:
                await connection.execute(statement)
    assert await bench.attempts(changeset) == [attempt]
