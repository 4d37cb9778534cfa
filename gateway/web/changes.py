"""What an intent changes, as its page shows it: the patch, how large all of it is, and the comments at their lines."""

from typing import NamedTuple

from gateway.web.diffs import MOST_BYTES, Patch, read_patch
from gateway.web.remarks import Remarks, Said, heads_to_follow, place_all, read_moves
from protocol.ids import CommitId
from storage.git.errors import GitError
from storage.git.patches import Ends, FileSize, bare_patch, ends_of_landing, ends_of_work, sizes
from storage.git.repository import Repository

# Comments that speak of older commits are followed from so many of them, the newest first.
MOST_FOLLOWED = 20
MOST_LISTED = 500


class Listed(NamedTuple):
    """A file in the list above the patch; `at` is its place on the page, None when its lines are not shown."""

    path: str
    added: int | None
    removed: int | None
    at: int | None


class Changes(NamedTuple):
    """The patch and all that is said of it. `more` counts files beyond the list."""

    patch: Patch
    remarks: Remarks
    files: list[Listed]
    more: int
    added: int
    removed: int
    total: int


async def ends_of(
    repository: Repository, merged_commit: str | None, line_head: str | None, head: str
) -> Ends:
    """The two sides of the difference that the page shows."""
    if merged_commit:
        return await ends_of_landing(repository, merged_commit)
    return await ends_of_work(repository, line_head, head)


async def read_changes(repository: Repository, ends: Ends, said: list[Said]) -> Changes:
    """Read the patch and place the comments. Raises GitError."""
    found = await repository.diff(*ends, MOST_BYTES)
    patch = read_patch(found.text, found.truncated)
    counted = await sizes(repository, ends) if patch.cut else _sizes_of(patch)
    remarks = place_all(patch, said, await _moves(repository, ends, said), ends.new)
    at = {file.path: index for index, file in enumerate(patch.files, 1)}
    return Changes(
        patch=patch,
        remarks=remarks,
        files=[Listed(*one, at.get(one.path)) for one in counted[:MOST_LISTED]],
        more=max(0, len(counted) - MOST_LISTED),
        added=sum(one.added or 0 for one in counted),
        removed=sum(one.removed or 0 for one in counted),
        total=len(counted),
    )


def _sizes_of(patch: Patch) -> list[FileSize]:
    """The counts of a patch that is here as a whole."""
    return [
        FileSize(file.path, file.added, file.removed) if file.lines else FileSize(file.path, None, None)
        for file in patch.files
    ]


async def _moves(repository: Repository, ends: Ends, said: list[Said]) -> dict[str, Patch | None]:
    """From each commit that comments speak of, how their files came to be what is shown."""
    moves: dict[str, Patch | None] = {}
    for head, paths in list(heads_to_follow(reversed(said), ends.new).items())[:MOST_FOLLOWED]:
        try:
            found = await bare_patch(repository, Ends(CommitId(head), ends.new), paths, MOST_BYTES)
        except GitError:
            continue  # a forced push took that commit away, and git has swept it up: its lines cannot be followed
        moves[head] = read_moves(found.text, found.truncated)
    return moves
