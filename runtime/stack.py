"""The whole of gitring on one machine: its servers and processes, in order up, in order down."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from typing import Any, Protocol

from pydantic import SecretStr

from runtime.embedded.nats import Nats
from runtime.embedded.postgres import Postgres
from runtime.embedded.temporal import Temporal
from runtime.folder import DataFolder
from runtime.leftovers import end_leftovers, record_of
from runtime.migrate_process import prepare_servers
from runtime.own_processes import Gateway, Worker, own_command
from runtime.ports import choose_ports
from runtime.settings import Settings
from runtime.supervise import BackOff, Service, Supervised

# Those that ask stop first, those that are asked stop last.
STOP_ORDER = ("gateway", "worker", "temporal", "nats", "postgres")
STOP_SECONDS = 20.0


class Bootstrapped(Protocol):
    """What preparing the record for its owner gives."""

    @property
    def owner_token(self) -> str:
        """The owner's person token, the same at each start."""

    @property
    def first_start(self) -> bool:
        """Whether the owner was made just now."""

    @property
    def signin_link(self) -> str | None:
        """The owner's one-time link to the pages, where there is one to show."""


Bootstrap = Callable[[Settings], Awaitable[Bootstrapped]]


class Stack:
    """Everything of one data folder: `start`, then `keep`, and in any case `stop`."""

    def __init__(
        self,
        settings: Settings,
        *,
        say: Callable[[str], None],
        bootstrap: Bootstrap,
        commands: Mapping[str, Sequence[str]] | None = None,
        back_off: BackOff | None = None,
    ) -> None:
        """`say` gets one line for people; `commands` replaces the command lines of "gateway" and "worker"."""
        self.settings = settings
        self.folder = DataFolder(settings.data_dir)
        self.addresses: dict[str, Any] = {}
        self._say = say
        self._bootstrap = bootstrap
        self._commands = {name: own_command(name) for name in ("gateway", "worker")} | dict(commands or {})
        self._back_off = back_off or BackOff()
        self._running: dict[str, Supervised] = {}
        self._records: dict[str, dict[str, Any]] = {}

    async def start(self) -> Bootstrapped:
        """Bring everything up; then connection.json is there and `settings` holds every address.

        Raises FolderInUse, PortInUse, NoAccount, ServerFailed, MigrationRefused or what the bootstrap raises.
        """
        self.folder.lock()
        self.folder.remove("connection.json")
        for name in await asyncio.to_thread(end_leftovers, self.folder.read("processes.json")):
            self._say(f"{name} was still running from a start that was killed; ended it")
        await self._start_all(self._servers())
        await prepare_servers(self.settings)
        owner = await self._bootstrap(self.settings)
        self.folder.keep_owner_token(owner.owner_token)
        await self._start_all(self._processes())
        self.addresses = self._addresses(owner.owner_token)
        self._write_connection()
        return owner

    async def keep(self) -> None:
        """Start again whatever ends, until cancelled; GaveUp when one cannot be kept running."""
        await _together(supervised.keep() for supervised in self._running.values())

    async def stop(self) -> None:
        """Bring everything down in order and leave nothing running; harmless when nothing was started."""
        if not self.folder.locked:
            return
        for name in STOP_ORDER:
            if name in self._running:
                await self._running[name].stop(STOP_SECONDS)
        self.folder.remove("connection.json")
        self.folder.remove("processes.json")
        self.folder.unlock()

    def kill(self) -> None:
        """End everything at once; `stop` afterwards tidies the folder."""
        for supervised in self._running.values():
            supervised.kill()

    def _servers(self) -> list[Service]:
        """The servers nobody else runs for us; their addresses go into the settings."""
        ports = choose_ports(self.settings, self.folder.read("ports.json"))
        self.folder.write("ports.json", ports)
        found: dict[str, object] = {"port": ports["gateway"]}
        servers: list[Service] = []
        if self.settings.database_url is None:
            postgres = self._postgres(ports["postgres"])
            servers.append(postgres)
            found["database_url"] = SecretStr(postgres.url)
        if self.settings.nats_url is None:
            password = self.folder.passwords().nats
            nats = Nats(self.folder.path / "nats", ports["nats"], password, self.folder.log("nats"))
            servers.append(nats)
            found["nats_url"] = SecretStr(nats.url)
        if self.settings.temporal_address is None:
            temporal = self._temporal(ports["temporal"], ports["temporal_ui"])
            servers.append(temporal)
            found |= {"temporal_address": temporal.address, "temporal_ui_url": temporal.ui_url}
        self.settings = self.settings.with_values(**found)
        return servers

    def _postgres(self, port: int) -> Postgres:
        return Postgres(
            self.folder.path / "postgres",
            port,
            self.folder.passwords().postgres,
            self.folder.log("postgres"),
            account=self.settings.postgres_account,
        )

    def _temporal(self, port: int, ui_port: int) -> Temporal:
        return Temporal(
            self.folder.path / "temporal" / "temporal.db",
            port,
            self.folder.log("temporal"),
            namespace=self.settings.temporal_namespace,
            ui_port=ui_port,
        )

    def _processes(self) -> list[Service]:
        return [
            Gateway(self.settings, self._commands["gateway"], self.folder.log("gateway")),
            Worker(self.settings, self._commands["worker"], self.folder.log("worker")),
        ]

    async def _start_all(self, services: Sequence[Service]) -> None:
        fresh = [
            Supervised(service, say=self._say, started=self._note, back_off=self._back_off)
            for service in services
        ]
        self._running |= {supervised.name: supervised for supervised in fresh}
        await _together(supervised.start() for supervised in fresh)

    def _note(self, supervised: Supervised) -> None:
        """Write down a process that was just started."""
        assert supervised.child
        record = record_of(supervised.child.pid, supervised.child.command.stop)
        if record:
            self._records[supervised.name] = record
            self.folder.write("processes.json", self._records)
        if self.addresses:
            self._write_connection()

    def _write_connection(self) -> None:
        pids = {name: each.child.pid for name, each in self._running.items() if each.child}
        self.folder.write("connection.json", self.addresses | {"pids": pids})

    def _addresses(self, owner_token: str) -> dict[str, Any]:
        settings = self.settings
        return {
            "url": settings.url,
            "mcp": f"{settings.url}/mcp",
            "foremerge_mcp": f"{settings.url}/mcp/foremerge",
            "git": f"{settings.url}/git",
            "nats": settings.nats_url.get_secret_value() if settings.nats_url else None,
            "temporal": settings.temporal_address,
            "temporal_namespace": settings.temporal_namespace,
            "temporal_ui": settings.temporal_ui_url,
            "postgres": settings.database_url.get_secret_value() if settings.database_url else None,
            "owner_token": owner_token,
        }


async def _together(steps: Iterable[Coroutine[Any, Any, None]]) -> None:
    """Run the steps side by side; the first failure ends the others and is raised by itself."""
    try:
        async with asyncio.TaskGroup() as group:
            for step in steps:
                group.create_task(step)
    except BaseExceptionGroup as problems:
        raise problems.exceptions[0] from None
