"""The stack in this process: which servers it brings, and when it stops trying."""

import asyncio
from pathlib import Path
from typing import NoReturn

import pytest
from pydantic import SecretStr

from runtime.migrate_process import RecordUnreachable
from runtime.settings import Settings
from runtime.stack import Stack
from runtime.supervise import BackOff, GaveUp
from runtime.up import run_stack
from tests.support.running import started_on
from tests.support.servers import TemporalPlace
from tests.support.standins import COMMANDS, bootstrap, command

QUICK = BackOff(first=0.01, longest=0.02, attempts=2)


@pytest.fixture
def outside(database: str, nats_url: str, temporal: TemporalPlace, tmp_path: Path) -> Settings:
    """Settings in which every server is an outside one."""
    return Settings(
        data_dir=tmp_path / "data",
        port=0,
        database_url=SecretStr(database),
        nats_url=SecretStr(nats_url),
        temporal_address=temporal.address,
    )


async def test_a_server_that_is_set_is_not_embedded(outside: Settings) -> None:
    stack = Stack(outside, say=print, bootstrap=bootstrap, commands=COMMANDS)
    try:
        await stack.start()
        connection = stack.folder.read("connection.json")
        assert sorted(connection["pids"]) == ["gateway", "worker"]
        assert connection["postgres"] == outside.environment()["GITRING_DATABASE_URL"]
        assert connection["nats"] == outside.environment()["GITRING_NATS_URL"]
        assert connection["temporal"] == outside.temporal_address
        assert connection["temporal_ui"] is None
        assert not (outside.data_dir / "postgres").exists()
    finally:
        await stack.stop()
    assert stack.folder.read("connection.json") == {}


async def test_a_process_that_keeps_ending_is_given_up_with_its_last_words(outside: Settings) -> None:
    said: list[str] = []
    commands = {**COMMANDS, "worker": command("brief_worker")}
    stack = Stack(outside, say=said.append, bootstrap=bootstrap, commands=commands, back_off=QUICK)
    try:
        await stack.start()
        async with asyncio.timeout(30):
            with pytest.raises(GaveUp, match=r"worker failed 3 times in a row.*exit code 3"):
                await stack.keep()
    finally:
        await stack.stop()
    assert [line for line in said if "restart" in line] == [
        "worker ended (exit code 3), restart 1",
        "worker ended (exit code 3), restart 2",
    ]


async def test_an_outside_record_that_lets_nobody_in_is_told(outside: Settings) -> None:
    closed = outside.with_values(database_url=SecretStr("postgresql://gitring:wrong@127.0.0.1:1/gitring"))
    stack = Stack(closed, say=print, bootstrap=bootstrap, commands=COMMANDS)
    try:
        with pytest.raises(RecordUnreachable, match="GITRING_DATABASE_URL"):
            await stack.start()
    finally:
        await stack.stop()


def test_pauses_double_up_to_the_longest() -> None:
    back_off = BackOff(first=0.1, longest=1.0)
    assert [back_off.pause(failures) for failures in range(1, 7)] == [0.1, 0.2, 0.4, 0.8, 1.0, 1.0]


async def test_an_unforeseen_failure_stops_everything_before_it_shows(outside: Settings) -> None:
    async def failing(settings: Settings) -> NoReturn:
        raise ZeroDivisionError

    embedded = outside.with_values(nats_url=None)
    stack = Stack(embedded, say=print, bootstrap=failing, commands=COMMANDS)
    with pytest.raises(ZeroDivisionError):
        await run_stack(stack, print)
    assert started_on(embedded.data_dir) == []
    assert not stack.folder.locked
