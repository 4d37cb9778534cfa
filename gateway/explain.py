"""What is wrong with a caller's input, in a sentence that names the field."""

from collections.abc import Iterable, Mapping
from typing import Any

from gateway.text.untrusted import one_line

_SHAPES = {
    "intentId": "must be an intent's id, such as int_01JBQ8M4ZK7V3XW9N2D5HT6RYE",
    "intentIds": "holds ids of intents, such as int_01JBQ8M4ZK7V3XW9N2D5HT6RYE",
    "prefix": "starts with a letter, does not end with a digit, and holds letters, digits and ._:/- (40 at most)",
    "series": "is the prefix of a series: it starts with a letter and does not end with a digit",
    "dependsOn": "holds ids of intents, such as int_01JBQ8M4ZK7V3XW9N2D5HT6RYE",
    "askId": "must be an ask's id, such as ask_01JBR7Q2W4E6R8T0Y2V4J6K8P0",
    "changeRequestId": "must be a change request's id, such as chq_01JBR3A2B4C6D8E0F2G4H6J8K0",
    "headCommit": "must be a full commit id, 40 hex digits in lower case",
    "requestId": "must be printable characters without spaces; a new UUID is best",
    "slug": "has lower-case letters, digits and hyphens, at most 63, and starts with a letter or digit",
}
_SHOWN = 5


def explain(errors: Iterable[Mapping[str, Any]], skip: int = 0) -> str:
    """Pydantic's `errors` as sentences; `skip` leaves out that many leading steps of each location."""
    found = list(errors)
    said = [f"{_where(error['loc'][skip:])} {_what(error)}" for error in found[:_SHOWN]]
    more = f"; and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    return "; ".join(said) + more + "."


def _where(location: tuple[Any, ...]) -> str:
    if not location:
        return "The input"
    return one_line(".".join(str(step) for step in location), 120)


def _what(error: Mapping[str, Any]) -> str:
    context = error.get("ctx", {})
    match error["type"]:
        case "missing":
            return "is missing"
        case "extra_forbidden":
            return "is not a field of this call"
        case "string_pattern_mismatch":
            return _shape(error)
        case "value_error":
            return f"is refused: {one_line(str(context.get('error', error['msg'])))}"
        case "string_too_long" | "too_long":
            return f"may hold at most {context['max_length']} {_unit(error)}"
        case "string_too_short" | "too_short":
            return f"needs at least {context['min_length']} {_unit(error)}"
        case "model_type" | "model_attributes_type" | "dict_type":
            return "must be a JSON object"
        case _:
            message = one_line(error["msg"]).removeprefix("Input ")
            return message[:1].lower() + message[1:]


def _unit(error: Mapping[str, Any]) -> str:
    return "characters" if error["type"].startswith("string") else "items"


def _shape(error: Mapping[str, Any]) -> str:
    for step in reversed(error["loc"]):
        if step in _SHAPES:
            return _SHAPES[step]
    return f"has the wrong form; it must match {error['ctx']['pattern']}"
