"""Trees, commits and histories as plain data, with the object ids that git would give them."""

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

PLAIN, EXECUTABLE, LINK, MODULE = b"100644", b"100755", b"120000", b"160000"
_LINE = re.compile(rb"[^\n]*\n|[^\n]+")
WHO = "Ana Ruiz <ana@example.com>"


class File(NamedTuple):
    """What stands at a path: bytes of a file, the target of a link, or a submodule's commit id in hex."""

    mode: bytes
    data: bytes

    @property
    def kind(self) -> bytes:
        """Equal for files that differ in the executable bit only."""
        return self.mode[:3]

    @property
    def binary(self) -> bool:
        """As git decides it."""
        return b"\0" in self.data[:8000]


Tree = Mapping[bytes, File]


def lines(data: bytes) -> list[bytes]:
    """The lines with their ends; only LF ends a line."""
    return _LINE.findall(data)


@lru_cache(50_000)
def folders(path: bytes) -> tuple[bytes, ...]:
    """Every folder above a path, the nearest last, without closing slashes."""
    parts = path.split(b"/")[:-1]
    return tuple(b"/".join(parts[: n + 1]) for n in range(len(parts)))


def clashes(tree: Iterable[bytes]) -> set[bytes]:
    """Paths of files that are folders of others too; git can store no such tree."""
    above = {folder for path in tree for folder in folders(path)}
    return above.intersection(tree)


def with_file(tree: Tree, path: bytes, file: File) -> dict[bytes, File]:
    """The tree with one file more, without what is in its way."""
    above = set(folders(path))
    kept = {p: f for p, f in tree.items() if p not in above and not p.startswith(path + b"/")}
    return {**kept, path: file}


@lru_cache(200_000)
def _object_id(kind: bytes, data: bytes) -> bytes:
    return hashlib.sha1(b"%s %d\0%s" % (kind, len(data), data)).digest()


def object_id(file: File) -> bytes:
    """The raw id of what an entry names."""
    return bytes.fromhex(file.data.decode()) if file.mode == MODULE else _object_id(b"blob", file.data)


def tree_id(tree: Tree) -> str:
    """The id git gives the tree: two trees with the same id are the same, byte for byte."""
    return _tree_id({path: (file.mode, object_id(file)) for path, file in tree.items()}).hex()


def _tree_id(entries: Mapping[bytes, tuple[bytes, bytes]]) -> bytes:
    here: dict[bytes, tuple[bytes, bytes]] = {}
    below: dict[bytes, dict[bytes, tuple[bytes, bytes]]] = {}
    for path, entry in entries.items():
        name, slash, rest = path.partition(b"/")
        if slash:
            below.setdefault(name, {})[rest] = entry
        else:
            here[name] = entry
    here.update((name, (b"40000", _tree_id(inside))) for name, inside in below.items())
    order = sorted(here, key=lambda name: name + b"/" if name in below else name)
    return _object_id(b"tree", b"".join(b"%s %s\0%s" % (here[n][0], n, here[n][1]) for n in order))


def commit_id(tree: str, parents: Sequence[str], author: str, committer: str, message: str) -> str:
    """The id of a commit with these words and no others."""
    head = "".join([f"tree {tree}\n", *(f"parent {parent}\n" for parent in parents)])
    raw = f"{head}author {author}\ncommitter {committer}\n\n{message}\n".encode()
    return _object_id(b"commit", raw).hex()


@dataclass(frozen=True)
class Commit:
    """A commit; `above` has a bit for itself and for each of its ancestors, by their place in the history."""

    tree: Tree
    parents: tuple[int, ...]
    above: int
    id: str


@dataclass
class History:
    """All commits of one history. `line` are those of the line, oldest first; `works` are the intents' heads."""

    seed: int
    commits: list[Commit] = field(default_factory=list)
    line: list[int] = field(default_factory=list)
    works: list[int] = field(default_factory=list)

    def add(self, tree: Tree, parents: Sequence[int], at: str | None = None) -> int:
        """A commit more, of this id or the one that its words give; its place."""
        place = len(self.commits)
        above = 1 << place
        for parent in parents:
            above |= self.commits[parent].above
        if at is None:
            who, ids = f"{WHO} {self.seed} +0000", [self.commits[parent].id for parent in parents]
            at = commit_id(tree_id(tree), ids, who, who, f"Commit {place}")
        self.commits.append(Commit(dict(tree), tuple(parents), above, at))
        return place

    def contains(self, one: int, other: int) -> bool:
        """Whether `other` is `one` or an ancestor of it."""
        return bool(self.commits[one].above >> other & 1)

    def merge_bases(self, one: int, other: int) -> list[int]:
        """The best common ancestors."""
        shared = self.commits[one].above & self.commits[other].above
        places = [n for n in range(len(self.commits)) if shared >> n & 1]
        return [n for n in places if not any(n != m and self.contains(m, n) for m in places)]
