"""The connection to NATS: it never gives up, it logs what happens to it, and it says when it had a gap.

A gap is a moment after which messages may be missing: a reconnect, or a subscription that fell behind.
Whoever must not miss anything listens for gaps and looks in the record.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

import structlog
from nats import errors
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription
from nats.js import JetStreamContext

CONNECT_SECONDS = 10.0

_RETRY_SECONDS = 0.25
# Two pings without an answer: a peer that vanished without a word is noticed in half a minute.
_PING_SECONDS = 10
_DRAIN_SECONDS = 5

_log = structlog.get_logger("bus")

Listener = Callable[[], None]
OnMessage = Callable[[Msg], Awaitable[None]]


class BusUnreachable(Exception):
    """NATS did not answer in time; check the address, the credentials in it, and that it runs."""


class _Standing:
    """A subscription that is made again on each new client."""

    def __init__(self, subject: str, callback: OnMessage) -> None:
        self._subject = subject
        self._callback = callback
        self._current: Subscription | None = None

    async def begin(self, client: Client) -> None:
        self._current = await client.subscribe(self._subject, cb=self._callback)

    async def end(self) -> None:
        if self._current is not None:
            with suppress(errors.Error):  # the connection went first, and the subscription with it
                await self._current.unsubscribe()


class Link:
    """One lasting connection. Make it with `connect`; it may outlive several nats-py clients.

    nats-py closes a client for good on some server errors; a Link then dials again by itself and
    subscribes again, so a gateway never stays deaf.
    """

    def __init__(self, url: str, name: str) -> None:
        self._url = url
        self._name = name
        self._client = Client()
        self._jetstream: JetStreamContext | None = None
        self._subscriptions: list[_Standing] = []
        self._gap_listeners: list[Listener] = []
        self._lost_listeners: list[Listener] = []
        self._up = asyncio.Event()
        self._closing = False
        self._dialing = False
        self._redial: asyncio.Task[None] | None = None
        self._last_error = ""

    @property
    def client(self) -> Client:
        """The nats-py client of this moment; do not keep it."""
        return self._client

    @property
    def jetstream(self) -> JetStreamContext:
        """JetStream over the client of this moment; do not keep it across a gap."""
        # One per client: each context subscribes to an inbox of its own for the acks it awaits.
        if self._jetstream is None:
            self._jetstream = self._client.jetstream()
        return self._jetstream

    @property
    def failure(self) -> str:
        """The latest error NATS reported since the connection last stood, empty when there was none."""
        return self._last_error

    @property
    def is_up(self) -> bool:
        """Whether the connection stands, as far as is known."""
        return self._up.is_set() and self._client.is_connected

    async def up(self) -> None:
        """Return as soon as the connection stands."""
        if not self._client.is_connected:  # nats-py knows it a moment before its callback tells
            self._up.clear()
        await self._up.wait()

    def on_gap(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` whenever messages may have been missed; the answer takes it away again."""
        return _listen(self._gap_listeners, listener)

    def on_lost(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` when the connection breaks; the answer takes it away again."""
        return _listen(self._lost_listeners, listener)

    async def subscribe(self, subject: str, callback: OnMessage) -> Callable[[], Awaitable[None]]:
        """Deliver `subject` to `callback` through every reconnect, until the answer is called.

        The server knows the subscription on return, or, when the connection is away, from the reconnect
        on (which is a gap). Raises nats.errors.Error when the server does not answer.
        """
        standing = _Standing(subject, callback)
        self._subscriptions.append(standing)
        if not self._client.is_closed:  # closed: the next dial subscribes
            await standing.begin(self._client)
            await self._client.flush()

        async def end() -> None:
            if standing in self._subscriptions:
                self._subscriptions.remove(standing)
                await standing.end()

        return end

    async def round_trip(self) -> None:
        """Return when the server has answered; for readiness. Raises BusUnreachable past 2 s or when away."""
        # nats-py's flush returns at once while there is no connection.
        if not self.is_up:
            raise BusUnreachable(f"NATS is away: {self.failure or 'connecting'}")
        try:
            await self._client.flush(timeout=2)
        except errors.Error as problem:
            raise BusUnreachable(f"NATS did not answer: {problem}") from problem

    async def close(self) -> None:
        """Deliver what has arrived, send what is buffered, and end the connection."""
        self._closing = True
        if self._redial is not None:
            self._redial.cancel()
            await asyncio.gather(self._redial, return_exceptions=True)
        if self._client.is_connected:
            with suppress(errors.Error):  # the server left during the drain: there is nobody to drain to
                await self._client.drain()
        if not self._client.is_closed:
            await self._client.close()

    async def dial(self) -> None:
        """Connect, retrying without end, and subscribe to everything subscribed before."""
        client = Client()
        self._dialing = True
        try:
            await self._connect(client)
        except asyncio.CancelledError:
            await client.close()
            raise
        finally:
            self._dialing = False
        self._client, self._jetstream = client, None
        for standing in self._subscriptions:
            await standing.begin(client)
        await client.flush()
        self._stands("nats.connected")

    async def _connect(self, client: Client) -> None:
        await client.connect(
            self._url,
            name=self._name,
            max_reconnect_attempts=-1,
            reconnect_time_wait=_RETRY_SECONDS,  # type: ignore[arg-type]  # seconds; a fraction works
            ping_interval=_PING_SECONDS,
            drain_timeout=_DRAIN_SECONDS,
            error_cb=self._on_error,
            disconnected_cb=self._on_disconnected,
            reconnected_cb=self._on_reconnected,
            closed_cb=self._on_closed,
            discovered_server_cb=self._on_discovered,
        )

    def _stands(self, happened: str) -> None:
        self._last_error = ""
        self._up.set()
        url = self._client.connected_url  # may carry credentials: only the host is for the log
        _log.info(happened, name=self._name, server=f"{url.hostname}:{url.port}" if url else None)

    async def _on_error(self, problem: Exception) -> None:
        if isinstance(problem, errors.SlowConsumerError):
            _log.warning("nats.fell_behind", subject=problem.subject)
            _tell(self._gap_listeners)
            return
        text = f"{type(problem).__name__}: {problem}"
        if text != self._last_error:  # an outage repeats the same error four times a second
            self._last_error = text
            _log.warning("nats.error", error=text, name=self._name)

    async def _on_disconnected(self) -> None:
        self._up.clear()
        if not self._closing:
            _log.warning("nats.disconnected", name=self._name)
        _tell(self._lost_listeners)

    async def _on_reconnected(self) -> None:
        # nats-py has subscribed again and had the server's answer before it calls this.
        self._stands("nats.reconnected")
        _tell(self._gap_listeners)

    async def _on_closed(self) -> None:
        if self._dialing:  # a dial given up; nothing stood
            return
        if self._closing:
            _log.info("nats.closed", name=self._name)
            return
        _log.error("nats.closed_by_server", name=self._name, error=str(self._client.last_error))
        self._redial = asyncio.create_task(self._dial_again())

    async def _on_discovered(self) -> None:
        _log.info("nats.server_discovered", name=self._name)

    async def _dial_again(self) -> None:
        await self.dial()
        _tell(self._gap_listeners)


async def connect(url: str, name: str, *, timeout: float = CONNECT_SECONDS) -> Link:
    """A link to the server(s) at `url` (credentials may stand in it), shown to operators as `name`.

    Raises BusUnreachable when no server accepts it within `timeout` seconds.
    """
    link = Link(url, name)
    try:
        async with asyncio.timeout(timeout):
            await link.dial()
    except (TimeoutError, OSError, errors.Error) as problem:
        reason = link.failure or str(problem)
        raise BusUnreachable(f"NATS did not accept {name} within {timeout:g} s: {reason}") from problem
    return link


def _listen(listeners: list[Listener], listener: Listener) -> Callable[[], None]:
    listeners.append(listener)

    def forget() -> None:
        if listener in listeners:
            listeners.remove(listener)

    return forget


def _tell(listeners: list[Listener]) -> None:
    for listener in tuple(listeners):
        listener()
