"""Twenty programs at once, each another agent's, all after one symbol."""

import asyncio
import json
import os
from pathlib import Path
from typing import Any

from tests.cli.foremerge import PROGRAM, Foremerge, repository
from tests.support.stack import RunningStack

CROWD = 20


async def _publish(folder: Path, agent: str, number: int) -> Any:
    words = f"Rework alpha{number} beta{number} gamma{number}"
    given = ("--agent", agent, "--task", "t", "--summary", words, "--scope", "symbol:Shared=replace")
    plain = {
        name: value for name, value in os.environ.items() if not name.startswith(("GITRING_", "FOREMERGE_"))
    }
    process = await asyncio.create_subprocess_exec(
        *(PROGRAM, "--json", "intent", "publish", *given),
        cwd=folder,
        env={**plain, "GITRING_DATA_DIR": str(folder / "nowhere")},
        stdout=asyncio.subprocess.PIPE,
    )
    out, _ = await process.communicate()
    answer = json.loads(out)
    assert answer["ok"] is True, answer
    return answer["data"]


async def test_twenty_programs_at_once_are_each_told_of_all_who_published_before(
    stack: RunningStack, tmp_path: Path
) -> None:
    folder = repository(tmp_path / "crowded")
    Foremerge(folder, {"FOREMERGE_DB": str(stack.folder / "connection.json")})("init")
    fm = Foremerge(folder)
    agents = [fm("agent", "register", "--name", f"agent {n}")["id"] for n in range(CROWD)]
    async with asyncio.timeout(90):
        told = await asyncio.gather(*(_publish(folder, agent, n) for n, agent in enumerate(agents)))
    assert sorted(len(answer["conflicts"]) for answer in told) == list(range(CROWD))
    pairs = {
        frozenset((found["source_intent_id"], found["target_intent_id"]))
        for answer in told
        for found in answer["conflicts"]
    }
    assert len(pairs) == CROWD * (CROWD - 1) // 2
    assert fm("events", "audit")["valid"] is True
