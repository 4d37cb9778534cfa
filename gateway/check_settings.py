"""The checks part of a project's settings: what a caller gave, on top of what stands."""

from typing import Any

from protocol.checks import CheckDefinition
from protocol.project_checks import ChecksInput
from protocol.projects import ProjectSettings
from protocol.refusals import invalid_input
from rules.check_plan import definitions_of, problem_of

_WITH_TEST = ("test", "timeout_sec", "environment", "network")


def with_checks(old: ProjectSettings, given: ChecksInput | None) -> ProjectSettings:
    """The settings with these checks; None removes all. Refuses `invalid_input` for checks that do not go together.

    Of a test command and named checks, what was not given stays as it is.
    """
    values: dict[str, Any] = {"test": None, "environment": [], "network": False, "named_checks": []}
    if given is not None:
        values = _given(given)
    settings = ProjectSettings(**{**old.model_dump(), **values})
    if problem := problem_of(definitions_of(settings)):
        raise invalid_input(problem, "Correct `checks` and send it again.")
    return settings


def _given(checks: ChecksInput) -> dict[str, Any]:
    values: dict[str, Any] = {}
    if "test" in checks.model_fields_set:
        values = checks.model_dump(include=set(_WITH_TEST))
    if "named" in checks.model_fields_set:
        values["named_checks"] = [CheckDefinition(**check.model_dump()) for check in checks.named]
    return values
