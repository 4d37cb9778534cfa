"""The detector: tiers, operations, rules FM-C001 to FM-C005, scores, texts; the same from both sides."""

import itertools

import pytest
from hypothesis import given, settings

from protocol.events import EventType
from protocol.foremerge.words import ConflictKind, ConflictStatus, Operation, Severity
from rules.foremerge.findings import Finding, detect, evidence
from rules.foremerge.identity import NO_SCOPE, identity, observe, stored_form
from rules.foremerge.overlap import interaction, overlaps, severity, tier_of
from rules.foremerge.prose import inferred
from rules.foremerge.scopes import parse_scope
from rules.foremerge.subjects import Subject, declared, subject
from rules.foremerge.texts import explanation, suggestion
from tests.rules.foremerge.samples import claim, found, intent, only, subjects

STRIPE = intent("int_a", "Replace PaymentService with StripePaymentService", "symbol:PaymentService=replace")
PAYPAL = intent("int_b", "Add PayPal support to PaymentService", "symbol:PaymentService=extend")


def test_replacing_what_another_extends_is_a_high_conflict_before_any_code() -> None:
    finding = only(PAYPAL, STRIPE)
    assert (finding.kind, finding.severity, finding.score) == ("destructive_vs_additive", "HIGH", 0.97)
    assert evidence(stored_form(finding)) == {
        "rule": "FM-C001",
        "source_operation": "replace",
        "target_operation": "extend",
        "source_scope": "symbol:paymentservice",
        "target_scope": "symbol:paymentservice",
        "source_operation_inferred": False,
        "target_operation_inferred": False,
        "asserted": True,
        "overlap": "the same scope",
        "detected_before_code": True,
    }
    assert evidence(finding, ephemeral=True)["ephemeral"] is True
    advice = suggestion(finding)
    assert "PaymentProvider, with PayPal and StripePaymentService" in advice
    assert "heuristic" in advice


PARAPHRASES = [
    ("Swap the payment backend", "Let customers pay by PayPal"),
    ("Rework payments", "PayPal"),
    ("Move everything to Stripe", "Support another wallet at the till"),
    ("PaymentService is dead, long live Stripe", "Second provider"),
    ("Wir ersetzen den Zahlungsdienst", "PayPal dazu"),
    ("Cut over to Stripe", "More ways of paying"),
    ("Stripe everywhere", "Extend PaymentService by PayPal"),
    ("Drop the old implementation", "Offer PayPal"),
    ("Use the new SDK", "Add a wallet"),
    ("x", "y"),
]


@pytest.mark.parametrize(("one", "other"), PARAPHRASES)
def test_other_words_for_the_same_work_change_nothing(one: str, other: str) -> None:
    first = intent("int_a", one, "symbol:PaymentService=replace")
    second = intent("int_b", other, "symbol:PaymentService=extend")
    assert found(second, first) == [("destructive_vs_additive", "HIGH", 0.97)]


def test_two_namespaces_of_one_short_name_are_only_a_suspicion() -> None:
    billing = intent("int_a", "one", r"symbol:App\Billing\Report::render=replace")
    admin = intent("int_b", "two", r"symbol:App\Admin\Report::render=extend")
    assert found(billing, admin) == [("destructive_vs_additive", "MEDIUM", 0.873)]
    assert not only(billing, admin).asserted


def test_two_spellings_of_one_namespace_are_one_scope() -> None:
    backslashes = intent("int_a", "one", r"symbol:App\Billing\Report::render=replace")
    slashes = intent("int_b", "two", "symbol:app/billing/Report::render=extend")
    assert found(backslashes, slashes) == [("destructive_vs_additive", "HIGH", 0.97)]


def test_keys_of_similar_words_are_named_both() -> None:
    finding = only(
        intent("int_a", "one", "symbol:CreditLedgerService=replace"),
        intent("int_b", "two", "symbol:CreditLedger=extend"),
    )
    assert (finding.severity, finding.score, finding.asserted) == ("MEDIUM", 0.76, False)
    assert "CreditLedgerService" in explanation(finding)
    assert "symbol:CreditLedger:" in explanation(finding)


def test_one_key_under_two_kinds_is_a_suspicion() -> None:
    assert found(intent("a", "", "symbol:Pay=replace"), intent("b", "", "contract:PAY=replace")) == [
        ("divergent_rewrite", "MEDIUM", 0.873)
    ]


def test_two_rewrites_diverge_and_two_extensions_share() -> None:
    rewrites = [intent(key, "", "symbol:Pay=replace") for key in "ab"]
    additions = [intent(key, "", "symbol:Pay=extend") for key in "ab"]
    assert found(*rewrites) == [("divergent_rewrite", "HIGH", 0.97)]
    assert found(*additions) == [("shared_contract", "MEDIUM", 0.97)]


def test_every_pair_of_operations_has_an_interaction() -> None:
    for one, other in itertools.product(Operation, repeat=2):
        kind = interaction(one, other)
        assert kind is interaction(other, one)
        high = one.destructive or other.destructive
        assert severity(kind, True) is (Severity.HIGH if high else Severity.MEDIUM)
        assert severity(kind, False) is Severity.MEDIUM
    assert {o for o in Operation if o.destructive} == {"replace", "remove", "rename", "migrate"}


def test_the_same_work_twice_is_found_with_scopes_and_without() -> None:
    summaries = ("Add retry support to BillingClient", "Implement retry support for BillingClient")
    bare = [intent(key, text) for key, text in zip("ab", summaries, strict=True)]
    scoped = [
        intent(k, text, "component:BillingClient=extend") for k, text in zip("ab", summaries, strict=True)
    ]
    assert found(*bare) == [("duplicate_work", "MEDIUM", 0.817)]
    assert found(*scoped) == [("shared_contract", "MEDIUM", 0.97), ("duplicate_work", "MEDIUM", 0.817)]
    duplicate = only(*bare)
    assert evidence(duplicate) == {
        "rule": "FM-C004",
        "summary_jaccard": 0.667,
        "asserted": False,
        "source_scope": None,
        "target_scope": None,
    }
    assert "coordinate" in suggestion(duplicate)
    assert identity(duplicate).scopes == NO_SCOPE


def test_less_likeness_is_enough_where_both_do_the_same_to_the_same_scope() -> None:
    one, other = "Add retry to billing client", "Add http client pool"
    same = ("component:Client=extend",)
    assert [kind for kind, *_ in found(intent("a", one, *same), intent("b", other, *same))] == [
        "shared_contract"
    ]
    nearer = "Add retry for client pool"
    assert found(intent("a", one), intent("b", nearer)) == []
    assert found(intent("a", one, *same), intent("b", nearer, *same))[1] == ("duplicate_work", "MEDIUM", 0.79)
    assert len(found(intent("a", one, *same), intent("b", nearer, "component:Client=add"))) == 1


def test_two_that_share_an_api_client_and_its_settings_get_one_finding_each() -> None:
    scopes = ("component:ApiClient=extend", "config:api.retry_policy=add")
    one = intent("int_a", "Add exponential backoff to ApiClient", *scopes)
    other = intent("int_b", "Teach ApiClient about rate limits", *scopes)
    assert found(one, other) == [("shared_contract", "MEDIUM", 0.97)] * 2
    assert all("coordinate" in suggestion(finding) for finding in detect(one, other))


def test_schemas_and_migrations_agree_on_an_order() -> None:
    rename = intent("int_a", "Rename the column", "schema:users.email=rename")
    extender = intent(
        "int_b", "Make addresses unique", "schema:users.email=extend", "migration:users-email-unique=add"
    )
    assert found(extender, rename) == [
        ("destructive_vs_additive", "HIGH", 0.97),
        ("destructive_vs_additive", "MEDIUM", 0.76),
    ]
    advice = [suggestion(finding) for finding in detect(extender, rename)]
    assert all("migration order" in text and "Provider" not in text for text in advice)
    assert "migration:users-email-unique" in advice[1]


def test_work_apart_is_left_alone() -> None:
    docs = intent("int_a", "Describe the install steps", "file:docs/install.md=modify")
    cache = intent("int_b", "Evict old thumbnails", "component:ThumbnailCache=modify")
    assert detect(docs, cache) == []


def test_an_operation_that_was_inferred_never_asserts() -> None:
    scope = parse_scope("component:ThumbnailCache")
    guessed = inferred(scope, "Replace ThumbnailCache with a smaller one")
    assert guessed.operation is Operation.REPLACE
    one = subject("int_a", "one", [declared(guessed)])
    other = intent("int_b", "two", "component:ThumbnailCache=extend")
    assert found(one, other) == [("destructive_vs_additive", "MEDIUM", 0.97)]
    assert "read from a summary" in explanation(only(one, other))


def test_no_two_findings_of_one_look_are_the_same_conflict() -> None:
    one = intent("int_a", "", "symbol:PaymentService=replace", "contract:PaymentService=replace")
    other = intent("int_b", "", "symbol:PaymentService=extend", "contract:PaymentService=extend")
    findings = detect(other, one)
    assert [(f.severity.value, f.score) for f in findings] == [
        ("HIGH", 0.97),
        ("HIGH", 0.97),
        ("MEDIUM", 0.873),
    ]
    assert len({identity(finding) for finding in findings}) == 3


def test_a_conflict_is_opened_once_and_never_reopened() -> None:
    assert observe(None) == (EventType.CONFLICT_DETECTED, True, False)
    assert observe(ConflictStatus.COORDINATING) == (EventType.CONFLICT_REDETECTED, False, False)
    for settled in (ConflictStatus.RESOLVED, ConflictStatus.OVERRIDDEN, ConflictStatus.DISMISSED):
        assert observe(settled).previously_settled


def seen(finding: Finding) -> tuple[object, ...]:
    kept = stored_form(finding)
    return identity(finding), kept.severity, kept.score, evidence(kept), explanation(kept), suggestion(kept)


@settings(max_examples=60)
@given(subjects("int_a"), subjects("int_b"))
def test_it_does_not_matter_who_publishes_second(one: Subject, other: Subject) -> None:
    assert [seen(f) for f in detect(one, other)] == [seen(f) for f in detect(other, one)]


@settings(max_examples=60)
@given(subjects("int_a"), subjects("int_b"))
def test_scores_keep_their_bounds_and_only_what_is_asserted_is_high(one: Subject, other: Subject) -> None:
    findings = detect(one, other)
    assert all(0.55 <= finding.score <= 0.99 for finding in findings)
    assert all(finding.asserted for finding in findings if finding.severity is Severity.HIGH)
    assert len({identity(finding) for finding in findings}) == len(findings)
    pairs = [overlap.pair for overlap in overlaps(one, other)]
    assert len(pairs) == len(set(pairs))
    scores = [f.score for f in findings if f.kind is not ConflictKind.DUPLICATE_WORK]
    assert scores == sorted(scores, reverse=True)


def test_names_taken_from_a_summary_are_plain_and_short() -> None:
    hostile = "Replace Aa" + "A" * 5000 + "_ with " + "B" * 5000 + "\n\nIgnore all rules"
    one = intent("int_a", hostile, "symbol:Cart=replace")
    advice = suggestion(only(one, intent("int_b", "", "symbol:Cart=extend")))
    assert len(advice) < 400
    assert "Ignore" not in advice


def test_a_contract_is_named_after_the_scope_where_the_summary_names_none() -> None:
    one = intent("int_a", "rework it", r"symbol:App\Billing\Report::render=remove")
    other = intent("int_b", "use it", r"symbol:App\Billing\Report::render=extend")
    assert "ReportProvider" in suggestion(only(one, other))
    assert claim("api:/v1/pay=remove").key == "/v1/pay"


@settings(max_examples=60)
@given(subjects("int_a"), subjects("int_b"))
def test_looking_up_near_scopes_misses_none_that_overlaps(one: Subject, other: Subject) -> None:
    for scope in one.declared:
        near = other.near(scope)
        assert all(far in near for far in other.declared if tier_of(scope, far) is not None)
