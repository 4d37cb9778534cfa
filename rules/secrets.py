"""Finds secrets in the content of a file: which line, and what it looks like. The secret itself is never returned."""

import base64
import binascii
import codecs
import json
from typing import Any, NamedTuple

import re2  # type: ignore[import-untyped]  # it comes without types

from rules.secret_kinds import EXAMPLES, JWT, KINDS, PRIVATE_KEY

ALLOWED = b"gitring:allow-secret"
"""A comment with this word on the line of a match, or on the line above it, lets the match through."""

# git's own measure of what is binary.
_HEAD = 8_000
# A line is looked at this far: a file of one long line must not be read once for each match.
_LONGEST_LINE = 4_096
_PATTERN_MEMORY = 64 * 1024 * 1024
# How many characters a signature has, by algorithm; RSA's depend on the key, from 1024 bits up.
_RSA = (171, 342, 512, 683, 1366)
_SIGNATURES = {
    "HS256": (43,),
    "HS384": (64,),
    "HS512": (86,),
    "ES256": (86,),
    "ES256K": (86,),
    "ES384": (128,),
    "ES512": (176,),
    "EdDSA": (86,),
    **dict.fromkeys(("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"), _RSA),
}


class Secret(NamedTuple):
    """Where a secret stands (lines count from 1), and what it looks like ("a GitHub token")."""

    line: int
    what: str


def _compiled() -> Any:
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1  # bytes as they are: a file need not be UTF-8
    options.max_mem = _PATTERN_MEMORY
    return re2.compile("|".join(f"({kind.pattern})" for kind in KINDS).encode(), options)


_ANY = _compiled()


def secrets_in(content: bytes, most: int) -> list[Secret]:
    """The first `most` secrets of a file, top down, each kind once a line; none in a binary file."""
    text = _text_of(content)
    found: dict[Secret, None] = {}
    line, counted = 1, 0
    for match in _ANY.finditer(text) if text is not None else ():
        what, start = KINDS[match.lastindex - 1].what, match.start()
        if _is_meant(what, match.group(), match.string, start):
            line, counted = line + match.string.count(b"\n", counted, start), start
            found[Secret(line, what)] = None
            if len(found) == most:
                break
    return list(found)


def _text_of(content: bytes) -> bytes | None:
    """The bytes to look through, None for a binary file. Some shells on Windows write UTF-16."""
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return content.decode("utf-16", "replace").encode()
    return None if b"\0" in content[:_HEAD] else content


def _is_meant(what: str, match: bytes, text: bytes, start: int) -> bool:
    """Whether a match is a secret rather than an example, a token nobody signed, or allowed by a comment."""
    if what != PRIVATE_KEY and any(example in match for example in EXAMPLES):
        return False
    if what == JWT and not _is_signed(match):
        return False
    return not _is_allowed(text, start)


def _is_allowed(text: bytes, start: int) -> bool:
    ends = text.find(b"\n", start, start + _LONGEST_LINE)
    before = text.rfind(b"\n", max(0, start - _LONGEST_LINE), start)
    if before == -1:
        first = max(0, start - _LONGEST_LINE)
    else:
        lowest = max(0, before - _LONGEST_LINE)
        first = max(lowest, text.rfind(b"\n", lowest, before) + 1)
    return ALLOWED in text[first : ends if ends != -1 else start + _LONGEST_LINE]


def _is_signed(token: bytes) -> bool:
    """Whether a web token ends with a signature as long as the algorithm of its header makes them."""
    header, _, signature = token.split(b".")
    try:
        said = json.loads(base64.urlsafe_b64decode(header + b"=" * (-len(header) % 4)))
    except (binascii.Error, ValueError, RecursionError):
        return False
    algorithm = said.get("alg") if isinstance(said, dict) else None
    return len(signature) in _SIGNATURES.get(str(algorithm), ())
