"""What the watchdog found, as callers and a monitor read it."""

from collections.abc import Awaitable, Callable

from gateway.access import see_project
from gateway.reads import Reads
from protocol.projects import Caller
from protocol.watch import OpenFinding, WatchFinding, WatchList
from storage.sql import watch
from storage.sql.watch import WatchNumbers

MOST = 200

ReadNumbers = Callable[[], Awaitable[WatchNumbers]]


def finding_view(found: OpenFinding) -> WatchFinding:
    """A finding as it is sent."""
    return WatchFinding(**found.model_dump(include=set(WatchFinding.model_fields)))


class Watching:
    """The open findings of projects."""

    def __init__(self, reads: Reads) -> None:
        self._reads = reads

    async def of_project(self, caller: Caller, project_ref: str) -> WatchList:
        """What is found in a project now, the longest first."""
        async with self._reads.snapshot() as connection:
            seen = await see_project(connection, caller, project_ref)
            found = await watch.of_project(connection, seen.project.id, MOST)
            looked_at = await watch.looked_at(connection)
        return WatchList(findings=[finding_view(one) for one in found], looked_at=looked_at)

    async def numbers(self) -> WatchNumbers:
        """What a monitor reads; of all projects."""
        async with self._reads.snapshot() as connection:
            return await watch.numbers(connection)
