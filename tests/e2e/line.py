"""What a line of a project holds, read from the repository itself."""

import re
from pathlib import Path

from tests.support.agent import Answer, git
from tests.support.stack import RunningStack

_MERGE = re.compile(r"^Merge #(\d+):", re.M)


def repository_of(stack: RunningStack, project: Answer) -> Path:
    """The project's bare repository."""
    return stack.folder / "repositories" / f"{project['id']}.git"


async def landed(stack: RunningStack, project: Answer, line: str = "main") -> list[int]:
    """The numbers of the intents that the line holds, oldest first, each as often as it is there."""
    log = await git(repository_of(stack, project), "log", "--reverse", "--first-parent", "--format=%s", line)
    return [int(found[1]) for found in _MERGE.finditer(log)]
