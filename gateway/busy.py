"""Record trouble before anything was done, as the typed `busy` that callers get."""

from typing import Any

import asyncpg

from protocol.refusals import busy
from storage.sql.pool import OutcomeUnknown, RecordBusy, transaction


class RecordOrBusy:
    """A transaction whose record trouble becomes a typed `busy`."""

    def __init__(self, pool: asyncpg.Pool) -> None:
        self._open = transaction(pool)

    async def __aenter__(self) -> asyncpg.Connection:
        try:
            return await self._open.__aenter__()
        except RecordBusy as problem:
            raise busy("The record") from problem

    async def __aexit__(self, *problem: Any) -> bool | None:
        try:
            return await self._open.__aexit__(*problem)
        except (RecordBusy, OutcomeUnknown) as trouble:
            raise busy("The record") from trouble
