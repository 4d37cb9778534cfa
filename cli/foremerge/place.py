"""Where a command acts: its folder, the server that `--database` or the repository's link names, project and tokens."""

import os
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from cli.connection import data_dir
from cli.foremerge.failing import Failure, bad
from cli.foremerge.link import Link, connection_file, read_link, read_token
from cli.foremerge.repository import Repository, repository_at
from protocol.foremerge.errors import ErrorCode

if TYPE_CHECKING:
    from cli.foremerge.server import Server

_START = "Start the server with `foremerge daemon` (or `gitring up`)"


class Address(NamedTuple):
    """A server: its address without a slash at its end, the owner's token and the file, where a file told them."""

    url: str
    owner_token: str | None = None
    connection: Path | None = None


class Target(NamedTuple):
    """A server, whom to act for there, and on which project (None: the only one of the token)."""

    url: str
    token: str
    project: str | None


@dataclass(frozen=True)
class Place:
    """What the global options and the environment say."""

    as_json: bool = False
    database: str | None = None
    cwd: Path = Path()
    environment: Mapping[str, str] = field(default_factory=lambda: os.environ)
    closing: ExitStack = field(default_factory=ExitStack, compare=False)

    @cached_property
    def folder(self) -> Path:
        """The folder the command acts in."""
        return self.cwd.absolute()

    @cached_property
    def repository(self) -> Repository:
        """Its repository. Raises Failure."""
        return repository_at(self.folder)

    @property
    def named(self) -> str | None:
        """The server as somebody named it: by --database, or FOREMERGE_DB."""
        return self.database or self.environment.get("FOREMERGE_DB") or None

    @cached_property
    def link(self) -> Link | None:
        """The repository's link; None outside a repository and before `foremerge init`."""
        try:
            return read_link(self.repository.common_dir)
        except Failure as problem:
            if problem.code is ErrorCode.NOT_A_REPOSITORY:
                return None
            raise

    @cached_property
    def address(self) -> Address:
        """The server. Raises NOT_A_REPOSITORY or NOT_INITIALIZED while nothing names one."""
        if self.named:
            return self._named_address(self.named)
        if self.link is None:
            where = self.repository.root
            raise Failure(
                ErrorCode.NOT_INITIALIZED,
                f"{where} is tied to no project yet. {_START}, then run `foremerge init` there.",
            )
        return _of_link(self.link)

    def any_address(self) -> Address:
        """The server, or the one of this machine when nothing names one. Raises NOT_READY."""
        if self.named or self.link:
            return self.address
        path = data_dir(self.environment) / "connection.json"
        found = connection_file(path)
        if found is None:
            raise Failure(
                ErrorCode.NOT_READY,
                f"No server runs here: {path} is not there. {_START}, or name one with --database.",
            )
        return Address(_plain(found["url"]), found.get("owner_token"), path)

    def _named_address(self, named: str) -> Address:
        if "://" in named:
            return Address(_http(named))
        path = (self.folder / Path(named).expanduser()).absolute()
        if path.is_dir():
            path = path / "connection.json"
        found = connection_file(path)
        if found is None:
            raise Failure(
                ErrorCode.NOT_READY,
                f"No server runs at {path}. --database takes a server's address or its connection file. {_START}.",
            )
        return Address(_http(found["url"]), found.get("owner_token"), path)

    @cached_property
    def target(self) -> Target:
        """Whom ordinary commands act for. Raises Failure."""
        linked = self._linked
        token = self.environment.get("GITRING_TOKEN") or (linked and read_token(self.repository.common_dir))
        token = token or self.address.owner_token
        if not token:
            raise Failure(
                ErrorCode.UNAUTHORIZED,
                f"There is no token for {self.address.url}. Set GITRING_TOKEN, or run `foremerge init`.",
            )
        return Target(self.address.url, token, self._project)

    def operator(self, address: Address | None = None) -> Target:
        """Whom an operator's commands act for: a person. Raises FORBIDDEN."""
        address = address or self.address
        given = self.environment.get("GITRING_TOKEN", "")
        token = given if given.startswith("gitring_person_") else address.owner_token
        if not token:
            raise Failure(
                ErrorCode.FORBIDDEN,
                "This is for an operator. Set GITRING_TOKEN to an owner's token (gitring_person_…), or name the "
                "connection file of a server on this machine with --database.",
            )
        return Target(address.url, token, self._project)

    def opened(self, target: Target) -> "Server":
        """Calls in this name, until `closing` is closed. The import is heavy, so it waits until somebody calls."""
        from cli.foremerge.server import Server

        server = Server(target)
        self.closing.callback(server.close)
        return server

    @property
    def _linked(self) -> bool:
        """Whether the server is the one the repository is tied to: no other one is shown its token."""
        return self.link is not None and _of_link(self.link).url == self.address.url

    @property
    def _project(self) -> str | None:
        given = self.environment.get("GITRING_PROJECT")
        if given:
            return given
        return self.link.project if self.link and (not self.named or self._linked) else None


def _of_link(link: Link) -> Address:
    path = Path(link.connection) if link.connection else None
    found = connection_file(path) if path else None
    if found is None:
        return Address(_http(link.url), None, path)
    return Address(_http(found["url"]), found.get("owner_token"), path)


def is_local(url: str) -> bool:
    """Whether the server runs on this machine, as far as its address says."""
    return urlsplit(url).hostname in ("127.0.0.1", "::1", "localhost")


def _http(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise bad(
            f"{url[:200]!r} is no http address. --database takes a server's address or its connection file."
        )
    return _plain(url)


def _plain(url: str) -> str:
    return url.rstrip("/")
