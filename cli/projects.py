"""`gitring projects …`: make, list and set up projects."""

from pathlib import Path
from typing import Annotated, Any

import typer

from cli.check_files import check_lines, named_checks
from cli.served import served
from cli.session import USAGE, Failed, Session
from cli.shown import Shown, Table

projects = typer.Typer(help="Make, list and set up projects.", no_args_is_help=True)

Slug = Annotated[str, typer.Argument(help="The project's name: small letters, digits and '-'.")]
When = Annotated[str | None, typer.Option(help="never, high or always.")]
TestOption = Annotated[
    str | None, typer.Option("--test", help="The test command, run by the shell at the root.")
]
TimeoutOption = Annotated[int | None, typer.Option(min=1, help="Seconds the test command may take.")]
EnvironmentOption = Annotated[
    list[str] | None, typer.Option("--environment", help="A variable of the server that the test may see.")
]
ChecksOption = Annotated[
    Path | None,
    typer.Option("--checks", help="A JSON file with the named checks: all of them, [] for none."),
]
NetworkOption = Annotated[
    bool | None, typer.Option("--network/--no-network", help="Whether the test reaches the network.")
]


@projects.command("create")
@served
def create(
    session: Session,
    slug: Slug,
    source: Annotated[
        str | None, typer.Option("--from", help="A repository to import, by path or URL; empty otherwise.")
    ] = None,
    test: TestOption = None,
    timeout: TimeoutOption = None,
    environment: EnvironmentOption = None,
    network: NetworkOption = None,
    named: ChecksOption = None,
    line: Annotated[str | None, typer.Option(help="The line that work lands on.")] = None,
) -> Shown:
    """Make a project, empty or from a repository."""
    body: dict[str, Any] = {"slug": slug}
    if source is not None:
        # The server reads the path, so it must not depend on where this command runs.
        here = Path(source).expanduser()
        body["source"] = str(here.absolute()) if here.exists() else source
    if line is not None:
        body["defaultLine"] = line
    checks = _checks(test, timeout, environment, network)
    if checks := (_with_test(checks) if checks else {}) | named_checks(named):
        body["checks"] = checks
    made = session.post("/projects", body)
    return Shown(made, project_lines(made))


@projects.command("list")
@served
def list_projects(session: Session) -> Shown:
    """The projects the token names."""
    answer = session.get("/projects")
    rows = [
        (each["slug"], each["id"], each["defaultLine"], (each["head"] or "empty")[:7], each["liveIntents"])
        for each in answer["projects"]
    ]
    empty = "No project yet. Make one with `gitring projects create SLUG --from PATH`."
    return Shown(answer, table=Table(("project", "id", "line", "head", "live"), rows, empty))


@projects.command("settings")
@served
def settings(
    session: Session,
    slug: Slug,
    test: TestOption = None,
    timeout: TimeoutOption = None,
    environment: EnvironmentOption = None,
    network: NetworkOption = None,
    named: ChecksOption = None,
    no_test: Annotated[bool, typer.Option("--no-test", help="Remove the test command.")] = False,
    plan_review: When = None,
    merge_approval: When = None,
    mediation: Annotated[
        str | None, typer.Option(help="What the later of two overlapping intents does: hold or narrow.")
    ] = None,
    shared_file: Annotated[
        list[str] | None, typer.Option(help="A file that many may change at once; names the whole list.")
    ] = None,
    max_places: Annotated[int | None, typer.Option(help="More places than this is a high risk.")] = None,
) -> Shown:
    """Show a project's settings, or change those given."""
    body: dict[str, Any] = {
        "planReview": plan_review,
        "mergeApproval": merge_approval,
        "mediation": mediation,
        "sharedFiles": shared_file,
        "maxPlaces": max_places,
    }
    body = {name: value for name, value in body.items() if value is not None}
    checks = _checks(test, timeout, environment, network)
    if no_test:
        checks = {"test": None}
    elif checks:
        checks = _with_test(_kept_checks(session, slug) | checks)
    if checks := checks | named_checks(named):
        body["checks"] = checks
    answer = session.patch(f"/projects/{slug}", body) if body else session.get(f"/projects/{slug}")
    return Shown(answer, project_lines(answer))


def _checks(
    test: str | None, timeout: int | None, environment: list[str] | None, network: bool | None
) -> dict[str, Any]:
    given = {"test": test, "timeoutSec": timeout, "environment": environment, "network": network}
    return {name: value for name, value in given.items() if value is not None}


def _kept_checks(session: Session, slug: str) -> dict[str, Any]:
    """The checks as they are, in the form in which they are sent."""
    kept = session.get(f"/projects/{slug}")["checks"]
    known = ("test", "timeoutSec", "environment", "network")
    return {name: kept[name] for name in known if kept.get(name) is not None}


def _with_test(checks: dict[str, Any]) -> dict[str, Any]:
    if "test" not in checks:
        raise Failed(
            "--timeout, --environment and --network belong to a test command; give --test too.", USAGE
        )
    return checks


def project_lines(project: dict[str, Any]) -> list[str]:
    """One project in full."""
    checks = project["checks"]
    test = f"{checks['test']} (at most {checks['timeoutSec']} s)" if checks["test"] else "none"
    rules = f"plan review {project['planReview']}, merge approval {project['mergeApproval']}"
    return [
        f"{project['slug']} ({project['id']})",
        f"  line      {project['defaultLine']} at {(project['head'] or 'nothing yet')[:12]}",
        f"  test      {test}",
        *check_lines(checks.get("named", [])),
        f"  people    {rules}",
        f"  overlaps  {project['mediation'] or 'as the server is set'}",
        f"  git       {project['git']}",
    ]
