"""Reads JUnit XML reports, which come from an untrusted run: no document types, no entities, bounded in every way."""

from collections.abc import Iterator
from io import BytesIO
from xml.etree.ElementTree import Element, ParseError

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import iterparse

from protocol.checks import TestFailure
from rules.failures.comparison import values_of
from rules.failures.found import Place, Values, failure, line_number
from rules.failures.pytest_output import values_of_errors
from rules.failures.text import split_clean

MAX_BYTES = 2 * 1024 * 1024
MAX_ELEMENTS = 60_000
MAX_DEPTH = 40
MAX_TEXT = 20_000


def find_in(report: bytes) -> TestFailure | None:
    """The first failed or broken test case of one report; None as well when the report is too large or not sound XML."""
    if len(report) > MAX_BYTES:
        return None
    try:
        return next((_read(case) for case in _cases(report)), None)
    except (ParseError, DefusedXmlException, ValueError, LookupError):
        # A report that cannot be read is no reason to say less about the run than its output does.
        return None


def _cases(report: bytes) -> Iterator[Element]:
    """Every failed `testcase`, in order; parts already read are dropped, so memory stays small."""
    depth = elements = 0
    open_elements: list[Element] = []
    for event, element in iterparse(BytesIO(report), events=("start", "end"), forbid_dtd=True):
        if event == "start":
            depth, elements = depth + 1, elements + 1
            open_elements.append(element)
            if depth > MAX_DEPTH or elements > MAX_ELEMENTS:
                return
            continue
        depth -= 1
        open_elements.pop()
        if _tag(element) == "testcase":
            if _verdict(element) is not None:
                yield element
            if open_elements:
                open_elements[-1].clear()


def _read(case: Element) -> TestFailure:
    verdict = _verdict(case)
    assert verdict is not None
    text = split_clean((verdict.text or "")[:MAX_TEXT])
    message = verdict.get("message") or next((line for line in text if line.strip()), None)
    lines = [*split_clean((message or "")[:MAX_TEXT]), *text]
    values = values_of_errors(lines)
    values = values if values.known() else values_of(lines)
    return failure(_name(case), values if values.known() else Values(), message, _place(case))


def _name(case: Element) -> str:
    group, name = case.get("classname") or "", case.get("name") or ""
    return f"{group} > {name}" if group and not name.startswith(group) else name


def _place(case: Element) -> Place:
    digits = case.get("line") or ""
    return Place(case.get("file"), line_number(digits) if digits.isascii() and digits.isdecimal() else None)


def _verdict(case: Element) -> Element | None:
    return next((child for child in case if _tag(child) in ("failure", "error")), None)


def _tag(element: Element) -> str:
    return element.tag.rsplit("}", 1)[-1] if isinstance(element.tag, str) else ""
