"""Which commit a ChangeSet is compared with, and what its `diff_hash` is taken over."""

from collections.abc import Sequence
from enum import Enum, auto
from typing import NamedTuple

from protocol.foremerge.words import BaseResolution
from rules.foremerge.refusing import bad_input


class DiffFrom(Enum):
    """What the digest of a ChangeSet's changes is taken over."""

    BASE = auto()
    EMPTY_TREE = auto()
    SNAPSHOT = auto()


class Base(NamedTuple):
    """The base of a candidate. `commit` is None where nothing can be named."""

    resolution: BaseResolution
    commit: str | None
    diff_from: DiffFrom


def base_of(candidate: str | None, given: str | None, parents: Sequence[str], at_boundary: bool) -> Base:
    """The base of `candidate` (None before a first commit); `given` is the caller's base, resolved to a commit.

    `at_boundary`: a shallow clone ends at the candidate, so that it only seems to have no parent.
    """
    if candidate is None:
        if given is not None:
            raise bad_input(
                "base_ref is given, but the worktree has no commit.", "Commit first, or leave it out."
            )
        return Base(BaseResolution.UNBORN_WORKTREE, None, DiffFrom.SNAPSHOT)
    if given is not None:
        if given == candidate:
            raise bad_input(
                "base_ref is the candidate itself, so the change would be empty.",
                "Name the commit that the work began from, or leave base_ref out.",
            )
        return Base(BaseResolution.CALLER_SUPPLIED, given, DiffFrom.BASE)
    if parents:
        return Base(BaseResolution.FIRST_PARENT, parents[0], DiffFrom.BASE)
    if at_boundary:
        return Base(BaseResolution.SHALLOW_BOUNDARY, None, DiffFrom.SNAPSHOT)
    return Base(BaseResolution.ROOT_COMMIT, None, DiffFrom.EMPTY_TREE)
