"""`foremerge changeset …`: publish, validate, accept, and record the landing."""

from pathlib import Path
from typing import Annotated, Any

import typer

from cli.foremerge.failing import bad
from cli.foremerge.options import Agent, ChangeSetArgument, in_path, json_object
from cli.foremerge.repository import repository_at
from cli.foremerge.told import Call, told

changesets = typer.Typer(help="Publish, show, validate, accept, record the landing.", no_args_is_help=True)


@changesets.command("publish")
@told
def publish(
    call: Call,
    agent: Agent,
    intent: Annotated[str, typer.Option(help="Your intent.")],
    summary: Annotated[str, typer.Option(help="What the change does, in one sentence.")],
    file: Annotated[list[str] | None, typer.Option(help="A changed file; read from Git otherwise.")] = None,
    symbol: Annotated[list[str] | None, typer.Option(help="A changed symbol.")] = None,
    contract: Annotated[list[str] | None, typer.Option(help="A contract it sets or changes.")] = None,
    dependency: Annotated[
        list[str] | None, typer.Option(help="An intent that must be accepted and contained first.")
    ] = None,
    reported_test: Annotated[
        list[str] | None, typer.Option(metavar="CMD[=STATUS]", help="A test you ran yourself.")
    ] = None,
    decision: Annotated[list[str] | None, typer.Option(help="A decision in a few words.")] = None,
    decision_rationale: Annotated[
        list[str] | None, typer.Option(help="Why; one for each --decision, in their order.")
    ] = None,
    provenance_json: Annotated[str | None, typer.Option(help="Where it came from, as a JSON object.")] = None,
    git_ref: Annotated[str | None, typer.Option(help="The candidate commit; HEAD otherwise.")] = None,
    base_ref: Annotated[str | None, typer.Option(help="The commit it is compared with.")] = None,
    worktree: Annotated[
        Path | None, typer.Option(help="The worktree that holds it; the agent's otherwise.")
    ] = None,
) -> Any:
    """Record a finished piece of work; commit first, and leave the worktree clean."""
    titles, reasons = decision or [], decision_rationale or []
    if len(titles) != len(reasons):
        raise bad("Each --decision needs its --decision-rationale, and the other way round.")
    body = {
        "agent_id": agent,
        "intent_id": intent,
        "summary": summary,
        "files": file or [],
        "symbols": symbol or [],
        "contracts": contract or [],
        "dependencies": dependency or [],
        "tests": [_reported(text) for text in reported_test or []],
        "decisions": [{"title": title, "rationale": why} for title, why in zip(titles, reasons, strict=True)],
        "provenance": json_object(provenance_json, "--provenance-json") or {},
        "git_ref": git_ref,
        "base_ref": base_ref,
        "worktree": str(repository_at(call.place.folder / worktree).root) if worktree else None,
    }
    return call.server.post("/v1/changesets", body)


def _reported(text: str) -> dict[str, str]:
    command, equals, status = text.rpartition("=")
    return {"command": command, "status": status} if equals else {"command": text, "status": "REPORTED"}


@changesets.command("show")
@told
def show(call: Call, changeset: ChangeSetArgument) -> Any:
    """One ChangeSet as it stands now."""
    return call.server.get(_path(changeset))


@changesets.command("attempts")
@told
def attempts(call: Call, changeset: ChangeSetArgument) -> Any:
    """Every run of a check on it, newest first."""
    return call.server.get(f"{_path(changeset)}/validation-attempts")


@changesets.command("validate")
@told
def validate(
    call: Call,
    changeset: ChangeSetArgument,
    argv: Annotated[
        list[str] | None,
        typer.Argument(metavar="-- ARGV…", help="An operator's command, run without a shell."),
    ] = None,
    check: Annotated[str | None, typer.Option(help="A check that an operator registered.")] = None,
    worktree: Annotated[
        Path | None, typer.Option(help="The worktree's root, when it is to be made sure of.")
    ] = None,
    timeout_seconds: Annotated[int, typer.Option(help="How long ARGV may take.")] = 300,
) -> Any:
    """Run a check on it, exactly as it was published. One that fails is told, with `passed: false`."""
    from cli.foremerge.server import CHECK_SEC

    if (check is None) == (not argv):
        raise bad("Give --check NAME, or a command after `--`.")
    if worktree is not None:
        _must_be_root(call.place.folder / worktree)
    if check is not None:
        return call.server.post(f"{_path(changeset)}/validate", {"check": check}, CHECK_SEC)
    body = {"command": argv or [], "timeout_seconds": min(max(timeout_seconds, 1), 3600)}
    return call.operator().post(f"{_path(changeset)}/validate/command", body, CHECK_SEC)


def _must_be_root(folder: Path) -> None:
    root = repository_at(folder).root
    if folder.resolve() != root:
        raise bad(f"A check runs at the root of a worktree: {root}, not {folder}.")


@changesets.command("accept")
@told
def accept(
    call: Call,
    changeset: ChangeSetArgument,
    git_ref: Annotated[
        str | None, typer.Option(help="The commit to accept; the recorded one otherwise.")
    ] = None,
    allow_high_conflicts: Annotated[
        bool, typer.Option("--allow-high-conflicts", help="In spite of open HIGH conflicts; an operator's.")
    ] = False,
    allow_unverified: Annotated[
        bool, typer.Option("--allow-unverified", help="Without a passing check; an operator's.")
    ] = False,
    override_reason: Annotated[str | None, typer.Option(help="Why the gate is overridden.")] = None,
    as_person: Annotated[
        bool, typer.Option("--as-person", help="In your own name, not the agent's, where a person is asked.")
    ] = False,
) -> Any:
    """Pass the gate."""
    overrides = allow_high_conflicts or allow_unverified
    body = {
        "git_ref": git_ref,
        "allow_high_conflicts": allow_high_conflicts,
        "allow_unverified": allow_unverified,
        "override_reason": override_reason,
    }
    server = call.operator() if overrides or as_person else call.server
    return server.post(f"{_path(changeset)}/accept", body)


@changesets.command("commit")
@told
def commit(
    call: Call,
    changeset: ChangeSetArgument,
    git_ref: Annotated[str, typer.Option(help="The commit with which the work landed.")],
) -> Any:
    """Record the commit with which the work landed."""
    return call.server.post(f"{_path(changeset)}/commit", {"git_ref": git_ref})


def _path(changeset: str) -> str:
    return f"/v1/changesets/{in_path(changeset, 'a ChangeSet')}"
