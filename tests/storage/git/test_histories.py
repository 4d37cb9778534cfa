"""The queue's chain on random histories: line before + each intent's own changes = line after, byte for byte.

`GITRING_HISTORIES` is how many (1,000 unless told), `GITRING_HISTORIES_SEED` where they begin.
"""

import asyncio
import os
from collections import Counter
from pathlib import Path
from random import Random

import pytest

from protocol.ids import CommitId
from storage.git.commits import Signature
from storage.git.merge import AlreadyThere, Chain, Conflicted, Member, Merged, merge_chain
from storage.git.names import shown_path
from storage.git.repository import Repository
from tests.storage.git.histories.fast_import import bring_in
from tests.storage.git.histories.making import random_history
from tests.storage.git.histories.model import File, History, Tree, commit_id, object_id, tree_id
from tests.storage.git.histories.three_way import Verdict, merged

BLOCK = 100
BLOCKS = -(-int(os.environ.get("GITRING_HISTORIES", "1000")) // BLOCK)
SEED = int(os.environ.get("GITRING_HISTORIES_SEED", "1"))
AT_ONCE = 3
_AUTHOR = Signature(name="Ana Ruiz", email="ana@example.com", at=1_700_000_000)
_SERVER = Signature(name="gitring", email="gitring@gitring.invalid", at=1_700_000_500)


@pytest.mark.parametrize("block", range(BLOCKS))
async def test_the_line_and_each_intents_own_changes_make_the_line_after_byte_for_byte(
    block: int, tmp_path: Path
) -> None:
    repo = await Repository.create(tmp_path / "repo.git", "main")
    # Nothing here has to survive a power cut.
    await repo.git("config", "core.fsync", "none")
    histories = [random_history(SEED * 1_000_000 + block * BLOCK + n) for n in range(BLOCK)]
    await bring_in(repo, histories)
    slots = asyncio.Semaphore(AT_ONCE)

    async def proven(history: History) -> "_Proof":
        async with slots:
            return await _prove(repo, history)

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(proven(history)) for history in histories]
    proofs = [task.result() for task in tasks]
    commits = [commit for proof in proofs for commit in proof.commits]
    stored = await repo.git("cat-file", "--batch-check=%(objecttype)", stdin="\n".join(commits).encode())
    assert stored.stdout.split() == [b"commit"] * len(commits)
    told = sum((proof.told for proof in proofs), Counter[str]())
    # The oracle has to say yes or no: were it mostly unsure, nothing would be proven.
    assert told["merged"] > told["conflicted"] > 10 and told["there"] > 0
    assert told["unsure"] * 10 < told.total()


class _Proof:
    """What became of one history's members, checked one after the other."""

    def __init__(self, repo: Repository, history: History) -> None:
        self._repo, self._history = repo, history
        self._head = history.line[-1]
        self.commits: list[str] = []
        self.told: Counter[str] = Counter()

    async def check(self, chain: Chain) -> None:
        """Every outcome, and that the chain ends where the last one that merged does."""
        for number, (work, outcome) in enumerate(zip(self._history.works, chain.outcomes, strict=True)):
            verdict = merged(self._history, self._head, work)
            if isinstance(outcome, AlreadyThere):
                self.told["there"] += 1
                self._hold(self._history.contains(self._head, work), number, "the line does not contain it")
                self._hold(outcome.commit == self._at, number, "it answers another commit than the head")
            elif isinstance(outcome, Conflicted):
                self.told["conflicted"] += 1
                self._conflicted(number, outcome, verdict)
            else:
                self.told["merged"] += 1
                await self._merged(number, outcome, verdict)
        assert chain.head == self._at

    @property
    def _at(self) -> str:
        return self._history.commits[self._head].id

    def _conflicted(self, number: int, outcome: Conflicted, verdict: Verdict | None) -> None:
        self._hold(bool(outcome.messages), number, "no message")
        if verdict is None:
            self._hold(outcome.paths == (), number, "unrelated work has no paths")
            return
        self._count(verdict)
        self._hold(not verdict.clean, number, f"it conflicts in {outcome.paths} for no reason")
        self._hold(bool(outcome.paths), number, "no path is named")
        known = {shown_path(p) for n in (self._head, self._history.works[number]) for p in self._tree(n)}
        known |= {shown_path(p) for commit in self._history.commits for p in commit.tree}
        if not verdict.may_conflict:
            self._hold(known.issuperset(outcome.paths), number, f"unknown paths in {outcome.paths}")
        if not (verdict.unsure or verdict.may_conflict or verdict.renames):
            missing = {shown_path(p) for p in verdict.conflicts} - set(outcome.paths)
            self._hold(not missing, number, f"{missing} are not named, only {outcome.paths}")

    async def _merged(self, number: int, outcome: Merged, verdict: Verdict | None) -> None:
        work = self._history.works[number]
        assert verdict is not None
        self._count(verdict)
        self._hold(not self._history.contains(self._head, work), number, "it was there already")
        wrong = verdict.conflicts - verdict.unsure
        self._hold(not wrong, number, f"both sides changed {wrong}, and it merged")
        after: Tree = verdict.tree
        if verdict.unsure or tree_id(after) != outcome.tree:
            after = await self._read(outcome.tree)
            differ = {p for p in {*after, *verdict.tree} if after.get(p) != verdict.tree.get(p)}
            self._hold(
                differ <= verdict.unsure, number, f"{differ - verdict.unsure} are not what they should be"
            )
        parents = [self._at, self._history.commits[work].id]
        words = (_AUTHOR.line(), _SERVER.line(), f"Merge #{number}")
        self._hold(outcome.commit == commit_id(outcome.tree, parents, *words), number, "another commit")
        self.commits.append(outcome.commit)
        self._head = self._history.add(after, [self._head, work], outcome.commit)

    def _count(self, verdict: Verdict) -> None:
        self.told["unsure"] += bool(verdict.unsure or verdict.may_conflict)

    def _tree(self, place: int) -> Tree:
        return self._history.commits[place].tree

    async def _read(self, tree: str) -> Tree:
        listed = (await self._repo.git("ls-tree", "-r", "-z", tree)).stdout.split(b"\0")
        rows = [row.partition(b"\t") for row in listed if row]
        ids = [head.split(b" ") for head, _, _ in rows]
        blobs = await self._repo.read_blobs(
            [oid.decode() for _, kind, oid in ids if kind == b"blob"], 1 << 20
        )
        read = {
            path: File(mode, blobs.get(oid.decode(), oid))
            for (_, _, path), (mode, _, oid) in zip(rows, ids, strict=True)
        }
        assert all(
            object_id(file).hex() == oid.decode()
            for file, (_, _, oid) in zip(read.values(), ids, strict=True)
        )
        return read

    def _hold(self, fact: bool, number: int, why: str) -> None:
        works = [self._history.commits[n].id for n in self._history.works]
        assert fact, (
            f"history {self._history.seed}, intent {number} of {works} on {self._at} in {self._repo.path}: {why}"
        )


async def _prove(repo: Repository, history: History) -> _Proof:
    line = CommitId(history.commits[history.line[-1]].id)
    members = [
        Member(
            work=CommitId(history.commits[work].id), message=f"Merge #{n}", author=_AUTHOR, committer=_SERVER
        )
        for n, work in enumerate(history.works)
    ]
    chain = await merge_chain(repo, line, members)
    proof = _Proof(repo, history)
    await proof.check(chain)
    if history.seed % 3 == 0 and len(members) > 1:
        await _extend(repo, history, chain, members)
    return proof


async def _extend(repo: Repository, history: History, chain: Chain, members: list[Member]) -> None:
    """The queue builds on what it built before, when others join it: the same commits as built at once."""
    kept = Random(history.seed).randint(1, len(members) - 1)
    standing = [o.commit for o in chain.outcomes[:kept] if not isinstance(o, Conflicted)]
    head = CommitId(standing[-1] if standing else history.commits[history.line[-1]].id)
    rest = await merge_chain(repo, head, members[kept:])
    assert (rest.head, rest.outcomes) == (chain.head, chain.outcomes[kept:]), f"history {history.seed}"
