"""The data folder of one `gitring up`: its lock, passwords, ports, logs and connection file.

lock              held while `up` runs, with its pid
passwords.json    made once: for the embedded Postgres and NATS
ports.json        the ports of the last start, preferred at the next
processes.json    what runs now, so that the next start finds what a killed one left behind
connection.json   where everything answers; only while it does
owner_token       the owner's token; written by the first start
postgres/ nats/ temporal/ logs/
"""

import fcntl
import json
import os
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from runtime.files import write_private

LARGEST_LOG = 16 << 20


class FolderInUse(Exception):
    """Another `up` runs on this folder; the text says which."""


@dataclass(frozen=True)
class Passwords:
    """Of the embedded servers."""

    postgres: str
    nats: str


class DataFolder:
    """One folder, locked by this process from `lock` to `unlock`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock: IO[str] | None = None

    def lock(self) -> None:
        """Make the folder where it is missing and take it for this process; FolderInUse when it is taken."""
        self._make()
        file = os.fdopen(os.open(self.path / "lock", os.O_RDWR | os.O_CREAT, 0o600), "r+")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            with file:
                raise FolderInUse(self._in_use(file.read().strip())) from None
        file.truncate()
        file.write(str(os.getpid()))
        file.flush()
        self._lock = file

    def _make(self) -> None:
        """Make what is missing, closed to others. Root leaves the way to its checks open, which run as other users:
        they can enter a folder that they know by name, and list none."""
        passable = 0o711 if os.geteuid() == 0 else 0o700
        self.path.mkdir(mode=passable, parents=True, exist_ok=True)
        for name, mode in (
            ("repositories", passable),
            ("checks", passable),
            ("caches", 0o700),
            ("hooks", 0o700),
        ):
            (self.path / name).mkdir(mode=mode, exist_ok=True)

    @property
    def locked(self) -> bool:
        """Whether this process holds the folder."""
        return self._lock is not None

    def unlock(self) -> None:
        """Let others take the folder."""
        if self._lock:
            self._lock.truncate(0)
            self._lock.close()
            self._lock = None

    def passwords(self) -> Passwords:
        """Made at the first call in the life of the folder."""
        kept = self.read("passwords.json")
        if not kept:
            kept = {"postgres": secrets.token_urlsafe(24), "nats": secrets.token_urlsafe(24)}
            self.write("passwords.json", kept)
        return Passwords(kept["postgres"], kept["nats"])

    def read(self, name: str) -> dict[str, Any]:
        """A JSON file of the folder; empty when it is not there."""
        try:
            text = (self.path / name).read_text(encoding="utf-8")
        except FileNotFoundError:
            return {}
        content: dict[str, Any] = json.loads(text)
        return content

    def write(self, name: str, content: dict[str, Any]) -> None:
        """Replace a JSON file of the folder, readable by its owner only."""
        write_private(self.path / name, json.dumps(content, indent=2) + "\n")

    def remove(self, name: str) -> None:
        """Remove a file of the folder if it is there."""
        (self.path / name).unlink(missing_ok=True)

    def log(self, name: str) -> Path:
        """The log file of one process, begun anew when it has grown large (one older file is kept)."""
        path = self.path / "logs" / f"{name}.log"
        path.parent.mkdir(mode=0o700, exist_ok=True)
        if path.exists() and path.stat().st_size > LARGEST_LOG:
            path.replace(path.with_suffix(".log.1"))
        return path

    def keep_owner_token(self, token: str) -> None:
        """Write the owner's token where it is not written yet."""
        path = self.path / "owner_token"
        if not path.exists() or path.read_text(encoding="utf-8").strip() != token:
            write_private(path, token + "\n")

    def _in_use(self, pid: str) -> str:
        url = self.read("connection.json").get("url")
        what = f"pid {pid or 'unknown'}, {url or 'still starting'}"
        return (
            f"{self.path} is in use by another gitring ({what})."
            " Use that one, stop it first, or choose another --data-dir."
        )
