"""Reads pytest: the short test summary names the test, the block of `E` lines under FAILURES says what went wrong."""

import re

from rules.failures.comparison import values_of, values_of_assertion, values_of_inequality
from rules.failures.found import Found, Lines, Place, Values, failure, line_number

MAX_BLOCK = 400

_SUMMARY_HEADER = re.compile(r"^=+ short test summary info =+$")
_SUMMARY = re.compile(r"^(?:FAILED|ERROR|SUBFAILED\S*) (\S.*)$")
_BLOCK = re.compile(r"^_{3,} (.+) _{3,}$")
_SECTION = re.compile(r"^=+ (?:FAILURES|ERRORS) =+$")
_RULE = re.compile(r"^(?:=+ .* =+|_{3,} .* _{3,}|_( _)+)$")
_E_LINE = re.compile(r"^E(?: {3}|$)(.*)$")
_PLACE = re.compile(r"^(\S[^:]*):(\d{1,8}): ")
_ERROR_NAME = re.compile(r"^(?:[\w.]*(?:Error|Exception|Failed)): ")


def find(lines: Lines) -> Found | None:
    """The first test of the FAILURES or ERRORS section, under its node id where the summary gives it."""
    block = _first_block(lines)
    summary = _first_summary(lines)
    if block is not None:
        return _from_block(lines, block, summary)
    if summary is None:
        return None
    index, node, message = summary
    return Found(index, failure(node, values_of_errors([message]), message))


def _from_block(lines: Lines, block: tuple[int, str], summary: tuple[int, str, str] | None) -> Found:
    index, title = block
    if summary is not None and not _same_test(summary[1], title):
        summary = None
    body = _body(lines, index + 1)
    errors = [match[1].strip() for line in body if (match := _E_LINE.match(line))]
    message = errors[0] if errors else (summary[2] if summary else None)
    return Found(
        index, failure(summary[1] if summary else title, values_of_errors(errors), message, _place(body))
    )


def _first_block(lines: Lines) -> tuple[int, str] | None:
    """Where the first failure's text begins, and its title; with `--tb=line` there is a section but no title."""
    inside = False
    for index, line in enumerate(lines):
        if _SECTION.match(line):
            inside = True
            if index + 1 < len(lines) and _E_LINE.match(lines[index + 1]):
                return index, ""
        match = _BLOCK.match(line)
        if inside and match:
            return index, match[1].strip()
    return None


def _first_summary(lines: Lines) -> tuple[int, str, str] | None:
    """The index, node id and message of the first line of the short summary."""
    inside = False
    for index, line in enumerate(lines):
        inside = inside or _SUMMARY_HEADER.match(line) is not None
        match = _SUMMARY.match(line)
        if inside and match:
            node, _, message = match[1].partition(" - ")
            return index, node.strip(), message.strip()
    return None


def _same_test(node: str, title: str) -> bool:
    """Whether the block `TestCart.test_total` tells of `tests/test_cart.py::TestCart::test_total`."""
    name = ".".join(node.split("::")[1:])
    return not title or name == title or title.startswith(f"{name} (") or node.split("::")[0] in title


def _body(lines: Lines, start: int) -> Lines:
    end = start
    while end < min(len(lines), start + MAX_BLOCK) and not _RULE.match(lines[end]):
        end += 1
    return lines[start:end]


def _place(body: Lines) -> Place:
    """The last `file:line: Error` of the block, where the error was raised; with `--tb=line` the first one."""
    places = [match for line in body if (match := _PLACE.match(line))]
    if not places:
        return Place()
    match = places[0] if body and _E_LINE.match(body[0]) else places[-1]
    return Place(match[1], line_number(match[2]))


def values_of_errors(errors: Lines) -> Values:
    """Both sides from the `E` lines of one failure, or from the same lines without their mark."""
    for error in errors:
        text = _ERROR_NAME.sub("", error, count=1)
        if text.startswith("assert "):
            return values_of_assertion(text.removeprefix("assert "))
        if error.startswith("AssertionError: "):
            values = values_of_inequality(text)
            if values.known():
                return values
    return values_of(errors)
