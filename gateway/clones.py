"""A narrow clone: only the folders that an intent's scope reaches, without file contents until they are needed."""

import shlex
from collections.abc import Collection

from gateway.reads import Reads
from protocol.answers import SparseClone
from protocol.records import IntentRecords
from rules.git_commands import intent_ref
from rules.places import ancestors
from storage.sql.snapshot import read_intent
from storage.sql.symbols import edges_of

MOST_FOLDERS = 50
MOST_FILES = 2000


async def clone_of(reads: Reads, intent_id: str, remote: str) -> SparseClone:
    """The narrow clone of an intent as it is now: what it changes, uses and pushed, and files one import away."""
    async with reads.snapshot() as connection:
        records = await read_intent(connection, intent_id)
        if records is None:
            raise LookupError(f"intent {intent_id} left the record")
        row, files = records.intent, [path for path in _paths(records) if not path.endswith("/")]
        edges = await edges_of(connection, row.project_id, row.line, files[:MOST_FILES])
    apart = {path for side in (edges.imports, edges.imported_by) for found in side.values() for path in found}
    return narrow_clone(records, remote, apart)


def _paths(records: IntentRecords) -> list[str]:
    items = [*records.plan.scope.change, *records.plan.scope.use]
    return [*(item.path for item in items), *records.pushed_paths]


def folders_of(records: IntentRecords, apart: Collection[str] = ()) -> list[str]:
    """The folders of an intent's places and of `apart`, none inside another, without `apart` when they are too many.

    The root's own files come with every sparse clone.
    """
    own = _outermost({_folder(path) for path in _paths(records)})
    reached = _outermost({*own, *map(_folder, apart)})
    return reached if len(reached) <= MOST_FOLDERS else own[:MOST_FOLDERS]


def _outermost(folders: Collection[str]) -> list[str]:
    found = set(folders) - {""}
    return sorted(f for f in found if not any(other != f and f.startswith(other + "/") for other in found))


def _folder(path: str) -> str:
    above = ancestors(path)
    own = path if path.endswith("/") else (above[1] if len(above) > 1 else "")
    return own.removesuffix("/")


def narrow_clone(records: IntentRecords, remote: str, apart: Collection[str] = ()) -> SparseClone:
    """The git steps, each an argument list to run with no shell; `commands` says the same for reading."""
    row = records.intent
    commit, folders, ref = row.head or row.base, folders_of(records, apart), intent_ref(row.id)
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
