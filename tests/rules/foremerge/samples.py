"""Short ways to write intents, and strategies for them."""

from datetime import UTC, datetime

from hypothesis import strategies as st

from protocol.foremerge.scopes import ScopeClaim
from protocol.foremerge.words import Operation, ScopeKind
from protocol.refusals import Refused
from rules.foremerge.faces import declared_by_foremerge
from rules.foremerge.findings import Finding, detect
from rules.foremerge.scopes import fold_declared, parse_declared
from rules.foremerge.subjects import Subject, subject

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


def claim(text: str, inferred: bool = False) -> ScopeClaim:
    """`kind:key=operation` as a declared scope."""
    scope, operation = parse_declared(text)
    assert operation is not None, text
    return ScopeClaim(kind=scope.kind, key=scope.key, operation=operation, inferred=inferred)


def intent(intent_id: str, summary: str, *scopes: str) -> Subject:
    """An intent ready to compare."""
    return subject(intent_id, summary, declared_by_foremerge(claim(text) for text in scopes))


def found(one: Subject, other: Subject) -> list[tuple[str, str, float]]:
    """Kind, severity and score of each finding."""
    return [(f.kind.value, f.severity.value, f.score) for f in detect(one, other)]


def only(one: Subject, other: Subject) -> Finding:
    """The one finding of a pair."""
    (finding,) = detect(one, other)
    return finding


_PIECES = ["Pay", "Service", "a", "::", ".", "\\", "/", ":", " ", "Report", "render", "É", "K", "=", "-"]
KEYS = st.one_of(
    st.lists(st.sampled_from(_PIECES), min_size=1, max_size=8).map("".join), st.text(min_size=1, max_size=20)
)
CLAIMS = st.builds(
    ScopeClaim,
    kind=st.sampled_from(ScopeKind),
    key=KEYS.map(lambda key: key.strip() or "x"),
    operation=st.sampled_from(Operation),
    inferred=st.booleans(),
)


def _foldable(claims: list[ScopeClaim]) -> list[ScopeClaim]:
    kept: dict[tuple[str, str], ScopeClaim] = {}
    for one in claims:
        kept.setdefault((one.kind, one.key.lower()), one)
    folded: list[ScopeClaim] = []
    for one in kept.values():
        try:
            folded = fold_declared([*folded, one])
        except Refused:  # two spellings of one scope with two operations
            continue
    return folded


SUMMARIES = st.lists(
    st.sampled_from(
        [
            "Replace",
            "Add",
            "retry",
            "support",
            "BillingClient",
            "PaymentService",
            "with",
            "the",
            "for",
            "cache",
        ]
    ),
    max_size=6,
).map(" ".join)


def subjects(intent_id: str) -> st.SearchStrategy[Subject]:
    """Intents of some scopes and words."""
    scopes = st.lists(CLAIMS, max_size=5).map(_foldable).map(declared_by_foremerge)
    return st.builds(lambda summary, found: subject(intent_id, summary, found), SUMMARIES, scopes)
