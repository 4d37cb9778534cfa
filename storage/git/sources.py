"""Where a project may be imported from, decided before git hears of it, and bound so that git goes nowhere else.

A name is looked up here once. git is then held to the addresses that were judged (a name that answers differently the
second time gains nothing), to the one scheme of the URL, and to no redirect.
"""

import asyncio
import ipaddress
import os
import re
import shlex
import socket
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple
from urllib.parse import SplitResult, unquote, urlsplit

from storage.git.errors import NotARepository, SourceRefused

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Resolve = Callable[[str, int], Awaitable[Sequence[str]]]

_PORTS = {"http": 80, "https": 443, "ssh": 22, "git": 9418}
_FILE = re.compile(r"file://(?:localhost)?/\S*")
# One reading only, so that git, curl and ssh cannot find another host in it than we did: at most one @, a plain name
# or number as host, neither query nor fragment.
_REMOTE = re.compile(
    r"(?:https?|ssh|git)://(?:[A-Za-z0-9._~%!$&'()*+,;=:-]*@)?"
    r"(?:[A-Za-z0-9](?:[A-Za-z0-9._-]{0,251}[A-Za-z0-9])?|\[[0-9A-Fa-f:.]{2,45}\])(?::[0-9]{1,5})?(?:/[^\s?#\\]*)?"
)
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
_LOOKUP_SEC = 15.0
_MOST_ADDRESSES = 8


async def look_up(host: str, port: int) -> Sequence[str]:
    """The addresses of a host, as the system finds them. Raises OSError."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


@dataclass(frozen=True, slots=True)
class ImportRules:
    """What a server lets imports read: `private` addresses too, and no folder in `keep_out` (its own data)."""

    private: bool = False
    keep_out: Path | None = None
    resolve: Resolve = look_up


PUBLIC = ImportRules()
"""The rules of whoever says nothing: public addresses, and any folder."""


class Source(NamedTuple):
    """A source that was let through: `address` for git, its one `scheme`, and options and variables that bind git."""

    address: str
    scheme: str
    options: tuple[str, ...] = ()
    env: Mapping[str, str] = {}


async def admitted(source: str, rules: ImportRules) -> Source:
    """`source` as git may see it: a folder of the server, or an http, https, ssh or git URL of a public host.

    A file URL is its folder. Raises SourceRefused for any other text (options, `ext::` and other transport helpers)
    and for a host or a folder that the rules keep out, NotARepository for what cannot be found.
    """
    if _FILE.fullmatch(source):
        return _folder(unquote(urlsplit(source).path), source, rules)
    if _REMOTE.fullmatch(source) and source.isprintable():
        return await _remote(source, urlsplit(source), rules)
    if source and "://" not in source and "::" not in source and not source.startswith("-"):
        return _folder(source, source, rules)
    raise _unusable(source)


def _folder(path: str, source: str, rules: ImportRules) -> Source:
    if "\0" in path or (not Path(path).is_dir() and ":" in path.split("/")[0]):
        raise _unusable(source)
    if not Path(path).is_dir():
        raise NotARepository(f"{shown(source)} is not a folder on the server: give a path or URL it can read")
    found = Path(path).resolve()
    if rules.keep_out is not None:
        kept = rules.keep_out.resolve()
        if any(one.resolve().is_relative_to(kept) for one in (found, found / ".git")):
            raise SourceRefused(
                f"{shown(source)} lies in gitring's own data folder: give a folder outside of it"
            )
    return Source(str(found), "file")


async def _remote(source: str, parts: SplitResult, rules: ImportRules) -> Source:
    try:
        host, port = str(parts.hostname), parts.port or _PORTS[parts.scheme]
    except ValueError:  # a port above 65535
        raise _unusable(source) from None
    addresses = await _addresses(host, port, rules)
    if addresses is None:
        if rules.private or _proxied(parts.scheme):
            return Source(source, parts.scheme)
        raise NotARepository(f"{shown(source)} has a host that cannot be found: check the address")
    if not rules.private and not all(map(_public, addresses)):
        raise SourceRefused(
            f"{shown(source)} is at an address of this machine or of a private network, where the server imports "
            "nothing from: give a public URL or a folder, or ask its operator to set GITRING_IMPORT_PRIVATE=1"
        )
    return _bound(source, parts, host, port, addresses[:_MOST_ADDRESSES])


async def _addresses(host: str, port: int, rules: ImportRules) -> list[Address] | None:
    try:
        async with asyncio.timeout(_LOOKUP_SEC):
            found = await rules.resolve(host, port)
        return [ipaddress.ip_address(one.partition("%")[0]) for one in found] or None
    except (OSError, ValueError):  # a TimeoutError is an OSError, a UnicodeError of an odd name a ValueError
        return None


def _public(address: Address) -> bool:
    """Whether an address is one of the whole internet, also by the IPv4 address it may carry inside."""
    if isinstance(address, ipaddress.IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour
        if address in _NAT64:
            inner = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        if inner is not None:
            return _public(inner)
        if address.teredo is not None:
            return False
    return address.is_global and not address.is_multicast


def _proxied(scheme: str) -> bool:
    """Whether a proxy of the operator's looks names up instead of this machine; it then says where one may go."""
    names = (f"{scheme}_proxy", "all_proxy")
    return scheme in ("http", "https") and any(os.environ.get(n) or os.environ.get(n.upper()) for n in names)


def _bound(source: str, parts: SplitResult, host: str, port: int, addresses: Sequence[Address]) -> Source:
    first = f"[{addresses[0]}]" if addresses[0].version == 6 else str(addresses[0])
    match parts.scheme:
        case "ssh":
            known_as = host if port == _PORTS["ssh"] else f"[{host}]:{port}"
            fixed = f"-o HostName={addresses[0]} -o HostKeyAlias={shlex.quote(known_as)}"
            return Source(source, "ssh", env={"GIT_SSH_COMMAND": f"ssh -o BatchMode=yes {fixed}"})
        case "git":
            where = f"{first}:{port}"
            return Source(parts._replace(netloc=where).geturl(), "git")
        case scheme if _is_number(host):
            return Source(source, scheme)
        case scheme:
            listed = ",".join(f"[{one}]" if one.version == 6 else str(one) for one in addresses)
            return Source(source, scheme, ("-c", f"http.curloptResolve={host}:{port}:{listed}"))


def _is_number(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def shown(text: str) -> str:
    """A source in a message: on one line, cut, and without the password it may hold."""
    return repr(without_password(text)[:200])


def without_password(text: str) -> str:
    """`text` without what stands before the @ of its URLs."""
    return re.sub(r"://[^/@\s]*@", "://", text)


def _unusable(source: str) -> SourceRefused:
    return SourceRefused(
        f"{shown(source)} cannot be imported: give a folder, or an https://, http://, ssh://, git:// or file:// URL"
    )
