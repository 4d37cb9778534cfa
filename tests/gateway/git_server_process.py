"""A gateway in a process of its own, on uvicorn's usual event loop, for tests that kill it.

Prints its url, then what it does, one line each. A push to the intent of the tests is judged for ever.
"""

import asyncio
import socket
import sys
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.routing import Mount

sys.path.insert(0, str(Path(__file__).parents[2]))

from storage.git.receive import RefUpdate
from storage.git.repository import Repository
from tests.gateway.git_server import INTENT, Story


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


async def judge(updates: list[RefUpdate], seen: Repository) -> None:
    if updates[0].ref == INTENT:
        say("judging")
        await asyncio.Event().wait()


class Telling(Story):
    async def record(self, access: object, updates: list[RefUpdate]) -> None:
        say(f"recorded {updates[0].ref} {updates[0].new}")


def main(repository: str, hooks: str) -> None:
    story = Telling(Repository(Path(repository)))
    story.judge = judge
    listener = socket.create_server(("127.0.0.1", 0))
    say(f"http://127.0.0.1:{listener.getsockname()[1]}")
    app = Starlette(routes=[Mount("/git", app=story.app(Path(hooks)))])
    config = uvicorn.Config(app, loop="uvloop", lifespan="off", log_level="error")
    uvicorn.Server(config).run(sockets=[listener])


if __name__ == "__main__":
    main(*sys.argv[1:])
