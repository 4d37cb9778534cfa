"""Make one random history from a seed: a line, and intents that left it, took it in, went on from each other."""

from random import Random

from tests.storage.git.histories.changes import Changes
from tests.storage.git.histories.model import File, History, Tree, clashes
from tests.storage.git.histories.three_way import Verdict, merged, three_way

MOST_INTENTS = 5


def random_history(seed: int) -> History:
    """The history of a seed, always the same."""
    return _Making(seed).whole()


class _Making:
    def __init__(self, seed: int) -> None:
        self._rng = Random(seed)
        self._changes = Changes(self._rng)
        self._history = History(seed)

    def whole(self) -> History:
        history, rng = self._history, self._rng
        tree: Tree = {}
        for _ in range(rng.randint(5, 14)):
            tree = self._changes.added(tree)
        history.line.append(history.add(tree, []))
        for _ in range(rng.randint(0, 3)):
            history.line.append(self._step(history.line[-1]))
        for _ in range(rng.randint(1, MOST_INTENTS)):
            history.works.append(self._work())
        return history

    def _step(self, onto: int) -> int:
        """One commit with a few changes, or none."""
        tree = self._history.commits[onto].tree
        for _ in range(self._rng.choice((0, 1, 1, 1, 2, 3))):
            tree = self._changes.one(tree)
        return self._history.add(tree, [onto])

    def _work(self) -> int:
        """An intent's branch; its head."""
        history, rng = self._history, self._rng
        rare = rng.random()
        if rare < 0.01:
            return self._step(history.add({}, []))
        if rare < 0.03:
            return rng.choice(history.line + history.works)
        head = start = self._start()
        for _ in range(rng.choice((1, 1, 2, 3))):
            head = self._step(head)
        how = rng.random()
        if how < 0.2:
            head = self._merge(head, rng.choice(history.line))
        elif how < 0.3 and history.works:
            head = self._merge(head, rng.choice(history.works))
        elif how < 0.4:
            return self._replayed(start, head, history.line[-1])
        elif how < 0.5 and history.works:
            other = rng.choice(history.works)
            for parent in history.commits[other].parents[:1]:
                head = self._replayed(parent, other, head)
        return self._step(head) if rng.random() < 0.4 else head

    def _start(self) -> int:
        history, rng = self._history, self._rng
        how = rng.random()
        if how < 0.15 and history.works:
            return rng.choice(history.works)
        return rng.choice(history.line) if how < 0.45 else history.line[-1]

    def _merge(self, head: int, other: int) -> int:
        """Take another history in; what conflicts is settled anyhow, and now and then an own old copy is kept."""
        history, rng = self._history, self._rng
        verdict = merged(history, head, other)
        if verdict is None or history.contains(head, other):
            return head
        tree = self._settled(verdict)
        ours = history.commits[head].tree
        if rng.random() < 0.15:
            kept = rng.sample(sorted(ours), min(2, len(ours)))
            tree = {**tree, **{path: ours[path] for path in kept}}
        return history.add(_storable(tree), [head, other])

    def _replayed(self, start: int, end: int, onto: int) -> int:
        """What happened from `start` to `end` once more, as one commit on another."""
        trees = [self._history.commits[n].tree for n in (start, onto, end)]
        verdict = three_way(*trees)
        return self._history.add(_storable(self._settled(verdict)), [onto])

    def _settled(self, verdict: Verdict) -> dict[bytes, File]:
        lost = {path for path in sorted(verdict.conflicts) if self._rng.random() < 0.3}
        return {path: file for path, file in verdict.tree.items() if path not in lost}


def _storable(tree: Tree) -> dict[bytes, File]:
    bad = clashes(tree)
    return {path: file for path, file in tree.items() if path not in bad}
