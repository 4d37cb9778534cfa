"""What a check may see of the server's environment: a short list of harmless names and those its project passes through."""

import os
import re
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

_ALLOWED = re.compile(r"(?:PATH|LANG|LC_[A-Z]+|TZ)")
# The server's own settings and addresses: never, whatever a project asks for.
_SERVERS_OWN = re.compile(r"(?:GITRING_|TEMPORAL|NATS|PG|POSTGRES|DATABASE)", re.IGNORECASE)
_DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


@dataclass(frozen=True)
class RunFolders:
    """Folders made for one run and removed after it: an empty home and an empty place for temporary files."""

    top: Path

    @property
    def home(self) -> Path:
        """The check's HOME."""
        return self.top / "home"

    @property
    def temporary(self) -> Path:
        """The check's TMPDIR."""
        return self.top / "tmp"


def make_folders(below: Path | None = None) -> RunFolders:
    """Fresh folders below `below` (the system's temporary folder by default); the name is short, as sockets need it."""
    folders = RunFolders(Path(tempfile.mkdtemp(prefix="gr-", dir=below)))
    folders.home.mkdir(mode=0o700)
    folders.temporary.mkdir(mode=0o700)
    return folders


def check_environment(
    folders: RunFolders, passed_through: Iterable[str], server: Mapping[str, str]
) -> dict[str, str]:
    """The whole environment of a check. `passed_through` are names; those of the server's own settings are left out."""
    environment = {name: value for name, value in server.items() if _ALLOWED.fullmatch(name)}
    environment.setdefault("PATH", _DEFAULT_PATH)
    environment.setdefault("LANG", "C.UTF-8")
    for name in passed_through:
        if name in server and not is_servers_own(name):
            environment[name] = server[name]
    return environment | {
        "HOME": os.fspath(folders.home),
        "TMPDIR": os.fspath(folders.temporary),
        "CI": "true",
    }


def is_servers_own(name: str) -> bool:
    """Whether a variable holds a setting or an address of this server, which no check may see."""
    return _SERVERS_OWN.match(name) is not None
