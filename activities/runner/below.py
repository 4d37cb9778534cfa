"""Paths below a folder whose content is a run's own work: no link is ever followed, at no step of the way."""

import os
from collections.abc import Iterator
from pathlib import Path

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def real_folder(root: Path, relative: str, *, make: bool = False) -> Path | None:
    """The folder `relative` below `root` (itself for ''), each part of it a real folder; None when one is not.

    With `make`, parts that are not there are made. OSError when they cannot be.
    """
    current = os.open(root, _FOLDER)
    try:
        for part in filter(None, relative.split("/")):
            if make and not _is_there(part, current):
                os.mkdir(part, 0o755, dir_fd=current)
            try:
                inner = os.open(part, _FOLDER, dir_fd=current)
            except OSError:
                return None  # a link, a file, nothing there, or closed
            os.close(current)
            current = inner
    finally:
        os.close(current)
    return root / relative


def read_file(root: Path, relative: str, limit: int) -> bytes | None:
    """What is in a file below `root`; None for a longer one, a link, or what is no file."""
    above, _, name = relative.rpartition("/")
    folder = real_folder(root, above)
    if folder is None:
        return None
    try:
        file = os.open(folder / name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    with open(file, "rb") as opened:
        if not is_plain(os.fstat(file)):
            return None
        content = opened.read(limit + 1)
    return content if len(content) <= limit else None


def is_plain(facts: os.stat_result) -> bool:
    """Whether this is an ordinary file."""
    return (facts.st_mode & 0o170000) == 0o100000


def files_below(root: Path, relative: str, most_entries: int, most_deep: int = 24) -> Iterator[str]:
    """The files below a folder, from `root`; sorted in each folder, bounded in number and depth, `.git` left out."""
    queue = [(relative.strip("/"), 0)]
    seen = 0
    while queue:
        above, depth = queue.pop(0)
        for entry in _entries(root, above):
            seen += 1
            if seen > most_entries:
                return
            path = f"{above}/{entry.name}" if above else entry.name
            if entry.is_dir(follow_symlinks=False):
                if depth < most_deep and entry.name != ".git":
                    queue.append((path, depth + 1))
            elif entry.is_file(follow_symlinks=False):
                yield path


def _entries(root: Path, relative: str) -> list["os.DirEntry[str]"]:
    folder = real_folder(root, relative)
    if folder is None:
        return []
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return []  # a folder the run closed to us tells nothing


def _is_there(part: str, folder: int) -> bool:
    try:
        os.stat(part, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True
