"""From claim to the end on the real engine: leases, turns of the life, messages, what ends frees."""

import asyncio
from datetime import UTC, datetime

import asyncpg
import pytest

from protocol.foremerge.intents import AdoptWorkInput, PublishedIntent, RecordAssessmentInput
from protocol.foremerge.queries import AssessmentsQuery, DetectionsQuery, InboxQuery
from protocol.foremerge.words import ClaimStatus, ConflictKind, ConflictStatus, IntentStatus
from protocol.ids import new_id
from protocol.projects import Caller, TokenKind
from protocol.refusals import Refused
from storage.sql import people, tokens
from storage.sql.pool import transaction
from tests.e2e.locks import trap
from tests.foremerge.face import Face, claim_of
from tests.support.engine import Engine


async def test_two_claims_of_one_scope_both_stand_and_the_second_is_told(engine: Engine) -> None:
    face = await Face.of(engine)
    one, two = await face.register("one"), await face.register("two")
    mine = (await face.publish(one, "Mine")).intent.id
    yours = (await face.publish(two, "Other")).intent.id
    assert (await face.claim(one, mine, "symbol:PaymentService")).warnings == []
    first = await face.claim(two, yours, "symbol:PaymentService", reason="the boundary")
    (warning,) = first.warnings
    assert (warning.kind, warning.score, first.advisory_only) == (ConflictKind.OVERLAPPING_CLAIM, 0.88, True)
    again = await face.claim(two, yours, "symbol:PaymentService", lease_seconds=7_200)
    assert again.claims[0].id == first.claims[0].id
    assert again.claims[0].lease_expires_at > first.claims[0].lease_expires_at
    seen = await face.reads.detections(face.visit, DetectionsQuery(conflict_id=warning.id))
    assert len(seen) == 2
    assert (await face.shown(yours)).intent.status is IntentStatus.CLAIMED
    types = [event.event_type for event in await face.events()]
    assert types[-2:] == ["claim.created", "conflict.redetected"]
    assert types.count("lifecycle.transitioned") == 2


async def test_a_lease_ends_by_being_read_and_is_renewed_in_place(engine: Engine) -> None:
    face = await Face.of(engine)
    one, two = await face.register("one"), await face.register("two")
    mine, yours = (await face.publish(one, "Mine")).intent.id, (await face.publish(two, "Other")).intent.id
    (short,) = (await face.claim(one, mine, "config:FEATURE=on", lease_seconds=5)).claims
    assert 59 <= (short.lease_expires_at - short.created_at).total_seconds() <= 60
    (long,) = (await face.claim(one, mine, "symbol:Cart", lease_seconds=999_999)).claims
    assert (long.lease_expires_at - long.created_at).total_seconds() == 86_400
    await _let_leases_pass(engine, mine)
    shown = {claim.scope.text: claim.status for claim in await face.reads.list_claims(face.visit, mine)}
    assert shown == {"config:FEATURE=on": ClaimStatus.EXPIRED, "symbol:Cart": ClaimStatus.EXPIRED}
    assert (await face.query(agent_id=one))[0].claims[0].status is ClaimStatus.EXPIRED
    assert (await face.claim(two, yours, "symbol:Cart")).warnings == []
    (renewed,) = (await face.claim(one, mine, "symbol:cart")).claims
    assert (renewed.id, renewed.status, renewed.scope.key) == (long.id, ClaimStatus.ACTIVE, "cart")
    with pytest.raises(Refused, match="symbol:PaymentService"):
        await face.claim(one, mine, "symbol:PaymentService=replace")


async def _let_leases_pass(engine: Engine, intent: str) -> None:
    async with transaction(engine.found.pool) as connection:
        await connection.execute(
            "UPDATE fm_claim SET lease_expires_at = now() - interval '1 second' WHERE intent_id = $1", intent
        )


async def test_nobody_acts_on_the_work_of_another_agent_and_no_step_is_skipped(engine: Engine) -> None:
    face = await Face.of(engine)
    one, two = await face.register("one"), await face.register("two")
    mine, yours = (await face.publish(one, "Mine")).intent.id, (await face.publish(two, "Other")).intent.id
    before = len(await face.events())
    for attempt in (
        face.claim(two, mine, "symbol:Cart"),
        face.start(two, mine),
        face.discard(two, mine),
        face.writes.record_assessment(face.visit, _assessment(two, mine, yours)),
    ):
        with pytest.raises(Refused, match="FORBIDDEN"):
            await attempt
    with pytest.raises(Refused, match="INVALID_TRANSITION"):
        await face.start(one, mine)
    with pytest.raises(Refused, match="INVALID_INPUT"):
        await face.discard(one, mine, "  ")
    with pytest.raises(Refused, match="INVALID_INPUT"):
        await face.writes.record_assessment(face.visit, _assessment(one, mine, mine))
    assert len(await face.events()) == before


def _assessment(agent: str, intent: str, related: str) -> RecordAssessmentInput:
    return RecordAssessmentInput(
        agent_id=agent,
        intent_id=intent,
        related_intent_id=related,
        verdict="conflicts",
        rationale="It removes what this builds on",
        action="rescoping",
    )


async def test_an_assessment_counts_until_the_other_declares_anew(engine: Engine) -> None:
    face = await Face.of(engine)
    one, two = await face.register("one"), await face.register("two")
    mine = (await face.publish(one, "Mine", "symbol:Cart=replace")).intent.id
    yours = (await face.publish(two, "Other", "symbol:Cart=extend")).intent.id
    assert (await face.shown(yours)).unassessed == [mine]
    made = await face.writes.record_assessment(face.visit, _assessment(two, yours, mine))
    assert await face.reads.assessments(face.visit, AssessmentsQuery(intent_id=yours)) == [made]
    assert (await face.shown(yours)).unassessed == []
    assert (await face.shown(mine)).unassessed == [yours]


async def test_a_message_makes_its_conflict_coordinating_and_waits_in_the_inbox(engine: Engine) -> None:
    face = await Face.of(engine)
    one, two = await face.register("one"), await face.register("two")
    mine = (await face.publish(one, "Mine", "symbol:Cart=replace")).intent.id
    (conflict,) = (await face.publish(two, "Other", "symbol:Cart=extend")).conflicts
    sent = await face.say(two, one, "  I own the trait.  ", conflict.id)
    assert sent.message == "I own the trait."
    assert (await face.check(intent_id=mine)).conflicts[0].status is ConflictStatus.COORDINATING
    inbox = InboxQuery(agent_id=one)
    assert await face.reads.inbox(face.visit, inbox) == [sent]
    assert await face.writes.mark_read(face.visit, one, [sent.id]) == 1
    assert await face.writes.mark_read(face.visit, one, [sent.id]) == 0
    assert [each.status for each in await face.reads.inbox(face.visit, inbox)] == ["READ"]
    await face.resolve(one, conflict.id)
    await face.say(one, two, "Done.", conflict.id)
    assert (await face.check(intent_id=mine)).conflicts == []


async def test_giving_up_frees_the_other_party_and_ends_the_claims(engine: Engine) -> None:
    face = await Face.of(engine)
    one, two = await face.register("one"), await face.register("two")
    mine = (await face.publish(one, "Mine", "symbol:Cart=replace")).intent.id
    yours = (await face.publish(two, "Other", "symbol:Cart=extend")).intent.id
    await face.claim(one, mine, "symbol:Cart")
    started = await face.start(one, mine)
    assert started.open_conflicts is not None
    assert started.open_conflicts.count == 1
    assert started.open_conflicts.as_of_event == (await face.events())[-1].seq
    assert (await face.discard(one, mine, "superseded")).status is IntentStatus.DISCARDED
    assert (await face.check(intent_id=yours)).conflicts == []
    assert (await face.check(intent_id=yours)).checked_intents == 0
    assert [each.status for each in await face.reads.list_claims(face.visit, mine)] == [ClaimStatus.RELEASED]
    types = [event.event_type for event in await face.events()]
    assert {"work.discarded", "conflict.dismissed"} <= set(types)
    with pytest.raises(Refused, match="INVALID_TRANSITION"):
        await face.discard(one, mine)
    made = await face.writes.record_assessment(face.visit, _assessment(one, mine, yours))
    assert made.intent_id == mine


async def test_work_of_a_silent_agent_is_taken_over_only_when_no_lease_runs(engine: Engine) -> None:
    face = await Face.of(engine)
    one, two = await face.register("one"), await face.register("two")
    mine = (await face.publish(one, "Mine", "symbol:Cart=replace")).intent.id
    await face.claim(one, mine, "symbol:Cart")
    given = AdoptWorkInput(agent_id=two, intent_id=mine, reason="it fell silent")
    operator = face.visit._replace(operator=True)
    with pytest.raises(Refused, match="FORBIDDEN"):
        await face.writes.adopt_work(face.visit, given)
    with pytest.raises(Refused, match="running claim"):
        await face.writes.adopt_work(operator, given)
    await _let_leases_pass(engine, mine)
    with pytest.raises(Refused, match="last two hours"):
        await face.writes.adopt_work(operator, given)
    async with transaction(engine.found.pool) as connection:
        await connection.execute(
            "UPDATE fm_agent SET last_seen_at = now() - interval '3 hours' WHERE id = $1", one
        )
    assert (await face.writes.adopt_work(operator, given)).agent_id == two
    with pytest.raises(Refused, match="FORBIDDEN"):
        await face.start(one, mine)
    assert (await face.start(two, mine)).status is IntentStatus.IN_PROGRESS


async def test_a_publication_whose_transaction_is_cut_off_is_made_once(engine: Engine) -> None:
    face = await Face.of(engine)
    one, two = await face.register("one"), await face.register("two")
    await face.publish(one, "Mine", "symbol:Cart=replace")
    async with trap(_dsn(engine), "INSERT", "fm_conflict", face.project.id) as found:
        publishing = asyncio.create_task(face.publish(two, "Other", "symbol:Cart=extend"))
        await found.caught()
        await _cut_off(engine)
        await found.let_go()
        told = await publishing
    await _made_once(face, told)


async def test_a_call_made_while_no_worker_runs_is_done_once_when_one_comes_back(engine: Engine) -> None:
    face = await Face.of(engine)
    agent = await face.register("one")
    await engine.stop_workers()
    publishing = asyncio.create_task(face.publish(agent, "Mine", "symbol:Cart=replace"))
    await asyncio.sleep(0)
    await engine.start_workers()
    told = await publishing
    assert [item.intent.id for item in await face.query()] == [told.intent.id]


def _dsn(engine: Engine) -> str:
    secret = engine.settings.database_url
    assert secret is not None
    return secret.get_secret_value()


async def _cut_off(engine: Engine) -> None:
    """Break the connection of whoever stands in a trap."""
    async with transaction(engine.found.pool) as connection:
        await connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
        )


async def _made_once(face: Face, told: PublishedIntent) -> None:
    assert len(told.conflicts) == 1
    types = [event.event_type for event in await face.events()]
    assert types.count("intent.published") == 2
    assert types.count("conflict.detected") == 1
    assert len(await face.query()) == 2


async def test_an_agent_works_for_the_person_who_registered_it_and_for_nobody_else(engine: Engine) -> None:
    face = await Face.of(engine)
    agent = await face.register("one")
    mine = (await face.publish(agent, "Mine", "symbol:Cart=replace")).intent.id
    other = face.visit._replace(caller=await _somebody_else(engine, face))
    with pytest.raises(Refused, match="FORBIDDEN"):
        await face.writes.claim_work(other, claim_of(agent, mine, "symbol:Cart"))
    with pytest.raises(Refused, match="FORBIDDEN"):
        await face.writes.mark_read(other, agent, [])
    stranger = await Face.of(engine)
    with pytest.raises(Refused, match="NOT_FOUND"):
        await stranger.claim(agent, mine, "symbol:Cart")
    with pytest.raises(Refused, match="NOT_FOUND"):
        await stranger.shown(mine)


async def _somebody_else(engine: Engine, face: Face) -> Caller:
    person, now = new_id("per"), datetime.now(UTC)
    async with transaction(engine.found.pool) as connection:
        await people.add(connection, person, "Jonas Weber", now)
        await connection.execute("INSERT INTO member VALUES ($1, $2, 'writer')", face.project.id, person)
        _, secret = await tokens.create(
            connection,
            kind=TokenKind.AGENT,
            name="other",
            person_id=person,
            project_ids=[face.project.id],
            now=now,
        )
        found = await tokens.find_by_secret(connection, secret, now)
    assert found is not None
    return found


async def test_what_was_observed_can_be_neither_changed_nor_taken_away(engine: Engine) -> None:
    face = await Face.of(engine)
    agent = await face.register("one")
    await face.publish(agent, "Mine", "symbol:Cart=replace")
    told = await face.publish(agent, "Other", "symbol:Cart=extend")
    dotted = await face.claim(agent, told.intent.id, "symbol:CheckoutController.checkout")
    assert "CheckoutController::checkout" in dotted.scope_warnings[0]
    for statement in (
        "UPDATE fm_detection SET score = 0",
        "DELETE FROM fm_detection",
        "TRUNCATE fm_detection",
        "UPDATE event SET payload = '{}'",
    ):
        with pytest.raises(asyncpg.IntegrityConstraintViolationError, match="append-only"):
            async with transaction(engine.found.pool) as connection:
                await connection.execute(statement)
