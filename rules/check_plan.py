"""A project's checks as one list, and what is wrong with such a list."""

from collections.abc import Sequence

from protocol.checks import MAX_CHECKS, CheckDefinition
from protocol.projects import ProjectSettings
from rules.check_paths import MOST_DEEP, is_too_deep


def definitions_of(settings: ProjectSettings) -> list[CheckDefinition]:
    """Every check of the project, `test` first; empty when nothing is run."""
    if settings.test is None:
        return list(settings.named_checks)
    test = CheckDefinition(
        command=settings.test,
        timeout_sec=settings.timeout_sec,
        environment=tuple(settings.environment),
        network=settings.network,
    )
    return [test, *settings.named_checks]


def problem_of(definitions: Sequence[CheckDefinition]) -> str | None:
    """Why these checks cannot be a project's checks, in a sentence; None when they can."""
    names = [definition.name for definition in definitions]
    if len(names) > MAX_CHECKS:
        return f"A project has at most {MAX_CHECKS} checks; these are {len(names)}."
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        return f"Two checks are named {twice}."
    for definition in definitions:
        unknown = next((need for need in definition.needs if need not in names), None)
        if unknown is not None:
            return f"{definition.name} needs {unknown}, and there is no check of that name."
        deep = next((path for path in definition.paths if is_too_deep(path)), None)
        if deep is not None:
            return f"A path of {definition.name} holds ** more than {MOST_DEEP} times: {deep[:200]}."
    circle = _circle({definition.name: definition.needs for definition in definitions})
    return f"Checks that need each other never begin: {' needs '.join(circle)}." if circle else None


def _circle(needs: dict[str, tuple[str, ...]]) -> list[str]:
    """The names along a circle, its first one again at the end; empty when there is none."""
    done: set[str] = set()

    def walk(name: str, path: list[str]) -> list[str]:
        if name in path:
            return [*path[path.index(name) :], name]
        if name in done:
            return []
        for need in needs[name]:
            if found := walk(need, [*path, name]):
                return found
        done.add(name)
        return []

    return next((found for name in needs if (found := walk(name, []))), [])
