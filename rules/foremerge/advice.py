"""Warnings about an intent itself. None of them refuses anything."""

from collections.abc import Iterable, Sequence

from protocol.foremerge.scopes import PlainScope, Scope, ScopeClaim
from protocol.foremerge.words import ScopeKind
from rules.foremerge.scopes import alias

NO_SCOPES = (
    "This intent declares no scopes, so nothing but the wording of its summary can be compared: no HIGH conflict can be "
    "found for it, and its ChangeSet passes the conflict gate unseen. Publish it again with scopes once you know them."
)

AnyScope = Scope | PlainScope | ScopeClaim


def publish_warnings(scopes: Sequence[AnyScope], unseen: Iterable[str] = ()) -> list[str]:
    """Warnings for an intent's scopes; `unseen` are symbol keys that the worktree was searched for in vain."""
    if not scopes:
        return [NO_SCOPES]
    absent = [
        f"symbol:{key} appears nowhere in the tracked files of your worktree. If it is new, all is well; else check how "
        "it is spelt."
        for key in unseen
    ]
    return [*scope_warnings(scopes), *absent]


def scope_warnings(scopes: Iterable[AnyScope]) -> list[str]:
    """One warning for each symbol key whose alias has lost the class or the module of a dotted name."""
    found = (_dotted(scope) for scope in scopes if scope.kind is ScopeKind.SYMBOL)
    return [warning for warning in found if warning]


def symbol_to_search(key: str) -> str:
    """What to look for in the code: the last part of a symbol key."""
    return key.rpartition("::")[2].strip()


def _dotted(scope: AnyScope) -> str | None:
    before, _, last = scope.key.rpartition("::")
    owner, dot, member = last.strip().rpartition(".")
    owner = owner.rpartition(".")[2]
    if not dot or not owner or not member:
        return None
    of_class = owner[:1].isupper()
    if member[:1].isupper() and not of_class:
        return None  # a class in its namespace keeps what matters
    better = f"{before}::{owner}::{member}" if before else f"{owner}::{member}"
    advice = (
        f" To keep the class, write {better}."
        if of_class
        else " To keep what it belongs to, join the last two parts with '::'."
    )
    return (
        f"{scope.text} is matched by the alias {alias(scope)}, which says nothing of {owner}: it meets every {member} "
        f"there is.{advice}"
    )
