"""Which paths a piece of work changes of its own, seen from the line it will land on."""

from protocol.ids import CommitId
from storage.git.repository import Repository

MOST_PATHS = 20_000


async def changed_paths(repository: Repository, line_head: str, head: str) -> list[str]:
    """Paths that `head` changes since it left the line, old names of renames too; sorted, at most 20,000.

    What came into the work by merging the line is not its own and does not count.
    """
    start = await repository.merge_base(CommitId(line_head), CommitId(head))
    found = await repository.changed_paths(start or CommitId(line_head), CommitId(head))
    names = {path for change in found for path in (change.path, change.old_path) if path}
    return sorted(names)[:MOST_PATHS]
