"""What a merge must give, told from the three trees alone.

It knows git's rules, not its code: a change of one side is taken; a change of both sides is taken line by line
when the two do not touch; a file that one side renamed takes the other side's change along. Where git may
rightly decide either way (a rename that is one by a hair), the paths are named as unsure.
"""

from collections import Counter
from dataclasses import dataclass, field

from tests.storage.git.histories.lines import merged_lines
from tests.storage.git.histories.model import LINK, MODULE, File, History, Tree, clashes, folders, lines

_HALF, _HAIR = 0.5, 0.06


@dataclass
class Verdict:
    """The merged tree; the paths both sides changed in ways that do not go together; the paths left open.

    `may_conflict`: one side moved a folder into which the other put a file; git asks where it belongs.
    """

    tree: dict[bytes, File] = field(default_factory=dict)
    conflicts: set[bytes] = field(default_factory=set)
    unsure: set[bytes] = field(default_factory=set)
    may_conflict: bool = False
    renames: bool = False

    @property
    def clean(self) -> bool:
        """Whether the tree is what must come out, without a doubt."""
        return not (self.conflicts or self.unsure or self.may_conflict)


def merged(history: History, onto: int, work: int) -> Verdict | None:
    """What merging `work` onto `onto` must give; None for histories without a common commit."""
    ours, theirs = history.commits[onto].tree, history.commits[work].tree
    bases = history.merge_bases(onto, work)
    if not bases:
        return None
    base = history.commits[bases[0]].tree
    if len(bases) > 1:
        virtual = merged(history, *bases) if len(bases) == 2 else None
        if virtual is None or not virtual.clean:
            verdict = three_way({}, ours, theirs)
            verdict.unsure |= {p for p in {*ours, *theirs} if ours.get(p) != theirs.get(p)}
            return verdict
        base = virtual.tree
    return three_way(base, ours, theirs)


def three_way(base: Tree, ours: Tree, theirs: Tree) -> Verdict:
    """Merge two trees by their base."""
    verdict = Verdict()
    left, right = _renames(base, ours, verdict), _renames(base, theirs, verdict)
    done: set[bytes] = set()
    for path in sorted({*left, *right}):
        done |= _renamed(verdict, path, base, (ours, left), (theirs, right))
    for path in {*base, *ours, *theirs} - done:
        _put(verdict, path, base.get(path), ours.get(path), theirs.get(path))
    verdict.renames = bool(left or right)
    verdict.may_conflict = _moved_folder(base, ours, left, theirs) or _moved_folder(base, theirs, right, ours)
    verdict.conflicts |= clashes(verdict.tree)
    return verdict


def _renamed(
    verdict: Verdict,
    path: bytes,
    base: Tree,
    left: tuple[Tree, dict[bytes, bytes]],
    right: tuple[Tree, dict[bytes, bytes]],
) -> set[bytes]:
    """Settle a path that a side renamed; the paths that are settled by it."""
    (ours, from_left), (theirs, from_right) = left, right
    mine, yours = from_left.get(path, path), from_right.get(path, path)
    one, two = ours.get(mine), theirs.get(yours)
    targets = {mine, yours} - {path}
    settled = {path, *targets}
    if path in ours or path in theirs:  # one side still has it, so only the other one renamed it
        other = theirs if path in theirs else ours
        if any(target in other for target in targets) or (one and two and one.kind != two.kind):
            verdict.unsure |= settled
    elif len(targets) > 1 or one is None or two is None:
        verdict.conflicts |= settled
        verdict.unsure |= targets if any(t in ours and t in theirs for t in targets) else set()
    if any(target in verdict.tree for target in targets):
        verdict.unsure |= settled
    _put(verdict, min(targets), base[path], one, two)
    return settled


def _put(verdict: Verdict, path: bytes, base: File | None, one: File | None, two: File | None) -> None:
    result, fate = _file(base, one, two)
    if fate is not None:
        (verdict.unsure if fate == "unsure" else verdict.conflicts).add(path)
    if result is not None:
        verdict.tree[path] = result


def _file(base: File | None, one: File | None, two: File | None) -> tuple[File | None, str | None]:
    if one == two or two == base:
        return one, None
    if one == base:
        return two, None
    if one is None or two is None:
        return one or two, "conflict"
    if one.kind != two.kind:
        return one, "conflict"
    if base is not None and base.kind != one.kind:
        return one, "unsure"
    mode = one.mode if base is None or two.mode == base.mode else two.mode
    data, fate = _data(base.data if base else None, one, two)
    return File(mode, data), "conflict" if base is None and one.mode != two.mode else fate


def _data(base: bytes | None, one: File, two: File) -> tuple[bytes, str | None]:
    if one.data == two.data or two.data == base:
        return one.data, None
    if one.data == base:
        return two.data, None
    if one.mode in (LINK, MODULE) or one.binary or two.binary or b"\0" in (base or b"")[:8000]:
        return one.data, "conflict"
    return merged_lines(base or b"", one.data, two.data)


def _renames(base: Tree, side: Tree, verdict: Verdict) -> dict[bytes, bytes]:
    """Which files of the base stand under another name on a side, by their content."""
    gone = [p for p in base if p not in side and base[p].data]
    new = [p for p in side if p not in base and side[p].data]
    scores = {(p, q): _likeness(base[p], side[q]) for p in gone for q in new}
    likely = {pair: low for pair, (low, high) in scores.items() if high > _HALF - _HAIR}
    uses = Counter(path for pair in likely for path in set(pair))
    found = {}
    for (old, new_path), score in likely.items():
        if score < _HALF + _HAIR or uses[old] > 1 or uses[new_path] > 1:
            verdict.unsure |= {old, new_path}
        found[old] = new_path
    return found


def _likeness(one: File, two: File) -> tuple[float, float]:
    """How much of two files is the same, 1 for all of it: at least, and at most.

    Some versions of git count a last line without its end and some do not.
    """
    if one.data == two.data:
        same = float(one.kind == two.kind and (one.kind == b"100" or one.mode == two.mode))
        return same, same
    if one.kind != b"100" or two.kind != b"100":
        return 0.0, 0.0
    common = _chunks(one) & _chunks(two)
    copied = {line: len(line) * count for line, count in common.items()}
    whole = sum(size for line, size in copied.items() if line.endswith(b"\n"))
    longest = max(len(one.data), len(two.data))
    return whole / longest, sum(copied.values()) / longest


def _chunks(file: File) -> Counter[bytes]:
    data = file.data if file.binary else file.data.replace(b"\r\n", b"\n")
    return Counter(lines(data))


def _moved_folder(base: Tree, side: Tree, renames: dict[bytes, bytes], other: Tree) -> bool:
    left = {folder for old in renames for folder in [b"", *folders(old)]}
    here = {folder for path in side for folder in folders(path)} | ({b""} if _at_root(side) else set())
    into = {f for path in other if path not in base for f in [b"", *folders(path)]}
    return bool((left - here) & into)


def _at_root(tree: Tree) -> bool:
    return any(b"/" not in path for path in tree)
