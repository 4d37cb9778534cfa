"""How models look on the wire: frozen, camelCase, strict on the way in, additive on the way out."""

import re
from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel, ConfigDict, field_validator
from pydantic.alias_generators import to_camel

MOST_SEQ = 2**63 - 1
"""The largest seq that the record can hold; a caller's number above it is no seq."""

# Controls above ASCII, characters of no width, marks that turn the order of reading, and tags.
_HIDDEN = re.compile(
    "[\x7f-\x9f\xad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\u200b-\u200f\u2028-\u202e\u2060-\u2064"
    "\u2066-\u206f\ufeff\ufff9-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0001\U000e0020-\U000e007f]"
)


def visible_json(text: str) -> str:
    """A JSON document with every character that nobody sees as its escape; what it means stays the same.

    Whoever reads the bytes, a terminal or a model, meets nothing hidden in other people's words. JSON itself escapes
    the controls of ASCII, and such characters stand in its strings alone.
    """
    if text.isascii() and "\x7f" not in text:
        return text
    return _HIDDEN.sub(_escaped, text)


def _escaped(found: re.Match[str]) -> str:
    units = found[0].encode("utf-16-be").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))


class Answer(BaseModel):
    """What gitring says. Fields may be added later; readers ignore what they do not know."""

    model_config = ConfigDict(frozen=True, alias_generator=to_camel, populate_by_name=True)


class Input(BaseModel):
    """What a caller says. An unknown field is refused, so that a misspelt one is never lost."""

    model_config = ConfigDict(
        frozen=True,
        alias_generator=to_camel,
        populate_by_name=True,
        extra="forbid",
        str_strip_whitespace=True,
    )

    @field_validator("*")
    @classmethod
    def _without_nul(cls, value: Any) -> Any:
        """Postgres keeps no NUL in text, so one is refused here with the field's name."""
        if any("\0" in text for text in _texts(value)):
            raise ValueError("holds a NUL character; leave it out")
        return value


def _texts(value: Any) -> Iterator[str]:
    """The texts of a value, of a list, and of a mapping's names and values; a model has looked at its own."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for one in value:
            yield from _texts(one)
    elif isinstance(value, dict):
        for name, one in value.items():
            yield from _texts(name)
            yield from _texts(one)


class Record(BaseModel):
    """A row or a message between our own processes; snake_case, tolerant of fields added later."""

    model_config = ConfigDict(frozen=True)
