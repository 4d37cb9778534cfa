"""Calls to the server's REST interface, and how each kind of failure ends a command."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import httpx2

from cli.clean import one_line
from cli.connection import START, Connection, NoServer, NoToken

REFUSED = 1
USAGE = 2
UNREACHABLE = 3

_PATIENCE_SEC = 330.0
_CONNECT_SEC = 10.0
# The server sends a sign of life on an open answer every 15 seconds.
_SILENCE_SEC = 60.0


class Failed(Exception):
    """A command cannot go on: what to print on standard error, and the exit code."""

    def __init__(self, text: str, exit_code: int = REFUSED) -> None:
        super().__init__(text)
        self.text = text
        self.exit_code = exit_code


class Session:
    """One server, one token. Every answer is the decoded JSON; every failure is a `Failed`."""

    def __init__(self, connection: Connection) -> None:
        self.url = connection.url
        # A proxy of the environment has no business with a server on this machine.
        here = urlsplit(self.url).hostname in ("127.0.0.1", "::1", "localhost")
        self._client = httpx2.Client(
            base_url=f"{self.url}/api/v1",
            headers={"Authorization": f"Bearer {connection.token}", "Accept": "application/json"},
            timeout=httpx2.Timeout(_PATIENCE_SEC, connect=_CONNECT_SEC),
            trust_env=not here,
        )

    def close(self) -> None:
        """Let the connections go."""
        self._client.close()

    def get(self, path: str, **params: Any) -> Any:
        """Read; `None` parameters are left out."""
        return self._call("GET", path, params=_given(params))

    def post(self, path: str, body: Mapping[str, Any]) -> Any:
        """Write. A call that carries a requestId is sent a second time when its answer was lost on the way."""
        try:
            return self._call("POST", path, json=dict(body))
        except _AnswerLost:
            if "requestId" not in body:
                raise
        return self._call("POST", path, json=dict(body))

    def patch(self, path: str, body: Mapping[str, Any]) -> Any:
        """Change."""
        return self._call("PATCH", path, json=dict(body))

    def delete(self, path: str) -> Any:
        """Remove."""
        return self._call("DELETE", path)

    def text(self, path: str) -> str:
        """An answer that is plain text."""
        with self._reaching():
            answer = self._client.get(path)
        if not answer.is_success:
            raise _failure(answer)
        return answer.text

    def events(self, path: str, **params: Any) -> Iterator[dict[str, Any]]:
        """Server-sent events as they come, each its decoded data; ends when the server ends the stream."""
        return (data for _, data in self.named_events(path, **params))

    def named_events(self, path: str, **params: Any) -> Iterator[tuple[str, dict[str, Any]]]:
        """The same with the name of each event."""
        headers = {"Accept": "text/event-stream"}
        timeout = httpx2.Timeout(_SILENCE_SEC, connect=_CONNECT_SEC)
        with (
            self._reaching(),
            self._client.stream(
                "GET", path, params=_given(params), headers=headers, timeout=timeout
            ) as answer,
        ):
            if not answer.is_success:
                answer.read()
                raise _failure(answer)
            for name, data in _frames(answer.iter_lines()):
                found = _decoded(data, answer)
                if name == "error":
                    raise _refused(found, answer)
                yield name, found

    def _call(self, method: str, path: str, **options: Any) -> Any:
        with self._reaching():
            answer = self._client.request(method, path, **options)
        if not answer.is_success:
            raise _failure(answer)
        content = _decoded(answer.text, answer)
        # A wait opens its answer early, so what fails afterwards comes with status 200.
        if isinstance(content, dict) and set(content) == {"error"}:
            raise _refused(content, answer)
        return content

    @contextmanager
    def _reaching(self) -> Iterator[None]:
        try:
            yield
        except (httpx2.ConnectError, httpx2.ConnectTimeout) as problem:
            raise Failed(
                f"{self.url} cannot be reached: {one_line(problem)}. {START}", UNREACHABLE
            ) from problem
        except httpx2.TransportError as problem:
            raise _AnswerLost(
                f"{self.url} did not finish its answer ({type(problem).__name__}). Look at what it says now "
                "(`gitring status`, `gitring board`) before you repeat a change.",
                UNREACHABLE,
            ) from problem


class _AnswerLost(Failed):
    """The call left, but no answer came back whole."""


@contextmanager
def open_session(connect: Any) -> Iterator[Session]:
    """A session on the connection that `connect()` finds."""
    try:
        session = Session(connect())
    except NoServer as problem:
        raise Failed(str(problem), UNREACHABLE) from problem
    except NoToken as problem:
        raise Failed(str(problem), REFUSED) from problem
    try:
        yield session
    finally:
        session.close()


def _given(params: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in params.items() if value is not None}


def _decoded(text: str, answer: httpx2.Response) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        raise _not_gitring(answer) from None


def _failure(answer: httpx2.Response) -> Failed:
    return _refused(_decoded(answer.text, answer), answer)


def _refused(body: Any, answer: httpx2.Response) -> Failed:
    error = body.get("error") if isinstance(body, dict) else None
    if not isinstance(error, dict):
        return _not_gitring(answer)
    words = [one_line(error.get(name, ""), 2000) for name in ("message", "next")]
    return Failed(f"{one_line(error.get('code'), 60)}: {' '.join(words)}")


def _not_gitring(answer: httpx2.Response) -> Failed:
    return Failed(
        f"{answer.url} answered {answer.status_code}, and not as gitring does. Check the address. {START}",
        UNREACHABLE,
    )


def _frames(lines: Iterator[str]) -> Iterator[tuple[str, str]]:
    """Event name and data of each frame of an event stream."""
    name, data = "message", list[str]()
    for line in lines:
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if not line:
            if data:
                yield name, "\n".join(data)
            name, data = "message", []
        elif field == "event":
            name = value
        elif field == "data":
            data.append(value)
