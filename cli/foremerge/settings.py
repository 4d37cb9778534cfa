"""`foremerge checks …` and `foremerge validation-exclusions …`: what only an operator sets."""

import hashlib
import json
import shlex
from typing import Annotated, Any

import typer

from cli.foremerge.failing import Failure, bad
from cli.foremerge.told import Call, told
from protocol.foremerge.errors import ErrorCode
from protocol.foremerge.words import AcceptancePolicy, Operation

checks = typer.Typer(help="Checks that validate a ChangeSet.", no_args_is_help=True)
exclusions = typer.Typer(help="Untracked output of checks that does not count.", no_args_is_help=True)

NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="Letters, digits, `.`, `_`, `-`.")]
_MOST_WORDS, _MOST_BYTES = 128, 65_536


@checks.command("set")
@told
def set_check(
    call: Call,
    name: NameArgument,
    argv: Annotated[list[str], typer.Argument(metavar="-- ARGV…", help="The command, run without a shell.")],
    timeout_seconds: Annotated[int, typer.Option(min=1, max=3600, help="How long it may take.")] = 300,
) -> Any:
    """Register a check, or change one."""
    if len(argv) > _MOST_WORDS or sum(len(word.encode(errors="replace")) for word in argv) > _MOST_BYTES:
        raise bad(f"A check has at most {_MOST_WORDS} words and {_MOST_BYTES} bytes. Put it into a script.")
    server, project = _project(call)
    kept = [check for check in project["checks"]["named"] if check["name"] != name]
    made = {"name": name, "command": shlex.join(argv), "timeoutSec": timeout_seconds}
    return _registry(_changed(server, project, {"checks": {"named": [*kept, made]}}))


@checks.command("list")
@told
def list_checks(call: Call) -> Any:
    """The checks, and how strict acceptance is."""
    return _registry(_project(call)[1])


@checks.command("remove")
@told
def remove_check(call: Call, name: NameArgument) -> Any:
    """Remove a check."""
    server, project = _project(call)
    kept = [check for check in project["checks"]["named"] if check["name"] != name]
    if len(kept) == len(project["checks"]["named"]):
        raise Failure(ErrorCode.NOT_FOUND, f"There is no check {name}. `foremerge checks list` shows them.")
    return _registry(_changed(server, project, {"checks": {"named": kept}}))


@checks.command("policy")
@told
def policy(
    call: Call,
    wanted: Annotated[AcceptancePolicy | None, typer.Argument(metavar="[strict|advisory]")] = None,
) -> Any:
    """Whether a ChangeSet that was never validated may be accepted; without a word, what holds."""
    server, project = _project(call)
    if wanted is not None:
        project = _changed(server, project, {"acceptancePolicy": wanted.value})
    return {"acceptance_policy": project["acceptancePolicy"]}


@checks.command("verify-symbols")
@told
def verify_symbols(
    call: Call, wanted: Annotated[bool | None, typer.Argument(metavar="[true|false]")] = None
) -> Any:
    """Whether a published symbol that the agent's worktree does not hold is warned of; without a word, what holds."""
    server, project = _project(call)
    if wanted is not None:
        project = _changed(server, project, {"verifySymbolScopes": wanted})
    return {"verify_symbol_scopes": project["verifySymbolScopes"]}


@checks.command("person")
@told
def person(
    call: Call,
    wanted: Annotated[
        list[Operation] | None, typer.Argument(metavar="[OPERATION]…", help="Such as remove and rename.")
    ] = None,
    nothing: Annotated[bool, typer.Option("--none", help="Agents accept everything again.")] = False,
) -> Any:
    """The operations that only a person accepts; replaces all. Without a word, what holds."""
    if wanted and nothing:
        raise bad("Name operations, or give --none.")
    server, project = _project(call)
    if wanted or nothing:
        chosen = [one.value for one in Operation if one in (wanted or [])]
        project = _changed(server, project, {"personAccepts": chosen})
    return {"person_accepts": project.get("personAccepts", [])}


@exclusions.command("show")
@told
def show(call: Call) -> Any:
    """The rules in their normal form, and their digest."""
    return _rules(_project(call)[1])


@exclusions.command("set")
@told
def set_rules(
    call: Call,
    path: Annotated[
        list[str] | None,
        typer.Option(
            help="An exact path below the root, or a folder ending in /; may be repeated. Replaces all."
        ),
    ] = None,
) -> Any:
    """Replace the rules; without --path, by none. Every fingerprint changes with them."""
    server, project = _project(call)
    return _rules(_changed(server, project, {"exclusions": path or []}))


def _project(call: Call) -> tuple[Any, dict[str, Any]]:
    """The server as an operator's, and the project as gitring shows it."""
    server = call.operator()
    wanted = call.place.operator().project
    projects: list[dict[str, Any]] = server.of_gitring("GET", "/projects")["projects"]
    found = [one for one in projects if wanted in (None, one["id"], one["slug"])]
    if len(found) != 1:
        named = ", ".join(one["slug"] for one in projects[:20]) or "none"
        raise Failure(
            ErrorCode.NOT_INITIALIZED,
            f"Which project? There are: {named}. Run `foremerge init`, or set GITRING_PROJECT.",
        )
    return server, found[0]


def _changed(server: Any, project: dict[str, Any], body: dict[str, Any]) -> dict[str, Any]:
    changed: dict[str, Any] = server.of_gitring("PATCH", f"/projects/{project['id']}", body)
    return changed


def _registry(project: dict[str, Any]) -> dict[str, Any]:
    return {"path": f"project {project['slug']}", "registry": registry_of(project)}


def registry_of(project: dict[str, Any]) -> dict[str, Any]:
    """A project's checks in this protocol's form."""
    named = [
        {"name": one["name"], "command": _words(one["command"]), "timeout_seconds": one["timeoutSec"]}
        for one in project["checks"]["named"]
    ]
    test = project["checks"]["test"]
    if test is not None:
        timeout = project["checks"]["timeoutSec"]
        named.insert(0, {"name": "test", "command": ["/bin/sh", "-c", test], "timeout_seconds": timeout})
    return {
        "version": 1,
        "checks": {one.pop("name"): one for one in named},
        "acceptance_policy": project["acceptancePolicy"],
        "verify_symbol_scopes": project.get("verifySymbolScopes", False),
    }


def _words(command: str) -> list[str]:
    """The words of a command that `checks set` joined; any other is one for the shell."""
    try:
        words = shlex.split(command)
    except ValueError:
        words = []
    return words if words and shlex.join(words) == command else ["/bin/sh", "-c", command]


def _rules(project: dict[str, Any]) -> dict[str, Any]:
    ruleset = {"version": 1, "paths": project["exclusions"]}
    text = json.dumps(ruleset, separators=(",", ":"), ensure_ascii=False)
    return {
        "path": f"project {project['slug']}",
        "ruleset": ruleset,
        "digest": f"sha256:{hashlib.sha256(text.encode()).hexdigest()}",
        "mcp_mutation_allowed": False,
    }
