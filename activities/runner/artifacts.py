"""Collects the files that a check's `artifacts` name from the checkout after a run: bounded, and links never followed."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from activities.runner.below import files_below, read_file, real_folder
from rules.check_paths import literal_part, matcher

MAX_FILES = 100
MAX_FILE_BYTES = 8 * 1024 * 1024
MAX_ALL_BYTES = 32 * 1024 * 1024
MAX_ENTRIES = 50_000
MAX_NAME = 1_000


class Collected(NamedTuple):
    """The files by their paths below the checkout, and how many more the patterns named than are kept."""

    files: list[tuple[str, bytes]]
    left_out: int


def collect(folder: Path, patterns: Sequence[str]) -> Collected:
    """Read what the patterns name. What is too large, or too much, is counted and left out."""
    files: list[tuple[str, bytes]] = []
    left_out, room = 0, MAX_ALL_BYTES
    for path in named_files(folder, patterns):
        content = None
        if len(files) < MAX_FILES and len(path) <= MAX_NAME and _is_text(path):
            content = read_file(folder, path, min(room, MAX_FILE_BYTES))
        if content is None:
            left_out += 1
            continue
        files.append((path, content))
        room -= len(content)
    return Collected(files, left_out)


def named_files(folder: Path, patterns: Sequence[str]) -> Iterator[str]:
    """The paths of the checkout's files that the patterns name, each once, in the order of the patterns."""
    seen: set[str] = set()
    for pattern in patterns:
        names = matcher([pattern])
        literal = literal_part(pattern)
        whole_tree = literal != pattern.removesuffix("/") or pattern.endswith("/")
        found = files_below(folder, literal, MAX_ENTRIES) if whole_tree else iter([literal])
        for path in found:
            if path not in seen and names(path) and _is_file(folder, path):
                seen.add(path)
                yield path


def _is_file(folder: Path, path: str) -> bool:
    above, _, name = path.rpartition("/")
    real = real_folder(folder, above)
    return real is not None and not (real / name).is_symlink() and (real / name).is_file()


def _is_text(path: str) -> bool:
    """Whether the name is one that a text can hold: file systems allow any bytes."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return "\0" not in path
