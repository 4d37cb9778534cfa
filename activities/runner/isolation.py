"""What a run is promised to be kept from, what the kernel gave of it, and both in words a person reads."""

import os
import pwd
import shlex
import shutil
import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

MIB = 1024 * 1024
CPU_SLACK_SEC = 60


@dataclass(frozen=True)
class Isolation:
    """What to ask the kernel for. Whatever it refuses is said in the result and the run goes on without.

    `no_network`: only localhost, in a network namespace of the run's own. `own_processes`: a process namespace, so that the
    run sees and signals only itself and ends as a whole. `user`: an unprivileged user to run as, if the server is root.
    """

    no_network: bool = True
    own_processes: bool = True
    user: str | None = None


@dataclass(frozen=True)
class Limits:
    """Kernel limits of each process of a run; the CPU limit follows from the run's time. None leaves one as it is."""

    open_files: int | None = 65_536
    memory_bytes: int | None = None
    processes: int | None = None

    def as_rlimits(self, timeout_sec: float) -> dict[str, int]:
        """By the names of the `resource` module. `processes` counts all of the user's and does not bind root."""
        cpu = int(timeout_sec * (os.cpu_count() or 1)) + CPU_SLACK_SEC
        wanted = {
            "RLIMIT_CORE": 0,
            "RLIMIT_CPU": cpu,
            "RLIMIT_NOFILE": self.open_files,
            "RLIMIT_AS": self.memory_bytes,
            "RLIMIT_NPROC": self.processes,
        }
        return {name: value for name, value in wanted.items() if value is not None}


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
    limits: dict[str, int]
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
    return Plan(
        isolation,
        limits.as_rlimits(timeout_sec),
        identity,
        owned if identity.uid is not None else [],
    )


def identity_of(user: str | None, command: str, path: str, folders: Iterable[str]) -> Identity:
    """`user`, when the server may become it and it can reach the folders and every program of the command's PATH."""
    if user is None:
        return Identity()
    if os.geteuid() != 0:
        return Identity(words="runs as the server's user: only root may change to another")
    try:
        entry = pwd.getpwnam(user)
    except KeyError:
        return Identity(words=f"runs as the server's user: there is no user {user}")
    needed = [*map(os.path.dirname, folders), *_path_folders(path), *_programs(command, path)]
    closed = next((place for place in needed if _closed(place, entry.pw_uid, entry.pw_gid)), None)
    if closed is not None:
        return Identity(words=f"runs as the server's user: {closed} is closed to {user}")
    return Identity(entry.pw_uid, entry.pw_gid, f"runs as {user}")


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
    words.append("limits: " + ", ".join(_limit_in_words(name, value) for name, value in run.limits.items()))
    if report.get("left"):
        words.append(f"{report['left']} processes could not be ended")
    return (*words, run.identity.words)


def _reason(refused: Mapping[str, str], name: str) -> str:
    return refused.get(name) or refused.get("namespaces") or "the run did not get that far"


def _limit_in_words(name: str, value: int) -> str:
    match name:
        case "RLIMIT_CORE":
            return "no core files"
        case "RLIMIT_CPU":
            return f"{value} s of CPU a process"
        case "RLIMIT_NOFILE":
            return f"{value} open files"
        case "RLIMIT_AS":
            return f"{value // MIB} MiB of memory a process"
        case _:
            return f"{value} processes"


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
