"""Scopes of the Foremerge face: how they are read, and their two names."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from protocol.foremerge.intents import PublishIntentInput
from protocol.foremerge.scopes import PlainScope, ScopeClaim
from protocol.foremerge.words import Operation, ScopeKind
from protocol.refusals import Refused
from rules.foremerge.likeness import jaccard, words
from rules.foremerge.prose import infer_operation
from rules.foremerge.scopes import (
    alias,
    fold_declared,
    fold_plain,
    parse_declared,
    parse_scope,
    precise,
    require_no_operation,
)
from tests.rules.foremerge.samples import KEYS, claim


def symbol(key: str) -> PlainScope:
    return PlainScope(kind=ScopeKind.SYMBOL, key=key)


@pytest.mark.parametrize(
    ("key", "short", "full"),
    [
        (r"App\Services\Report::render", "report::render", "app.services.report::render"),
        ("app/services/Report::render", "report::render", "app.services.report::render"),
        ("app.services.Report::render", "report::render", "app.services.report::render"),
        ("crate::app::services::Report::render", "report::render", "crate::app::services::report::render"),
        (r"App\Services\Report", "report", "app.services.report"),
        ("CheckoutController.checkout", "checkout", "checkoutcontroller.checkout"),
        ("A::B::C", "b::c", "a::b::c"),
        (" :: ", "::", "::"),
        ("\\:: ", ".", "."),
    ],
)
def test_a_symbol_has_a_short_name_and_a_full_one(key: str, short: str, full: str) -> None:
    assert (alias(symbol(key)), precise(symbol(key))) == (f"symbol:{short}", f"symbol:{full}")


def test_other_kinds_compare_the_whole_key_in_lower_case() -> None:
    scope = parse_scope(" API : /v1/Orders::list ")
    assert (scope.kind, scope.key) == (ScopeKind.API, "/v1/Orders::list")
    assert alias(scope) == precise(scope) == "api:/v1/orders::list"


@given(st.sampled_from(ScopeKind), KEYS)
def test_both_names_name_themselves_and_the_full_one_leads_to_the_short_one(
    kind: ScopeKind, key: str
) -> None:
    scope = PlainScope(kind=kind, key=key)
    for name in (alias, precise):
        once = name(scope).partition(":")[2]
        assert name(PlainScope(kind=kind, key=once)) == name(scope)
    full = PlainScope(kind=kind, key=precise(scope).partition(":")[2])
    assert alias(full) == alias(scope)


def test_a_name_does_not_hang_on_the_letters_beside_it() -> None:
    scope = symbol("A\\\N{GREEK CAPITAL LETTER SIGMA}")
    full = precise(scope).partition(":")[2]
    assert alias(symbol(full)) == alias(scope) == "symbol:\N{GREEK SMALL LETTER SIGMA}"


@given(st.text(st.characters(), max_size=60))
def test_any_text_is_a_scope_or_refused_as_invalid(text: str) -> None:
    try:
        scope, _ = parse_declared(text)
    except Refused as problem:
        assert problem.refusal.code == "INVALID_INPUT"
        assert problem.refusal.status == 400
    else:
        assert scope.key.strip() == scope.key != ""


@pytest.mark.parametrize(
    "text",
    [
        "PaymentService",
        "thing:PaymentService",
        "symbol:",
        "symbol:  ",
        ":x",
        "",
        "symbol:\0",
        "symbol:\ud800",
    ],
)
def test_a_scope_without_kind_or_key_or_of_an_unknown_kind_is_refused(text: str) -> None:
    with pytest.raises(Refused, match=r"^INVALID_INPUT"):
        parse_scope(text)


@pytest.mark.parametrize(
    "scope", [{"kind": "thing", "key": "x"}, {"kind": "symbol", "key": "  "}, {"kind": "symbol"}]
)
def test_structured_scopes_are_refused_alike(scope: dict[str, str]) -> None:
    with pytest.raises(ValidationError):
        PublishIntentInput.model_validate(
            {"agent_id": "agt_1", "task": "t", "summary": "s", "scopes": [{**scope, "operation": "add"}]}
        )


def test_a_structured_scope_without_operation_is_refused_by_that_name() -> None:
    with pytest.raises(ValidationError, match="operation"):
        PublishIntentInput.model_validate(
            {"agent_id": "agt_1", "task": "t", "summary": "s", "scopes": [{"kind": "Symbol", "key": "x"}]}
        )


def test_an_operation_follows_the_last_equals_sign_or_belongs_to_the_key() -> None:
    assert parse_declared("symbol:Cart= Replace ") == (symbol("Cart"), Operation.REPLACE)
    assert parse_declared("config:FEATURE=on") == (PlainScope(kind=ScopeKind.CONFIG, key="FEATURE=on"), None)


def test_one_scope_twice_folds_when_the_operation_is_the_same() -> None:
    inferred = claim("symbol:app.Cart=extend", inferred=True)
    declared = claim(r"symbol:App\Cart=extend")
    assert fold_declared([inferred, declared]) == [declared]
    assert fold_plain([symbol("Cart"), symbol("cart")]) == [symbol("Cart")]


def test_one_scope_twice_with_two_operations_is_refused() -> None:
    with pytest.raises(Refused, match="with extend and with replace"):
        fold_declared([claim("symbol:Cart=extend"), claim("symbol:cart=replace")])


def test_a_claimed_key_that_ends_in_an_operation_is_refused_with_the_scope_that_is_meant() -> None:
    with pytest.raises(Refused, match=r"Send symbol:PaymentService;"):
        require_no_operation(symbol("PaymentService=replace"), declared_by_some_intent=False)
    require_no_operation(symbol("PaymentService=replace"), declared_by_some_intent=True)
    require_no_operation(parse_scope("config:FEATURE=on"), declared_by_some_intent=False)


def test_words_part_camel_case_and_leave_little_words_out() -> None:
    assert words("Add the ApiClient to HTTPServer, v2 x") == {"add", "api", "client", "httpserver", "v2"}
    assert words("\N{KELVIN SIGN}ey Straße") == {"ey", "stra"}
    assert jaccard(frozenset(), frozenset()) == 0.0


@pytest.mark.parametrize(
    ("summary", "key", "operation"),
    [
        ("Replace PaymentService with StripePaymentService", "PaymentService", Operation.REPLACE),
        ("Delete the flaky ThumbnailCache benchmark test", "ThumbnailCache", Operation.MODIFY),
        ("Remove unused imports", "ThumbnailCache", Operation.MODIFY),
        ("Remove ThumbnailCache settings", "ThumbnailCache", Operation.MODIFY),
        ("Remove ThumbnailCache from tests", "ThumbnailCache", Operation.REMOVE),
        ("Add PayPal support to PaymentService", "PaymentService", Operation.EXTEND),
        ("Introduce a cache", "Cache", Operation.ADD),
        ("Ponder the cache", "Cache", Operation.MODIFY),
    ],
)
def test_an_operation_can_be_read_from_a_summary(summary: str, key: str, operation: Operation) -> None:
    assert infer_operation(summary, key) is operation


@given(st.text(max_size=200), KEYS)
def test_any_summary_gives_an_operation(summary: str, key: str) -> None:
    assert infer_operation(summary, key) in Operation


def test_inferred_is_shown_only_when_true() -> None:
    assert "inferred" not in claim("symbol:x=add").model_dump()
    assert ScopeClaim(kind=ScopeKind.API, key="x", operation=Operation.ADD, inferred=True).model_dump()[
        "inferred"
    ]
