"""Names of what a patch adds, removes or changes, read from lines that begin a definition in one of many languages."""

import re
from collections.abc import Iterator, Sequence

MOST_SYMBOLS = 500
_HUNK = re.compile(rb"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
# Bounded, so that a line of a million characters costs no more than one of a hundred.
_DEFINITION = re.compile(
    rb"(?<![\w$.])(?:fn|struct|enum|trait|class|interface|type|def|func|function|module)\s{1,8}([A-Za-z_$][\w$]{0,199})"
)
_LONGEST_LINE = 2_000


def symbols_of(patch: Sequence[bytes]) -> list[str]:
    """The names in a patch without context, each once, sorted; at most 500."""
    found: set[str] = set()
    for line in _changed(patch):
        for match in _DEFINITION.finditer(line[:_LONGEST_LINE]):
            found.add(match[1].decode())
    return sorted(found)[:MOST_SYMBOLS]


def _changed(patch: Sequence[bytes]) -> Iterator[bytes]:
    left = 0
    for line in patch:
        if left and line[:1] in (b"+", b"-"):
            left -= 1
            yield line[1:]
        elif hunk := _HUNK.match(line):
            # The counts decide what is content: a line of it may look like a header.
            left = sum(int(1 if part is None else part) for part in (hunk[2], hunk[4]))
