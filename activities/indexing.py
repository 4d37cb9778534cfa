"""Index the import edges of one line: whole the first time, later only what changed since the commit before.

Nothing here holds a lock while it reads or parses. Each batch is one short transaction that first makes sure that no
later run has begun; killed at any moment, the next run goes on with all that was parsed.
"""

import asyncio
from collections.abc import Collection, Mapping
from typing import NamedTuple

import asyncpg

from activities.parsing.parsers import Parsers
from activities.parsing.reading import Beat, read_now
from protocol.ids import CommitId
from rules.symbols.hints import MANIFEST_BYTES, MANIFESTS, MOST_MANIFESTS, hints_of
from rules.symbols.imports import BY_FOLDER, resolve
from rules.symbols.languages import EXTRACTOR, language_of
from rules.symbols.layout import Layout, split
from storage.git.content import Change, Entry
from storage.git.repository import Repository
from storage.sql import symbols
from storage.sql.pool import transaction
from storage.sql.symbols import BlobKey

_BATCH = 64
_FILE_MODES = frozenset({"100644", "100755"})


class Overtaken(Exception):
    """A later run of the same line has begun; this one may write no more."""


class Indexing:
    """One run over one line."""

    def __init__(
        self,
        pool: asyncpg.Pool,
        parsers: Parsers,
        repository: Repository,
        project_id: str,
        line: str,
        run: str,
    ) -> None:
        self._pool = pool
        self._parsers = parsers
        self._repository = repository
        self._project_id = project_id
        self._line = line
        self._run = run

    async def index(self, commit: CommitId, beat: Beat) -> None:
        """Bring the line's edges to `commit`. Raises Overtaken, ParserLost, RecordBusy, GitFailed."""
        async with transaction(self._pool) as connection:
            known = await symbols.begin_run(connection, self._project_id, self._line, self._run)
        if known == commit:
            return
        entries = await self._repository.list_tree(commit)
        files = await asyncio.to_thread(_survey, entries)
        layout = await self._layout(files)
        beat()
        touched = await self._touched(known, commit, layout)
        if touched is None:
            await self._forget_all()
            touched = set(files.sources)
        await self._store(sorted(touched & files.sources.keys()), files.sources, layout, beat)
        async with transaction(self._pool) as connection:
            await self._hold(connection)
            # Last, because a run that begins again asks these edges who imported what is gone.
            await symbols.forget_files(connection, self._project_id, self._line, touched - layout.files)
            await symbols.end_run(connection, self._project_id, self._line, self._run, commit)

    async def _layout(self, files: "_Files") -> Layout:
        contents = await self._repository.read_blobs(list(files.manifests.values()), MANIFEST_BYTES)
        found = {path: contents[blob] for path, blob in files.manifests.items() if blob in contents}
        return await asyncio.to_thread(lambda: Layout(files.paths, hints_of(found)))

    async def _touched(self, known: str | None, commit: CommitId, layout: Layout) -> set[str] | None:
        """The files whose edges may have changed, gone ones too; None for all of them."""
        if known is None or not await self._repository.commit_exists(CommitId(known)):
            return None
        changes = await self._repository.changed_paths(CommitId(known), commit)
        names = {path for one in changes for path in (one.path, one.old_path) if path}
        if any(split(path)[1] in MANIFESTS for path in names):
            return None
        gone = names - layout.files
        moved = gone | {one.path for one in changes if one.status is not Change.MODIFIED}
        async with transaction(self._pool) as connection:
            await self._hold(connection)
            around = await symbols.edges_of(
                connection, self._project_id, self._line, gone | _beside(moved, layout)
            )
        return names.union(*around.imported_by.values())

    async def _forget_all(self) -> None:
        async with transaction(self._pool) as connection:
            await self._hold(connection)
            await symbols.forget_line(connection, self._project_id, self._line)
            await symbols.end_run(connection, self._project_id, self._line, self._run, None)

    async def _store(
        self, paths: list[str], blobs: Mapping[str, BlobKey], layout: Layout, beat: Beat
    ) -> None:
        for at in range(0, len(paths), _BATCH):
            some = paths[at : at + _BATCH]
            imports = await self._imports({blobs[path] for path in some}, beat)
            sources = {path: imports[blobs[path]] for path in some}
            targets = await asyncio.to_thread(_resolved, sources, layout)
            async with transaction(self._pool) as connection:
                await self._hold(connection)
                await symbols.replace_edges_of_files(connection, self._project_id, self._line, targets)
            beat()

    async def _imports(self, keys: set[BlobKey], beat: Beat) -> dict[BlobKey, list[str]]:
        async with transaction(self._pool, readonly=True) as connection:
            known = await symbols.imports_of(connection, keys, EXTRACTOR)
        missing = keys - known.keys()
        if missing:
            found = await read_now(self._parsers, self._repository, missing, background=True, beat=beat)
            async with transaction(self._pool) as connection:
                await symbols.save_many(connection, found, EXTRACTOR)
            known.update({key: read.imports for key, read in found.items()})
        return known

    async def _hold(self, connection: asyncpg.Connection) -> None:
        if not await symbols.hold_run(connection, self._project_id, self._line, self._run):
            raise Overtaken(f"a later indexing of {self._line} has begun")


class _Files(NamedTuple):
    """The regular files of a commit; those to read by language, and the manifests nearest to the root by blob."""

    paths: list[str]
    sources: dict[str, BlobKey]
    manifests: dict[str, str]


def _survey(entries: tuple[Entry, ...]) -> _Files:
    files = [one for one in entries if one.mode in _FILE_MODES]
    sources = {one.path: BlobKey(one.id, language) for one in files if (language := language_of(one.path))}
    manifests = [one for one in files if split(one.path)[1] in MANIFESTS]
    manifests.sort(key=lambda one: one.path.count("/"))
    return _Files(
        [one.path for one in files], sources, {one.path: one.id for one in manifests[:MOST_MANIFESTS]}
    )


def _resolved(sources: Mapping[str, list[str]], layout: Layout) -> dict[str, list[str]]:
    return {path: resolve(path, raw, layout) for path, raw in sources.items()}


def _beside(moved: Collection[str], layout: Layout) -> set[str]:
    """Files in whose folder another came or went, where imports name folders."""
    folders = {split(path)[0] for path in moved if language_of(path) in BY_FOLDER}
    return {path for folder in folders for path in layout.in_folder(folder)}
