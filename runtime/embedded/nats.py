"""The embedded NATS server with JetStream: one configuration file, one user, one loopback port."""

import json
import sys
from pathlib import Path

import nats
from nats.errors import NoRespondersError, NoServersError
from nats.js.errors import ServiceUnavailableError

from runtime.embedded.process import Command, ServerFailed, answering, until_connected
from runtime.files import write_private

USER = "gitring"
MIB = 1 << 20


class Nats:
    """A NATS server whose store and configuration are in `folder`."""

    name = "nats"
    start_limit = 30.0

    def __init__(self, folder: Path, port: int, password: str, log: Path) -> None:
        self.folder = folder.absolute()
        self.port = port
        self.password = password
        self.log = log

    @property
    def url(self) -> str:
        """Where clients connect, password included; its letters need no quoting, the client undoes none."""
        return f"nats://{USER}:{self.password}@127.0.0.1:{self.port}"

    async def prepare(self) -> None:
        """Write the configuration anew; the store stays."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_private(self._configuration_file, json.dumps(self._configuration(), indent=1))

    def command(self) -> Command:
        """The server's command line."""
        return Command(
            self.name, (str(beside_python("nats-server")), "-c", str(self._configuration_file)), self.log
        )

    async def answer(self) -> None:
        """Return once JetStream answers this user."""
        # The client waits two seconds after a refused connection, so it comes second.
        await until_connected("127.0.0.1", self.port)

        async def ask() -> None:
            client = await nats.connect(
                self.url, allow_reconnect=False, connect_timeout=5, error_cb=_passed_on_by_the_call
            )
            try:
                await client.jetstream().account_info()
            finally:
                await client.close()

        await answering(ask, OSError, NoServersError, NoRespondersError, ServiceUnavailableError)

    @property
    def _configuration_file(self) -> Path:
        return self.folder / "nats.conf"

    def _configuration(self) -> dict[str, object]:
        """NATS reads JSON as its own format."""
        return {
            "server_name": "gitring",
            "host": "127.0.0.1",
            "port": self.port,
            "max_payload": MIB,
            # A reader that takes nothing for this long is cut off rather than held in memory.
            "write_deadline": "10s",
            "max_pending": 64 * MIB,
            "logtime_utc": True,
            "jetstream": {
                "store_dir": str(self.folder / "store"),
                "max_memory_store": 64 * MIB,
                "max_file_store": 4096 * MIB,
            },
            "authorization": {"user": USER, "password": self.password},
        }


async def _passed_on_by_the_call(error: Exception) -> None:
    """The client reports each failed attempt here as well as by raising; raising is enough."""


def beside_python(name: str) -> Path:
    """A program that a wheel put beside the interpreter; ServerFailed when it is not installed."""
    path = Path(sys.executable).parent / name
    if not path.exists():
        raise ServerFailed(f"{name} is not installed beside {sys.executable}. Run `make setup`.")
    return path
