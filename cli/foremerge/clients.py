"""`foremerge setup`: a skill file and an MCP entry for each agent client, and nothing of the user's lost."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from cli.clean import one_line
from cli.foremerge.failing import Failure, bad
from cli.foremerge.link import read_private, runtime_dir, write_private
from cli.foremerge.place import Place
from cli.foremerge.repository import Repository
from cli.foremerge.skill import is_ours, skill
from protocol.foremerge.errors import ErrorCode

VERSION = "0.1.0"
_PATIENCE_SEC = 60


class Client(NamedTuple):
    """A client: its folder in the repository, and its MCP file there (None: it keeps its entries by itself)."""

    name: str
    folder: str
    mcp_file: str | None

    @property
    def skill_file(self) -> str:
        """Where its skill is."""
        return f"{self.folder}/skills/foremerge/SKILL.md"


CLIENTS = {
    "codex": Client("codex", ".codex", None),
    "claude": Client("claude", ".claude", ".mcp.json"),
    "cursor": Client("cursor", ".cursor", ".cursor/mcp.json"),
}


def chosen(name: str) -> list[Client]:
    """The clients that a word names. Raises INVALID_INPUT."""
    if name == "all":
        return list(CLIENTS.values())
    if name not in CLIENTS:
        raise bad(f"{name[:40]!r} is no client. Use one of: {', '.join(CLIENTS)}, all.")
    return [CLIENTS[name]]


def entry(repository: Repository) -> dict[str, Any]:
    """The MCP server as a client starts it."""
    return {"command": program(), "args": ["--cwd", str(repository.root), "mcp"]}


def program() -> str:
    """The absolute path of this command."""
    here = Path(sys.argv[0])
    if here.name == "foremerge" and here.exists():
        return str(here.absolute())
    return str(Path(sys.executable).with_name("foremerge"))


def set_up(place: Place, clients: list[Client], *, force: bool, mcp: bool) -> dict[str, Any]:
    """Tie each client in; one that fails keeps no other from it. Raises Failure, with what was done, when one did."""
    repository = place.repository
    told, failures = [], list[Failure]()
    for client in clients:
        one: dict[str, Any] = {"client": client.name}
        try:
            one["skill"] = _write_skill(repository.root / client.skill_file, force)
            one["mcp"] = _write_mcp(client, repository, force) if mcp else "skipped"
        except Failure as problem:
            failures.append(problem)
            one["error"] = {"code": problem.code.value, "message": problem.message}
        told.append(one)
    link = place.link
    data = {
        "repository": str(repository.root),
        "database": link.url if link else None,
        "token_file": str(runtime_dir(repository.common_dir) / "token") if link else None,
        "clients": told,
        "next_step": "Start the client in this repository." if link else "Run `foremerge init` here.",
    }
    if failures:
        raise Failure(failures[0].code, "; ".join(one.message for one in failures), data)
    return data


def _write_skill(path: Path, force: bool) -> dict[str, str]:
    wanted, there = skill(VERSION), read_private(path)
    if there == wanted:
        return {"path": str(path), "change": "none"}
    if there is not None and not is_ours(there) and not force:
        raise Failure(ErrorCode.ALREADY_EXISTS, f"{path} was edited. --force replaces it.")
    _make_parent(path)
    write_private(path, wanted, 0o644)
    return {"path": str(path), "change": "written" if there is None else "refreshed"}


def _make_parent(path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise bad(f"{path.parent} cannot be made: {problem.strerror}.") from None


def _write_mcp(client: Client, repository: Repository, force: bool) -> dict[str, str]:
    if client.mcp_file is None:
        return _by_its_command(repository)
    path = repository.root / client.mcp_file
    content = mcp_file(path)
    servers = content.setdefault("mcpServers", {})
    if not isinstance(servers, dict):
        raise bad(f"{path} has an mcpServers that is no object. Correct it, then run this again.")
    wanted = entry(repository)
    if servers.get("foremerge") == wanted:
        return {"path": str(path), "change": "none"}
    if "foremerge" in servers and not force:
        raise Failure(ErrorCode.ALREADY_EXISTS, f"{path} has another entry foremerge. --force replaces it.")
    servers["foremerge"] = wanted
    _make_parent(path)
    write_private(path, json.dumps(content, indent=2, ensure_ascii=False) + "\n", 0o644)
    return {"path": str(path), "change": "written"}


def mcp_file(path: Path) -> dict[str, Any]:
    """A client's MCP file; empty when it is not there. Raises INVALID_INPUT."""
    text = read_private(path)
    if text is None:
        return {}
    try:
        content = json.loads(text)
    except ValueError as problem:
        raise bad(f"{path} is not JSON: {one_line(problem, 200)}. Correct it, then run this again.") from None
    if not isinstance(content, dict):
        raise bad(f"{path} is no JSON object. Correct it, then run this again.")
    return content


def _by_its_command(repository: Repository, run: Callable[..., Any] = subprocess.run) -> dict[str, str]:
    found = shutil.which("codex")
    wanted = entry(repository)
    command = ["codex", "mcp", "add", "foremerge", "--", wanted["command"], *wanted["args"]]
    if found is None:
        raise Failure(
            ErrorCode.ERROR,
            f"codex is not on PATH. Install it, or add the server yourself: {' '.join(command)}",
        )
    try:
        done = run(
            [found, *command[1:]],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_PATIENCE_SEC,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise Failure(ErrorCode.ERROR, f"`codex mcp add` cannot be run: {one_line(problem)}.") from None
    if done.returncode:
        said = one_line(done.stderr.strip() or done.stdout.strip(), 500)
        raise Failure(ErrorCode.ERROR, f"`codex mcp add` ended with {done.returncode}: {said}")
    return {"path": "codex mcp", "change": "written"}
