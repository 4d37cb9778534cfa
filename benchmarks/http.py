"""A keep-alive HTTP/1.1 connection that costs next to nothing, so that a thousand of them do not measure the client."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode, urlsplit


class CallFailed(Exception):
    """An answer that is not a success; the text holds the status and the body's beginning."""


@dataclass(frozen=True)
class Reply:
    """One answer: `ended_at` is the wall clock at its last byte."""

    status: int
    body: bytes
    ended_at: float

    def json(self) -> dict[str, Any]:
        """The body; raises CallFailed for an error, also one told in a body that was opened with 200."""
        content: dict[str, Any] = json.loads(self.body)
        if self.status >= 300 or "error" in content:
            raise CallFailed(f"{self.status} {self.body[:400].decode('utf-8', 'replace')}")
        return content


class Connection:
    """One connection to the gateway, for one call at a time."""

    def __init__(self, url: str, token: str) -> None:
        at = urlsplit(url)
        self._place = (str(at.hostname), int(at.port or 80))
        self._head = f"Host: bench\r\nAuthorization: Bearer {token}\r\n"

    async def open(self) -> None:
        """Dial; large answers are read whole."""
        self._reader, self._writer = await asyncio.open_connection(*self._place, limit=1024 * 1024)

    async def send(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> None:
        """Send a request without reading its answer; a connection that the gateway closed while idle is opened again."""
        if self._reader.at_eof():
            await self.open()
        content = b"" if body is None else json.dumps(body).encode()
        kind = "Content-Type: application/json\r\n" if body is not None else ""
        head = f"{method} {path} HTTP/1.1\r\n{self._head}{kind}Content-Length: {len(content)}\r\n\r\n"
        self._writer.write(head.encode() + content)
        await self._writer.drain()

    async def reply(self) -> Reply:
        """The answer of the request that was sent."""
        head = (await self._reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = {
            name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:])
        }
        if "content-length" in headers:
            body = await self._reader.readexactly(int(headers["content-length"]))
        else:
            body = await self._chunks()
        return Reply(int(head[0].split(" ")[1]), body, time.time())

    async def _chunks(self) -> bytes:
        parts = []
        while size := int(await self._reader.readline(), 16):
            parts.append(await self._reader.readexactly(size))
            await self._reader.readexactly(2)
        await self._reader.readline()
        return b"".join(parts)

    async def stream(self, path: str) -> AsyncIterator[dict[str, Any]]:
        """Each server-sent event of an answer, until the caller has enough and hangs up."""
        await self.send("GET", path)
        await self._reader.readuntil(b"\r\n\r\n")
        text = b""
        while size := int(await self._reader.readline(), 16):
            text += await self._reader.readexactly(size)
            await self._reader.readexactly(2)
            *whole, text = text.split(b"\n\n")
            for block in whole:
                data = [line[5:] for line in block.split(b"\n") if line.startswith(b"data:")]
                if data:
                    yield json.loads(data[0])

    async def call(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """One call; its JSON. Raises CallFailed."""
        await self.send(method, path, body)
        return (await self.reply()).json()

    async def close(self) -> None:
        """Hang up."""
        self._writer.close()


def wait_path(intent_id: str, after_seq: int, seconds: int) -> str:
    """The address of `gitring_wait`'s twin."""
    return f"/api/v1/intents/{intent_id}/wait?{urlencode({'afterSeq': after_seq, 'seconds': seconds})}"


async def connect(url: str, token: str) -> Connection:
    """Open a connection."""
    connection = Connection(url, token)
    await connection.open()
    return connection


@asynccontextmanager
async def connected(url: str, token: str) -> AsyncIterator[Connection]:
    """A connection for the length of a block."""
    connection = await connect(url, token)
    try:
        yield connection
    finally:
        await connection.close()
