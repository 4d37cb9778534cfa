"""Fields of forms as the inputs that REST takes: the same models judge them, in the same words."""

from typing import Any, TypeVar

from pydantic import ValidationError

from gateway.explain import explain
from gateway.web.visit import Visit
from protocol.refusals import invalid_input
from protocol.wire import Input

Given = TypeVar("Given", bound=Input)


def checked(model: type[Given], **values: Any) -> Given:
    """The input; refuses `invalid_input`, naming the field."""
    try:
        return model(**values)
    except ValidationError as problem:
        raise invalid_input(explain(problem.errors()), "Correct it and send the form again.") from None


def text(visit: Visit, name: str) -> str | None:
    """A field without the white space around it; None when it is empty or missing."""
    return visit.form.get(name, "").replace("\r\n", "\n").strip() or None


def lines(visit: Visit, name: str) -> list[str]:
    """The lines of a field that are not empty."""
    return [line.strip() for line in visit.form.get(name, "").splitlines() if line.strip()]


def number(visit: Visit, name: str) -> int | None:
    """A field of digits; None when it is empty. Refuses anything else."""
    given = text(visit, name)
    if given is None:
        return None
    if not given.isascii() or not given.isdigit() or len(given) > 15:
        raise invalid_input(f"{name} is not a number.", "Give digits only.")
    return int(given)
