"""Which server a command talks to, and with whose token. Standard library only: git's helper waits for it."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

START = (
    "Start one with `gitring up`, or name a running one with --url and --token (GITRING_URL, GITRING_TOKEN)."
)


class NoServer(Exception):
    """There is no server to talk to; the text ends with the next step."""


class NoToken(Exception):
    """The server is known, but no token for it; the text ends with the next step."""


@dataclass(frozen=True)
class Connection:
    """A server's address without a slash at its end, and the token to show it."""

    url: str
    token: str


def data_dir(environment: Mapping[str, str]) -> Path:
    """The folder of `gitring up` when nothing else is said."""
    if named := environment.get("GITRING_DATA_DIR"):
        return Path(named).expanduser()
    return Path(environment.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "gitring"


def find_connection(
    url: str | None = None,
    token: str | None = None,
    file: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> Connection:
    """What was given wins over GITRING_URL and GITRING_TOKEN, and those over the connection file.

    Raises NoServer, or NoToken. The owner's token in the file goes to the file's own server and to no other.
    """
    environment = os.environ if environment is None else environment
    url = url or (None if file else environment.get("GITRING_URL"))
    token = token or environment.get("GITRING_TOKEN")
    if not url or not token:
        path = file or data_dir(environment) / "connection.json"
        written = _read(path, required=not url)
        found = str(written.get("url", ""))
        url = url or found
        if not token and _plain(url) == _plain(found):
            token = written.get("owner_token")
    if urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).hostname:
        raise NoServer(f"{url} is no http address. {START}")
    if not token:
        raise NoToken(f"There is no token for {url}. Give one with --token or GITRING_TOKEN.")
    return Connection(_plain(url), token)


def _plain(url: str) -> str:
    return url.rstrip("/")


def _read(path: Path, required: bool) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        if not required:
            return {}
        raise NoServer(f"No gitring is running here ({path} is not there). {START}") from None
    except (OSError, ValueError) as problem:
        raise NoServer(f"{path} cannot be read: {problem}. {START}") from problem
    if not isinstance(content, dict):
        raise NoServer(f"{path} is no connection file. {START}")
    return content
