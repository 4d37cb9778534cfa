"""Publishing on the real engine: what is detected, kept, warned of and refused."""

import asyncio

import pytest

from protocol.foremerge.ledger import AuditQuery
from protocol.foremerge.words import ConflictKind, ConflictStatus, IntentStatus, Severity
from protocol.refusals import Refused
from storage.sql.pool import transaction
from tests.foremerge.face import Face, plain
from tests.support.engine import Engine, git

REPLACES = "Replace PaymentService with StripePaymentService"
SUPPORTS = "Add PayPal support to PaymentService"


async def test_the_later_publisher_is_told_of_a_conflict_before_any_code_is_there(engine: Engine) -> None:
    face = await Face.of(engine)
    stripe, paypal = await face.register("stripe"), await face.register("paypal")
    first = await face.publish(stripe, REPLACES, "symbol:PaymentService=replace")
    assert first.conflicts == []
    assert not first.assessment_required
    second = await face.publish(paypal, SUPPORTS, "symbol:PaymentService=extend")
    (conflict,) = second.conflicts
    assert (conflict.kind, conflict.severity, conflict.score) == (
        ConflictKind.DESTRUCTIVE_VS_ADDITIVE,
        Severity.HIGH,
        0.97,
    )
    assert conflict.evidence["asserted"] is True
    assert conflict.evidence["detected_before_code"] is True
    assert "PaymentProvider" in conflict.suggestion
    assert second.related_work[0].asserted
    assert second.related_work[0].agent == "stripe"
    assert second.assessment_required
    stored = await face.check(intent_id=first.intent.id)
    assert [one.id for one in stored.conflicts] == [conflict.id]
    assert stored.blocking
    types = [event.event_type for event in await face.events()]
    assert types[-2:] == ["intent.published", "conflict.detected"]
    assert git(face.project.source, "status", "--porcelain") == ""


async def test_an_alias_alone_asserts_nothing_and_finds_both_in_a_query(engine: Engine) -> None:
    face = await Face.of(engine)
    one, two = await face.register("one"), await face.register("two")
    await face.publish(one, "Rewrite the billing report", r"symbol:App\Billing\Report::render=replace")
    told = await face.publish(two, "Extend the admin view", r"symbol:App\Admin\Report::render=extend")
    (conflict,) = told.conflicts
    assert (conflict.severity, conflict.score) == (Severity.MEDIUM, 0.873)
    assert conflict.evidence["asserted"] is False
    found = await face.query(scope={"kind": "symbol", "key": "Report::render"})
    assert [item.agent.name for item in found] == ["two", "one"]
    told = await face.publish(two, "Add a footer", "symbol:app/billing/Report::render=extend")
    assert Severity.HIGH in {one.severity for one in told.conflicts}


async def test_likeness_of_words_is_found_by_index_and_scored_as_the_rules_say(engine: Engine) -> None:
    face = await Face.of(engine)
    one, two = await face.register("one"), await face.register("two")
    await face.publish(one, "Rewrite the ledger", "symbol:CreditLedgerService=replace")
    told = await face.publish(two, "Show balances", "symbol:CreditLedger=extend")
    (conflict,) = told.conflicts
    assert (conflict.severity, conflict.score) == (Severity.MEDIUM, 0.76)
    assert "CreditLedgerService" in conflict.explanation
    await face.publish(one, "Add retry support to BillingClient", "symbol:BillingClient=extend")
    told = await face.publish(two, "Implement retry support for BillingClient", "symbol:BillingClient=extend")
    assert {(found.kind, found.score) for found in told.conflicts} == {
        (ConflictKind.SHARED_CONTRACT, 0.97),
        (ConflictKind.DUPLICATE_WORK, 0.817),
    }
    told = await face.publish(two, "Document the thumbnail cache", "component:ThumbnailCache=modify")
    assert told.conflicts == []


async def test_scopes_without_an_operation_are_read_from_the_summary_and_never_high(engine: Engine) -> None:
    face = await Face.of(engine)
    agent = await face.register("one")
    await face.publish(agent, "Replace it", "component:ThumbnailCache=replace")
    told = await face.publish(
        agent, "Delete the flaky ThumbnailCache benchmark test", undeclared=plain("component:ThumbnailCache")
    )
    (scope,) = told.intent.scopes
    assert (scope.operation, scope.inferred) == ("modify", True)
    assert {found.severity for found in told.conflicts} == {Severity.MEDIUM}


async def test_warnings_refuse_nothing_and_contradictions_do(engine: Engine) -> None:
    face = await Face.of(engine)
    agent = await face.register("one")
    told = await face.publish(agent, "Plan only")
    assert "no scopes" in told.warnings[0]
    assert (await face.shown(told.intent.id)).intent.status is IntentStatus.INTENT
    told = await face.publish(agent, "Checkout", "symbol:CheckoutController.checkout=modify")
    assert "symbol:checkout" in told.warnings[0]
    assert "CheckoutController::checkout" in told.warnings[0]
    folded = await face.publish(agent, "Twice", "symbol:A::b=extend", "symbol:a::b=extend")
    assert len(folded.intent.scopes) == 1
    before = len(await face.events())
    with pytest.raises(Refused, match="INVALID_INPUT"):
        await face.publish(agent, "Both", "symbol:A::b=extend", "symbol:A::b=remove")
    with pytest.raises(Refused, match="NOT_FOUND"):
        await face.publish("agt_nobody", "Nobody's")
    assert len(await face.events()) == before


async def test_twenty_at_once_find_every_pair_exactly_once_and_leave_a_whole_chain(engine: Engine) -> None:
    face = await Face.of(engine)
    agents = [await face.register(f"agent {n}") for n in range(20)]
    told = await asyncio.gather(
        *(face.publish(agent, f"Work number {n}", "symbol:Shared=replace") for n, agent in enumerate(agents))
    )
    pairs = [
        frozenset({str(one.source_intent_id), one.target_intent_id})
        for answer in told
        for one in answer.conflicts
        if one.kind is ConflictKind.DIVERGENT_REWRITE
    ]
    assert len(pairs) == len(set(pairs)) == 20 * 19 // 2
    seen = [event.event_type for event in await face.events() if event.event_type.startswith("conflict.")]
    assert seen.count("conflict.detected") == len([one for answer in told for one in answer.conflicts])
    assert "conflict.redetected" not in seen
    verdict = await face.reads.audit(face.visit, AuditQuery())
    assert verdict.valid
    assert verdict.events_verified == verdict.last_seq


async def test_a_what_if_keeps_nothing_and_its_ids_are_good_for_nothing(engine: Engine) -> None:
    face = await Face.of(engine)
    one, two = await face.register("one"), await face.register("two")
    first = await face.publish(one, REPLACES, "symbol:PaymentService=replace")
    given = {
        "intent": SUPPORTS,
        "scopes": [{"kind": "symbol", "key": "PaymentService", "operation": "extend"}],
    }
    looks = [await face.check(**given), await face.check(**given)]
    assert all(report.ephemeral and report.blocking and report.checked_intents == 1 for report in looks)
    assert looks[0].as_of_event == looks[1].as_of_event
    ids = {found.id for report in looks for found in report.conflicts}
    assert len(ids) == 2
    assert all(found.evidence["ephemeral"] is True for report in looks for found in report.conflicts)
    with pytest.raises(Refused, match="NOT_FOUND"):
        await face.say(one, two, "let us talk", ids.pop())
    with pytest.raises(Refused, match="INVALID_INPUT"):
        await face.check(intent="int_" + "0" * 32)
    with pytest.raises(Refused, match="NOT_FOUND"):
        await face.check(intent_id="int_" + "0" * 32)
    same = await face.check(intent_id=first.intent.id, scopes=given["scopes"])
    assert same.conflicts == []
    assert same.checked_intents == 0


async def test_a_conflict_that_was_settled_stays_settled_when_it_is_seen_again(engine: Engine) -> None:
    face = await Face.of(engine)
    one, two, third = [await face.register(name) for name in ("one", "two", "third")]
    mine = await face.publish(one, "Mine", "symbol:Cart=replace")
    yours = await face.publish(two, "Yours", "symbol:Till=extend")
    await face.claim(one, mine.intent.id, "contract:checkout")
    (conflict,) = (await face.claim(two, yours.intent.id, "contract:checkout")).warnings
    with pytest.raises(Refused, match="FORBIDDEN"):
        await face.resolve(third, conflict.id)
    assert (await face.resolve(two, conflict.id)).status is ConflictStatus.RESOLVED
    with pytest.raises(Refused, match="INVALID_TRANSITION"):
        await face.resolve(one, conflict.id)
    (again,) = (await face.claim(two, yours.intent.id, "contract:checkout")).warnings
    assert (again.id, again.status, again.previously_settled) == (
        conflict.id,
        ConflictStatus.RESOLVED,
        True,
    )
    await face.publish(third, "Third", "symbol:Cart=remove")
    (other,) = (await face.check(intent_id=mine.intent.id)).conflicts
    assert (await face.resolve_as_operator(two, other.id)).status is ConflictStatus.RESOLVED
    async with transaction(engine.found.pool) as connection:
        kept = await connection.fetchval(
            "SELECT count(*) FROM fm_decision WHERE conflict_id = $1", conflict.id
        )
    assert kept == 1
