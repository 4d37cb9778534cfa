"""The owner of the demo, over REST: one project, and a token for each agent."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2

from cli.demo_repository import CHECK, MadeRepository
from cli.demo_stack import StepFailed

SLUG = "toolbox"


@asynccontextmanager
async def owner(connection: dict[str, Any]) -> AsyncIterator[httpx2.AsyncClient]:
    """REST as the owner."""
    async with httpx2.AsyncClient(
        base_url=f"{connection['url']}/api/v1",
        headers={"Authorization": f"Bearer {connection['owner_token']}"},
        timeout=60,
        trust_env=False,
    ) as client:
        yield client


async def set_up(rest: httpx2.AsyncClient, repository: MadeRepository) -> str:
    """Import the repository; the project's id."""
    checks = {"test": CHECK, "timeoutSec": 120}
    body = {"slug": SLUG, "source": str(repository.path), "checks": checks}
    return str((await post(rest, "/projects", body))["id"])


async def new_token(rest: httpx2.AsyncClient, name: str) -> str:
    """A token for one agent."""
    return str((await post(rest, "/tokens", {"name": name, "projects": [SLUG]}))["token"])


async def post(rest: httpx2.AsyncClient, path: str, body: dict[str, Any]) -> Any:
    """A REST call that must succeed."""
    return _answer(await rest.post(path, json=body))


async def get(rest: httpx2.AsyncClient, path: str) -> Any:
    """A REST read that must succeed."""
    return _answer(await rest.get(path))


def _answer(response: httpx2.Response) -> Any:
    if not response.is_success:
        raise StepFailed(f"{response.request.url.path} answered {response.status_code}: {response.text}")
    return response.json()
