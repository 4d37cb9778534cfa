"""What a publication must hold before it is looked at further, and what queries may ask for."""

import hashlib
from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple, TypeVar

from protocol.foremerge.changesets import PublishChangeSetInput
from protocol.foremerge.intents import PublishIntentInput
from protocol.foremerge.scopes import PlainScope, Scope, ScopeClaim
from protocol.foremerge.words import ConflictStatus, IntentStatus
from rules.foremerge.refusing import bad_input, filled
from rules.foremerge.scopes import alias, fold_declared, require_no_operation

Word = TypeVar("Word", bound=StrEnum)


class Publication(NamedTuple):
    """A checked intent: the task's key and title, the summary, one entry for each scope."""

    task_key: str
    task: str
    summary: str
    scopes: list[ScopeClaim]


def checked_intent(given: PublishIntentInput) -> Publication:
    """The parts of an intent in their normal form; refuses blank words and contradictory scopes."""
    return Publication(
        task_key(given.task),
        filled(given.task, "task"),
        filled(given.summary, "summary"),
        fold_declared(given.scopes),
    )


def task_key(task: str) -> str:
    """What makes two intents serve one task: SHA-256 of the text exactly as it was sent, in hex."""
    return hashlib.sha256(task.encode()).hexdigest()


def checked_changeset(given: PublishChangeSetInput) -> PublishChangeSetInput:
    """A ChangeSet whose words are not blank and whose lists name each thing once, in order."""
    lists = {
        name: list(dict.fromkeys(getattr(given, name)))
        for name in ("files", "symbols", "contracts", "dependencies")
    }
    for decision in given.decisions:
        filled(decision.title, "decisions.title")
        filled(decision.rationale, "decisions.rationale")
    for test in given.tests:
        filled(test.command, "tests.command")
    return given.model_copy(update={**lists, "summary": filled(given.summary, "summary")})


def intent_status(text: str | None) -> IntentStatus | None:
    """The status a query names, in whatever case; None for no filter."""
    return _word(text, IntentStatus)


def conflict_status(text: str | None) -> ConflictStatus | None:
    """The status a list of conflicts is filtered by, in whatever case; None for no filter."""
    return _word(text, ConflictStatus)


def _word(text: str | None, words: type[Word]) -> Word | None:
    if text is None:
        return None
    name = text.strip().upper()
    if name not in words.__members__:
        raise bad_input(f"{text[:40]!r} is no status.", f"Use one of: {', '.join(words)}.")
    return words[name]


def sought(scope: Scope | PlainScope, declared_by_some_intent: bool) -> str:
    """The alias that a query looks for, among declared scopes and every claim an intent ever held."""
    require_no_operation(scope, declared_by_some_intent)
    return alias(scope)


def is_sought(wanted: str, scopes: Iterable[PlainScope | ScopeClaim]) -> bool:
    """Whether any of an intent's scopes has the alias looked for."""
    return any(alias(scope) == wanted for scope in scopes)
