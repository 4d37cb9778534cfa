"""Symbols of file contents: remembered ones from the record, the rest read now and remembered."""

import asyncio
from collections.abc import Callable, Collection, Iterator

import asyncpg

from activities.parsing.parsers import Parsers
from protocol.symbols import FileSymbols
from rules.symbols.extract import HUGE, LARGEST
from rules.symbols.languages import EXTRACTOR
from storage.git.repository import Repository
from storage.sql import symbols
from storage.sql.pool import transaction
from storage.sql.symbols import BlobKey

# Contents of at most 1 MiB each that are held at once.
_AT_ONCE = 32

Beat = Callable[[], object]


async def symbols_of_blobs(
    pool: asyncpg.Pool, parsers: Parsers, repository: Repository, keys: Collection[BlobKey]
) -> dict[BlobKey, FileSymbols]:
    """The symbols of these contents; what is not remembered is read at once. Raises ParserLost, RecordBusy."""
    async with transaction(pool, readonly=True) as connection:
        known = await symbols.get_many(connection, set(keys), EXTRACTOR)
    missing = sorted(set(keys) - known.keys())
    for some in batches(missing, _AT_ONCE):
        found = await read_now(parsers, repository, some)
        async with transaction(pool) as connection:
            await symbols.save_many(connection, found, EXTRACTOR)
        known.update(found)
    return known


async def read_now(
    parsers: Parsers,
    repository: Repository,
    keys: Collection[BlobKey],
    *,
    background: bool = False,
    beat: Beat = lambda: None,
) -> dict[BlobKey, FileSymbols]:
    """Read contents from the repository and parse them, whatever is remembered. `beat` is called after each."""
    contents = await repository.read_blobs([key.blob for key in keys], LARGEST)

    async def read(key: BlobKey) -> FileSymbols:
        content = contents.get(key.blob)
        if content is None:
            return FileSymbols(language=key.language, note=HUGE)
        found = await parsers.read(key.language, content, background=background)
        beat()
        return found

    try:
        async with asyncio.TaskGroup() as group:
            tasks = {key: group.create_task(read(key)) for key in keys}
    except ExceptionGroup as problems:
        raise problems.exceptions[0] from None
    return {key: task.result() for key, task in tasks.items()}


def batches(keys: list[BlobKey], size: int) -> Iterator[list[BlobKey]]:
    """The keys in lists of at most `size`."""
    return (keys[at : at + size] for at in range(0, len(keys), size))
