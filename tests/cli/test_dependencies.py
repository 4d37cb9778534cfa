"""Each direct dependency has its reason in docs/dependencies.md, and the list names no other."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
_NAME = re.compile(r"[A-Za-z0-9._-]+(?:\[[a-z,]+\])?")


def names(requirements: list[str]) -> set[str]:
    """The names in a list of requirements, extras included."""
    return {found[0] for each in requirements if (found := _NAME.match(each))}


def test_every_direct_dependency_has_a_reason_and_only_they_have() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = names(project["dependencies"])
    for extra in project["optional-dependencies"].values():
        wanted |= names(extra)
    rows = re.findall(r"^\| `([^`]+)` \| (.*) \|$", (ROOT / "docs" / "dependencies.md").read_text(), re.M)
    assert {name for name, _ in rows} == wanted
    assert len(rows) == len(wanted), "each is listed once"
    assert all(reason.endswith(".") for _, reason in rows)
