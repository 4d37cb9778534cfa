"""The fingerprint of a worktree, and the digests in it: pure text over what Git said. No path of a machine is in it."""

import hashlib
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import NamedTuple, Protocol

from protocol.foremerge.validations import ExclusionRules
from rules.foremerge.exclusions import digest, is_excluded

UNBORN = "UNBORN"
NO_TREE = "NO_TREE"
UNAVAILABLE = "unavailable"


class Chunks(Protocol):
    """A digest that takes bytes piece by piece (`hashlib.sha256()`)."""

    def update(self, data: bytes, /) -> None:
        """Take more bytes."""

    def hexdigest(self) -> str:
        """The digest so far."""


class UntrackedKind(StrEnum):
    """What an untracked path is."""

    FILE = "file"
    SYMLINK = "symlink"
    OTHER = "other"


class Snapshot(NamedTuple):
    """A worktree at one moment. `changed` are the paths that make it dirty, `excluded` the ones that rules let be."""

    project_id: str
    head: str | None
    tree: str | None
    content_hash: str
    changed: tuple[str, ...]
    excluded: tuple[str, ...]
    rules_digest: str

    @property
    def dirty(self) -> bool:
        """True when something is not committed."""
        return bool(self.changed)


def fingerprint(snapshot: Snapshot) -> str:
    """`sha256:` and the digest of everything that a validation rests on.

    The same commit gives the same fingerprint in every worktree of a project, and on every machine.
    """
    # All parts but the paths have one form without '|', so the text can be read in one way only.
    text = "|".join(
        (
            snapshot.project_id,
            snapshot.head or UNBORN,
            snapshot.tree or NO_TREE,
            snapshot.content_hash,
            "\0".join(sorted(set(snapshot.changed))),
            snapshot.rules_digest,
        )
    )
    return f"sha256:{hashlib.sha256(text.encode('utf-8', 'surrogateescape')).hexdigest()}"


def begin_content(patch: Iterable[bytes]) -> Chunks:
    """The content digest over `git diff --no-ext-diff --no-textconv --binary HEAD` (nothing before a first commit)."""
    hashed = hashlib.sha256()
    for chunk in patch:
        hashed.update(chunk)
    return hashed


def add_untracked(hashed: Chunks, path: str, kind: UntrackedKind, content: Iterable[bytes] = ()) -> None:
    """Add one untracked path, in sorted order: its path, its kind, and the digest of its content or target."""
    # A digest has one length, so no content can be taken for the path that follows it.
    inner = begin_content(content).hexdigest()
    hashed.update(b"\0".join((path.encode("utf-8", "surrogateescape"), kind.encode(), inner.encode(), b"")))


def diff_hash(patch: Iterable[bytes]) -> str:
    """SHA-256 over the bytes of `git diff --no-ext-diff --no-textconv --binary <base> <candidate>`, in hex."""
    return begin_content(patch).hexdigest()


class Paths(NamedTuple):
    """What `git status` named, sorted out."""

    changed: tuple[str, ...]
    untracked: tuple[str, ...]
    excluded: tuple[str, ...]


def sorted_out(entries: Sequence[bytes], rules: ExclusionRules) -> Paths:
    """The fields of `git status --porcelain=v1 -z --untracked-files=all`, split at NUL.

    A rename or copy contributes both its paths; an untracked path that a rule names counts as excluded and no more.
    """
    changed: set[str] = set()
    untracked: set[str] = set()
    excluded: set[str] = set()
    fields = iter(entries)
    for field in fields:
        if not field:
            continue
        code, path = field[:2], field[3:].decode("utf-8", "surrogateescape")
        if code == b"??":
            (excluded if is_excluded(path, rules) else untracked).add(path)
            continue
        changed.add(path)
        if b"R" in code or b"C" in code:
            changed.add(next(fields, b"").decode("utf-8", "surrogateescape"))
    return Paths(tuple(sorted(changed | untracked)), tuple(sorted(untracked)), tuple(sorted(excluded)))


def snapshot_of(
    project_id: str,
    head: str | None,
    tree: str | None,
    content_hash: str,
    paths: Paths,
    rules: ExclusionRules,
) -> Snapshot:
    """A snapshot from its parts."""
    return Snapshot(project_id, head, tree, content_hash, paths.changed, paths.excluded, digest(rules))
