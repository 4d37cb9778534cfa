"""Git's smart HTTP protocol by git itself: one `git http-backend` child per request, spoken to as CGI."""

import asyncio
from asyncio.subprocess import Process
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from storage.git.command import started

# Seconds between SIGTERM and SIGKILL.
_GRACE = 5.0
# A narrow clone may ask for hundreds of thousands of blobs in one request.
_LARGEST_NEGOTIATION = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class CgiRequest:
    """One request: `target` is the part behind the repository (`info/refs`), the rest are header values."""

    method: str
    target: str
    query: str = ""
    content_type: str = ""
    content_length: str = ""
    content_encoding: str = ""
    git_protocol: str = ""


@dataclass(frozen=True, slots=True)
class CgiHead:
    """The head of an answer."""

    status: int
    headers: tuple[tuple[bytes, bytes], ...]


@asynccontextmanager
async def http_backend(
    repository: Path,
    request: CgiRequest,
    settings: Mapping[str, str],
    env: Mapping[str, str] | None = None,
    pass_fds: Sequence[int] = (),
) -> AsyncIterator[Process]:
    """A running http-backend for one request on `repository`, with git `settings` on top of the repository's own.

    The body goes to its stdin; `read_head`, then the rest of stdout, is the answer. Leaving the block ends it.
    """
    variables = {
        "GIT_HTTP_EXPORT_ALL": "1",
        "GIT_HTTP_MAX_REQUEST_BUFFER": str(_LARGEST_NEGOTIATION),
        "PATH_TRANSLATED": f"{repository}/{request.target}",
        "REQUEST_METHOD": request.method,
        "QUERY_STRING": request.query,
        "CONTENT_TYPE": request.content_type,
        "CONTENT_LENGTH": request.content_length,
        "HTTP_CONTENT_ENCODING": request.content_encoding,
        "GIT_PROTOCOL": request.git_protocol,
        **_settings(settings),
    }
    given = {name: value for name, value in variables.items() if value}
    given["QUERY_STRING"] = request.query
    async with started(
        "http-backend", cwd=repository, env={**given, **(env or {})}, pass_fds=pass_fds, grace=_GRACE
    ) as process:
        yield process


async def read_head(stdout: asyncio.StreamReader) -> CgiHead | None:
    """The status and headers that open the answer, or None when the child ended without any."""
    try:
        raw = await stdout.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError):
        return None
    status, headers = 200, []
    for row in raw[:-4].split(b"\r\n"):
        name, _, value = row.partition(b":")
        if name.lower() == b"status":
            status = int(value.split()[0])
        else:
            headers.append((name.lower(), value.strip()))
    return CgiHead(status, tuple(headers))


def _settings(settings: Mapping[str, str]) -> dict[str, str]:
    variables = {"GIT_CONFIG_COUNT": str(len(settings))}
    for number, (key, value) in enumerate(settings.items()):
        variables[f"GIT_CONFIG_KEY_{number}"] = key
        variables[f"GIT_CONFIG_VALUE_{number}"] = value
    return variables
