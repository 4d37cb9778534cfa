"""What ties a repository to its project on a server: two private files in Git's common folder, none of them tracked.

<common folder>/foremerge/
├── link.json   where the server is and which project; `connection` is the connection file of a server on this machine
└── token       an agent's token for that project alone
"""

import json
import os
import stat
import tempfile
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from cli.clean import one_line
from cli.foremerge.failing import Failure
from protocol.foremerge.errors import ErrorCode

_MOST_BYTES = 65_536


class Link(BaseModel):
    """`link.json`."""

    model_config = ConfigDict(frozen=True)

    version: int = 1
    url: str
    connection: str | None = None
    project: str
    slug: str


def runtime_dir(common_dir: Path) -> Path:
    """The folder of both files; it may be missing."""
    return common_dir / "foremerge"


def read_link(common_dir: Path) -> Link | None:
    """The repository's link; None before `foremerge init`. Raises CORRUPT_STORE."""
    path = runtime_dir(common_dir) / "link.json"
    text = read_private(path)
    if text is None:
        return None
    try:
        return Link(**json.loads(text))
    except (ValueError, TypeError, ValidationError) as problem:
        raise Failure(
            ErrorCode.CORRUPT_STORE,
            f"{path} cannot be read: {one_line(problem, 300)}. Run `foremerge init` again.",
        ) from None


def read_token(common_dir: Path) -> str | None:
    """The token of the repository's project."""
    text = read_private(runtime_dir(common_dir) / "token")
    return text.strip() if text else None


def keep(common_dir: Path, link: Link, token: str) -> None:
    """Write both files, readable by their owner alone."""
    folder = runtime_dir(common_dir)
    if folder.is_symlink():
        raise Failure(
            ErrorCode.INVALID_INPUT, f"{folder} is a symbolic link. Remove it, then run this again."
        )
    folder.mkdir(mode=0o700, exist_ok=True)
    folder.chmod(0o700)
    write_private(folder / "token", token + "\n")
    write_private(folder / "link.json", json.dumps(link.model_dump(), indent=2) + "\n")


def write_private(path: Path, text: str, mode: int = 0o600) -> None:
    """Replace a file in one step. Refuses to write through a symbolic link."""
    if path.is_symlink():
        raise Failure(ErrorCode.INVALID_INPUT, f"{path} is a symbolic link. Remove it, then run this again.")
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(name, mode)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def read_private(path: Path) -> str | None:
    """A small regular file's text; None when it is not there. Refuses links, folders and devices."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as problem:
        raise Failure(ErrorCode.INVALID_INPUT, f"{path} cannot be read: {problem.strerror}.") from None
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise Failure(
                ErrorCode.INVALID_INPUT, f"{path} is no regular file. Remove it, then run this again."
            )
        raw = file.read(_MOST_BYTES + 1)
    if len(raw) > _MOST_BYTES:
        raise Failure(
            ErrorCode.CORRUPT_STORE, f"{path} is larger than it can be. Run `foremerge init` again."
        )
    try:
        return raw.decode()
    except UnicodeDecodeError:
        raise Failure(ErrorCode.CORRUPT_STORE, f"{path} is no text. Run `foremerge init` again.") from None


def connection_file(path: Path) -> dict[str, Any] | None:
    """The content of a running server's connection file; None while it does not run."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as problem:
        raise Failure(
            ErrorCode.INVALID_INPUT, f"{path} is no connection file: {one_line(problem)}."
        ) from None
    if not isinstance(found, dict) or not isinstance(found.get("url"), str):
        raise Failure(ErrorCode.INVALID_INPUT, f"{path} is no connection file: it names no url.")
    return found
