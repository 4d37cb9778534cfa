"""What activities write to: the record, and the server's defaults for projects that chose none."""

from dataclasses import dataclass

import asyncpg

from protocol.states import Mediation


@dataclass(frozen=True)
class Store:
    """The record's pool, and `GITRING_MEDIATION`."""

    pool: asyncpg.Pool
    mediation: Mediation = Mediation.HOLD
