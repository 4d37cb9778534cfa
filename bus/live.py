"""Rings for those who follow a running check: core NATS, outside the stream of events, and free to be lost.

The subject is `gitring.live.<project id>.<check id>`; the body is empty, for the record has the output.
"""

import re

import structlog
from nats import errors

from bus.connect import Link

PREFIX = "gitring.live"
ALL_LIVE = f"{PREFIX}.*.*"
"""The subject filter of all rings of all running checks."""

_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")

_log = structlog.get_logger("bus")


def live_subject(project_id: str, check_id: str) -> str:
    """The subject of one check's rings. Raises ValueError for an id that is no plain token."""
    for value in (project_id, check_id):
        if not _ID.fullmatch(value):
            raise ValueError(f"{value!r} cannot be a token of a subject: letters, digits, - and _ only")
    return f"{PREFIX}.{project_id}.{check_id}"


def parse_live(name: str) -> tuple[str, str]:
    """Project and check of a ring's subject. Raises ValueError when it is none of ours."""
    parts = name.split(".")
    if len(parts) != 4 or ".".join(parts[:2]) != PREFIX:
        raise ValueError(f"{name!r} is no subject of a running check")
    return parts[2], parts[3]


class LiveRinger:
    """Rings for running checks over one link."""

    def __init__(self, link: Link) -> None:
        self._link = link

    async def ring(self, project_id: str, check_id: str) -> None:
        """Ring once; with the connection away it is lost, and the followers look by themselves after a while."""
        if not self._link.is_up:
            return
        try:
            await self._link.client.publish(live_subject(project_id, check_id), b"")
        except errors.Error as problem:
            _log.debug("bus.ring_lost", check=check_id, problem=str(problem))
