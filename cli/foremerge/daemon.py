"""`foremerge daemon`: the server this repository talks to, reused when it runs, started when it does not."""

import os
import signal
import subprocess
import sys
from dataclasses import replace
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from cli.connection import data_dir
from cli.foremerge.failing import Failure, bad
from cli.foremerge.initializing import initialize
from cli.foremerge.link import connection_file
from cli.foremerge.place import Place
from protocol.foremerge.errors import ErrorCode

_READY = "Stop it with"


def run(place: Place, bind: str | None, no_auth: bool) -> dict[str, Any]:
    """Tie the repository to the server that runs; without one, be that server until a signal. Raises Failure."""
    if no_auth:
        raise bad(
            "--no-auth is not for this server: every call shows a token. `foremerge init` keeps one for you."
        )
    host, port = _bound(bind)
    running = _running(place)
    if running is not None:
        if bind is not None and not running.endswith(f":{port}"):
            raise Failure(
                ErrorCode.ALREADY_EXISTS,
                f"The server runs already, at {running}. Leave --bind out, or stop it first.",
            )
        return {**initialize(place, None), "started": False}
    if place.named and "://" in place.named:
        raise Failure(
            ErrorCode.NOT_READY, f"No server answers at {place.named}, and it is not one to start here."
        )
    return {**_serve(place, host, port), "started": True}


def _bound(bind: str | None) -> tuple[str, int]:
    host, _, port = (bind or "127.0.0.1:47811").rpartition(":")
    host = host.strip("[]")
    try:
        loopback = host == "localhost" or ip_address(host).is_loopback
        number = int(port)
    except ValueError:
        raise bad(f"{bind!r} is no address. Write HOST:PORT, such as 127.0.0.1:47811.") from None
    if not loopback:
        raise Failure(
            ErrorCode.REFUSED_BIND,
            f"{host} is not this machine's own loopback. `gitring up --host` serves others, behind its own tokens.",
        )
    if not 0 <= number < 65_536:
        raise bad(f"{number} is no port.")
    return host, number


def _running(place: Place) -> str | None:
    """The address of the server that answers."""
    import httpx2

    try:
        url = place.any_address().url
    except Failure as problem:
        if problem.code is ErrorCode.NOT_READY:
            return None
        raise
    try:
        httpx2.get(f"{url}/healthz", timeout=5.0, trust_env=False)
    except httpx2.TransportError:
        return None
    return url


def _folder(place: Place) -> Path:
    """The data folder of the server to start: of the named or linked connection file, else the machine's own."""
    if place.named:
        path = (place.folder / Path(place.named).expanduser()).absolute()
        return path.parent if path.suffix == ".json" else path
    if place.link and place.link.connection:
        return Path(place.link.connection).parent
    return data_dir(place.environment)


def _serve(place: Place, host: str, port: int) -> dict[str, Any]:
    folder = _folder(place)
    command = [
        sys.executable,
        "-m",
        "cli",
        "up",
        "--data-dir",
        str(folder),
        "--host",
        host,
        "--port",
        str(port),
    ]
    # In a session of its own: both signals reach it through this process, and in order.
    child = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: child.send_signal(signal.SIGINT))
    try:
        _relay(child, place, folder)
    except BaseException:
        child.send_signal(signal.SIGINT)
        child.wait()
        raise
    code = child.wait()
    if code:
        raise Failure(ErrorCode.NOT_READY, f"The server ended with {code}; it said why above.")
    return {"database": str(folder / "connection.json"), "pid": os.getpid()}


def _relay(child: "subprocess.Popen[str]", place: Place, folder: Path) -> None:
    """Its lines go to standard error; once it is ready, the repository is tied to it."""
    assert child.stdout is not None
    begun = False
    for line in child.stdout:
        print(line, end="", flush=True, file=sys.stderr)
        if not begun and line.startswith(_READY):
            begun = True
            _tie(place, folder)


def _tie(place: Place, folder: Path) -> None:
    path = folder / "connection.json"
    if connection_file(path) is None:
        return
    here = replace(place, database=str(path))
    try:
        tied = initialize(here, None)
    except Failure as problem:
        if problem.code is not ErrorCode.NOT_A_REPOSITORY:
            raise
        return
    print(f"{here.repository.root} is tied to project {tied['project']['slug']}", file=sys.stderr, flush=True)
