"""The chain of a line's queue: the queued intents merged one on the other, and built on as the queue changes."""

from collections.abc import Collection, Sequence

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from activities.merges import Merges
    from protocol.queue import BuildCandidate, Candidate, QueueEntry, QueueSnapshot
    from rules.landing_order import without
    from rules.queue_plan import may_test_together
    from workflows.line_life import LineLife, numbers
    from workflows.steps import git_step


class Chain:
    """What was built last; what of it still stands is built on, so that a commit that was tested keeps its name."""

    def __init__(self, life: LineLife) -> None:
        self._life = life
        self._built: list[QueueEntry] = []
        self._candidate: Candidate | None = None

    @property
    def hopeless(self) -> str | None:
        """The intent at the head of the queue, when it does not merge onto the line itself."""
        if self._candidate is None or not self._candidate.conflicting or not self._built:
            return None
        first = self._built[0].intent_id
        return first if self._candidate.conflicting[0].intent_id == first else None

    def head_of(self, intent_id: str) -> str:
        """The submitted head of a member."""
        return next(entry.head for entry in self._built if entry.intent_id == intent_id)

    def landed(self, count: int) -> None:
        """The first `count` members are the line now; what stands on them stays as it is."""
        if self._candidate is not None:
            gone = {member.intent_id for member in self._candidate.members[:count]}
            done = self._candidate.prefix(count)
            # What did not merge gets another chance: the line it did not merge onto is another one now.
            for_good = {c.intent_id for c in self._candidate.conflicting}
            first = next((n for n, e in enumerate(self._built) if e.intent_id in for_good), len(self._built))
            self._built = [e for e in self._built[:first] if e.intent_id not in gone]
            kept = {entry.intent_id for entry in self._built}
            self._candidate = Candidate(
                line_head=done.commit,
                line_tree=done.tree,
                members=[m for m in self._candidate.members[count:] if m.intent_id in kept],
                conflicting=[],
            )

    def eligible(self, snapshot: QueueSnapshot, suspects: Collection[str], window: int) -> list[QueueEntry]:
        """Who is in the next candidate: no suspects, nobody who goes after one, no more than the window takes."""
        entries = without(snapshot.entries, suspects)
        if entries and entries[0].emergency:
            return entries[:1]
        meets = {entry.intent_id: entry.meets for entry in entries}
        taken = may_test_together(meets, [entry.intent_id for entry in entries], window)
        return entries[: len(taken)]

    async def build(self, snapshot: QueueSnapshot, entries: Sequence[QueueEntry]) -> Candidate:
        """The chain of these entries on the line's head."""
        kept = self._kept(str(snapshot.head), entries)
        new = entries[len(kept) :]
        before = self._candidate if kept else None
        ids = {entry.intent_id for entry in kept}
        members = [m for m in before.members if m.intent_id in ids] if before else []
        conflicting = [c for c in before.conflicting if c.intent_id in ids] if before else []
        known_tree = self._candidate is not None and self._candidate.line_head == snapshot.head
        candidate = Candidate(
            line_head=str(snapshot.head),
            line_tree=self._candidate.line_tree if known_tree and self._candidate else None,
            members=members,
            conflicting=conflicting,
        )
        if new or candidate.line_tree is None:
            candidate = await self._extended(
                candidate, without(new, [found.intent_id for found in conflicting])
            )
        self._built, self._candidate = list(entries), candidate
        return candidate

    def _kept(self, head: str, entries: Sequence[QueueEntry]) -> list[QueueEntry]:
        """The beginning that is as it was built."""
        if self._candidate is None or self._candidate.line_head != head:
            return []
        kept: list[QueueEntry] = []
        for old, new in zip(self._built, entries, strict=False):
            if (old.intent_id, old.head) != (new.intent_id, new.head):
                break
            kept.append(new)
        return kept

    async def _extended(self, candidate: Candidate, entries: list[QueueEntry]) -> Candidate:
        state = self._life.state
        named = numbers(e.number for e in entries)
        self._life.show(f"merging {named}" if entries else f"reading {state.line}")
        built = await workflow.execute_activity_method(
            Merges.build,
            BuildCandidate(
                project_id=state.project_id,
                line=state.line,
                line_head=candidate.commit,
                entries=entries,
                at=int(workflow.now().timestamp()),
            ),
            **git_step(state.host, f"merge {named} onto {state.line}" if entries else f"read {state.line}"),
        )
        return Candidate(
            line_head=candidate.line_head,
            line_tree=candidate.line_tree or built.line_tree,
            members=[*candidate.members, *built.members],
            conflicting=[*candidate.conflicting, *built.conflicting],
        )
