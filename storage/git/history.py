"""How commits relate: ancestry, bases, and what a push brings that was not there before."""

from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict

from protocol.ids import CommitId
from storage.git.bare import Bare
from storage.git.names import commit_id, shown_path


class Blob(BaseModel):
    """One file content by its object id, with a path it is found under."""

    model_config = ConfigDict(frozen=True)

    id: str
    path: str


class History(Bare):
    """The part of a repository that compares commits."""

    async def tree_of(self, commit: CommitId) -> str:
        """The id of a commit's tree. Raises GitFailed when the commit is not here."""
        answer = await self.git("rev-parse", "--verify", f"{commit_id(commit)}^{{tree}}")
        return answer.stdout.decode().strip()

    async def commit_exists(self, commit: CommitId) -> bool:
        """Whether the object is here and is a commit."""
        answer = await self.git("cat-file", "-e", f"{commit_id(commit)}^{{commit}}", accept=(0, 1, 128))
        return answer.code == 0

    async def is_ancestor(self, ancestor: CommitId, descendant: CommitId) -> bool:
        """Whether `descendant` contains `ancestor`; a commit contains itself."""
        answer = await self.git(
            "merge-base", "--is-ancestor", commit_id(ancestor), commit_id(descendant), accept=(0, 1)
        )
        return answer.code == 0

    async def merge_base(self, one: CommitId, other: CommitId) -> CommitId | None:
        """A best common ancestor, or None for unrelated histories."""
        answer = await self.git("merge-base", commit_id(one), commit_id(other), accept=(0, 1))
        return CommitId(answer.stdout.decode().strip()) if answer.code == 0 else None

    async def new_commits(self, tip: CommitId, *, known: Sequence[CommitId] = ()) -> tuple[CommitId, ...]:
        """Commits of `tip` that neither any ref nor a commit of `known` contains, newest first."""
        answer = await self.git("rev-list", *_range(tip, known))
        return tuple(CommitId(row.decode()) for row in answer.stdout.split())

    async def new_blobs(self, tip: CommitId, *, known: Sequence[CommitId] = ()) -> tuple[Blob, ...]:
        """File contents in any commit of `tip` that no ref reaches yet: what a scan of a push has to read.

        git cuts a path before a line break in it.
        """
        answer = await self.git("rev-list", "--objects", "--filter=object:type=blob", *_range(tip, known))
        # Not splitlines: a path may hold a carriage return.
        rows = (row.partition(b" ") for row in answer.stdout.split(b"\n"))
        # Commits pass the filter too; only a blob has a blank after its id, and its path may be cut to nothing.
        return tuple(Blob(id=oid.decode(), path=shown_path(path)) for oid, blank, path in rows if blank)


def _range(tip: CommitId, known: Sequence[CommitId]) -> list[str]:
    return [commit_id(tip), "--not", "--all", *(commit_id(one) for one in known)]
