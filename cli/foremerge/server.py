"""Calls to the server: the JSON API of this face, and gitring's own for what an operator sets up."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import httpx2

from cli.clean import one_line
from cli.foremerge.failing import Failure, of_gitring
from cli.foremerge.place import Target, is_local
from protocol.foremerge.errors import ErrorCode

_CONNECT_SEC = 10.0
_PATIENCE_SEC = 330.0
# A check takes an hour at most, and waits for its turn before that.
CHECK_SEC = 7_500.0
# The server sends a sign of life on an open stream every 15 seconds.
_SILENCE_SEC = 60.0


class Server:
    """One server with one token. Answers are decoded JSON; every failure is a `Failure`."""

    def __init__(self, target: Target) -> None:
        self.url = target.url
        headers = {"Authorization": f"Bearer {target.token}", "Accept": "application/json"}
        if target.project:
            headers["Gitring-Project"] = target.project
        self._client = httpx2.Client(
            base_url=target.url,
            headers=headers,
            timeout=httpx2.Timeout(_PATIENCE_SEC, connect=_CONNECT_SEC),
            # A proxy of the environment has no business with a server on this machine.
            trust_env=not is_local(target.url),
        )

    def close(self) -> None:
        """Let the connections go."""
        self._client.close()

    def get(self, path: str, /, **query: Any) -> Any:
        """The data of a read; a parameter that is None is left out."""
        return self._data("GET", path, params=_given(query))

    def post(self, path: str, body: Mapping[str, Any], seconds: float = _PATIENCE_SEC) -> Any:
        """The data of a write."""
        timeout = httpx2.Timeout(seconds, connect=_CONNECT_SEC)
        return self._data("POST", path, json=_given(body), timeout=timeout)

    def of_gitring(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """An answer of `/api/v1`."""
        answer = self._send(method, f"/api/v1{path}", **({} if body is None else {"json": dict(body)}))
        content = decoded(answer)
        error = content.get("error") if isinstance(content, dict) else None
        if not answer.is_success or (isinstance(error, dict) and set(content) == {"error"}):
            raise of_gitring(error if isinstance(error, dict) else {}, answer.status_code)
        return content

    def raw(self, method: str, path: str, body: Any = None) -> httpx2.Response:
        """The answer as it came."""
        return self._send(method, path, **({} if body is None else {"json": body}))

    def events(self, after: int) -> Iterator[dict[str, Any]]:
        """The ledger's events as they are committed; ends when the server ends the stream."""
        timeout = httpx2.Timeout(_SILENCE_SEC, connect=_CONNECT_SEC)
        headers = {"Accept": "text/event-stream"}
        try:
            with self._client.stream(
                "GET", "/v1/events/stream", params={"after_seq": after}, headers=headers, timeout=timeout
            ) as answer:
                if not answer.is_success:
                    answer.read()
                    raise failure_of(answer)
                yield from _events(answer.iter_lines())
        except httpx2.TransportError as problem:
            raise unreachable(self.url, problem) from problem

    def _data(self, method: str, path: str, **options: Any) -> Any:
        answer = self._send(method, path, **options)
        content = decoded(answer)
        if not isinstance(content, dict) or content.get("ok") is not True:
            raise failure_of(answer)
        return content["data"]

    def _send(self, method: str, path: str, **options: Any) -> httpx2.Response:
        try:
            return self._client.request(method, path, **options)
        except httpx2.TransportError as problem:
            raise unreachable(self.url, problem) from problem


def unreachable(url: str, problem: Exception) -> Failure:
    """NOT_READY: no server answered, or it did not finish."""
    if isinstance(problem, (httpx2.ConnectError, httpx2.ConnectTimeout)):
        return Failure(
            ErrorCode.NOT_READY,
            f"{url} cannot be reached ({one_line(problem, 200)}). Start the server with `foremerge daemon`.",
        )
    return Failure(
        ErrorCode.NOT_READY,
        f"{url} did not finish its answer ({type(problem).__name__}). Read what it says now before you repeat a change.",
    )


def decoded(answer: httpx2.Response) -> Any:
    """The JSON of an answer. Raises API_ERROR."""
    try:
        return json.loads(answer.text)
    except ValueError:
        raise _stranger(answer) from None


def failure_of(answer: httpx2.Response) -> Failure:
    """What a failed answer of this face says."""
    content = decoded(answer)
    error = content.get("error") if isinstance(content, dict) else None
    if not isinstance(error, dict) or error.get("code") not in ErrorCode.__members__:
        return of_gitring(error, answer.status_code) if isinstance(error, dict) else _stranger(answer)
    return Failure(ErrorCode(error["code"]), str(error.get("message", "")))


def _stranger(answer: httpx2.Response) -> Failure:
    return Failure(
        ErrorCode.API_ERROR,
        f"{answer.url} answered {answer.status_code}, and not as gitring does. Check the address (--database).",
    )


def _given(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def _events(lines: Iterator[str]) -> Iterator[dict[str, Any]]:
    name, data = "", list[str]()
    for line in lines:
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if not line:
            if data and name == "error":
                raise of_gitring(json.loads("\n".join(data)).get("error", {}), 500)
            if data:
                yield json.loads("\n".join(data))
            name, data = "", []
        elif field == "event":
            name = value
        elif field == "data":
            data.append(value)
