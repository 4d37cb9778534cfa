"""Reads Jest (`● suite › test`), Vitest (`FAIL  file > suite > test`) and Mocha (`1) suite` under `1 failing`)."""

import re
from collections.abc import Callable

from rules.failures.comparison import values_of
from rules.failures.found import Found, Lines, Place, failure, line_number

MAX_BLOCK = 200

_JEST = re.compile(r"^ *● (\S.*)$")
_JEST_FILE = re.compile(r"^ *FAIL +(\S+)")
_JEST_END = re.compile(r"^(?:Test Suites: | *● | *(?:FAIL|PASS) )")
_VITEST = re.compile(r"^ *FAIL +(\S.* > \S.*)$")
_VITEST_END = re.compile(r"^ *(?:FAIL +\S|⎯{5,}| *Test Files )")
_MOCHA_COUNT = re.compile(r"^ *\d+ failing$")
_MOCHA = re.compile(r"^ {2}1\) (\S.*)$")
_MOCHA_END = re.compile(r"^ {2}\d+\) \S")
_STACK = re.compile(r"^ *(?:at (?:.*\()?|❯ (?:.* )?)((?:file://)?[^\s()]+):(\d{1,8}):\d{1,8}\)?$")
_NO_TEST = {
    "Console",
    "Cannot log after tests are done. Did you forget to wait for something async in your test?",
}


def find_jest(lines: Lines) -> Found | None:
    """The first `●` block below a `FAIL file` line; a suite that did not load is named by its file."""
    file = None
    for index, line in enumerate(lines):
        file_match = _JEST_FILE.match(line)
        file = file_match[1] if file_match else file
        match = _JEST.match(line)
        if match and file and match[1] not in _NO_TEST:
            title = f"{file} {match[1]}" if match[1] == "Test suite failed to run" else match[1]
            return _found(lines, index, title, _JEST_END.match)
    return None


def find_vitest(lines: Lines) -> Found | None:
    """The first `FAIL  file > suite > test` block."""
    for index, line in enumerate(lines):
        match = _VITEST.match(line)
        if match:
            return _found(lines, index, match[1], _VITEST_END.match)
    return None


def find_mocha(lines: Lines) -> Found | None:
    """The block `1)` after the count of failures; its title runs over the lines down to the first empty one."""
    counted = False
    for index, line in enumerate(lines):
        counted = counted or _MOCHA_COUNT.match(line) is not None
        match = _MOCHA.match(line)
        if counted and match:
            title = [match[1]]
            while index + 1 < len(lines) and lines[index + 1].strip() and len(title) < 10:
                index += 1
                title.append(lines[index].strip())
            return _found(lines, index, " > ".join(title).removesuffix(":"), _MOCHA_END.match)
    return None


def _found(lines: Lines, index: int, title: str, ends: Callable[[str], object]) -> Found:
    end = index + 1
    while end < min(len(lines), index + MAX_BLOCK) and not ends(lines[end]):
        end += 1
    body = lines[index + 1 : end]
    message = next((line.strip() for line in body if line.strip()), None)
    return Found(index, failure(title, values_of(body), message, _place(body)))


def _place(body: Lines) -> Place:
    for line in body:
        match = _STACK.match(line)
        if match and "node_modules" not in match[1] and not match[1].startswith("node:"):
            return Place(match[1].removeprefix("file://"), line_number(match[2]))
    return Place()
