"""A caller's words as the model of an operation; what does not fit is refused with the field named."""

from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from gateway.explain import explain
from rules.foremerge.refusing import bad_input, missing

Given = TypeVar("Given", bound=BaseModel)


def input_of(model: type[Given], fields: dict[str, Any], name: str) -> Given:
    """`fields` as `model`; refuses INVALID_INPUT, or NOT_FOUND for the id of something that is never kept.

    `name` is what the caller called, to be named in the next step.
    """
    try:
        return model.model_validate(fields)
    except ValidationError as problem:
        found = problem.errors(include_url=False)
        for one in found:
            if one["type"] == "string_pattern_mismatch" and one["loc"] == ("conflict_id",):
                raise missing(
                    "stored conflict of this id",
                    "Use an id that begins with cfl_, from publish_intent or from check_conflicts with intent_id.",
                ) from None
        raise bad_input(explain(found), f"Correct it and call {name} again.") from None
