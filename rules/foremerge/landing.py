"""Whether a landing commit holds every change of an accepted candidate, although it does not contain its commit.

The test is about content: *the landing holds a change when it made the same change to the same base*. Git gives, for
each path that the candidate changed, what the path is in the base, in the candidate and in the landing, and for texts
two patches without context that start from the same old file: base to candidate, and base to landing.

- squash, rebase, cherry-pick: the commits are others, the changes to the base are the same, so every edit is found;
- other people's changes in the landing, also in the same file, do not matter;
- a rename by the candidate must have happened in the landing as well; a file that the landing moved (the line had
  renamed it before) is followed to its new name;
- a deletion holds when the path is gone; what is no text (binary, symlink, submodule), and a change of mode, holds when
  the landing has exactly the same;
- a partial landing misses an edit, and each path that it misses is named; so does one that undid the change again.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from protocol.foremerge.errors import ErrorCode, foremerge_refusal
from protocol.foremerge.words import LandingMethod
from protocol.refusals import Refused
from rules.foremerge.patches import Edit, edits, first_missing


class Entry(NamedTuple):
    """A path of a commit: its blob and Git's octal mode (`100755`, `120000` symlink, `160000` submodule)."""

    blob: str
    mode: str


class CandidateChange(NamedTuple):
    """One path that the candidate changed against its base. `old_path` is set for a rename; an absent side is None."""

    path: str
    old_path: str | None
    before: Entry | None
    after: Entry | None


class LandedPath(NamedTuple):
    """What the landing has for one change, under the path that `landed_at` named.

    The patches are None where Git calls the content binary, or where no text was compared.
    """

    now: Entry | None
    candidate_patch: Sequence[bytes] | None = None
    landing_patch: Sequence[bytes] | None = None
    old_path_is_there: bool = False


class Missing(NamedTuple):
    """A change that the landing does not hold."""

    path: str
    why: str


def landed_at(change: CandidateChange, moved: Mapping[str, str]) -> str:
    """Where to look for a change in the landing; `moved` are the renames from the base to the landing.

    Only a file that the candidate left where it was is followed: its own rename must be there under its own name.
    """
    return moved.get(change.path, change.path) if change.old_path is None and change.before else change.path


def why_missing(change: CandidateChange, landed: LandedPath) -> str | None:
    """Why the landing does not hold a change; None when it does."""
    if change.after is None:
        return "it is still there" if landed.now else None
    if landed.now is None:
        return "it is not there"
    if change.old_path is not None and landed.old_path_is_there:
        return f"{change.old_path!r}, which it was renamed from, is still there"
    if (
        change.before is None or change.before.mode != change.after.mode
    ) and landed.now.mode != change.after.mode:
        return f"its mode is {landed.now.mode}, not {change.after.mode}"
    if landed.now.blob == change.after.blob or _content_is_untouched(change):
        return None
    return _why_text_differs(landed)


def _content_is_untouched(change: CandidateChange) -> bool:
    return change.before is not None and change.after is not None and change.before.blob == change.after.blob


def _why_text_differs(landed: LandedPath) -> str | None:
    if landed.candidate_patch is None or landed.landing_patch is None:
        return "its content differs and cannot be compared by lines"
    missing: Edit | None = first_missing(edits(landed.candidate_patch), edits(landed.landing_patch))
    if missing is None:
        return None
    return f"the change at line {missing.start + 1} of the base is not in it"


def landing_method(
    is_ancestor: bool, compared: Iterable[tuple[CandidateChange, LandedPath]]
) -> LandingMethod:
    """How the landing is recognised. TARGET_DIVERGED names what is missing; a change of nothing lands by history only."""
    if is_ancestor:
        return LandingMethod.ANCESTOR
    looked_at = 0
    missing: list[Missing] = []
    for change, landed in compared:
        looked_at += 1
        why = why_missing(change, landed)
        if why is not None:
            missing.append(Missing(change.path, why))
    if missing:
        raise _diverged(f"{_listed(missing)}")
    if not looked_at:
        raise _diverged(
            "the accepted commit changes nothing, so only a commit that descends from it can be its landing"
        )
    return LandingMethod.CONTENT


def _listed(missing: Sequence[Missing]) -> str:
    shown = "; ".join(f"{one.path!r}: {one.why}" for one in missing[:10])
    return shown if len(missing) <= 10 else f"{shown}; and {len(missing) - 10} more paths"


def _diverged(what: str) -> Refused:
    return foremerge_refusal(
        ErrorCode.TARGET_DIVERGED,
        f"The commit does not hold the accepted work: {what}.",
        "Name the commit with which the whole work landed; later commits may have changed it again.",
    )
