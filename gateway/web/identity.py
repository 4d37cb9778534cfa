"""How a person proves who they are. Today by a link that works once; a provider of OpenID Connect would be another
`SignInMethod`, whose proof is the code that the provider sends back.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Protocol

import asyncpg

from storage.sql import sessions


class SignInMethod(Protocol):
    """One way to sign in. `name` is kept with each session it begins."""

    @property
    def name(self) -> str:
        """The word for it in the record and in the form: `link`."""

    async def person_of(
        self, connection: asyncpg.Connection, proof: Mapping[str, str], now: datetime
    ) -> str | None:
        """The id of the person that `proof` (the form's fields) stands for, or None.

        Runs in the transaction that begins the session: what may be used once is used up with it.
        """
        ...


class LinkMethod:
    """Sign-in by a link that an owner made (or the first start)."""

    name = "link"

    async def person_of(
        self, connection: asyncpg.Connection, proof: Mapping[str, str], now: datetime
    ) -> str | None:
        """The person of the link in the field `link`, given whole or only what stands behind its `#`."""
        secret = proof.get("link", "").strip().rpartition("#")[2]
        return await sessions.use_link(connection, secret, now) if secret else None
