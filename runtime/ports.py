"""Loopback ports: which are free, and which a data folder had last time."""

import errno
import random
import socket
from collections.abc import Mapping

from runtime.settings import DEFAULT_PORT, Settings

SERVERS = ("gateway", "nats", "temporal", "temporal_ui", "postgres")
USUAL = {"gateway": DEFAULT_PORT, "temporal": 7233, "temporal_ui": 8233}

# Below the range that systems hand to outgoing connections, so that a port stays free across a restart.
FREE_RANGE = (15_000, 32_000)


class PortInUse(Exception):
    """The one port that was asked for is taken."""


def is_free(port: int, host: str = "127.0.0.1") -> bool:
    """Whether a server could listen there now."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            if error.errno in (errno.EADDRINUSE, errno.EACCES):
                return False
            raise
    return True


def free_port(host: str = "127.0.0.1", *, taken: frozenset[int] = frozenset()) -> int:
    """A free port at random, none of `taken`; processes that pick at the same moment rarely collide."""
    choice = random.SystemRandom()
    for _ in range(200):
        port = choice.randrange(*FREE_RANGE)
        if port not in taken and is_free(port, host):
            return port
    raise PortInUse(f"No free port between {FREE_RANGE[0]} and {FREE_RANGE[1]} on {host}.")


def choose_ports(settings: Settings, remembered: Mapping[str, int]) -> dict[str, int]:
    """A port for each embedded server and the gateway: the remembered one, else the usual one, else any.

    PortInUse when the gateway's port was asked for by number and is taken.
    """
    asked = settings.port if "port" in settings.model_fields_set else None
    usual = {} if asked == 0 else USUAL
    chosen: dict[str, int] = {}
    for name in SERVERS:
        host = settings.host if name == "gateway" else "127.0.0.1"
        if name == "gateway" and asked:
            chosen[name] = _exactly(asked, host)
            continue
        taken = frozenset(chosen.values())
        wanted = (port for port in (remembered.get(name), usual.get(name)) if port and port not in taken)
        chosen[name] = next((port for port in wanted if is_free(port, host)), 0) or free_port(
            host, taken=taken
        )
    return chosen


def _exactly(port: int, host: str) -> int:
    if not is_free(port, host):
        raise PortInUse(
            f"Port {port} on {host} is in use. Choose another with --port, or 0 for any free one."
        )
    return port
