"""Reads TAP 13 and 14: `not ok 1 - name` with a YAML block, or with Perl's `# got:` comments, or mocha's indented text."""

import re

from protocol.checks import TestFailure
from rules.failures.comparison import values_of
from rules.failures.found import MAX_VALUE, Found, Lines, Place, Values, failure, line_number
from rules.failures.text import joined

MAX_BLOCK = 300
MAX_PARENTS = 8

_NOT_OK = re.compile(r"^( *)not ok\b *(\d*) *(.*)$")
_RESULT = re.compile(r"^ *(?:not ok|ok|Bail out!|TAP version|\d+\.\.\d+)\b")
_WAIVED = re.compile(r"# *(?:todo|skip)\b", re.IGNORECASE)
_SUBTEST = re.compile(r"^( *)# Subtest: (.*)$")
_KEY = re.compile(r"^( *)(?:- )?([A-Za-z_][\w-]{0,40}):(?: (.*))?$")
_AT = re.compile(r"([^\s'\"()]+?):(\d{1,8})(?::\d{1,8})?\)?'?$")
_COMMENT = re.compile(r"^ *# ?(.*)$")

_EXPECTED = ("expected", "wanted", "expect", "want")
_ACTUAL = ("actual", "found", "got")
_MESSAGE = ("error", "message")
_INTERESTING = {*_EXPECTED, *_ACTUAL, *_MESSAGE, "location", "at", "filename", "file", "line", "linenumber"}


def find(lines: Lines) -> Found | None:
    """The first `not ok` that is neither TODO nor SKIP; inner subtests stand before the suite that they fail."""
    for index, line in enumerate(lines):
        match = _NOT_OK.match(line)
        if match and not _WAIVED.search(match[3]):
            label = _label(lines, index, match)
            keys = _block(lines, index + 1)
            if keys is None:
                return Found(index, _from_text(label, lines, index + 1))
            return Found(index, _from_keys(label, keys))
    return None


def _label(lines: Lines, index: int, match: re.Match[str]) -> str:
    parents = _parents(lines, index, len(match[1]))
    name = " > ".join([*parents, match[3].removeprefix("- ").strip()])
    return f"not ok {match[2]} - {name}" if match[2] else f"not ok - {name}"


def _parents(lines: Lines, index: int, indent: int) -> list[str]:
    """The names of the subtests around `index`, outermost first."""
    names: list[str] = []
    for line in reversed(lines[:index]):
        if indent == 0 or len(names) == MAX_PARENTS:
            break
        match = _SUBTEST.match(line)
        if match and len(match[1]) < indent:
            names.insert(0, match[2])
            indent = len(match[1])
    return names


def _block(lines: Lines, start: int) -> dict[str, str] | None:
    """The interesting keys of the YAML block at `start`, whatever their depth; None when there is no block."""
    if start >= len(lines) or lines[start].strip() != "---":
        return None
    end = start + 1
    while end < min(len(lines), start + MAX_BLOCK) and lines[end].strip() != "...":
        end += 1
    keys: dict[str, str] = {}
    index = start + 1
    while index < end:
        match = _KEY.match(lines[index])
        index += 1
        if match is None:
            continue
        value = (match[3] or "").strip()
        name = match[2].lower()
        if name == "at" and not value:
            continue  # a mapping: its file and line stand below
        if name in _INTERESTING or value[:1] in ("|", ">"):
            inner = index
            while index < end and (not lines[index] or _indent(lines[index]) > len(match[1])):
                index += 1
            if value[:1] in ("|", ">") or not value:
                value = joined(lines[inner:index], MAX_VALUE)
        if name in _INTERESTING:
            keys.setdefault(name, value)
    return keys


def _from_keys(label: str, keys: dict[str, str]) -> TestFailure:
    values = Values(_pick(keys, _EXPECTED), _pick(keys, _ACTUAL))
    return failure(label, values, _unquoted(_pick(keys, _MESSAGE)), _place(keys))


def _place(keys: dict[str, str]) -> Place:
    at = _AT.search(_unquoted(_pick(keys, ("location", "at"))) or "")
    if at:
        return Place(at[1].removeprefix("file://"), line_number(at[2]))
    digits = _pick(keys, ("line", "linenumber")) or ""
    return Place(
        _unquoted(_pick(keys, ("file", "filename"))), line_number(digits) if digits.isdecimal() else None
    )


def _pick(keys: dict[str, str], names: tuple[str, ...]) -> str | None:
    return next((keys[name] for name in names if keys.get(name)), None)


def _unquoted(text: str | None) -> str | None:
    if text and len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        return text[1:-1]
    return text


def _from_text(label: str, lines: Lines, start: int) -> TestFailure:
    """What stands under a `not ok` without a YAML block: comments, or indented text, up to the next result."""
    body: list[str] = []
    for line in lines[start : start + MAX_BLOCK]:
        if _RESULT.match(line) or _SUBTEST.match(line):
            break
        comment = _COMMENT.match(line)
        body.append(comment[1] if comment else line)
    message = next((line.strip() for line in body if line.strip()), None)
    return failure(label, values_of(body), message)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))
