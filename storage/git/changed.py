"""Which paths a piece of work changes of its own, seen from the line it will land on."""

from collections.abc import Iterable

from protocol.ids import CommitId
from storage.git.content import ChangedPath
from storage.git.repository import Repository

MOST_PATHS = 20_000


async def changed_paths(repository: Repository, line_head: str, head: str) -> list[str]:
    """Paths that `head` changes since it left the line, old names of renames too; sorted, at most 20,000.

    What came into the work by merging the line is not its own and does not count.
    """
    start = await repository.merge_base(CommitId(line_head), CommitId(head))
    return paths_of(await repository.changed_paths(start or CommitId(line_head), CommitId(head)))


def paths_of(changed: Iterable[ChangedPath]) -> list[str]:
    """The paths of changes, old names of renames too; sorted, at most 20,000."""
    return sorted({path for change in changed for path in (change.path, change.old_path) if path})[
        :MOST_PATHS
    ]
