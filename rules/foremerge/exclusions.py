"""Untracked outputs of checks that do not count as changes: an operator's rules, in one normal form."""

import hashlib
import json
from collections.abc import Iterable

from protocol.foremerge.validations import ExclusionRules
from rules.foremerge.refusing import bad_input

MOST_RULES = 256


def normal_rules(paths: Iterable[str]) -> ExclusionRules:
    """Sorted, each once; refuses a path that could hide more than untracked output below the root."""
    found = sorted({_normal(path) for path in paths})
    if len(found) > MOST_RULES:
        raise bad_input(
            f"There are {len(found)} exclusion rules.", f"Keep at most {MOST_RULES}; exclude a folder whole."
        )
    return ExclusionRules(paths=found)


def _normal(path: str) -> str:
    path = path.strip()
    parts = path.removesuffix("/").split("/")
    hidden = any(part.lower() == ".git" for part in parts)
    odd = any(ord(char) < 32 for char in path) or "\\" in path
    if odd or hidden or any(part in ("", ".", "..") for part in parts):
        raise bad_input(
            f"{path[:200]!r} cannot be excluded.",
            "Give an exact path below the root, or a folder that ends in '/'; no '..', backslash or .git.",
        )
    return path


def digest(rules: ExclusionRules) -> str:
    """`sha256:` of the rules' compact text; part of every fingerprint, also when there are none."""
    text = json.dumps(
        {"version": rules.version, "paths": rules.paths}, separators=(",", ":"), ensure_ascii=False
    )
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def is_excluded(path: str, rules: ExclusionRules) -> bool:
    """True for an *untracked* path that a rule names, or that lies in a folder one names."""
    return any(path.startswith(rule) if rule.endswith("/") else path == rule for rule in rules.paths)
