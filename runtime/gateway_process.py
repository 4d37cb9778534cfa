"""`gitring gateway`: the edge. Keeps no state that a second one would need."""

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import uvicorn

from bus.waiters import Waiters
from gateway.app import create_app
from gateway.foremerge.operations import ForemergeOperations
from gateway.git_http import GitHttp
from gateway.git_rules import GitRules
from gateway.health import Probe
from gateway.operations import Operations
from gateway.repositories import Repositories
from gateway.web.app import add_pages
from gateway.web.sessions import Sessions
from gateway.web.site import Site
from runtime.connections import Connections, connections
from runtime.processes import run
from runtime.settings import Settings

STOP_SEC = 10
# Longer than HTTP clients keep an idle connection (often 5 s): who closes first must not be a race with the next call.
KEEP_ALIVE_SEC = 75


def probes(found: Connections) -> dict[str, Probe]:
    """What `/readyz` asks, each within its own limit."""

    async def temporal() -> None:
        await found.temporal.service_client.check_health()

    async def nats() -> None:
        await found.link.round_trip()

    async def postgres() -> None:
        await found.pool.fetchval("SELECT 1")

    return {"temporal": temporal, "nats": nats, "postgres": postgres}


def site_of(settings: Settings) -> Site:
    """What the pages need to know of the settings."""
    return Site(
        public_url=settings.url,
        host_name=settings.host_name,
        temporal_ui_url=settings.temporal_ui_url,
        temporal_namespace=settings.temporal_namespace,
    )


class Server(uvicorn.Server):
    """uvicorn, told to stop by our own event: waits end first, then connections."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Signals are `runtime.processes`' business."""
        yield


async def serve(settings: Settings, stopping: asyncio.Event) -> None:
    """Serve until told to stop."""
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(8, "gitring"))
    async with connections(settings, "gateway", pool_size=24) as found:
        waiters = Waiters(found.link)
        await waiters.start()
        repositories = Repositories(settings.data_dir)
        operations = Operations(
            found.pool,
            found.temporal,
            waiters,
            public_url=settings.url,
            host=settings.host_name,
            repositories=repositories,
        )
        rules = GitRules(found.pool, found.temporal, operations.accepted, repositories)
        git = GitHttp(rules.authorize, rules.decide, rules.record, hooks=settings.data_dir / "hooks")
        app = create_app(
            operations,
            public_url=settings.url,
            probes=probes(found),
            git_app=git,
            stopping=stopping,
            waits_held=lambda: waiters.held,
            foremerge=ForemergeOperations(found.pool, found.temporal, operations, public_url=settings.url),
            numbers=operations.watch_numbers,
            pages=lambda app: add_pages(
                app,
                operations,
                Sessions(found.pool, ended=waiters.doubt_person),
                pool=found.pool,
                site=site_of(settings),
                repositories=repositories,
            ),
        )
        server = Server(_config(app, settings))
        serving = asyncio.create_task(server.serve())
        asking = asyncio.create_task(stopping.wait())
        await asyncio.wait({serving, asking}, return_when=asyncio.FIRST_COMPLETED)
        await waiters.stop()
        server.should_exit = True
        await serving
        asking.cancel()
        await git.drain()


def _config(app: object, settings: Settings) -> uvicorn.Config:
    return uvicorn.Config(
        app,  # type: ignore[arg-type]
        host=settings.host,
        port=settings.port,
        log_config=None,
        access_log=False,
        timeout_graceful_shutdown=STOP_SEC,
        timeout_keep_alive=KEEP_ALIVE_SEC,
        proxy_headers=False,
        server_header=False,
        lifespan="on",
    )


def main() -> None:
    """Run the gateway with the settings of the environment."""
    run("gateway", serve)
