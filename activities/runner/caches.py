"""Folders that a check keeps from one of its runs for the next, such as a package manager's downloads.

Each run works on copies of its own. A green run's folders take the place of the kept ones in one step, so what is kept
is always whole, and of several runs at once the one that ends last and green wins. A red, stopped or lost run changes
nothing. What is kept was written by code under test and is read by the next run of the same check on the same line of
the same project, and by no other: a declared folder is trusted as far as all who may push there are.
"""

import fcntl
import hashlib
import json
import os
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import structlog

from activities.runner.below import real_folder
from activities.runner.copying import Budget, TooLarge, copy_tree
from protocol.ids import new_id

MAX_CACHE_BYTES = 2 * 1024**3
MAX_CACHE_ENTRIES = 300_000
MAX_ALL_BYTES = 20 * 1024**3

_CURRENT = "current"
_log = structlog.get_logger("activities.caches")


class Cache:
    """The kept folders of one check on one line. `paths` are from the checkout's root, or from HOME behind `~/`."""

    def __init__(self, store: Path, paths: Sequence[str], most_bytes: int = MAX_CACHE_BYTES) -> None:
        self._store = store
        self._paths = [path.removesuffix("/") for path in paths]
        self._most_bytes = most_bytes
        self._not_ours: set[str] = set()

    def fetch(self, checkout: Path, home: Path) -> None:
        """Put copies of what is kept in place, before the run. What the commit itself has there is left as it is."""
        self._not_ours = {
            path for path in self._paths if os.path.lexists(_root(path, checkout, home) / _below(path))
        }
        with _reading(self._store) as kept:
            if kept is None:
                return
            for number, path in enumerate(self._paths):
                source = kept / str(number)
                if path not in self._not_ours and source.is_dir():
                    self._fetch_one(source, _root(path, checkout, home), _below(path))

    def _fetch_one(self, source: Path, root: Path, path: str) -> None:
        above, _, name = path.rpartition("/")
        folder = real_folder(root, above, make=True)
        if folder is None:
            return
        try:
            copy_tree(source, folder / name, Budget(self._most_bytes, MAX_CACHE_ENTRIES))
        except (OSError, TooLarge) as problem:
            _log.warning("cache.not_fetched", problem=f"{type(problem).__name__} {problem}")
            shutil.rmtree(folder / name, ignore_errors=True)

    def keep(self, checkout: Path, home: Path) -> None:
        """Keep the folders of a green run in place of those kept before. Never raises: a cache is no result."""
        fresh = self._store / new_id("gen")
        try:
            fresh.mkdir(parents=True)
            copied = self._copy(fresh, checkout, home)
            (fresh / "facts").write_text(json.dumps({"bytes": copied}))
            _swap(self._store, fresh)
        except (OSError, TooLarge) as problem:
            _log.warning("cache.not_kept", problem=f"{type(problem).__name__} {problem}")
            shutil.rmtree(fresh, ignore_errors=True)
        _remove_old(self._store)

    def _copy(self, fresh: Path, checkout: Path, home: Path) -> int:
        budget = Budget(self._most_bytes, MAX_CACHE_ENTRIES)
        for number, path in enumerate(self._paths):
            source = real_folder(_root(path, checkout, home), _below(path))
            if source is not None and path not in self._not_ours:
                copy_tree(source, fresh / str(number), budget)
        return budget.copied


def cache_folder(caches: Path, project_id: str, line: str, check: str, paths: Sequence[str]) -> Path:
    """Where the folders of one check on one line are kept; other declared paths are another cache."""
    text = json.dumps([line, check, list(paths)])
    return caches / project_id / hashlib.sha256(text.encode()).hexdigest()[:32]


def sweep(caches: Path, most_bytes: int = MAX_ALL_BYTES) -> list[str]:
    """Remove the caches that were not used for longest until all take `most_bytes` at most; what was removed."""
    found = sorted(caches.glob("*/*"), key=_used_at, reverse=True)
    removed, total = [], 0
    for store in found:
        _remove_old(store)
        total += _size(store)
        if total > most_bytes:
            _forget(store)
            removed.append(f"{store.parent.name}/{store.name}")
    return removed


def _root(path: str, checkout: Path, home: Path) -> Path:
    return home if path == "~" or path.startswith("~/") else checkout


def _below(path: str) -> str:
    return path.removeprefix("~").removeprefix("/") if path.startswith("~") else path


@contextmanager
def _reading(store: Path) -> Iterator[Path | None]:
    """The kept folders, which nobody removes for the length of the block; None when there are none."""
    try:
        folder = os.open(store / _CURRENT, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        yield None
        return
    try:
        fcntl.flock(folder, fcntl.LOCK_SH)
        place = (
            Path(os.readlink(f"/proc/self/fd/{folder}"))
            if os.path.isdir("/proc/self/fd")
            else store / _CURRENT
        )
        os.utime(store, (time.time(), time.time()))
        yield place if place.is_dir() else None
    finally:
        os.close(folder)


def _swap(store: Path, fresh: Path) -> None:
    link = store / f"{fresh.name}.link"
    os.symlink(fresh.name, link)
    os.replace(link, store / _CURRENT)


def _remove_old(store: Path) -> None:
    """Remove what is kept no more, unless somebody still copies it: then the next to come here does."""
    try:
        current = os.readlink(store / _CURRENT)
    except OSError:
        current = ""
    for entry in store.glob("gen_*"):
        # One that is being filled is not current yet: it is left alone until it is old.
        if entry.name == current or (not (entry / "facts").exists() and _age(entry) < 86_400):
            continue
        _remove_unread(entry)


def _remove_unread(entry: Path) -> None:
    try:
        folder = os.open(entry, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        entry.unlink(missing_ok=True)
        return
    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(entry, ignore_errors=True)
    except BlockingIOError:
        pass  # it is being copied
    finally:
        os.close(folder)


def _forget(store: Path) -> None:
    (store / _CURRENT).unlink(missing_ok=True)
    _remove_old(store)
    with suppress(OSError):  # something of it is still being copied, or filled
        store.rmdir()


def _age(entry: Path) -> float:
    try:
        return time.time() - entry.stat().st_mtime
    except OSError:
        return 0.0


def _used_at(store: Path) -> float:
    try:
        return store.stat().st_mtime
    except OSError:
        return 0.0


def _size(store: Path) -> int:
    try:
        return int(json.loads((store / _CURRENT / "facts").read_text())["bytes"])
    except (OSError, ValueError, KeyError):
        return 0
