"""Refs of a bare repository. Every move is a compare-and-swap on the old value."""

import time
from collections.abc import Sequence
from contextlib import suppress

from pydantic import BaseModel, ConfigDict

from protocol.ids import CommitId, IntentId
from storage.git.bare import Bare
from storage.git.errors import GitFailed, StaleRef
from storage.git.names import INTENT_REFS, commit_id, full_ref, shown_path

# Git is ended after two minutes, and what waits for a lock gives up long before.
LOCK_LEFT_SEC = 300.0


class RefChange(BaseModel):
    """Move `ref` from `old` to `new`; None stands for "absent", so None → id creates and id → None deletes."""

    model_config = ConfigDict(frozen=True)

    ref: str
    old: CommitId | None
    new: CommitId | None


class Refs(Bare):
    """The part of a repository that reads and moves refs."""

    async def head(self, ref: str) -> CommitId | None:
        """The commit a ref points at (tags peeled), or None when the ref is absent."""
        answer = await self.git(
            "rev-parse", "--verify", "--quiet", f"{full_ref(ref)}^{{commit}}", accept=(0, 1)
        )
        return CommitId(answer.stdout.decode().strip()) if answer.code == 0 else None

    async def target(self, ref: str) -> CommitId | None:
        """The object id a ref holds (tags not peeled), or None when the ref is absent."""
        answer = await self.git("rev-parse", "--verify", "--quiet", full_ref(ref), accept=(0, 1))
        return CommitId(answer.stdout.decode().strip()) if answer.code == 0 else None

    async def list_refs(self, prefix: str) -> dict[str, CommitId]:
        """Every ref equal to `prefix` or below it (`refs/heads`), with the commit it points at (tags peeled)."""
        prefix = full_ref(prefix.rstrip("/")) if prefix.rstrip("/") != "refs" else "refs"
        answer = await self.git("for-each-ref", "--format=%(objectname) %(*objectname) %(refname)", prefix)
        found = {}
        for row in answer.stdout.splitlines():
            direct, peeled, name = row.split(b" ", 2)
            found[shown_path(name)] = CommitId((peeled or direct).decode())
        return found

    async def intent_refs(self) -> dict[IntentId, CommitId]:
        """Each intent that was ever pushed, with the commit its ref stands at: what the record must agree with."""
        refs = await self.list_refs(INTENT_REFS)
        return {IntentId(ref.removeprefix(INTENT_REFS)): commit for ref, commit in refs.items()}

    async def update_ref(self, ref: str, new: CommitId, old: CommitId) -> None:
        """Move a ref that stands at `old`. Raises StaleRef when it does not; a retry then finds `actual == new`."""
        await self.update_refs([RefChange(ref=ref, old=old, new=new)])

    async def create_ref(self, ref: str, new: CommitId) -> None:
        """Make a ref that is not there yet. Raises StaleRef when it is."""
        await self.update_refs([RefChange(ref=ref, old=None, new=new)])

    async def delete_ref(self, ref: str, old: CommitId) -> None:
        """Delete a ref that stands at `old`. Raises StaleRef when it does not."""
        await self.update_refs([RefChange(ref=ref, old=old, new=None)])

    async def update_refs(self, changes: Sequence[RefChange]) -> None:
        """Make all `changes` or none. Raises StaleRef for the first ref that is not where `old` says."""
        script = b"".join(_instruction(change) for change in changes)
        try:
            await self.git("update-ref", "--no-deref", "-z", "--stdin", stdin=script)
        except GitFailed:
            for change in changes:
                actual = await self.target(change.ref)
                if actual != change.old:
                    raise StaleRef(change.ref, change.old, actual) from None
            # The caller's next try finds the way free.
            self._remove_left_locks([change.ref for change in changes])
            raise

    def _remove_left_locks(self, refs: Sequence[str]) -> None:
        """Remove the lock files that a git left behind which was killed: none that we start lives as long."""
        for name in (*refs, "packed-refs"):
            lock = self.path / f"{name}.lock"
            with suppress(FileNotFoundError):
                if time.time() - lock.stat().st_mtime > LOCK_LEFT_SEC:
                    lock.unlink()


def _instruction(change: RefChange) -> bytes:
    ref = full_ref(change.ref)
    if change.new is None:
        if change.old is None:
            raise ValueError(f"{ref}: a change needs an old value, a new one, or both")
        return f"delete {ref}\0{commit_id(change.old)}\0".encode()
    if change.old is None:
        return f"create {ref}\0{commit_id(change.new)}\0".encode()
    return f"update {ref}\0{commit_id(change.new)}\0{commit_id(change.old)}\0".encode()
