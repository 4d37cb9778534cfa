"""Build a candidate: the queued work merged one on the other, without what conflicts and what undoes others' work."""

from collections.abc import Sequence

import asyncpg

from protocol.ids import CommitId
from protocol.queue import BuildCandidate, Candidate, Conflicting, Merged, QueueEntry
from rules.landing_order import without
from storage.git import merge
from storage.git.commits import Signature
from storage.git.repository import Repository
from storage.git.undone import taken_back
from storage.sql import queue
from storage.sql.pool import transaction


class Building:
    """The making of one candidate."""

    def __init__(self, repository: Repository, pool: asyncpg.Pool, wanted: BuildCandidate) -> None:
        self._repository = repository
        self._pool = pool
        self._wanted = wanted
        self._undoing: dict[str, Conflicting] = {}

    async def candidate(self) -> Candidate:
        """The chain of all that may stand in it, each left out named."""
        while True:
            found = await self._chained()
            before = len(self._undoing)
            await self._note_undoing(found)
            if len(self._undoing) == before:
                return found.model_copy(
                    update={"conflicting": self._in_order([*found.conflicting, *self._undoing.values()])}
                )

    async def _chained(self) -> Candidate:
        wanted = self._wanted
        line_tree = tree = await self._repository.tree_of(CommitId(wanted.line_head))
        entries, chain = await self._merged(without(wanted.entries, self._undoing))
        members: list[Merged] = []
        conflicting: list[Conflicting] = []
        for entry, outcome in zip(entries, chain.outcomes, strict=True):
            if isinstance(outcome, merge.Conflicted):
                conflicting.append(_conflicting(entry, outcome))
                continue
            tree = outcome.tree if isinstance(outcome, merge.Merged) else tree
            members.append(
                Merged(
                    intent_id=entry.intent_id,
                    number=entry.number,
                    head=entry.head,
                    commit=outcome.commit,
                    tree=tree,
                )
            )
        return Candidate(
            line_head=wanted.line_head, line_tree=line_tree, members=members, conflicting=conflicting
        )

    async def _merged(self, entries: Sequence[QueueEntry]) -> tuple[Sequence[QueueEntry], merge.Chain]:
        while True:
            members = [_member(entry, entry.at or self._wanted.at) for entry in entries]
            chain = await merge.merge_chain(self._repository, CommitId(self._wanted.line_head), members)
            kept = _without_orphans(entries, chain.outcomes)
            if len(kept) == len(entries):
                return entries, chain
            entries = kept

    async def _note_undoing(self, found: Candidate) -> None:
        """Note the first member that takes back what landed since it was declared, in files outside its plan."""
        entries = {entry.intent_id: entry for entry in self._wanted.entries}
        onto = found.line_head
        for member in found.members:
            entry = entries[member.intent_id]
            if entry.outside and entry.since and not entry.emergency:
                undone = await taken_back(
                    self._repository,
                    since=CommitId(entry.since),
                    onto=CommitId(onto),
                    merged=CommitId(member.commit),
                    paths=entry.outside,
                )
                number = await self._number_of(found, undone.commit) if undone else None
                if undone and number is not None and number != member.number:
                    self._undoing[member.intent_id] = Conflicting(
                        intent_id=member.intent_id,
                        number=member.number,
                        paths=undone.paths,
                        message="",
                        undoes=number,
                    )
                    return
            onto = member.commit

    async def _number_of(self, found: Candidate, commit: str) -> int | None:
        """The intent whose landing a commit of the line is."""
        ahead = next((m.number for m in found.members if m.commit == commit), None)
        if ahead is not None:
            return ahead
        async with transaction(self._pool, readonly=True) as connection:
            return await queue.number_landed_as(connection, self._wanted.project_id, commit)

    def _in_order(self, conflicting: Sequence[Conflicting]) -> list[Conflicting]:
        order = {entry.intent_id: n for n, entry in enumerate(self._wanted.entries)}
        return sorted(conflicting, key=lambda found: order[found.intent_id])


def _conflicting(entry: QueueEntry, outcome: merge.Conflicted) -> Conflicting:
    return Conflicting(
        intent_id=entry.intent_id,
        number=entry.number,
        paths=list(outcome.paths),
        message=" ".join(outcome.messages)[:500],
    )


def _member(entry: QueueEntry, at: int) -> merge.Member:
    return merge.Member(
        work=CommitId(entry.head),
        message=entry.message,
        author=Signature(name=entry.author_name, email=entry.author_email, at=at),
        committer=Signature(name="gitring", email="gitring@gitring.invalid", at=at),
    )


def _without_orphans(
    entries: Sequence[QueueEntry], outcomes: Sequence[merge.Outcome]
) -> Sequence[QueueEntry]:
    """The entries but for those that go after one that conflicts, or after one left out for that."""
    missing: set[str] = set()
    kept: list[QueueEntry] = []
    for entry, outcome in zip(entries, outcomes, strict=True):
        if missing.intersection(entry.goes_after):
            missing.add(entry.intent_id)
            continue
        if isinstance(outcome, merge.Conflicted):
            missing.add(entry.intent_id)
        kept.append(entry)
    return kept
