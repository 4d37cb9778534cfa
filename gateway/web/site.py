"""Where the pages are reached, what their cookies are called, and which origins may send them forms."""

import hashlib
import hmac
from collections.abc import Collection
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from starlette.datastructures import Headers

_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True)
class Site:
    """The addresses of one gitring. `host_name` is the machine whose repositories this process can read."""

    public_url: str
    host_name: str
    temporal_ui_url: str | None = None
    temporal_namespace: str = "gitring"
    more_hosts: Collection[str] = field(default_factory=frozenset)

    @property
    def https(self) -> bool:
        """Whether people reach the pages by https, so that cookies may insist on it."""
        return urlsplit(self.public_url).scheme == "https"

    def cookie(self, name: str) -> str:
        """The full name of a cookie: bound to this host by its prefix, or, in plain http, to the port.

        Cookies do not know ports: two servers on one machine would take each other's otherwise.
        """
        if self.https:
            return f"__Host-gitring_{name}"
        return f"gitring_{name}_{urlsplit(self.public_url).port or 80}"

    def own_origin(self, headers: Headers) -> bool:
        """Whether a form was sent by one of our own pages: browsers name its origin, and cannot be made to lie."""
        if headers.get("sec-fetch-site", "same-origin") != "same-origin":
            return False
        sent = urlsplit(headers.get("origin", ""))
        public = urlsplit(self.public_url)
        if (sent.scheme, sent.netloc) == (public.scheme, public.netloc):
            return True
        known = sent.hostname in _LOOPBACK or sent.hostname in self.more_hosts
        return known and sent.netloc == headers.get("host", "")


def form_key(secret: str) -> str:
    """What a form of the session (or visit) with this secret carries; another site cannot know it."""
    return hmac.new(secret.encode(), b"gitring form", hashlib.sha256).hexdigest()


def own_path(wanted: str) -> str:
    """`wanted` when it is a path on this server, else `/`: nobody is sent elsewhere by a link to us."""
    plain = all(char.isprintable() and char != "\\" for char in wanted)
    inside = wanted.startswith("/") and not wanted.startswith("//")
    return wanted if plain and inside and len(wanted) <= 500 else "/"
