"""`gitring up` from outside: a process, its signals, its files and the servers it brings."""

import json
import os
import signal
import stat
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import asyncpg
import httpx2
import nats
import psutil
import pytest
import pytest_asyncio
from temporalio.client import Client

from runtime.leftovers import is_alive, record_of
from tests.support.running import Running, outlived, running_up, started_on

SERVERS = ("postgres", "nats", "temporal", "gateway", "worker")


@pytest_asyncio.fixture(scope="module")
async def up(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Running]:
    """A first start that is ready, for tests that only look at it."""
    async with running_up(tmp_path_factory.mktemp("first") / "data") as running:
        await running.ready()
        yield running


async def everything_answers(connection: dict[str, Any]) -> None:
    record = await asyncpg.connect(connection["postgres"])
    assert await record.fetchval("SELECT count(*) FROM migration") >= 1
    await record.close()
    bus = await nats.connect(connection["nats"])
    assert (await bus.jetstream().stream_info("GITRING")).config.name == "GITRING"
    await bus.close()
    await Client.connect(connection["temporal"], namespace=connection["temporal_namespace"])
    async with httpx2.AsyncClient(trust_env=False) as client:
        assert (await client.get(f"{connection['url']}/readyz")).status_code == 200
        assert (await client.get(connection["temporal_ui"])).status_code == 200


async def test_a_first_start_brings_everything_and_says_where(up: Running) -> None:
    connection = up.connection()
    await everything_answers(connection)
    assert list(connection) == [
        *("url", "mcp", "foremerge_mcp", "git", "nats", "temporal", "temporal_namespace"),
        *("temporal_ui", "postgres", "owner_token", "pids"),
    ]
    assert connection["mcp"] == connection["url"] + "/mcp"
    assert connection["foremerge_mcp"] == connection["url"] + "/mcp/foremerge"
    assert connection["git"] == connection["url"] + "/git"
    assert sorted(connection["pids"]) == sorted(SERVERS)
    assert all(psutil.pid_exists(pid) for pid in connection["pids"].values())
    assert any("works once" in line and connection["url"] in line for line in up.said)
    assert not any("gitring_person_" in line or "gitring:" in line for line in up.said)


async def test_files_with_secrets_are_for_their_owner_only(up: Running) -> None:
    for name in ("connection.json", "passwords.json", "owner_token", "nats/nats.conf"):
        assert stat.S_IMODE((up.folder / name).stat().st_mode) == 0o600, name
    # Root leaves a way through for its checks' own users; listed it can be by nobody else.
    passable = 0o711 if os.geteuid() == 0 else 0o700
    assert stat.S_IMODE(up.folder.stat().st_mode) == passable


async def leave_marks(connection: dict[str, Any]) -> None:
    record = await asyncpg.connect(connection["postgres"])
    await record.execute("INSERT INTO person (id, name, created_at) VALUES ('per_1', 'Mary', now())")
    await record.close()
    bus = await nats.connect(connection["nats"])
    await bus.jetstream().publish("gitring.v1.prj_1._.mark", b"kept")
    await bus.close()
    client = await Client.connect(connection["temporal"], namespace=connection["temporal_namespace"])
    await client.start_workflow("Kept", id="kept", task_queue="nobody")


async def find_marks(connection: dict[str, Any]) -> None:
    record = await asyncpg.connect(connection["postgres"])
    assert await record.fetchval("SELECT name FROM person WHERE id = 'per_1'") == "Mary"
    await record.close()
    bus = await nats.connect(connection["nats"])
    message = await bus.jetstream().get_last_msg("GITRING", "gitring.v1.prj_1._.mark")
    assert message.data == b"kept"
    await bus.close()
    client = await Client.connect(connection["temporal"], namespace=connection["temporal_namespace"])
    assert (await client.get_workflow_handle("kept").describe()).status is not None


async def test_a_clean_stop_leaves_nothing_and_a_restart_goes_on_where_it_was(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    async with running_up(folder) as up:
        before = await up.ready()
        await leave_marks(before)
        assert await up.stop() == 0
        assert started_on(folder) == []
        assert not (folder / "connection.json").exists()
    async with running_up(folder) as up:
        after = await up.ready()
        await find_marks(after)
        assert {**after, "pids": {}} == {**before, "pids": {}}
        assert not any("works once" in line for line in up.said)


async def test_a_killed_up_recovers_at_the_next_start(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    async with running_up(folder, alone=False) as up:
        before = await up.ready()
        await leave_marks(before)
        up.process.kill()
        assert await up.ends() == -signal.SIGKILL
    async with running_up(folder) as up:
        after = await up.ready()
        await find_marks(after)
        assert not {*before["pids"].values()} & {*after["pids"].values()}
        assert {p.pid for p in started_on(folder)} >= {*after["pids"].values()}
    assert started_on(folder) == []


async def test_a_server_that_outlived_a_killed_up_is_ended_before_the_next_start(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    with outlived() as process:
        record = record_of(process.pid, signal.SIGTERM)
        folder.mkdir()
        (folder / "processes.json").write_text(json.dumps({"nats": record}))
        async with running_up(folder) as up:
            await up.ready()
            assert up.said[1].startswith("nats was still running")
            assert not is_alive(process)


async def test_a_second_up_on_the_same_folder_is_refused(up: Running) -> None:
    connection = up.connection()
    async with running_up(up.folder, alone=False) as second:
        assert await second.ends() == 1
    line = second.said[-1]
    assert f"pid {up.process.pid}" in line and connection["url"] in line and "--data-dir" in line
    assert up.connection() == connection
    await everything_answers(connection)


async def test_whatever_is_killed_is_started_again_and_that_is_said(tmp_path: Path) -> None:
    async with running_up(tmp_path / "data") as up:
        before = await up.ready()
        for name in SERVERS:
            os.kill(before["pids"][name], signal.SIGKILL)
            await up.line(f"{name} ended (signal SIGKILL), restart 1")
            await up.line(f"{name} is ready again")
        after = up.connection()
        assert not {*before["pids"].values()} & {*after["pids"].values()}
        assert {**after, "pids": {}} == {**before, "pids": {}}
        assert stat.S_IMODE((up.folder / "connection.json").stat().st_mode) == 0o600
        await everything_answers(after)


async def test_a_gateway_that_ends_at_start_is_told_with_its_last_words(tmp_path: Path) -> None:
    async with running_up(tmp_path / "data", "broken_gateway") as up:
        assert await up.ends() == 1
        assert "gateway ended with exit code 1" in "\n".join(up.said)
        assert "the gateway is broken" in up.said
        assert started_on(up.folder) == []


async def test_a_second_signal_ends_what_will_not_stop(tmp_path: Path) -> None:
    async with running_up(tmp_path / "data", "stubborn_gateway") as up:
        await up.ready()
        up.process.send_signal(signal.SIGTERM)
        await up.line("stopping")
        up.process.send_signal(signal.SIGTERM)
        assert await up.ends() == 1
        assert started_on(up.folder) == []
        assert not (up.folder / "connection.json").exists()


@pytest.mark.parametrize("line", ["starting", "the record is prepared"])
async def test_a_signal_during_the_start_leaves_nothing_running(tmp_path: Path, line: str) -> None:
    async with running_up(tmp_path / "data", "silent_gateway") as up:
        await up.line(line)
        assert await up.stop() == 0
        assert started_on(up.folder) == []
        assert not any(text.startswith("gitring is ready") for text in up.said)
