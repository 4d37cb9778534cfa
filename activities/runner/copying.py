"""Copies a folder of unknown content: every file anew, links as links, nothing else, and no more than was agreed on."""

import fcntl
import os
import shutil
import stat
from pathlib import Path

_FICLONE = 0x40049409


class TooLarge(Exception):
    """The folder holds more than may be copied."""


class Budget:
    """What may still be copied: `bytes` of files and `entries` of any kind."""

    def __init__(self, most_bytes: int, entries: int) -> None:
        self._bytes = most_bytes
        self._entries = entries
        self.copied = 0

    def take(self, size: int) -> None:
        """Count one entry of `size` bytes. Raises TooLarge."""
        self._entries -= 1
        self.copied += size
        if self._entries < 0 or self.copied > self._bytes:
            raise TooLarge


def copy_tree(source: Path, target: Path, budget: Budget) -> None:
    """Make `target` a copy of the folder `source`. Raises TooLarge, or OSError; what was copied until then stays.

    No file of the copy shares its content with the original: one that is written to changes itself alone. Where the
    file system can, the copy takes no room before that. Sockets, pipes and devices are left out, and so are the
    bits that lend rights.
    """
    target.mkdir()
    with os.scandir(source) as entries:
        for entry in entries:
            _copy(entry, target / entry.name, budget)
    _keep_facts(source.stat(), target)


def _copy(entry: "os.DirEntry[str]", target: Path, budget: Budget) -> None:
    facts = entry.stat(follow_symlinks=False)
    if stat.S_ISDIR(facts.st_mode):
        budget.take(0)
        copy_tree(Path(entry.path), target, budget)
    elif stat.S_ISLNK(facts.st_mode):
        budget.take(0)
        os.symlink(os.readlink(entry.path), target)
    elif stat.S_ISREG(facts.st_mode):
        budget.take(facts.st_size)
        copy_file(entry.path, target)
        _keep_facts(facts, target)


def copy_file(source: str, target: Path) -> None:
    """Copy the content of a file, which may not be a link."""
    with (
        open(os.open(source, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC), "rb") as old,
        target.open("xb") as new,
    ):
        try:
            fcntl.ioctl(new.fileno(), _FICLONE, old.fileno())
        except OSError:
            shutil.copyfileobj(old, new, 1024 * 1024)


def _keep_facts(facts: os.stat_result, target: Path) -> None:
    """Mode and times: tools tell by them what is up to date."""
    os.chmod(
        target, stat.S_IMODE(facts.st_mode) & 0o777 | stat.S_IRWXU & (0o700 if target.is_dir() else 0o600)
    )
    os.utime(target, ns=(facts.st_atime_ns, facts.st_mtime_ns))
