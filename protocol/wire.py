"""How models look on the wire: frozen, camelCase, strict on the way in, additive on the way out."""

from typing import Any

from pydantic import BaseModel, ConfigDict, field_validator
from pydantic.alias_generators import to_camel


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
        texts = value if isinstance(value, list) else [value]
        if any(isinstance(text, str) and "\0" in text for text in texts):
            raise ValueError("holds a NUL character; leave it out")
        return value


class Record(BaseModel):
    """A row or a message between our own processes; snake_case, tolerant of fields added later."""

    model_config = ConfigDict(frozen=True)
