"""Where an agent of a bound project works: its worktree is looked at when it registers, if it is on this host's disk."""

import asyncio
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from protocol.foremerge.scopes import ScopeClaim
from protocol.foremerge.words import ScopeKind
from rules.foremerge.advice import symbol_to_search
from rules.foremerge.refusing import bad_input
from storage.git.errors import GitError, NotAWorktree
from storage.git.worktrees import Worktree, mentions, resolve

_MOST_SEARCHES = 20


class Located(NamedTuple):
    """A worktree as an agent has it: for a bound project its root, branch and HEAD; for others what was said."""

    folder: str | None
    branch: str | None = None
    head: str | None = None


async def located(common_dir: str | None, folder: str | None) -> Located:
    """Look at a worktree. Refuses INVALID_INPUT for one that is not of the repository the project is bound to."""
    if common_dir is None or folder is None or not await asyncio.to_thread(Path(common_dir).is_dir):
        return Located(folder)
    try:
        found = await Worktree.open(Path(folder))
    except NotAWorktree as problem:
        raise bad_input(
            f"There is no worktree to read: {problem}.",
            "Give the absolute path of a worktree, or leave it out.",
        ) from None
    if found.common_dir != await asyncio.to_thread(Path(common_dir).resolve):
        raise bad_input(
            f"The worktree {str(found.root)[:300]!r} belongs to another repository than the project.",
            "Register with a worktree of the repository that the project is bound to.",
        )
    return Located(str(found.root), await found.branch(), await resolve(found, "HEAD"))


async def unseen_symbols(
    common_dir: str | None, folder: str | None, scopes: Iterable[ScopeClaim]
) -> list[str]:
    """Keys of declared symbols that the agent's worktree does not mention; a search that cannot be made finds no fault."""
    if common_dir is None or folder is None:
        return []
    keys = [scope.key for scope in scopes if scope.kind is ScopeKind.SYMBOL][:_MOST_SEARCHES]
    try:
        worktree = await Worktree.open(Path(folder))
        if worktree.common_dir != await asyncio.to_thread(Path(common_dir).resolve):
            return []
        return [key for key in keys if not await mentions(worktree, symbol_to_search(key))]
    except GitError:
        return []
