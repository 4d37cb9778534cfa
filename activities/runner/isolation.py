"""What a run is promised to be kept from, what the kernel gave of it, and both in words a person reads."""

import os
import pwd
import shlex
import shutil
import stat
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

MIB = 1024 * 1024
GIB = 1024 * MIB
CPU_SLACK_SEC = 60
# The whole run is watched; the kernel's limit of one process stands behind that, for what is faster than a look.
CPU_BEHIND_SEC = 5
MOST_PROCESSES = 4096


@dataclass(frozen=True)
class Isolation:
    """What to ask the kernel for. Whatever it refuses is said in the result and the run goes on without.

    `no_network`: only localhost, in a network namespace of the run's own. `own_processes`: a process namespace, so that the
    run sees and signals only itself and ends as a whole. `user`: an unprivileged user to run as, if the server is root, by
    name or by a number that needs no account.
    """

    no_network: bool = True
    own_processes: bool = True
    user: str | int | None = None


@dataclass(frozen=True)
class Limits:
    """What a run may use, all its processes together; `open_files` alone is each one's. None leaves one as it is."""

    open_files: int | None = 65_536
    memory_bytes: int | None = None
    processes: int | None = MOST_PROCESSES
    cpu_sec: int | None = None

    def as_rlimits(self, timeout_sec: float, own_user: bool) -> dict[str, int]:
        """The kernel's limits, by the names of the `resource` module; those of single processes are wider than the run's.

        The number of processes is the user's: it is set only for a run that has a user (`own_user`) for itself.
        """
        cpu = int(timeout_sec * (os.cpu_count() or 1)) + CPU_SLACK_SEC
        wanted = {
            "RLIMIT_CORE": 0,
            "RLIMIT_CPU": cpu if self.cpu_sec is None else min(cpu, self.cpu_sec + CPU_BEHIND_SEC),
            "RLIMIT_NOFILE": self.open_files,
            # Stacks of threads and reserves count too, so it is no measure: it stops what takes all at once.
            "RLIMIT_DATA": None if self.memory_bytes is None else 4 * self.memory_bytes + GIB,
            "RLIMIT_NPROC": 4 * self.processes if self.processes and own_user else None,
        }
        return {name: value for name, value in wanted.items() if value is not None}

    def watched(self) -> dict[str, int]:
        """What the launcher looks after while the run goes on."""
        wanted = {"cpu": self.cpu_sec, "memory": self.memory_bytes, "processes": self.processes}
        return {name: value for name, value in wanted.items() if value is not None}

    def in_words(self, watched: Sequence[str]) -> str:
        """What is in force: the run's limits if it was `watched` for them, and those of each process."""
        told = ["no core files"]
        if self.open_files is not None:
            told.append(f"{self.open_files} open files a process")
        told += [limit_in_words(name, value) for name, value in self.watched().items() if name in watched]
        told += [
            f"not held here: {limit_in_words(name, value)}"
            for name, value in self.watched().items()
            if name not in watched
        ]
        return "limits: " + ", ".join(told)


def limit_in_words(name: str, value: int) -> str:
    """A limit of a whole run."""
    match name:
        case "cpu":
            return f"{value} s of CPU time"
        case "memory":
            return f"{value // MIB} MiB of memory"
        case _:
            return f"{value} processes"


@dataclass(frozen=True)
class Identity:
    """Whom a run runs as: a user to change to, or the server's own and the reason why."""

    uid: int | None = None
    gid: int | None = None
    words: str = "runs as the server's user"


@dataclass(frozen=True)
class Plan:
    """All the launcher needs to know beside the command."""

    isolation: Isolation
    limits: Limits
    rlimits: dict[str, int]
    identity: Identity
    give: list[str] = field(default_factory=list)


def plan(
    isolation: Isolation,
    limits: Limits,
    timeout_sec: float,
    command: str,
    environment: Mapping[str, str],
    folders: Iterable[Path],
) -> Plan:
    """Decide whom the run runs as and what it may use. `folders` are those the run works in; a new user gets them."""
    owned = [os.path.abspath(folder) for folder in folders]
    identity = identity_of(isolation.user, command, environment.get("PATH", ""), owned)
    own_user = isinstance(isolation.user, int) and identity.uid is not None
    return Plan(
        isolation,
        limits,
        limits.as_rlimits(timeout_sec, own_user),
        identity,
        owned if identity.uid is not None else [],
    )


def identity_of(user: str | int | None, command: str, path: str, folders: Iterable[str]) -> Identity:
    """`user`, when the server may become it and it can reach the folders and every program of the command's PATH."""
    if user is None:
        return Identity()
    if os.geteuid() != 0:
        return Identity(words="runs as the server's user: only root may change to another")
    if isinstance(user, int):
        uid, gid, name = user, user, f"a user of its own, {user}"
    else:
        try:
            entry = pwd.getpwnam(user)
        except KeyError:
            return Identity(words=f"runs as the server's user: there is no user {user}")
        uid, gid, name = entry.pw_uid, entry.pw_gid, user
    needed = [*map(os.path.dirname, folders), *_path_folders(path), *_programs(command, path)]
    closed = next((place for place in needed if _closed(place, uid, gid)), None)
    if closed is not None:
        return Identity(words=f"runs as the server's user: {closed} is closed to {name}")
    return Identity(uid, gid, f"runs as {name}")


def in_words(run: Plan, report: Mapping[str, Any]) -> tuple[str, ...]:
    """What was in force, from the launcher's report; what was asked for and refused is named with its reason."""
    held, refused = report.get("held", []), report.get("refused", {})
    words = ["own session"]
    if "no_network" in held:
        words.append("no network but localhost")
    elif run.isolation.no_network:
        words.append(f"network open: {_reason(refused, 'no_network')}")
    if report.get("processes"):
        words.append("own process namespace")
    elif run.isolation.own_processes:
        words.append(
            f"shared process namespace: {report.get('no_processes') or _reason(refused, 'own_processes')}"
        )
    if os.uname().sysname == "Linux":
        words.append("no new privileges")
    words.append(run.limits.in_words(report.get("watched", [])))
    if report.get("left"):
        words.append(f"{report['left']} processes could not be ended")
    return (*words, run.identity.words)


def _reason(refused: Mapping[str, str], name: str) -> str:
    return refused.get(name) or refused.get("namespaces") or "the run did not get that far"


def _path_folders(path: str) -> list[str]:
    return [folder for folder in path.split(os.pathsep) if folder and os.path.isdir(folder)]


def _programs(command: str, path: str) -> list[str]:
    """Where the command's words that are programs really lie, as a link on PATH may lead into a closed folder."""
    try:
        words = shlex.split(command, comments=True)
    except ValueError:
        words = command.split()
    return [os.path.realpath(found) for word in words[:200] if (found := shutil.which(word, path=path))]


def _closed(place: str, uid: int, gid: int) -> bool:
    """Whether a user without other groups cannot reach `place`: it, and each folder above it, needs the search bit."""
    for part in (Path(place), *Path(place).parents):
        facts = part.stat()
        owner = facts.st_uid == uid
        bit = stat.S_IXUSR if owner else stat.S_IXGRP if facts.st_gid == gid else stat.S_IXOTH
        if not facts.st_mode & bit:
            return True
    return False
