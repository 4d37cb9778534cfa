"""Scopes as people type them: `KIND:KEY`, and with what is done to it, `KIND:KEY=OPERATION`."""

from collections.abc import Sequence
from typing import Any

from pydantic import ValidationError

from cli.foremerge.failing import Failure, bad
from protocol.foremerge.scopes import Scope
from protocol.foremerge.words import Operation, ScopeKind


def plain_scopes(texts: Sequence[str]) -> list[dict[str, str]]:
    """Scopes without operations, as claims and queries take them."""
    return [_scope(text, text) for text in texts]


def split_scopes(texts: Sequence[str]) -> tuple[list[dict[str, str]], list[dict[str, str]]]:
    """Those with a declared operation, and those without."""
    declared: list[dict[str, str]] = []
    undeclared: list[dict[str, str]] = []
    for text in texts:
        before, equals, word = text.rpartition("=")
        operation = word.strip().lower()
        if equals and operation in list(Operation):
            declared.append({**_scope(before, text), "operation": operation})
        else:
            undeclared.append(_scope(text, text))
    return declared, undeclared


def _scope(text: str, whole: str) -> dict[str, str]:
    kind, colon, key = text.partition(":")
    if not colon:
        raise _no_scope(whole, "there is no colon in it")
    if not key.strip():
        raise _no_scope(whole, "its key is empty")
    try:
        scope = Scope(**_words(kind, key))
    except ValidationError:
        raise _no_scope(whole, f"a kind is one of {', '.join(ScopeKind)}") from None
    return {"kind": scope.kind.value, "key": scope.key}


def _words(kind: str, key: str) -> dict[str, Any]:
    return {"kind": kind, "key": key}


def _no_scope(text: str, why: str) -> Failure:
    return bad(f"{text[:200]!r} is no scope: {why}. Write KIND:KEY, such as symbol:Cart::add.")
