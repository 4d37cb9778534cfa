"""Finds what was expected and what came in the lines that tell of one failed assertion, whichever tool wrote them."""

import re

from rules.failures.found import MAX_VALUE, Lines, Values
from rules.failures.text import joined

MAX_LOOK = 120

_EXPECTED_KEY = re.compile(
    r"^\W*(?:Error: +)?(?:expected|wanted|want|expect)(?: [a-z ]{1,30})?\s*:\s+(\S.*)$", re.IGNORECASE
)
_ACTUAL_KEY = re.compile(
    r"^\W*(?:Error: +)?(?:received|actual|found|got|have)(?: [a-z ]{1,30})?\s*:\s+(\S.*)$", re.IGNORECASE
)
# Java's forms; the angle brackets belong to the message, not to the value.
_JAVA = re.compile(r"expected: ?<(.*)> but was: ?<(.*)>", re.IGNORECASE)
_INLINE = (
    (
        re.compile(r"\bgot:? (.+?)[,;]? (?:but )?(?:want|wanted|expect|expected):? (.+)$", re.IGNORECASE),
        (2, 1),
    ),
    (
        re.compile(
            r"\b(?:want|wanted|expect|expected):? (.+?)[,;]? (?:but )?(?:got|actual|have):? (.+)$",
            re.IGNORECASE,
        ),
        (1, 2),
    ),
    (re.compile(r"= (.+?)[,;] (?:but )?(?:want|wanted):? (.+)$", re.IGNORECASE), (2, 1)),
    (
        re.compile(
            r"^\W*(?:\w*Error: )?expected (.+?) to (?:deeply |strictly |loosely )?(?:be|equal) (.+?)(?: //.*)?$"
        ),
        (2, 1),
    ),
)
_DIFF_HEADER = re.compile(r"^\W*([-+]) ?(expected|actual|received)\b", re.IGNORECASE)
_BOTH_SIDES = re.compile(r"^\s*([-+]) ?(expected|actual) +([-+]) ?(expected|actual)\s*$", re.IGNORECASE)
_OPERATORS = ("==", "!=", "is not", "is", "not in", "in", "<=", ">=", "<", ">")
_OPENING = "([{"
_CLOSING = ")]}"


def values_of(lines: Lines) -> Values:
    """Both sides of a failed comparison, from the clearest form that `lines` hold."""
    look = [line[:MAX_VALUE] for line in lines[:MAX_LOOK]]
    found = [read(look) for read in (_from_keys, _from_diff, _from_sentence)]
    whole = (values for values in found if None not in values)
    return next(whole, None) or next((values for values in found if values.known()), Values())


def values_of_assertion(text: str, equality: str = "==") -> Values:
    """Both sides of `left == right` as assertions write it: what came on the left, what was wanted on the right."""
    parts = _split_operator(text[: 2 * MAX_VALUE])
    if parts is None:
        return Values()
    left, operator, right = parts
    if operator in (equality, "is"):
        return Values(expected=right, actual=left)
    return Values(expected=f"{operator} {right}", actual=left)


def values_of_inequality(text: str) -> Values:
    """Both sides of unittest's `'a' != 'b' : note`, where the sign tells what was found, not what was asserted."""
    parts = _split_operator(text[: 2 * MAX_VALUE], ("!=",))
    if parts is None:
        return Values()
    note = _split_operator(parts[2], (":",))
    return Values(expected=note[0] if note else parts[2], actual=parts[0])


def _from_keys(lines: Lines) -> Values:
    return Values(_first(_EXPECTED_KEY, lines), _first(_ACTUAL_KEY, lines))


def _first(pattern: re.Pattern[str], lines: Lines) -> str | None:
    for line in lines:
        match = pattern.match(line)
        if match and _DIFF_HEADER.match(line) is None:
            return match[1].removesuffix(",")
    return None


def _from_diff(lines: Lines) -> Values:
    for index, line in enumerate(lines):
        signs = _signs(lines, index)
        if signs:
            start = index + (1 if _BOTH_SIDES.match(line) else 2)
            return _sides(lines[start:], *signs)
    return Values()


def _signs(lines: Lines, index: int) -> tuple[str, str] | None:
    """The signs of (expected, actual) when a diff's header stands at `index`, on one line or on two."""
    both = _BOTH_SIDES.match(lines[index])
    if both:
        return (both[1], both[3]) if both[2].lower() == "expected" else (both[3], both[1])
    first = _DIFF_HEADER.match(lines[index])
    second = _DIFF_HEADER.match(lines[index + 1]) if index + 1 < len(lines) else None
    if first is None or second is None or first[1] == second[1]:
        return None
    return (first[1], second[1]) if first[2].lower() == "expected" else (second[1], first[1])


def _sides(lines: Lines, expected_sign: str, actual_sign: str) -> Values:
    sides: dict[str, list[str]] = {expected_sign: [], actual_sign: []}
    blank_after_change = False
    for line in lines:
        if _BOTH_SIDES.match(line):
            break  # the same difference once more, in another tool's form
        body = line.strip()
        changed = body[:1] in sides and not body.startswith(("+++", "---"))
        if changed and not blank_after_change:
            sides[body[0]].append(body[1:].strip())
        blank_after_change |= not body and any(sides.values())
    return Values(
        *(joined(sides[sign], MAX_VALUE).removesuffix(",") or None for sign in (expected_sign, actual_sign))
    )


def _from_sentence(lines: Lines) -> Values:
    for line in lines:
        java = _JAVA.search(line)
        if java:
            return Values(expected=java[1], actual=java[2])
        for pattern, (expected, actual) in _INLINE:
            match = pattern.search(line)
            if match:
                return Values(expected=match[expected], actual=match[actual])
    return Values()


def _split_operator(text: str, operators: tuple[str, ...] = _OPERATORS) -> tuple[str, str, str] | None:
    """`text` split at its first operator outside quotes and brackets; None when it has none."""
    quote, depth, index = "", 0, 0
    while index < len(text):
        char = text[index]
        if quote:
            index += char == "\\"
            quote = "" if char == quote else quote
        elif char in "'\"":
            quote = char
        elif char in _OPENING:
            depth += 1
        elif char in _CLOSING:
            depth -= 1
        elif char == " " and depth == 0:
            operator = next((word for word in operators if text.startswith(f" {word} ", index)), None)
            if operator and index:
                return text[:index], operator, text[index + len(operator) + 2 :]
        index += 1
    return None
