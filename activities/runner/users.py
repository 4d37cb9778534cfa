"""User numbers for runs where the server is root: each run that is under way has one that nothing else runs as."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

# A range that neither distributions nor systemd give to accounts.
FIRST_USER = 60_706
USERS = 470


class RunUsers:
    """The numbers that this process gives out. Two workers of a host begin at different ones."""

    def __init__(self, named: str | None = None) -> None:
        self._named = named
        self._next = os.getpid() % USERS
        self._taken: set[int] = set()

    @contextmanager
    def one(self) -> Iterator[str | int | None]:
        """The account that is set for all runs, else a number for the length of the block; None when not root."""
        if self._named is not None or os.geteuid() != 0 or len(self._taken) == USERS:
            yield self._named
            return
        while (number := FIRST_USER + self._next) in self._taken:
            self._next = (self._next + 1) % USERS
        self._next = (self._next + 1) % USERS
        self._taken.add(number)
        try:
            yield number
        finally:
            self._taken.discard(number)
