"""Browser sessions: begun by a sign-in, found by their cookie, ended by their person."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime

import asyncpg
from starlette.responses import Response

from gateway.busy import RecordOrBusy
from gateway.text.untrusted import one_line
from gateway.web.identity import LinkMethod, SignInMethod
from gateway.web.site import Site
from protocol.people import SessionInfo
from storage.sql import sessions
from storage.sql.sessions import SESSION_LIFE, SessionRow

SESSION = "session"
VISIT = "visit"


class Sessions:
    """The sessions of one record. `ended` is told the person of a session that is over, after it is recorded."""

    def __init__(
        self,
        pool: asyncpg.Pool,
        methods: Sequence[SignInMethod] = (LinkMethod(),),
        *,
        ended: Callable[[str], None],
    ) -> None:
        self._pool = pool
        self._ended = ended
        self._methods = {method.name: method for method in methods}

    async def sign_in(
        self, method: str, proof: Mapping[str, str], browser: str, before: str | None
    ) -> str | None:
        """Begin a session; its secret, or None when the proof is not good.

        The secret is always a new one, and the session that the browser had before ends: nobody can lay a session
        ready for somebody else to sign in to.
        """
        found = self._methods.get(method)
        if found is None:
            return None
        now = datetime.now(UTC)
        async with RecordOrBusy(self._pool) as connection:
            person = await found.person_of(connection, proof, now)
            if person is None:
                return None
            old = await sessions.find(connection, before, now) if before else None
            if old is not None:
                await sessions.end(connection, old.id, old.person_id, now)
            secret = await sessions.start(connection, person, found.name, one_line(browser, 200), now)
        if old is not None:
            self._ended(old.person_id)
        return secret

    async def find(self, secret: str | None) -> SessionRow | None:
        """The live session of a cookie."""
        if not secret:
            return None
        async with RecordOrBusy(self._pool) as connection:
            return await sessions.find(connection, secret, datetime.now(UTC))

    async def of_person(self, person_id: str) -> Sequence[SessionInfo]:
        """A person's live sessions."""
        async with RecordOrBusy(self._pool) as connection:
            return await sessions.list_of_person(connection, person_id, datetime.now(UTC))

    async def end(self, session_id: str, person_id: str) -> bool:
        """End one of the person's sessions."""
        async with RecordOrBusy(self._pool) as connection:
            ended = await sessions.end(connection, session_id, person_id, datetime.now(UTC))
        if ended:
            self._ended(person_id)
        return ended


def keep(response: Response, site: Site, name: str, value: str) -> None:
    """Give the browser one of our cookies; no script can read it and no other site's form sends it."""
    response.set_cookie(
        site.cookie(name),
        value,
        max_age=int(SESSION_LIFE.total_seconds()) if name == SESSION else 3600,
        path="/",
        secure=site.https,
        httponly=True,
        samesite="lax" if name == SESSION else "strict",
    )


def drop(response: Response, site: Site, name: str) -> None:
    """Take one of our cookies back."""
    response.delete_cookie(site.cookie(name), path="/", secure=site.https, httponly=True, samesite="lax")
