"""Between the two faces: statuses, and the scopes that an intent of either face has in the eyes of the other.

`file:<path>` is a path, `symbol:<key>` a symbol in any file, every other kind a name. What a gitring intent changes
counts as a declared `modify`.
"""

from collections.abc import Iterable, Sequence

from protocol.foremerge.scopes import MOST_KEY, PlainScope, ScopeClaim
from protocol.foremerge.words import IntentStatus, Operation, ScopeKind
from protocol.scopes import checked_path
from protocol.states import State
from rules.foremerge.scopes import precise
from rules.foremerge.subjects import Declared, declared
from rules.places import Place

# A gitring intent as Foremerge shows it. It stays comparable until it has landed, so none is ACCEPTED.
_SHOWN = {
    State.PLAN_REVIEW: IntentStatus.INTENT,
    State.HELD: IntentStatus.CLAIMED,
    State.ACTIVE: IntentStatus.IN_PROGRESS,
    State.VERIFYING: IntentStatus.PROVISIONAL,
    State.AWAITING_APPROVAL: IntentStatus.VALIDATED,
    State.QUEUED: IntentStatus.VALIDATED,
    State.MERGED: IntentStatus.COMMITTED,
    State.WITHDRAWN: IntentStatus.DISCARDED,
}
# A Foremerge intent as gitring keeps it (`landing = external`): gitring starts no checks, decisions or queue for it, so it is
# Active until it is accepted, and Queued, outside the queue, until it has landed.
_KEPT = {
    IntentStatus.INTENT: State.ACTIVE,
    IntentStatus.CLAIMED: State.ACTIVE,
    IntentStatus.IN_PROGRESS: State.ACTIVE,
    IntentStatus.PROVISIONAL: State.ACTIVE,
    IntentStatus.VALIDATED: State.ACTIVE,
    IntentStatus.ACCEPTED: State.QUEUED,
    IntentStatus.COMMITTED: State.MERGED,
    IntentStatus.DISCARDED: State.WITHDRAWN,
}


def status_of(state: State) -> IntentStatus:
    """The Foremerge status of an intent that gitring's own face declared."""
    return _SHOWN[state]


def state_of(status: IntentStatus) -> State:
    """The gitring state of an intent that the Foremerge face published."""
    return _KEPT[status]


def scope_of_place(place: Place) -> ScopeClaim:
    """A changed place as a scope: a file or folder by its path, a symbol by `Class::method`."""
    if place.symbol:
        return ScopeClaim(
            kind=ScopeKind.SYMBOL, key=_member_form(place.symbol)[:MOST_KEY], operation=Operation.MODIFY
        )
    return ScopeClaim(kind=ScopeKind.FILE, key=place.path[:MOST_KEY], operation=Operation.MODIFY)


def _member_form(symbol: str) -> str:
    return "::".join(part for part in symbol.split(".") if part) or symbol


def declared_by_gitring(changes: Iterable[Place], names: Iterable[str] = ()) -> list[Declared]:
    """A gitring intent's scopes: what it changes, and the names it reserved that read as a scope."""
    found: dict[tuple[str, Place | None], Declared] = {}
    for place in changes:
        one = declared(scope_of_place(place), place, of_gitring=True)
        found.setdefault((one.precise, place), one)
    for name in names:
        claim = scope_of_name(name)
        if claim is not None:
            one = declared(claim, None, of_gitring=True)
            found.setdefault((one.precise, None), one)
    return list(found.values())


def scope_of_name(name: str) -> ScopeClaim | None:
    """A reserved name such as `config:retry_policy` as a scope; None when it has no kind this face knows."""
    kind, colon, key = name.partition(":")
    kind, key = kind.strip().lower(), key.strip()
    if not colon or not key or kind not in list(ScopeKind) or kind in (ScopeKind.FILE, ScopeKind.SYMBOL):
        return None
    return ScopeClaim(kind=ScopeKind(kind), key=key[:MOST_KEY], operation=Operation.MODIFY)


def declared_by_foremerge(scopes: Iterable[ScopeClaim]) -> list[Declared]:
    """A Foremerge intent's scopes, the files among them with their path."""
    return [declared(claim, place_of_scope(claim)) for claim in scopes]


def place_of_scope(scope: PlainScope | ScopeClaim) -> Place | None:
    """The place that a `file:` scope names; None for other kinds, and for a key that is no path of a repository."""
    if scope.kind is not ScopeKind.FILE:
        return None
    try:
        return Place(checked_path(scope.key))
    except ValueError:
        return None


def places_of(scopes: Sequence[ScopeClaim]) -> list[Place]:
    """Where a Foremerge intent changes files, as gitring's own rules compare places."""
    found = (place_of_scope(scope) for scope in sorted(scopes, key=precise))
    return sorted({place for place in found if place is not None})
