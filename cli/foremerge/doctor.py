"""`foremerge doctor`: whether everything is ready. It reads, and changes nothing."""

import shutil
from pathlib import Path
from typing import Any

from cli.foremerge.clients import VERSION, Client, entry, mcp_file
from cli.foremerge.failing import Failure
from cli.foremerge.link import runtime_dir
from cli.foremerge.place import Place
from cli.foremerge.repository import Repository
from cli.foremerge.skill import is_ours
from protocol.foremerge.errors import ErrorCode


def report(place: Place, clients: list[Client]) -> dict[str, Any]:
    """The findings; `ready` sums them up."""
    git = _git(place)
    repository: Repository | None = git.pop("found")
    database = _database(place)
    found: dict[str, Any] = {"version": VERSION, **database, **git, "mcp_transport": "stdio"}
    found["token_configured"] = repository is not None and _has_token(repository)
    if clients:
        found["clients"] = [_client(client, repository) for client in clients]
    clients_ready = all(one["ready"] for one in found.get("clients", []))
    found["ready"] = bool(
        database["database_ok"] and database["event_chain_ok"] and git["git_repository"] and clients_ready
    )
    checks = _checks(place, repository) if database["database_ok"] else None
    if checks is not None:
        found["checks"] = checks
    found["acceptance_ready"] = bool(repository and checks and _acceptable(checks))
    found["next_step"] = _next(found, clients_ready)
    return found


def _git(place: Place) -> dict[str, Any]:
    available = shutil.which("git") is not None
    found: Repository | None = None
    if available:
        try:
            found = place.repository
        except Failure as problem:
            if problem.code is not ErrorCode.NOT_A_REPOSITORY:
                raise
    return {
        "found": found,
        "git_available": available,
        "git_repository": found is not None,
        "git_root": str(found.root) if found else None,
        "git_common_dir": str(found.common_dir) if found else None,
        "shared_across_worktrees": found is not None,
    }


def _database(place: Place) -> dict[str, Any]:
    found: dict[str, Any] = {
        "database": place.named,
        "database_ok": False,
        "event_chain_ok": None,
        "events_verified": 0,
        "api_bind": None,
    }
    try:
        target = place.target
        found |= {"database": target.url, "api_bind": target.url}
        audit = place.opened(target).get("/v1/audit/event-chain")
    except Failure as problem:
        return {**found, "database_error": {"code": problem.code.value, "message": problem.message}}
    return {
        **found,
        "database_ok": True,
        "event_chain_ok": audit["valid"],
        "events_verified": audit["events_verified"],
    }


def _has_token(repository: Repository) -> bool:
    return (runtime_dir(repository.common_dir) / "token").is_file()


def _client(client: Client, repository: Repository | None) -> dict[str, Any]:
    if repository is None:
        return {"client": client.name, "ready": False, "warnings": ["outside a repository"]}
    warnings: list[str] = []
    path = repository.root / client.skill_file
    skill = _readable(path) if path.is_file() else None
    if skill is None:
        warnings.append(f"no skill: run `foremerge setup {client.name}`")
    elif not is_ours(skill):
        warnings.append("the skill was edited, and is left as it is")
    configured, command = _mcp(client, repository)
    if not configured:
        warnings.append(f"no MCP entry of this repository: run `foremerge setup {client.name}`")
    elif command and not Path(command).exists():
        warnings.append(f"{command} is not there any more: run `foremerge setup {client.name} --force`")
        configured = False
    return {
        "client": client.name,
        "skill": skill is not None,
        "mcp_configured": configured,
        "mcp_command": command,
        "warnings": warnings,
        "ready": skill is not None and configured,
    }


def _readable(path: Path) -> str:
    """A file's text, as far as it can be read: what is wrong with it is not this report's business."""
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _mcp(client: Client, repository: Repository) -> tuple[bool, str | None]:
    if client.mcp_file is None:
        return "[mcp_servers.foremerge]" in _readable(Path.home() / ".codex" / "config.toml"), None
    try:
        servers = mcp_file(repository.root / client.mcp_file).get("mcpServers", {})
    except Failure:
        return False, None
    found = servers.get("foremerge") if isinstance(servers, dict) else None
    if not isinstance(found, dict):
        return False, None
    return found.get("args") == entry(repository)["args"], str(found.get("command"))


def _checks(place: Place, repository: Repository | None) -> dict[str, Any] | None:
    """The checks that are registered, as far as this token may see them."""
    from cli.foremerge.settings import registry_of

    target = place.target
    projects = place.opened(target).of_gitring("GET", "/projects")["projects"]
    mine = [one for one in projects if target.project in (None, one["id"], one["slug"])]
    if len(mine) != 1:
        return None
    registry = registry_of(mine[0])
    unrunnable = [
        name for name, check in registry["checks"].items() if not _runnable(check["command"], repository)
    ]
    return {
        "registered": sorted(registry["checks"]),
        "acceptance_policy": registry["acceptance_policy"],
        "unrunnable": unrunnable,
        "warnings": [f"{name}: its program, or a file it names, is not here" for name in unrunnable],
    }


def _runnable(command: list[str], repository: Repository | None) -> bool:
    program = command[0]
    if "/" not in program:
        return shutil.which(program) is not None
    path = Path(program)
    if not path.is_absolute() and repository:
        path = repository.root / path
    return path.is_file()


def _acceptable(checks: dict[str, Any]) -> bool:
    return checks["acceptance_policy"] == "advisory" or len(checks["registered"]) > len(checks["unrunnable"])


def _next(found: dict[str, Any], clients_ready: bool) -> str:
    if not found["git_available"]:
        return "Install git 2.38 or newer."
    if "database_error" in found:
        return str(found["database_error"]["message"])
    if not found["git_repository"]:
        return "Go into the repository, or name it with --cwd."
    if not found["event_chain_ok"]:
        return "Stop: the ledger's chain is broken. Compare it with an export (`foremerge ledger verify`)."
    if not clients_ready:
        return "foremerge setup CLIENT, for each client that is not ready."
    if not found["acceptance_ready"]:
        return "foremerge checks set NAME -- ARGV, so that ChangeSets can be validated."
    return "Nothing: everything is ready."
