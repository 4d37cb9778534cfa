"""The documented scenarios on the real engine: what the pure detector finds is found by index, kept and answered too."""

import pytest

from protocol.foremerge.intents import PublishedIntent
from tests.foremerge.face import Face
from tests.rules.foremerge.test_fm_detector import PARAPHRASES
from tests.support.engine import Engine

MEDIUM, HIGH = "MEDIUM", "HIGH"
Found = list[tuple[str, str, float]]


def _found(told: PublishedIntent) -> Found:
    return [(one.kind.value, one.severity.value, one.score) for one in told.conflicts]


SCENARIOS: dict[str, tuple[tuple[str, ...], tuple[str, ...], Found]] = {
    "two that share a client and its settings": (
        ("Add exponential backoff to ApiClient", "component:ApiClient=extend", "config:api.retry_policy=add"),
        ("Teach ApiClient about rate limits", "component:ApiClient=extend", "config:api.retry_policy=add"),
        [("shared_contract", MEDIUM, 0.97), ("shared_contract", MEDIUM, 0.97)],
    ),
    "a migration beside a rename": (
        ("Rename the column", "schema:users.email=rename"),
        ("Make addresses unique", "schema:users.email=extend", "migration:users-email-unique=add"),
        [("destructive_vs_additive", HIGH, 0.97), ("destructive_vs_additive", MEDIUM, 0.76)],
    ),
    "work apart": (
        ("Describe the install steps", "file:docs/install.md=modify"),
        ("Evict old thumbnails", "component:ThumbnailCache=modify"),
        [],
    ),
    "two rewrites": (
        ("Rebuild the till", "symbol:Till=replace"),
        ("Throw the old register away", "symbol:Till=remove"),
        [("divergent_rewrite", HIGH, 0.97)],
    ),
    "one key under two kinds": (
        ("Rebuild payments", "symbol:Pay=replace"),
        ("Another wire form", "contract:PAY=replace"),
        [("divergent_rewrite", MEDIUM, 0.873)],
    ),
    "the same words without scopes": (
        ("Add retry support to BillingClient",),
        ("Implement retry support for BillingClient",),
        [("duplicate_work", MEDIUM, 0.817)],
    ),
}


@pytest.mark.parametrize("name", SCENARIOS)
async def test_a_scenario_is_found_by_whoever_publishes_second(engine: Engine, name: str) -> None:
    first, second, expected = SCENARIOS[name]
    face = await Face.of(engine)
    one, two = await face.register("one"), await face.register("two")
    assert (await face.publish(one, *first)).conflicts == []
    told = await face.publish(two, *second)
    assert _found(told) == expected
    assert len({conflict.id for conflict in told.conflicts}) == len(expected)
    kept = (await face.check(intent_id=told.intent.id)).conflicts
    assert {conflict.id for conflict in kept} == {conflict.id for conflict in told.conflicts}
    advice = [conflict.suggestion for conflict in told.conflicts]
    if name == "a migration beside a rename":
        assert all("migration order" in text and "Provider" not in text for text in advice)
    if "shared_contract" in {kind for kind, *_ in expected}:
        assert all("coordinate" in text for text in advice)


async def test_whatever_the_words_the_declared_operations_decide(engine: Engine) -> None:
    face = await Face.of(engine)
    agent = await face.register("one")
    scope = {"kind": "symbol", "key": "PaymentService"}
    for number, (theirs, _) in enumerate(PARAPHRASES):
        await face.publish(agent, theirs, f"symbol:Payment{number}Service=replace")
    for number, (_, mine) in enumerate(PARAPHRASES):
        asked = {**scope, "key": f"Payment{number}Service", "operation": "extend"}
        report = await face.check(intent=mine, scopes=[asked])
        assert [(one.kind, one.score) for one in report.conflicts if one.severity == HIGH] == [
            ("destructive_vs_additive", 0.97)
        ], mine
