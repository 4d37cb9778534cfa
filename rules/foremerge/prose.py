"""Reading an operation from a summary, for the command's callers who declare none. Such a reading asserts nothing."""

import re

from protocol.foremerge.scopes import PlainScope, ScopeClaim
from protocol.foremerge.words import Operation
from rules.foremerge.likeness import words

# Looked through in this order; any word of the summary counts.
_VOCABULARY: tuple[tuple[Operation, frozenset[str]], ...] = (
    (
        Operation.REPLACE,
        frozenset(
            [
                "replace",
                "rewrite",
                "supersede",
                "swap",
                "consolidate",
                "unify",
                "standardize",
                "standardise",
                "collapse",
                "reimplement",
                "overhaul",
            ]
        ),
    ),
    (
        Operation.REMOVE,
        frozenset(["remove", "delete", "drop", "retire", "deprecate", "sunset", "decommission", "eliminate"]),
    ),
    (Operation.RENAME, frozenset({"rename", "move"})),
    (Operation.MIGRATE, frozenset({"migrate", "convert"})),
    (
        Operation.EXTEND,
        frozenset(
            [
                "extend",
                "augment",
                "back",
                "wire",
                "plug",
                "teach",
                "expose",
                "enable",
                "offer",
                "accept",
                "allow",
                "integrate",
                "hook",
            ]
        ),
    ),
    (Operation.ADD, frozenset(["add", "introduce", "implement", "create"])),
    (Operation.MODIFY, frozenset(["modify", "change", "update", "refactor", "fix"])),
)
_PERIPHERAL = frozenset(
    [
        "test",
        "spec",
        "benchmark",
        "fixture",
        "mock",
        "stub",
        "flag",
        "counter",
        "metric",
        "log",
        "comment",
        "docstring",
        "todo",
        "variable",
        "import",
        "dead",
        "unused",
        "lint",
        "typo",
        "whitespace",
    ]
)
_BOUNDARY = frozenset(
    [
        "in",
        "into",
        "from",
        "to",
        "on",
        "onto",
        "for",
        "with",
        "by",
        "via",
        "so",
        "then",
        "and",
        "or",
        "but",
        "when",
        "while",
        "using",
    ]
)
_TOKEN = re.compile(r"[A-Za-z0-9_]+|[^\sA-Za-z0-9_]")
_READS = 1_000


def inferred(scope: PlainScope, summary: str) -> ScopeClaim:
    """The scope with the operation that `summary` seems to mean for it, marked as inferred."""
    return ScopeClaim(
        kind=scope.kind, key=scope.key, operation=infer_operation(summary, scope.key), inferred=True
    )


def infer_operation(summary: str, key: str) -> Operation:
    """The operation that a summary seems to mean for `key`; modify where it says nothing."""
    text = summary[:_READS]
    tokens = _TOKEN.findall(text)
    said = {token.lower() for token in tokens}
    for operation, verbs in _VOCABULARY:
        if said & verbs or (operation is Operation.EXTEND and "support" in text.lower()):
            if operation.destructive and not _means_the_scope(tokens, verbs, key):
                return Operation.MODIFY
            return operation
    return Operation.MODIFY


def _means_the_scope(tokens: list[str], verbs: frozenset[str], key: str) -> bool:
    """False when the verb is about something beside the scope: its tests, its logs, a part of it."""
    at = next(index for index, token in enumerate(tokens) if token.lower() in verbs)
    phrase = _phrase(tokens[at + 1 :])
    if any(_is_peripheral(word) for token in phrase for word in (token.lower(), *words(token))):
        return False
    return not _scope_only_describes(phrase, words(key))


def _phrase(tokens: list[str]) -> list[str]:
    """What follows a verb, up to a word that begins another part or a mark."""
    phrase: list[str] = []
    for token in tokens:
        if token.lower() in _BOUNDARY or not (token[0].isalnum() or token[0] == "_"):
            break
        phrase.append(token)
    return phrase


def _is_peripheral(word: str) -> bool:
    return word in _PERIPHERAL or (word.endswith("s") and word[:-1] in _PERIPHERAL)


def _scope_only_describes(phrase: list[str], scope: frozenset[str]) -> bool:
    """True for `the ThumbnailCache settings`: the scope is followed by the noun that is meant."""
    named = [index for index, token in enumerate(phrase) if words(token) and words(token) <= scope]
    return bool(named) and named[-1] < len(phrase) - 1
