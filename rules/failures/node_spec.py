"""Reads the `spec` reporter of Node's own test runner: `✖ name (1.9ms)` and the inspected error below it."""

import re

from rules.failures.found import MAX_VALUE, Found, Lines, Place, Values, failure, line_number
from rules.failures.text import joined

MAX_BLOCK = 200

_FAILED = re.compile(r"^( *)✖ (.+?)(?: \(\d+(?:\.\d+)?ms\))?(?: # .*)?$")
_SECTION = "✖ failing tests:"
_TEST_AT = re.compile(r"^ *test at (.+):(\d{1,8}):\d{1,8}$")
_STACK = re.compile(r"^ *at (?:.*\()?((?:file://)?[^\s()]+):(\d{1,8}):\d{1,8}\)?")
_PROPERTY = re.compile(r"^( *)(\w{1,40}): (.*)$")


def find(lines: Lines) -> Found | None:
    """The first failed test with an error of its own; the closing section of failing tests is read before the tree."""
    section = next((index for index, line in enumerate(lines) if line.strip() == _SECTION), None)
    for index in range(0 if section is None else section + 1, len(lines)):
        match = _FAILED.match(lines[index])
        if match is None or match[2] == "failing tests:":
            continue
        body = _body(lines, index + 1, len(match[1]))
        if body:
            at = _TEST_AT.match(lines[index - 1]) if index else None
            place = Place(at[1].removeprefix("file://"), line_number(at[2])) if at else _place(body)
            return Found(index, failure(match[2], _values(body), _message(body), place))
    return None


def _body(lines: Lines, start: int, indent: int) -> Lines:
    """The lines that stand deeper than the test's name: its error. A suite has none, its tests' names follow instead."""
    end = start
    while end < min(len(lines), start + MAX_BLOCK):
        line = lines[end]
        if line and (_indent(line) <= indent or _FAILED.match(line)):
            break
        end += 1
    body = lines[start:end]
    return body if any(body) else []


def _values(body: Lines) -> Values:
    properties = {"expected": "", "actual": ""}
    for index, line in enumerate(body):
        match = _PROPERTY.match(line)
        if match and match[2] in properties and not properties[match[2]]:
            properties[match[2]] = _whole(body, index, match)
    return Values(properties["expected"] or None, properties["actual"] or None)


def _whole(body: Lines, index: int, match: re.Match[str]) -> str:
    """An inspected value: to the next property at the same depth, as long values run over several lines."""
    end = index + 1
    while (
        end < len(body)
        and body[end]
        and (_indent(body[end]) > len(match[1]) or body[end].lstrip()[:1] in "]}")
    ):
        if body[end].strip() == "}" and _indent(body[end]) < len(match[1]):
            break
        end += 1
    return joined([match[3], *body[index + 1 : end]], MAX_VALUE).removesuffix(",")


def _message(body: Lines) -> str | None:
    return next((line.strip() for line in body if line.strip()), None)


def _place(body: Lines) -> Place:
    for line in body:
        match = _STACK.match(line)
        if match and not match[1].startswith("node:"):
            return Place(match[1].removeprefix("file://"), line_number(match[2]))
    return Place()


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))
