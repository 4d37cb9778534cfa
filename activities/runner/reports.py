"""Finds the JUnit XML reports a run left in its checkout. The tree is the run's own work: bounded, and links never followed."""

import os
import stat
from collections import deque
from collections.abc import Sequence
from pathlib import Path

from activities.runner.artifacts import named_files

MAX_REPORTS = 20
MAX_REPORT_BYTES = 2 * 1024 * 1024
MAX_ALL_BYTES = 4 * 1024 * 1024
MAX_ENTRIES = 50_000
MAX_DEPTH = 12

_SKIPPED = {".git", "node_modules", ".venv", "venv", "site-packages", "__pycache__"}


def read_reports(folder: Path, since_ns: int, artifacts: Sequence[str] = ()) -> list[bytes]:
    """The reports written at or after `since_ns` (so not those of the repository).

    First those among the check's `artifacts`, then those with a usual name, the nearest to the root first.
    """
    reports: list[bytes] = []
    room = MAX_ALL_BYTES
    named = [os.path.join(folder, path) for path in named_files(folder, artifacts) if path.endswith(".xml")]
    new = [path for path in named if os.lstat(path).st_mtime_ns >= since_ns]
    for path in dict.fromkeys([*new, *_candidates(folder, since_ns)]):
        data = _read(path, min(room, MAX_REPORT_BYTES))
        if data:
            reports.append(data)
            room -= len(data)
        if len(reports) == MAX_REPORTS or room <= 0:
            break
    return reports


def _candidates(folder: Path, since_ns: int) -> list[str]:
    found: list[str] = []
    seen = 0
    queue = deque([(os.fspath(folder), 0, False)])
    while queue and seen < MAX_ENTRIES:
        path, depth, results = queue.popleft()
        for entry in _entries(path):
            seen += 1
            if entry.is_dir(follow_symlinks=False):
                if depth < MAX_DEPTH and entry.name not in _SKIPPED:
                    queue.append((entry.path, depth + 1, results or entry.name == "test-results"))
            elif _is_report(entry, results) and entry.stat(follow_symlinks=False).st_mtime_ns >= since_ns:
                found.append(entry.path)
    return found


def _entries(path: str) -> list["os.DirEntry[str]"]:
    try:
        with os.scandir(path) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return []  # a folder the run closed to us tells nothing


def _is_report(entry: "os.DirEntry[str]", in_results: bool) -> bool:
    if not entry.name.endswith(".xml") or not entry.is_file(follow_symlinks=False):
        return False
    return in_results or entry.name.startswith(("junit", "TEST-"))


def _read(path: str, limit: int) -> bytes:
    """The file's bytes, or none when it is longer than `limit`, a link, or not a file."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return b""
    with open(file, "rb") as report:
        facts = os.fstat(file)
        if not stat.S_ISREG(facts.st_mode) or facts.st_size > limit:
            return b""
        return report.read(limit)
