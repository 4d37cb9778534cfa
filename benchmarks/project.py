"""A project on the stack, and what an agent does in it."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.http import Connection, connected
from benchmarks.repository import git, token_env
from benchmarks.stack import Stack

Detail = dict[str, Any]


@dataclass(frozen=True)
class Project:
    """A project and the token of an agent that works in it."""

    stack: Stack
    id: str
    slug: str
    agent: str


async def create(stack: Stack, slug: str, source: Path, test: str = "true") -> Project:
    """Import `source` as a project and make a token for it."""
    async with connected(stack.url, stack.owner) as owner:
        made = await owner.call(
            "POST", "/api/v1/projects", {"slug": slug, "source": str(source), "checks": {"test": test}}
        )
        token = await owner.call("POST", "/api/v1/tokens", {"name": "bench", "projects": [slug]})
    return Project(stack, made["id"], slug, token["token"])


def declaration(project: Project, path: str) -> Detail:
    """A declare of one changed place."""
    return {
        "projectId": project.id,
        "title": f"Change {path}",
        "goal": "A measured change",
        "plan": plan(path),
    }


def plan(path: str, summary: str = "One small change") -> Detail:
    """A plan of one step and one place."""
    return {"summary": summary, "steps": ["change it"], "scope": {"change": [{"path": path}]}}


async def declare(connection: Connection, project: Project, path: str) -> tuple[Detail, float]:
    """Declare; the answer and the seconds it took."""
    began = time.perf_counter()
    answer = await connection.call("POST", "/api/v1/intents", declaration(project, path))
    return answer, time.perf_counter() - began


async def declare_many(
    project: Project, paths: Sequence[str], clients: int
) -> tuple[list[Detail], list[float], list[str]]:
    """Declare all paths with so many clients at once: answers, seconds of each, errors."""
    left = list(reversed(paths))
    answers: list[Detail] = []
    took: list[float] = []
    errors: list[str] = []

    async def client() -> None:
        async with connected(project.stack.url, project.agent) as connection:
            while left:
                path = left.pop()
                try:
                    answer, seconds = await declare(connection, project, path)
                except Exception as problem:
                    errors.append(f"{type(problem).__name__}: {problem}"[:300])
                    continue
                answers.append(answer)
                took.append(seconds)

    await asyncio.gather(*(client() for _ in range(clients)))
    return answers, took, errors


async def git_token(project: Project) -> dict[str, str]:
    """git's environment for the project."""
    async with connected(project.stack.url, project.agent) as connection:
        given = await connection.call("POST", f"/api/v1/projects/{project.id}/git-token", {})
    return token_env(project.stack.url, given["token"])


async def push(project: Project, folder: Path, commit: str, intent: Detail, env: dict[str, str]) -> float:
    """Push a commit to the intent's ref; the seconds it took."""
    began = time.perf_counter()
    await git(folder, "push", "--quiet", intent["push"]["url"], f"{commit}:{intent['push']['ref']}", env=env)
    return time.perf_counter() - began


async def events(project: Project, after_seq: int = 0) -> list[Detail]:
    """The project's ledger after a seq."""
    found: list[Detail] = []
    async with connected(project.stack.url, project.agent) as connection:
        while True:
            page = await connection.call(
                "GET", f"/api/v1/projects/{project.id}/events?afterSeq={after_seq}&limit=1000"
            )
            found += page["events"]
            if len(page["events"]) < 1000:
                return found
            after_seq = page["afterSeq"]
