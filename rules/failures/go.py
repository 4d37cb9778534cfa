"""Reads `go test`, with and without `-v` and `-json`: `--- FAIL: TestX (0.00s)` and its `file_test.go:12:` lines."""

import json
import re

from protocol.checks import TestFailure
from rules.failures.comparison import values_of
from rules.failures.found import MAX_MESSAGE, Found, Lines, Place, Values, failure, line_number
from rules.failures.text import joined

MAX_BLOCK = 300

_FAIL = re.compile(r"^( *)--- FAIL: (\S+)")
_BUILD = re.compile(r"^FAIL +(\S+ \[(?:build|setup) failed\])")
_COMPILER = re.compile(r"^(?:vet: )?(\S+\.go):(\d{1,8})(?::\d{1,8})?: (.*)$")
_LOGGED = re.compile(r"^ +(\S+\.go):(\d{1,8}): ?(.*)$")
_FRAME = re.compile(r"^ +(/\S+_test\.go):(\d{1,8})\b")
_MARK = re.compile(r"^ *(?:--- [A-Z]+: |=== |FAIL\b|PASS\b|ok +\S|panic: )")
_TESTIFY = re.compile(r"^ *(Error|Messages): +(\S.*)$")


def find(lines: Lines) -> Found | None:
    """The innermost test of the first failure, or the package that could not be built."""
    lines = _unwrapped(lines)
    for index, line in enumerate(lines):
        match = _FAIL.match(line)
        if match:
            return _test(lines, index, match)
        build = _BUILD.match(line)
        if build:
            return _broken_build(lines, index, build[1])
    return None


def _unwrapped(lines: Lines) -> Lines:
    """The text inside `go test -json`; other lines as they are."""
    if not any(line.startswith('{"') and '"Action":"output"' in line for line in lines):
        return lines
    plain: list[str] = []
    for line in lines:
        plain.extend(_output(line).splitlines() if line.startswith('{"') else [line])
    return plain


def _output(line: str) -> str:
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        return line
    text = event.get("Output", "") if isinstance(event, dict) else line
    return text if isinstance(text, str) else ""


def _test(lines: Lines, index: int, match: re.Match[str]) -> Found:
    first = index
    while (
        index + 1 < len(lines)
        and (deeper := _FAIL.match(lines[index + 1]))
        and len(deeper[1]) > len(match[1])
    ):
        index, match = index + 1, deeper
    body = _below(lines, index + 1) or _before(lines, match[2])
    segments = _segments(body)
    if not segments:
        return Found(first, _panic(lines, index + 1, match[2]))
    chosen, values = _telling(segments)
    place = _LOGGED.match(chosen[0])
    at = Place(place[1], line_number(place[2])) if place else Place()
    return Found(first, failure(match[2], values, _message(chosen), at))


def _below(lines: Lines, start: int) -> Lines:
    end = start
    while (
        end < min(len(lines), start + MAX_BLOCK)
        and lines[end][:1] in ("", " ")
        and not _MARK.match(lines[end])
    ):
        end += 1
    return lines[start:end] if any(lines[start:end]) else []


def _before(lines: Lines, name: str) -> Lines:
    """With `-v` a test's lines stand after its `=== RUN`, before its verdict."""
    for index, line in enumerate(lines):
        if line.startswith("=== RUN ") and line.split()[-1] == name:
            return _below(lines, index + 1)
    return []


def _segments(body: Lines) -> list[list[str]]:
    """One list of lines per `file.go:12:`; a log line and an error look the same."""
    segments: list[list[str]] = []
    for line in body:
        if _LOGGED.match(line):
            segments.append([line])
        elif segments:
            segments[-1].append(line)
    return segments


def _telling(segments: list[list[str]]) -> tuple[list[str], Values]:
    """The first segment that says what was wanted; without one the last, as fatal errors end a test."""
    for segment in segments:
        values = values_of(_texts(segment))
        if values.known():
            return segment, values
    return segments[-1], Values()


def _texts(segment: list[str]) -> list[str]:
    match = _LOGGED.match(segment[0])
    return [match[3] if match else segment[0], *segment[1:]]


def _message(segment: list[str]) -> str:
    testify = [match[2] for line in segment if (match := _TESTIFY.match(line))]
    return joined(testify or _texts(segment), MAX_MESSAGE)


def _panic(lines: Lines, start: int, name: str) -> TestFailure:
    block = lines[start : start + MAX_BLOCK]
    message = next((line for line in block if line.startswith("panic: ")), None)
    frame = next((match for line in block if (match := _FRAME.match(line))), None) if message else None
    return failure(name, Values(), message, Place(frame[1], line_number(frame[2])) if frame else Place())


def _broken_build(lines: Lines, index: int, name: str) -> Found:
    error = next((match for line in lines[:index] if (match := _COMPILER.match(line))), None)
    if error is None:
        return Found(index, failure(name))
    return Found(index, failure(name, Values(), error[3], Place(error[1], line_number(error[2]))))
