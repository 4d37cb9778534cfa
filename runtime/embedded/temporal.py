"""The embedded Temporal server: the development server of the Temporal command, on a file."""

from pathlib import Path

from temporalio.api.operatorservice.v1 import ListSearchAttributesRequest
from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest
from temporalio.client import Client
from temporalio.service import RPCError

from runtime.embedded.nats import beside_python
from runtime.embedded.process import Command, answering, until_connected

SEARCH_ATTRIBUTES = ("GitringProject", "GitringState", "GitringLine", "GitringWaitsFor")


class Temporal:
    """A Temporal server whose file is `database` (None: in memory); without `ui_port` it has no pages."""

    name = "temporal"
    start_limit = 60.0

    def __init__(
        self, database: Path | None, port: int, log: Path, *, namespace: str, ui_port: int | None = None
    ) -> None:
        self.database = database.absolute() if database else None
        self.port = port
        self.log = log
        self.namespace = namespace
        self.ui_port = ui_port

    @property
    def address(self) -> str:
        """`host:port` for clients."""
        return f"127.0.0.1:{self.port}"

    @property
    def ui_url(self) -> str | None:
        """The operator's pages."""
        return f"http://127.0.0.1:{self.ui_port}" if self.ui_port else None

    async def prepare(self) -> None:
        """Make the folder of the file."""
        if self.database:
            self.database.parent.mkdir(mode=0o700, parents=True, exist_ok=True)

    def command(self) -> Command:
        """The server's command line."""
        argv = [str(beside_python("temporal")), "server", "start-dev", "--ip", "127.0.0.1"]
        argv += ["--disable-config-file", "--disable-config-env", "--log-level", "warn"]
        argv += ["--port", str(self.port), "--namespace", self.namespace]
        # A server on loopback asks no one on the internet for news or newer versions.
        argv += [
            "--ui-disable-news-fetch",
            "--dynamic-config-value",
            "frontend.enableServerVersionCheck=false",
        ]
        argv += ["--ui-port", str(self.ui_port)] if self.ui_port else ["--headless"]
        if self.database:
            argv += ["--db-filename", str(self.database)]
            # More than doubles the rate. A power cut may cost the last moments of workflow progress,
            # never a committed fact: the sweep at start brings workflows up to the record.
            argv += ["--sqlite-pragma", "journal_mode=WAL", "--sqlite-pragma", "synchronous=NORMAL"]
        for name in SEARCH_ATTRIBUTES:
            argv += ["--search-attribute", f"{name}=Keyword"]
        return Command(self.name, tuple(argv), self.log)

    async def answer(self) -> None:
        """Return once the namespace and the search attributes are there."""
        await until_connected("127.0.0.1", self.port)

        async def ask() -> None:
            client = await Client.connect(self.address, namespace=self.namespace)
            await client.workflow_service.describe_namespace(
                DescribeNamespaceRequest(namespace=self.namespace)
            )
            found = await client.operator_service.list_search_attributes(
                ListSearchAttributesRequest(namespace=self.namespace)
            )
            missing = set(SEARCH_ATTRIBUTES) - set(found.custom_attributes)
            if missing:
                raise ConnectionError(f"search attributes not there yet: {sorted(missing)}")

        # The client raises RuntimeError while the server is coming up.
        await answering(ask, RPCError, RuntimeError, ConnectionError)
