"""`gitring git-credential get|store|erase`: git's credential helper.

git starts it whenever it needs access, so it imports the standard library only. It keeps nothing: each `get` asks
the server for a git token of the repository's project, and `store` and `erase` do nothing. It speaks up for its
own server's addresses only; for any other it says nothing, and git asks its next helper.
"""

import argparse
import json
import sys
from datetime import datetime
from pathlib import Path
from typing import TextIO
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import ProxyHandler, Request, build_opener

from cli.connection import Connection, NoServer, NoToken, find_connection

_PATIENCE_SEC = 30.0
_MOST_ANSWER = 1 << 20


class NoAccess(Exception):
    """The server gives no git token; the text says why."""


def main(arguments: list[str]) -> int:
    """Run one action of the protocol on standard input and output; the exit code."""
    parser = argparse.ArgumentParser(
        "gitring git-credential", description="git's credential helper for gitring."
    )
    parser.add_argument("--url", help="address of the server; GITRING_URL")
    parser.add_argument("--token", help="whom to act for; GITRING_TOKEN")
    parser.add_argument("--connection", type=Path, help="a connection.json of `gitring up`")
    parser.add_argument("action", help="get, store or erase; git gives it")
    given = parser.parse_args(arguments)
    asked = read_request(sys.stdin)
    if given.action != "get":
        return 0
    try:
        connection = find_connection(given.url, given.token, given.connection)
        project = project_of(connection, asked)
        if project is None:
            return 0
        answer = ask(connection, project)
    except (NoServer, NoToken, NoAccess) as problem:
        print(f"gitring git-credential: {problem}", file=sys.stderr)
        print("quit=1")
        return 3 if isinstance(problem, NoServer) else 1
    print("\n".join(f"{name}={value}" for name, value in answer.items()))
    return 0


def read_request(source: TextIO) -> dict[str, str]:
    """git's `name=value` lines up to an empty one."""
    found: dict[str, str] = {}
    for line in source:
        name, separator, value = line.rstrip("\n").partition("=")
        if not separator:
            break
        found[name] = value
    return found


def project_of(connection: Connection, asked: dict[str, str]) -> str | None:
    """The project whose repository is asked for; None when it is not this server's.

    Raises NoAccess when git does not say which repository.
    """
    server = urlsplit(connection.url)
    if (asked.get("protocol"), asked.get("host")) != (server.scheme, server.netloc):
        return None
    folder = f"{server.path.strip('/')}/git/".lstrip("/")
    path = asked.get("path", "")
    if not path:
        raise NoAccess(
            f"git did not say which repository. Run: git config --global credential.{connection.url}.useHttpPath true"
        )
    name = path.removeprefix(folder).split("/")[0]
    if not path.startswith(folder) or not name.endswith(".git"):
        return None
    return name.removesuffix(".git")


def ask(connection: Connection, project: str) -> dict[str, str]:
    """The credential of a project, as git reads it. Raises NoAccess or NoServer."""
    if not project.replace("-", "").replace("_", "").isalnum():
        raise NoAccess("the repository's name is not one that gitring gives.")
    request = Request(
        f"{connection.url}/api/v1/projects/{project}/git-token",
        data=json.dumps({"withToken": True}).encode(),
        headers={"Authorization": f"Bearer {connection.token}", "Content-Type": "application/json"},
        method="POST",
    )
    here = urlsplit(connection.url).hostname in ("127.0.0.1", "::1", "localhost")
    opener = build_opener(ProxyHandler({})) if here else build_opener()
    try:
        with opener.open(request, timeout=_PATIENCE_SEC) as answer:
            content = json.loads(answer.read(_MOST_ANSWER))
    except HTTPError as problem:
        raise NoAccess(_reason(problem)) from problem
    except (URLError, TimeoutError, ConnectionError, ValueError) as problem:
        raise NoServer(
            f"{connection.url} did not give a git token: {problem}. Is the server running?"
        ) from problem
    found = {"username": "gitring", "password": str(content["token"])}
    if content.get("expiresAt"):
        expires = datetime.fromisoformat(content["expiresAt"])
        found["password_expiry_utc"] = str(int(expires.timestamp()))
    return found


def _reason(problem: HTTPError) -> str:
    try:
        error = json.loads(problem.read(_MOST_ANSWER))["error"]
        text = f"{error['code']}: {error['message']} {error['next']}"
    except (ValueError, KeyError, TypeError):
        text = f"the server answered {problem.code}."
    return "".join(char if char.isprintable() else " " for char in text)
