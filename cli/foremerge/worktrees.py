"""`foremerge worktree create`: a worktree of its own for an agent, made by git."""

from pathlib import Path
from typing import Annotated, Any

import typer

from cli.foremerge.repository import git, repository_at
from cli.foremerge.told import Call, told

worktrees = typer.Typer(help="Worktrees for agents.", no_args_is_help=True)


@worktrees.command("create")
@told
def create(
    call: Call,
    branch: Annotated[str, typer.Option(help="The new branch.")],
    path: Annotated[Path, typer.Option(help="The new folder.")],
    base: Annotated[str, typer.Option(help="Where the branch begins.")] = "HEAD",
) -> Any:
    """Make a branch and a worktree for it."""
    repository = call.place.repository
    folder = (call.place.folder / path.expanduser()).absolute()
    # Git takes a word that begins with `-` for an option, so none may come from outside.
    start = git(repository.root, "rev-parse", "--verify", "--end-of-options", f"{base}^{{commit}}")
    git(repository.root, "check-ref-format", "--branch", branch)
    git(repository.root, "worktree", "add", "-b", branch, "--", str(folder), start)
    made = repository_at(folder)
    return {
        "path": str(made.root),
        "branch": branch,
        "base": start,
        "git_common_dir": str(made.common_dir),
        "next_step": f"foremerge --cwd {made.root} agent register --name NAME",
    }
