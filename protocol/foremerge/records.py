"""Rows of this face's record as they travel inside the server; answers are built from them."""

from datetime import datetime
from typing import NamedTuple

from protocol.foremerge.agents import Agent
from protocol.foremerge.words import IntentStatus, Operation, ScopeKind
from protocol.wire import Record


class AgentRow(Record):
    """An agent. `of_gitring`: it stands for a token of gitring's own face, and nobody acts as it here."""

    id: str
    project_id: str
    person_id: str
    token_id: str
    of_gitring: bool
    name: str
    model: str | None
    capabilities: list[str]
    worktree: str | None
    git_branch: str | None
    git_head: str | None
    registered_at: datetime
    last_seen_at: datetime

    @property
    def shown(self) -> Agent:
        """The agent as answers show it."""
        return Agent(**self.model_dump(include=set(Agent.model_fields) - {"status"}))


class WorkRow(Record):
    """An intent of either face in this face's words. `metadata` is JSON; `live`: other work is compared with it."""

    id: str
    project_id: str
    number: int
    landing: str
    line: str
    agent_id: str
    task_id: str
    task: str
    summary: str
    rationale: str | None
    depends_on: list[str]
    metadata: str
    status: IntentStatus
    version: int
    live: bool
    scopes_since: datetime
    created_at: datetime
    updated_at: datetime

    @property
    def of_gitring(self) -> bool:
        """True for an intent that gitring's own face declared."""
        return self.landing != "external"


class ScopeRow(Record):
    """A scope of an intent; `path` and `symbol` where it names a place of the repository."""

    intent_id: str
    kind: ScopeKind
    key: str
    operation: Operation
    inferred: bool
    path: str | None
    symbol: str


class NewScope(NamedTuple):
    """A scope with all that finds it again; `likes` by likeness of words."""

    kind: ScopeKind
    key: str
    operation: Operation
    inferred: bool
    precise: str
    alias: str
    lower_key: bytes
    likes: list[int]
    path: str | None
    symbol: str


class NewWork(NamedTuple):
    """An intent to record; `status` is None for one of gitring's own face, whose state says it."""

    intent_id: str
    project_id: str
    agent_id: str
    task_id: str
    summary: str
    rationale: str | None
    depends_on: list[str]
    metadata: str
    status: IntentStatus | None
    summary_likes: list[int]
    live: bool


class Lookup(NamedTuple):
    """By what the active work is found that can have anything in common with an intent: each list by an index.

    `paths` are the places it names, `above` every ancestor of them.
    """

    aliases: list[str]
    lower_keys: list[bytes]
    likes: list[int]
    summary_likes: list[int]
    paths: list[str]
    above: list[str]
