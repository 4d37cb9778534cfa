"""A worktree that lies on this host's disk and belongs to somebody else: found, and read so that nothing of it runs.

Its repository's settings are other people's: hooks, filters, file monitors and remotes may name programs, and a setting
may change what a difference looks like. All of that is off here. Contents of submodules are not looked into.
"""

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self

from protocol.ids import CommitId
from storage.git.bare import Bare
from storage.git.command import run
from storage.git.errors import GitFailed, NotAWorktree
from storage.git.names import commit_id
from storage.git.repository import Repository

_SETTINGS = {
    "safe.directory": "*",
    "core.hooksPath": os.devnull,
    "core.fsmonitor": "false",
    "core.quotePath": "true",
    "core.abbrev": "auto",
    "color.ui": "false",
    "diff.algorithm": "myers",
    "diff.context": "3",
    "diff.dirstat": "",
    "diff.indentHeuristic": "true",
    "diff.interHunkContext": "0",
    "diff.mnemonicPrefix": "false",
    "diff.noprefix": "false",
    "diff.relative": "false",
    "diff.renames": "true",
    "diff.submodule": "short",
    "diff.suppressBlankEmpty": "false",
    "diff.wsErrorHighlight": "none",
}
_VARIABLES = {
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_REPLACE_OBJECTS": "1",
    # A partial clone would fetch what it lacks with programs that its settings name.
    "GIT_ALLOW_PROTOCOL": "none",
}
_FILTER = re.compile(r"filter\.(.+)\.[^.]+", re.DOTALL)
# A name of a commit as people write one: nothing that git could take for an option, a path or a range of paths.
_NAME = re.compile(r"(?!-)[^\x00-\x20\x7f:\\]+")


class Worktree(Repository):
    """A repository seen from one of its worktrees; `path` is the worktree's own Git folder."""

    @property
    def cwd(self) -> Path:
        """The worktree's root."""
        return self.root

    @property
    def root(self) -> Path:
        """The worktree's root, without links."""
        return Path(self.env["GIT_WORK_TREE"])

    @property
    def common_dir(self) -> Path:
        """The Git folder that all worktrees of the repository share."""
        return Path(self.env["GIT_COMMON_DIR"])

    @classmethod
    async def open(cls, folder: Path) -> Self:
        """The worktree that `folder` lies in, itself or above it. Raises NotAWorktree."""
        root, git_dir, common_dir = await _located(folder)
        env = {"GIT_WORK_TREE": str(root), "GIT_COMMON_DIR": str(common_dir), **quiet()}
        found = cls(git_dir, env)
        return found.with_env(quiet(await _filters(found)))

    async def branch(self) -> str | None:
        """The branch that is checked out, born or not; None for a detached HEAD."""
        answer = await self.git("symbolic-ref", "--quiet", "--short", "HEAD", accept=(0, 1))
        return answer.stdout.decode("utf-8", "replace").strip() if answer.code == 0 else None


def bound_repository(common_dir: Path) -> Repository:
    """The repository of a folder that a project is bound to, for what needs no worktree."""
    return Repository(common_dir, quiet())


def quiet(filters: Sequence[str] = ()) -> dict[str, str]:
    """The environment in which nothing that a repository's settings name is run; `filters` are their drivers' names."""
    settings = dict(_SETTINGS)
    for name in filters:
        settings |= {f"filter.{name}.{part}": "" for part in ("clean", "smudge", "process")}
        settings[f"filter.{name}.required"] = "false"
    return {**_VARIABLES, **_as_variables(settings)}


def _as_variables(settings: Mapping[str, str]) -> dict[str, str]:
    variables = {"GIT_CONFIG_COUNT": str(len(settings))}
    for number, (key, value) in enumerate(settings.items()):
        variables[f"GIT_CONFIG_KEY_{number}"] = key
        variables[f"GIT_CONFIG_VALUE_{number}"] = value
    return variables


async def _located(folder: Path) -> tuple[Path, Path, Path]:
    if not folder.is_absolute():
        raise NotAWorktree(f"{str(folder)[:300]!r} is not an absolute path")
    asked = ("--show-toplevel", "--absolute-git-dir", "--git-common-dir")
    try:
        answer = await run("rev-parse", "--path-format=absolute", *asked, cwd=folder, env=quiet())
    except (GitFailed, OSError, ValueError) as problem:
        raise NotAWorktree(f"no worktree of a repository lies in {str(folder)[:300]!r}") from problem
    found = _without_links(answer.stdout)
    if len(found) != len(asked):
        raise NotAWorktree(f"the path of {str(folder)[:300]!r} holds a line break")
    root, git_dir, common_dir = found
    return root, git_dir, common_dir


def _without_links(rows: bytes) -> list[Path]:
    return [Path(os.path.realpath(os.fsdecode(row))) for row in rows.rstrip(b"\n").split(b"\n")]


async def _filters(repository: Bare) -> list[str]:
    answer = await repository.git("config", "-z", "--name-only", "--get-regexp", r"^filter\.", accept=(0, 1))
    names = [os.fsdecode(row) for row in answer.stdout.split(b"\0") if row]
    return sorted({found[1] for name in names if (found := _FILTER.fullmatch(name))})


async def resolve(repository: Bare, name: str) -> CommitId | None:
    """The commit that a branch, tag, id or expression such as `HEAD~1` names there; None when it names none."""
    if not _NAME.fullmatch(name):
        return None
    answer = await repository.git(
        "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}", accept=(0, 1, 128)
    )
    return CommitId(answer.stdout.decode().strip()) if answer.code == 0 else None


async def mentions(worktree: Worktree, word: str) -> bool:
    """Whether a tracked file holds this text. Raises GitFailed when the search cannot be made."""
    answer = await worktree.git(
        *("grep", "--quiet", "--fixed-strings", "--no-recurse-submodules", "-e", word),
        accept=(0, 1),
        timeout=5.0,
    )
    return answer.code == 0


async def parents_of(repository: Bare, commit: CommitId) -> tuple[list[str], bool]:
    """The parents that are there, and whether a shallow clone ends at this commit, so that others are not."""
    seen = await repository.git("rev-list", "--parents", "--max-count=1", commit_id(commit))
    raw = await repository.git("cat-file", "commit", commit_id(commit))
    header = raw.stdout.partition(b"\n\n")[0].split(b"\n")
    parents = seen.stdout.decode().split()[1:]
    return parents, not parents and any(row.startswith(b"parent ") for row in header)


def borrowing(objects: Path) -> dict[str, str]:
    """The environment in which a repository also sees the objects of another one."""
    text = str(objects)
    if ":" in text or text.startswith('"'):
        text = '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return {"GIT_ALTERNATE_OBJECT_DIRECTORIES": text}


async def copy_history(bare: Repository, commit: CommitId, objects: Path) -> None:
    """Bring a commit and all it contains from another repository's objects; what no ref names yet is kept too.

    Raises GitFailed when the other repository does not hold it all, as a shallow clone does not.
    """
    if await bare.commit_exists(commit):
        return
    known = sorted(set((await bare.list_refs("refs")).values()))
    await bare.with_env(borrowing(objects)).git(
        *("pack-objects", "--revs", "--quiet", "--delta-base-offset", str(bare.path / "objects/pack/pack")),
        stdin="\n".join([commit_id(commit), *(f"^{one}" for one in known), ""]).encode(),
        timeout=480.0,
    )
