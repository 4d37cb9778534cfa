"""Scopes: how they are written, and the two names each one has.

The *alias* is short and loses the namespace of a symbol: search and claims compare by it. The *precise* name
loses nothing but the spelling of separators and case: only two scopes of one precise name are surely the same.
"""

from collections.abc import Iterable

from protocol.foremerge.scopes import MOST_KEY, DeclaredScope, PlainScope, Scope, ScopeClaim
from protocol.foremerge.words import Operation, ScopeKind
from rules.foremerge.refusing import bad_input

_KINDS = ", ".join(ScopeKind)
_MEMBER = "::"


def scope_of(kind: str, key: str) -> PlainScope:
    """The scope of these two words, the kind in lower case and the key as it was spelt; refuses a bad one."""
    kind, key = kind.strip().lower(), key.strip()
    if kind not in list(ScopeKind):
        raise bad_input(f"{kind[:40]!r} is no kind of scope.", f"Use one of: {_KINDS}.")
    if not key or len(key) > MOST_KEY or not _storable(key):
        raise bad_input(
            f"A scope's key has 1 to {MOST_KEY} characters of Unicode and no NUL.",
            "Write it as KIND:KEY, such as symbol:Cart.",
        )
    return PlainScope(kind=ScopeKind(kind), key=key)


def _storable(key: str) -> bool:
    return "\0" not in key and not any("\ud800" <= char <= "\udfff" for char in key)


def lowered(text: str) -> str:
    """In lower case, each character for itself: what a name becomes must not hang on what stands beside it."""
    return text.lower() if text.isascii() else "".join(char.lower() for char in text)


def parse_scope(text: str) -> PlainScope:
    """`KIND:KEY`, split at the first colon."""
    kind, colon, key = text.partition(":")
    if not colon:
        raise bad_input(f"{text[:80]!r} has no colon.", "Write a scope as KIND:KEY, such as symbol:Cart.")
    return scope_of(kind, key)


def parse_operation(text: str) -> Operation | None:
    """The operation that `text` names, in whatever case; None when it names none."""
    word = text.strip().lower()
    return Operation(word) if word in list(Operation) else None


def parse_declared(text: str) -> tuple[PlainScope, Operation | None]:
    """`KIND:KEY=OPERATION` or `KIND:KEY`; what follows the last '=' is key text unless it is an operation."""
    rest, equals, word = text.rpartition("=")
    operation = parse_operation(word) if equals else None
    return parse_scope(rest if operation else text), operation


def alias(scope: Scope | PlainScope | ScopeClaim) -> str:
    """The short name: `kind:` and the key in lower case; of a symbol, container and member without namespaces."""
    if scope.kind is not ScopeKind.SYMBOL:
        return _plain(scope.kind, scope.key)
    parts = [segment for part in _parts(scope.key)[-2:] if (segment := _last_segment(part))]
    # A key of separators alone has only its full name.
    return f"{ScopeKind.SYMBOL}:{_MEMBER.join(parts)}" if parts else precise(scope)


def precise(scope: Scope | PlainScope | ScopeClaim) -> str:
    """The full name: as the alias, but a symbol keeps its namespaces, written with dots."""
    if scope.kind is not ScopeKind.SYMBOL:
        return _plain(scope.kind, scope.key)
    parts = [lowered(part.replace("\\", ".").replace("/", ".")) for part in _parts(scope.key)]
    return f"{ScopeKind.SYMBOL}:{_MEMBER.join(parts)}" if parts else _plain(scope.kind, scope.key)


def _plain(kind: ScopeKind, key: str) -> str:
    return f"{kind}:{lowered(key.strip())}"


def _parts(key: str) -> list[str]:
    # Colons are cut off as well, so that a key of three in a row has one reading.
    return [part for part in (_bare(piece) for piece in key.split(_MEMBER)) if part]


def _bare(text: str) -> str:
    """Without spaces and colons at both ends, in whatever order they stand."""
    while text != (cut := text.strip().strip(":")):
        text = cut
    return text


def _last_segment(part: str) -> str:
    for separator in "\\/.":
        part = part.rpartition(separator)[2]
    return lowered(_bare(part))


def fold_declared(scopes: Iterable[DeclaredScope | ScopeClaim]) -> list[ScopeClaim]:
    """One entry for each precise scope; refuses two different operations on one.

    A declared operation stands in for one that was only read from the summary.
    """
    folded: dict[str, ScopeClaim] = {}
    for scope in scopes:
        inferred = isinstance(scope, ScopeClaim) and scope.inferred
        new = ScopeClaim(kind=scope.kind, key=scope.key, operation=scope.operation, inferred=inferred)
        known = folded.setdefault(precise(new), new)
        if known.operation is not new.operation:
            raise bad_input(
                f"{new.text} is there twice, with {known.operation} and with {new.operation}.",
                "Declare one operation for each scope; name the part of it that differs as a scope of its own.",
            )
        if known.inferred and not new.inferred:
            folded[precise(new)] = new
    return list(folded.values())


def fold_plain(scopes: Iterable[Scope | PlainScope]) -> list[PlainScope]:
    """One entry for each precise scope, in the first spelling."""
    folded: dict[str, PlainScope] = {}
    for scope in scopes:
        folded.setdefault(precise(scope), PlainScope(kind=scope.kind, key=scope.key))
    return list(folded.values())


def operation_in_key(key: str) -> tuple[str, Operation] | None:
    """The key without `=operation` at its end, and that operation; None when the key ends in no operation."""
    rest, equals, word = key.rpartition("=")
    if not equals or not rest.strip() or word not in list(Operation):
        return None
    return rest.strip(), Operation(word)


def require_no_operation(scope: Scope | PlainScope, declared_by_some_intent: bool) -> None:
    """Refuse `symbol:Cart=replace` where a plain scope belongs, unless an intent declared exactly that key."""
    found = operation_in_key(scope.key)
    if found and not declared_by_some_intent:
        meant = f"{scope.kind}:{found[0]}"
        raise bad_input(
            f"{scope.text} names an operation, and claims and queries take a scope alone.",
            f"Send {meant}; the operation {found[1]} belongs to the intent's declaration.",
        )
