"""The embedded servers one by one: what their folders survive."""

import asyncio
import os
import pwd
import sys
from pathlib import Path

import asyncpg
import pytest

from runtime.embedded.account import CAPABILITIES, NoAccount, unprivileged_account
from runtime.embedded.postgres import Postgres
from runtime.embedded.process import Command, ServerFailed, spawn, until_ready
from runtime.ports import free_port
from tests.support.servers import nats_server, served

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="about an account that only root can take")


def cluster(folder: Path) -> Postgres:
    return Postgres(folder / "postgres", free_port(), "pass/word", folder / "log", settings={"fsync": "off"})


async def test_a_pid_file_whose_number_is_someone_elses_now_does_not_stop_postgres(tmp_path: Path) -> None:
    postgres = cluster(tmp_path)
    await postgres.prepare()
    file = postgres.folder / "postmaster.pid"
    file.write_text(f"{os.getppid()}\n{postgres.folder}\n1\n{postgres.port}\n\n127.0.0.1\n\nready\n")
    os.chown(file, postgres.folder.stat().st_uid, postgres.folder.stat().st_gid)
    async with served(postgres):
        assert file.read_text().split("\n")[0] != str(os.getppid())


async def test_a_half_made_cluster_is_made_anew(tmp_path: Path) -> None:
    partial = tmp_path / "postgres.partial"
    partial.mkdir()
    (partial / "PG_VERSION").write_text("18\n")
    async with served(cluster(tmp_path)) as postgres:
        assert not partial.exists()
        assert (postgres.folder / "PG_VERSION").exists()


async def test_a_cluster_of_another_version_is_refused(tmp_path: Path) -> None:
    postgres = cluster(tmp_path)
    postgres.folder.mkdir()
    (postgres.folder / "PG_VERSION").write_text("12\n")
    with pytest.raises(ServerFailed, match=r"made by Postgres 12"):
        await postgres.prepare()


async def test_postgres_wants_its_password_and_keeps_what_it_confirmed(tmp_path: Path) -> None:
    async with served(
        Postgres(tmp_path / "postgres", free_port(), "pass/word", tmp_path / "log")
    ) as postgres:
        session = await asyncpg.connect(postgres.url_of("postgres"))
        assert await session.fetchval("SHOW fsync") == "on"
        assert await session.fetchval("SHOW synchronous_commit") == "on"
        assert await session.fetchval("SHOW listen_addresses") == "127.0.0.1"
        await session.close()
        with pytest.raises(asyncpg.InvalidPasswordError):
            await asyncpg.connect(postgres.url_of("postgres"), password="guess")
    assert not (tmp_path / "postgres.password").exists()


async def test_nats_wants_its_password(tmp_path: Path) -> None:
    async with served(nats_server(tmp_path)) as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        assert (await reader.readline()).startswith(b"INFO ")
        writer.write(b'CONNECT {"verbose": true}\r\n')
        assert await reader.readline() == b"-ERR 'Authorization Violation'\r\n"
        writer.close()
        await writer.wait_closed()


async def test_a_port_that_is_taken_is_told_with_the_servers_own_words(tmp_path: Path) -> None:
    async with served(nats_server(tmp_path)) as first:
        (tmp_path / "second").mkdir()
        second = nats_server(tmp_path / "second")
        second.port = first.port
        await second.prepare()
        child = await spawn(second.command())
        with pytest.raises(ServerFailed, match=r"(?s)nats ended with exit code 1.*address already in use"):
            await until_ready(child, asyncio.Event().wait(), 30)


@as_root
async def test_a_cluster_that_root_copied_is_handed_to_the_account_again(tmp_path: Path) -> None:
    postgres = cluster(tmp_path)
    await postgres.prepare()
    for path in (postgres.folder, *postgres.folder.rglob("*")):
        os.chown(path, 0, 0)
    async with served(postgres):
        assert postgres.folder.stat().st_uid != 0


@as_root
def test_folders_that_only_root_may_enter_are_entered_with_one_capability(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    account = unprivileged_account("nobody", [closed / "postgres"])
    assert account and account.uid == pwd.getpwnam("nobody").pw_uid
    assert account.capability in CAPABILITIES
    open_to_all = unprivileged_account("nobody", [Path("/usr/bin/env")])
    assert open_to_all and open_to_all.capability is None


@as_root
def test_an_account_that_does_not_exist_is_told() -> None:
    with pytest.raises(NoAccount, match="GITRING_POSTGRES_ACCOUNT"):
        unprivileged_account("no-such-account", [])


DEAF_PARENT = """
import os, signal, subprocess, sys
pipe = int(sys.argv[1])
signal.signal(signal.SIGTERM, signal.SIG_IGN)
subprocess.Popen(["sleep", "600"], pass_fds=[pipe])
os.write(pipe, b"up\\n")
signal.pause()
"""


async def test_a_child_that_will_not_stop_is_ended_with_all_it_started(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    argv = (sys.executable, "-c", DEAF_PARENT, str(writing))
    child = await spawn(Command("deaf", argv, tmp_path / "log", pass_fds=(writing,)))
    os.close(writing)
    pipe = asyncio.StreamReader()
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(pipe), os.fdopen(reading, "rb")
    )
    try:
        async with asyncio.timeout(30):
            assert await pipe.readline() == b"up\n"
            assert await child.stop(grace=0.1) is False
            # Both hold the pipe; it closes when the last of them is gone.
            assert await pipe.read() == b""
    finally:
        child.kill()
        transport.close()
    assert child.ended
