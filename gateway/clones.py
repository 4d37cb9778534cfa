"""A narrow clone: only the folders that an intent's scope reaches, without file contents until they are needed."""

import shlex

from protocol.answers import SparseClone
from protocol.records import IntentRecords
from rules.git_commands import intent_ref
from rules.places import ancestors

MOST_FOLDERS = 50


def folders_of(records: IntentRecords) -> list[str]:
    """The folders of an intent's places, none inside another; the root's own files come with every sparse clone."""
    items = [*records.plan.scope.change, *records.plan.scope.use]
    paths = [*(item.path for item in items), *records.pushed_paths]
    found = {_folder(path) for path in paths} - {""}
    kept = {f for f in found if not any(other != f and f.startswith(other + "/") for other in found)}
    return sorted(kept)[:MOST_FOLDERS]


def _folder(path: str) -> str:
    above = ancestors(path)
    own = path if path.endswith("/") else (above[1] if len(above) > 1 else "")
    return own.removesuffix("/")


def narrow_clone(records: IntentRecords, remote: str) -> SparseClone:
    """The git steps, each an argument list to run with no shell; `commands` says the same for reading."""
    row = records.intent
    commit, folders, ref = row.head or row.base, folders_of(records), intent_ref(row.id)
    place = f"intent-{row.number}"
    steps = [
        ["git", "clone", "--filter=blob:none", "--no-checkout", "--sparse", "--", remote, place],
        ["git", "-C", place, "sparse-checkout", "set", "--cone", "--", *folders],
    ]
    if row.head:
        steps.append(["git", "-C", place, "fetch", "origin", f"+{ref}:{ref}"])
    steps.append(["git", "-C", place, "checkout", "--detach", commit])
    return SparseClone(
        commit=commit, folders=folders, args=steps, commands=[shlex.join(step) for step in steps]
    )
