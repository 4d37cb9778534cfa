"""What can go wrong between gitring and git.

GitError
├── GitFailed            git ended with a code nobody expected
│   ├── GitTimedOut      … or did not end in time
│   └── OutputTooLarge   … or said more than the caller wanted to hold
├── BadName              a ref, line or commit name that git must never see
├── StaleRef             compare-and-swap lost: the ref is not where the caller believed
├── NotAWorktree         no worktree of a repository lies in the folder
├── RepositoryExists     the folder is taken
└── ImportRefused        the source of a new project cannot be used
    ├── SourceRefused    its address is not one gitring fetches from
    ├── NotARepository   nothing readable answers there
    ├── EmptySource      it has no commit
    └── NoSuchLine       it lacks the branch that was asked for
"""

from collections.abc import Sequence

_SHOWN_STDERR = 2_000


class GitError(Exception):
    """Any failure of this package."""


class GitFailed(GitError):
    """git ended with `code`; `stderr` holds the start of what it said, as text."""

    def __init__(self, command: Sequence[str], code: int, stderr: bytes) -> None:
        self.command = tuple(command)
        self.code = code
        self.stderr = stderr[:_SHOWN_STDERR].decode("utf-8", "replace").strip()
        verb = " ".join(self.command[:2])
        super().__init__(f"git {verb} ended with code {code}: {self.stderr or 'it gave no reason'}")


class GitTimedOut(GitFailed):
    """git was killed because it took longer than the caller allows."""


class OutputTooLarge(GitFailed):
    """git was killed because its output passed the caller's limit."""


class BadName(GitError):
    """A name that is not a full ref (`refs/…`), a line or a full commit id."""


class StaleRef(GitError):
    """The ref stands at `actual` (None: absent) and not at `expected`; nothing was moved."""

    def __init__(self, ref: str, expected: str | None, actual: str | None) -> None:
        self.ref, self.expected, self.actual = ref, expected, actual
        super().__init__(f"{ref} is at {actual or 'nothing'}, not at {expected or 'nothing'}: read it again")


class NotAWorktree(GitError):
    """The folder is not there, cannot be read, or does not lie in a worktree of a repository."""


class RepositoryExists(GitError):
    """The folder for a new repository is already there."""


class ImportRefused(GitError):
    """The source of a project cannot be imported; the message says what to do."""


class SourceRefused(ImportRefused):
    """The address is not a folder and not an http, https, ssh, git or file URL."""


class NotARepository(ImportRefused):
    """git found no repository it can read at the address."""


class EmptySource(ImportRefused):
    """The repository has no commit."""


class NoSuchLine(ImportRefused):
    """The repository has commits, but not on the line that was asked for."""
