"""Symbols of files, what a push changes in them, and the import edges of a line."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

import asyncpg
from temporalio import activity

from activities.folders import Folders
from activities.indexing import Indexing, Overtaken
from activities.parsing.parsers import Parsers
from activities.parsing.reading import symbols_of_blobs
from protocol.ids import CommitId, new_id
from protocol.symbols import FileSymbols
from rules.symbols.changes import WHOLE_FILE, SignatureChange, changed_signatures, changed_symbols
from rules.symbols.extract import UNKNOWN
from rules.symbols.languages import language_of
from storage.git.content import Change, ChangedPath
from storage.git.errors import OutputTooLarge
from storage.git.hunks import ChangedLines, changed_lines
from storage.git.repository import Repository
from storage.sql.symbols import BlobKey

MOST_FILES = 300
_PATCH_BYTES = 32 * 1024 * 1024
_FILE_MODES = frozenset({"100644", "100755"})


class ChangedCode(NamedTuple):
    """What a push changes: (path, symbol) pairs, '' for the file itself; and exported signatures by path."""

    places: list[tuple[str, str]]
    signatures: list[tuple[str, SignatureChange]]


class Symbols:
    """Indexing of the lines of one host."""

    def __init__(self, pool: asyncpg.Pool, folders: Folders, parsers: Parsers) -> None:
        self._pool = pool
        self._folders = folders
        self._parsers = parsers

    @activity.defn(name="index_line")
    async def index_line(self, project_id: str, line: str, commit: str) -> None:
        """Bring the import edges of a line to `commit`; repeated or killed at any moment, it goes on from there.

        A run that a later one overtakes ends quietly: that one does the work.
        """
        repository = self._folders.repository(project_id)
        run = Indexing(self._pool, self._parsers, repository, project_id, line, new_id("run"))
        with suppress(Overtaken):
            await run.index(CommitId(commit), activity.heartbeat)


async def symbols_of(
    pool: asyncpg.Pool, parsers: Parsers, repository: Repository, entries: Sequence[tuple[str, str]]
) -> dict[str, FileSymbols]:
    """The symbols of files given as (path, blob), by path; what is not remembered is parsed at once.

    Raises ParserLost, RecordBusy or GitFailed; bad content never raises, it gets a note.
    """
    keys = {path: BlobKey(blob, language) for path, blob in entries if (language := language_of(path))}
    known = await symbols_of_blobs(pool, parsers, repository, set(keys.values()))
    unknown = FileSymbols(language="", note=UNKNOWN)
    return {path: known[keys[path]] if path in keys else unknown for path, _ in entries}


async def changed_places(
    pool: asyncpg.Pool, parsers: Parsers, repository: Repository, base: CommitId, head: CommitId
) -> list[tuple[str, str]]:
    """The (path, symbol) pairs that differ from `base` to `head`; see `changed_code`."""
    changes = await repository.changed_paths(base, head)
    return (await changed_code(pool, parsers, repository, base, head, changes)).places


async def changed_code(
    pool: asyncpg.Pool,
    parsers: Parsers,
    repository: Repository,
    base: CommitId,
    head: CommitId,
    changes: Sequence[ChangedPath],
) -> ChangedCode:
    """What differs from `base` to `head`, sorted; `changes` are the paths that do, as the repository tells them.

    A file that came, went, was renamed (both names) or cannot be read counts as a whole, as does every file when
    more than 300 changed or their patch is larger than 32 MiB; in those two cases no signature is compared.
    """
    whole = {(path, WHOLE_FILE) for one in changes for path in (one.path, one.old_path) if path}
    readable = [one for one in changes if _has_symbols(one)]
    if len(changes) > MOST_FILES or not readable:
        return ChangedCode(sorted(whole), [])
    edited = [one for one in readable if one.status is Change.MODIFIED]
    try:
        lines = await changed_lines(repository, base, head, [one.path for one in edited], _PATCH_BYTES)
    except OutputTooLarge:
        return ChangedCode(sorted(whole), [])
    read = await _Sides.read(pool, parsers, repository, readable)
    return await asyncio.to_thread(_compare, whole, readable, lines, read)


class _Sides(NamedTuple):
    """What is known of the old and new contents of changed files, by blob and language."""

    known: dict[BlobKey, FileSymbols]

    @classmethod
    async def read(
        cls, pool: asyncpg.Pool, parsers: Parsers, repository: Repository, changes: Sequence[ChangedPath]
    ) -> "_Sides":
        sides = [key for one in changes for key in (_old_key(one), _new_key(one)) if key]
        return cls(await symbols_of_blobs(pool, parsers, repository, sides))

    def old(self, change: ChangedPath) -> FileSymbols | None:
        key = _old_key(change)
        return self.known[key] if key else None

    def new(self, change: ChangedPath) -> FileSymbols | None:
        key = _new_key(change)
        return self.known[key] if key else None


def _compare(
    whole: set[tuple[str, str]],
    changes: Sequence[ChangedPath],
    lines: dict[tuple[str, str], ChangedLines],
    sides: _Sides,
) -> ChangedCode:
    places = set(whole)
    signatures: list[tuple[str, SignatureChange]] = []
    for one in changes:
        old, new = sides.old(one), sides.new(one)
        if old is not None:
            signatures.extend((one.path, change) for change in changed_signatures(old, new))
        found = lines.get((one.old_blob or "", one.blob or ""))
        if one.status is Change.MODIFIED and found is not None:
            touched = changed_symbols(old, new, found.old, found.new)
            if touched:
                places.discard((one.path, WHOLE_FILE))
                places.update((one.path, symbol) for symbol in touched)
    return ChangedCode(sorted(places), sorted(signatures))


def _has_symbols(change: ChangedPath) -> bool:
    """A regular file on every side it exists, in a language that is read on one of them."""
    modes = {mode for mode, blob in ((change.old_mode, change.old_blob), (change.mode, change.blob)) if blob}
    return modes <= _FILE_MODES and bool(language_of(change.path) or language_of(change.old_path or ""))


def _old_key(change: ChangedPath) -> BlobKey | None:
    language = language_of(change.old_path or change.path)
    return BlobKey(change.old_blob, language) if change.old_blob and language else None


def _new_key(change: ChangedPath) -> BlobKey | None:
    language = language_of(change.path)
    return BlobKey(change.blob, language) if change.blob and language else None
