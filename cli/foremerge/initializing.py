"""`foremerge init`: a project for the repository on the server, a token for it, and the link between both."""

import hashlib
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from cli.foremerge.failing import Failure
from cli.foremerge.link import Link, keep, read_token, runtime_dir
from cli.foremerge.place import Address, Place, Target, is_local
from cli.foremerge.repository import Repository, run_git
from cli.foremerge.server import Server
from protocol.foremerge.errors import ErrorCode

Project = dict[str, Any]
_COMMIT = re.compile("[0-9a-f]{40}|[0-9a-f]{64}")
_NOT_IN_SLUG = re.compile(r"[^a-z0-9]+")
_NEXT = "foremerge agent register --name NAME, then foremerge intent publish; `foremerge setup` ties in an agent client"


def initialize(place: Place, wanted: str | None) -> dict[str, Any]:
    """Tie the repository to a project; done again, it ties what is missing and changes nothing else. Raises Failure."""
    repository = place.repository
    address = place.any_address()
    acting = place.operator(address)
    operator = place.opened(acting._replace(project=None))
    server_of = partial(_server_of, place, acting)
    project = _project(operator, server_of, repository, place.link.project if place.link else None, wanted)
    bound = _bind(server_of(project), address, repository)
    token = _token(operator, place, address, project)
    link = Link(
        url=address.url,
        connection=str(address.connection) if address.connection else None,
        project=project["id"],
        slug=project["slug"],
    )
    keep(repository.common_dir, link, token)
    folder = runtime_dir(repository.common_dir)
    return {
        "database": address.url,
        "runtime_dir": str(folder),
        "token_file": str(folder / "token"),
        "shared_across_worktrees": True,
        "project": {"id": project["id"], "slug": project["slug"]},
        "git_common_dir": bound,
        "next_step": _NEXT,
    }


def _server_of(place: Place, acting: Target, project: Project) -> Server:
    return place.opened(acting._replace(project=project["id"]))


def _project(
    server: Server,
    server_of: Callable[[Project], Server],
    repository: Repository,
    linked: str | None,
    wanted: str | None,
) -> Project:
    projects: list[Project] = server.of_gitring("GET", "/projects")["projects"]
    named = [one for one in projects if one["id"] == linked or wanted in (one["slug"], one["id"])]
    if wanted:
        named = [one for one in named if wanted in (one["slug"], one["id"])]
        return named[0] if named else _made(server, repository, wanted)
    if named:
        return named[0]
    slug = _slug(repository)
    same = [one for one in projects if one["slug"] == slug]
    if not same:
        return _made(server, repository, slug)
    if _holds(repository, same[0]["head"]) and _bound_elsewhere(server_of(same[0]), repository) is None:
        return same[0]
    # Another repository of the same folder name, or another clone: it is told apart by where it lies.
    slug = f"{slug[:50]}-{hashlib.sha256(str(repository.common_dir).encode()).hexdigest()[:8]}"
    same = [one for one in projects if one["slug"] == slug]
    return same[0] if same else _made(server, repository, slug)


def _made(server: Server, repository: Repository, slug: str) -> Project:
    body: dict[str, Any] = {"slug": slug}
    if is_local(server.url) and run_git(repository.root, "rev-parse", "--verify", "--quiet", "HEAD").stdout:
        body["source"] = str(repository.root)
    made: Project = server.of_gitring("POST", "/projects", body)
    return made


def _slug(repository: Repository) -> str:
    common = repository.common_dir
    name = common.parent.name if common.name == ".git" else common.name.removesuffix(".git")
    return _NOT_IN_SLUG.sub("-", name.lower()).strip("-")[:60] or "repository"


def _holds(repository: Repository, head: str | None) -> bool:
    """Whether a project's head is in the history of this repository."""
    if not head or not _COMMIT.fullmatch(head):
        return False
    done = run_git(repository.root, "for-each-ref", "--count=1", f"--contains={head}")
    return done.returncode == 0 and bool(done.stdout)


def _bound_elsewhere(server: Server, repository: Repository) -> str | None:
    """The other folder that the project is bound to, as long as it is there."""
    bound = server.get("/v1/binding")["common_dir"]
    return bound if bound and bound != str(repository.common_dir) and Path(bound).is_dir() else None


def _bind(server: Server, address: Address, repository: Repository) -> str | None:
    """Let the server read worktrees on its own disk; on another machine, work is pushed to it instead."""
    if not is_local(address.url):
        return None
    here = str(repository.common_dir)
    if other := _bound_elsewhere(server, repository):
        raise Failure(
            ErrorCode.ALREADY_EXISTS,
            f"The project is bound to the worktrees of {other}. Work there, or name another project with --project.",
        )
    if server.get("/v1/binding")["common_dir"] != here:
        server.post("/v1/binding", {"common_dir": here})
    return here


def _token(operator: Server, place: Place, address: Address, project: Project) -> str:
    known = read_token(place.repository.common_dir)
    if known and _works(place.opened(Target(address.url, known, project["id"]))):
        return known
    body = {"name": "foremerge", "projects": [project["slug"]]}
    return str(operator.of_gitring("POST", "/tokens", body)["token"])


def _works(server: Server) -> bool:
    try:
        server.get("/v1/agents")
    except Failure as problem:
        if problem.code in (ErrorCode.UNAUTHORIZED, ErrorCode.FORBIDDEN, ErrorCode.NOT_FOUND):
            return False
        raise
    return True
