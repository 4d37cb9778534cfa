"""Named checks: read from a file, and shown."""

import json
from pathlib import Path
from typing import Any

from cli.clean import one_line
from cli.session import USAGE, Failed

_MOST_BYTES = 1024 * 1024


def named_checks(file: Path | None) -> dict[str, Any]:
    """The part of `checks` that a file gives: a list of named checks, or an object with them in `named`."""
    if file is None:
        return {}
    try:
        if file.stat().st_size > _MOST_BYTES:
            raise Failed(f"{file} is larger than 1 MiB, so it holds no checks.", USAGE)
        found = json.loads(file.read_text())
    except OSError as problem:
        raise Failed(f"{file} cannot be read: {problem.strerror}.", USAGE) from problem
    except ValueError as problem:
        raise Failed(f"{file} is not JSON: {problem}.", USAGE) from problem
    if isinstance(found, dict):
        found = found.get("named")
    if not isinstance(found, list):
        raise Failed(
            f'{file} holds no list of checks; begin with [{{"name": "lint", "command": "make lint"}}].', USAGE
        )
    return {"named": found}


def check_lines(named: list[dict[str, Any]]) -> list[str]:
    """One line a check."""
    return [f"  check     {_check(check)}" for check in named]


def _check(check: dict[str, Any]) -> str:
    notes = [f"at most {check['timeoutSec']} s"]
    if check["needs"]:
        notes.append(f"after {', '.join(check['needs'])}")
    if check["paths"]:
        notes.append(f"reads {', '.join(check['paths'])}")
    if check["slots"] > 1:
        notes.append(f"{check['slots']} slots")
    if check["retries"]:
        notes.append(f"up to {check['retries'] + 1} tries")
    return one_line(f"{check['name']}: {check['command']} ({'; '.join(notes)})", 300)
