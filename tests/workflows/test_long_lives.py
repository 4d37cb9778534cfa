"""Long lives: a run is left for a new one with one small state, and nothing is lost or done twice."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest_asyncio

from protocol.names import intent_workflow, line_workflow
from protocol.states import State
from runtime.embedded.process import Command
from runtime.embedded.temporal import Temporal
from runtime.ports import free_port
from tests.support.engine import Engine, running_engine
from tests.support.servers import NAMESPACE, TemporalPlace, fresh_database, served

SHORT = "limit.historyCount.suggestContinueAsNew=60"


class ShortLived(Temporal):
    """A Temporal that suggests to continue as new after 60 events."""

    def command(self) -> Command:
        """The product's command line with one limit lowered."""
        usual = super().command()
        return replace(usual, argv=(*usual.argv, "--dynamic-config-value", SHORT))


@pytest_asyncio.fixture
async def short_lived(postgres: Any, nats_url: str, tmp_path: Path) -> AsyncIterator[Engine]:
    """An engine whose workflows have to leave their runs often."""
    server = ShortLived(None, free_port(), tmp_path / "temporal.log", namespace=NAMESPACE)
    async with served(server) as running, fresh_database(postgres) as dsn:
        place = TemporalPlace(running.address, running.namespace)
        async with running_engine(dsn, nats_url, place, tmp_path) as engine:
            yield engine


async def _runs(engine: Engine, workflow_id: str) -> int:
    """How many runs a workflow has had."""
    query = f"WorkflowId = '{workflow_id}'"
    return len([run async for run in engine.found.temporal.list_workflows(query)])


async def test_an_intent_with_many_pushes_and_a_queue_with_many_rounds_outlive_their_runs(
    short_lived: Engine,
) -> None:
    project = await short_lived.project(test="true")
    long = await project.declare("app/f0.py")
    head = None
    for n in range(8):
        head = await project.push(long, {"app/f0.py": f"push {n}\n"}, onto=head)
    for n in range(1, 7):
        intent = await project.declare(f"app/f{n}.py")
        await project.push(intent, {f"app/f{n}.py": "new\n"})
        await project.submit(intent)
        await project.until(intent, State.MERGED)
    await project.submit(long)
    merged = await project.until(long, State.MERGED)
    assert merged.intent.submitted_head == head
    assert project.line() == ["Merge #1: Work", *(f"Merge #{n}: Work" for n in range(7, 1, -1)), "first"]
    assert (await short_lived.operations.audit(short_lived.owner, project.slug)).valid
    assert await _runs(short_lived, intent_workflow(long.intent.id)) > 1
    assert await _runs(short_lived, line_workflow(project.id, "main")) > 1
