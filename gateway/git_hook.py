"""The gateway's side of the receive hooks: where they are, what they ask, how they are answered."""

import asyncio
import os
import re
import secrets
import socket
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from gateway import git_hook_child
from storage.git.receive import RefUpdate, parse_updates

PRE_RECEIVE = "pre-receive"
POST_RECEIVE = "post-receive"
_LONGEST_TEXT = 4_000
_LARGEST_QUESTION = 2 * 1024 * 1024
# The file is the same for every gateway; the push's environment says which Python and which channel.
_HOOK = '#!/bin/sh\nexec "$GITRING_HOOK_PYTHON" -I -S "$GITRING_HOOK_SCRIPT" %s\n'
_CONTROL = re.compile(r"[^\S\n]|[\x00-\x09\x0b-\x1f\x7f-\x9f]")


@dataclass(frozen=True, slots=True)
class Question:
    """What a hook asks: may these refs move (pre-receive), or: these refs moved (post-receive)."""

    hook: str
    quarantine: dict[str, str]
    updates: list[RefUpdate]


@dataclass(frozen=True, slots=True)
class Answer:
    """Whether git goes on, and text for the pusher ("" for none)."""

    allow: bool
    text: str = ""

    def encode(self) -> bytes:
        """The wire form; text is cut and loses control characters, for it ends on somebody's terminal."""
        text = _CONTROL.sub(" ", self.text)[:_LONGEST_TEXT].strip()
        return f"{'allow' if self.allow else 'refuse'}\n{text}\0".encode("utf-8", "replace")


def install_hooks(folder: Path) -> Path:
    """Write the two hook files into `folder` for git's core.hooksPath; several gateways may share it."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in (PRE_RECEIVE, POST_RECEIVE):
        draft = folder / f".{name}.{secrets.token_hex(4)}"
        draft.write_text(_HOOK % name, encoding="utf-8")
        draft.chmod(0o755)
        os.replace(draft, folder / name)
    return folder.absolute()


class HookChannel:
    """A socket pair between the gateway and the hooks of one push: no name, no address, nobody else can reach it."""

    def __init__(self) -> None:
        self._ours, self._theirs = socket.socketpair()
        self.child_fd = self._theirs.fileno()
        self.env = {
            "GITRING_HOOK_FD": str(self.child_fd),
            "GITRING_HOOK_PYTHON": sys.executable,
            "GITRING_HOOK_SCRIPT": os.path.abspath(git_hook_child.__file__),
        }

    def __enter__(self) -> "HookChannel":
        return self

    def __exit__(self, *_: object) -> None:
        self.child_started()
        self._ours.close()

    def child_started(self) -> None:
        """Close the hooks' end here, so that the end of the push ends the conversation."""
        self._theirs.close()

    async def converse(self, answer: Callable[[Question], Awaitable[Answer]]) -> None:
        """Answer each hook of the push in turn; returns when git and its hooks are gone."""
        reader, writer = await asyncio.open_unix_connection(sock=self._ours, limit=_LARGEST_QUESTION)
        try:
            while size := await reader.readline():
                question = await _question(reader, int(size))
                reply = question if isinstance(question, Answer) else await answer(question)
                writer.write(reply.encode())
                await writer.drain()
        finally:
            writer.close()


async def _question(reader: asyncio.StreamReader, size: int) -> Question | Answer:
    if size > _LARGEST_QUESTION:
        # The hook hears nothing before it has said all.
        while size > 0:
            size -= len(await reader.readexactly(min(size, _LARGEST_QUESTION)))
        return Answer(False, "This push moves too many refs at once: push them in several steps.")
    hook, objects, alternates, quarantine, updates = (await reader.readexactly(size)).split(b"\0", 4)
    env = dict(zip(git_hook_child.QUARANTINE, (objects, alternates, quarantine), strict=True))
    try:
        parsed = parse_updates(updates)
    except ValueError as error:
        return Answer(False, str(error))
    return Question(hook.decode(), {os.fsdecode(k): os.fsdecode(v) for k, v in env.items() if v}, parsed)
