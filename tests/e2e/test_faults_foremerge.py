"""A worker that is killed in the middle of a Foremerge publication leaves one intent or none, and a whole ledger."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
import pytest_asyncio

from tests.e2e.locks import release, trap
from tests.e2e.scenes import APP
from tests.support.agent import Answer, Owner, owner_of
from tests.support.stack import RunningStack

pytestmark = pytest.mark.timeout(240)


@pytest_asyncio.fixture
async def owner(broken: RunningStack, tmp_path: Path) -> AsyncIterator[Owner]:
    async with owner_of(broken.connection, tmp_path) as found:
        yield found


@pytest_asyncio.fixture
async def door(broken: RunningStack, owner: Owner) -> AsyncIterator[tuple[Answer, httpx2.AsyncClient]]:
    """A project, and its `/v1` as the owner."""
    project = await owner.project(APP, "true")
    headers = {
        "Authorization": f"Bearer {broken.connection['owner_token']}",
        "Gitring-Project": project["id"],
    }
    async with httpx2.AsyncClient(
        base_url=broken.connection["url"], headers=headers, timeout=90, trust_env=False
    ) as http:
        yield project, http


async def data(answer: httpx2.Response) -> Any:
    """What an answer of `/v1` holds."""
    assert answer.status_code == 200, answer.text
    return answer.json()["data"]


async def test_a_worker_killed_in_mid_publication_loses_nothing_and_doubles_nothing(
    broken: RunningStack, owner: Owner, door: tuple[Answer, httpx2.AsyncClient]
) -> None:
    project, http = door
    registered = await data(await http.post("/v1/agents/register", json={"name": "codex", "model": "m"}))
    given = {
        "agent_id": registered["id"],
        "task": "Pay",
        "summary": "Change how payments are made",
        "scopes": [{"kind": "symbol", "key": "Payments.pay", "operation": "modify"}],
    }
    async with trap(broken.connection["postgres"], "INSERT", "intent", project["id"]) as caught:
        publishing = asyncio.create_task(http.post("/v1/intents", json=given))
        await caught.caught()
        broken.kill("worker")
        await release(caught)
    await broken.wait_restarted("worker")
    answer = await publishing
    assert answer.status_code == 200 or answer.json()["error"]["code"], answer.text
    status = await data(await http.get("/v1/status"))
    [intent] = [intent for group in status["intents"] for intent in group["intents"]]
    assert intent["summary"] == given["summary"]
    again = await data(await http.post("/v1/intents", json={**given, "summary": "Pay in another way"}))
    assert again["intent"]["id"] != intent["id"]
    await owner.audit(project)
