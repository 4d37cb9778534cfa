"""The unprivileged account that runs Postgres when `gitring up` is started by root.

Postgres refuses root. The account may be unable to enter a root-only folder on the way to the data or to
the installed binaries (`/root`, a 0700 temporary folder). No folder's mode is loosened for that: the
process keeps the one capability to read past folder modes instead.
"""

import os
import pwd
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

# Numbers from linux/capability.h. The second contains the first and is what containers usually leave root.
CAPABILITIES = {"dac_read_search": 2, "dac_override": 1}


class NoAccount(Exception):
    """No account can run Postgres here; the text says what to do."""


@dataclass(frozen=True)
class Account:
    """A system account, and the capability it keeps (None where every folder can be entered)."""

    name: str
    uid: int
    gid: int
    capability: str | None

    def launcher_options(self) -> list[str]:
        """The `setpriv` options that become this account."""
        options = [f"--reuid={self.uid}", f"--regid={self.gid}", "--clear-groups", "--no-new-privs"]
        if self.capability:
            options += [f"--inh-caps=-all,+{self.capability}", f"--ambient-caps=-all,+{self.capability}"]
        return options


def unprivileged_account(wanted: str | None, paths: Iterable[Path]) -> Account | None:
    """The account for Postgres, able to reach `paths`; None when we are not root and run as ourselves."""
    if os.geteuid() != 0:
        return None
    entry = _entry((wanted,) if wanted else ("postgres", "nobody"))
    if all(_enters(folder, entry) for path in paths for folder in path.resolve().parents):
        return Account(entry.pw_name, entry.pw_uid, entry.pw_gid, None)
    return Account(entry.pw_name, entry.pw_uid, entry.pw_gid, _capability(entry.pw_name))


def _entry(names: Iterable[str]) -> pwd.struct_passwd:
    for name in names:
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        if entry.pw_uid != 0:
            return entry
    raise NoAccount(
        f"Postgres does not run as root and there is no account {' or '.join(names)}. Make one and name it"
        " in GITRING_POSTGRES_ACCOUNT, or start gitring as an ordinary user."
    )


def _enters(folder: Path, entry: pwd.struct_passwd) -> bool:
    status = folder.stat()
    if status.st_uid == entry.pw_uid:
        return bool(status.st_mode & stat.S_IXUSR)
    return bool(status.st_mode & (stat.S_IXGRP if status.st_gid == entry.pw_gid else stat.S_IXOTH))


def _capability(account: str) -> str:
    status = Path("/proc/self/status")
    lines = status.read_text().splitlines() if status.exists() else []
    permitted = next((int(line.split()[1], 16) for line in lines if line.startswith("CapPrm:")), 0)
    for name, bit in CAPABILITIES.items():
        if permitted & (1 << bit):
            return name
    raise NoAccount(
        f"The account {account}, which runs Postgres, cannot enter the data folder or the installation."
        " Use a --data-dir that others may enter, or start gitring as an ordinary user."
    )
