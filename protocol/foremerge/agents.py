"""Agents of the Foremerge face."""

from datetime import datetime
from typing import Annotated, ClassVar

from pydantic import Field, StringConstraints

from protocol.foremerge.wire import ForemergeAnswer, ForemergeInput, Item, Line, PathText
from protocol.foremerge.words import AgentStatus

AgentRef = Annotated[
    str,
    StringConstraints(min_length=1, max_length=100),
    Field(description="Your agent id (agt_…), as register_agent gave it."),
]


class RegisterAgentInput(ForemergeInput):
    """`register_agent`."""

    name: Annotated[
        str,
        StringConstraints(min_length=1, max_length=200),
        Field(description="A name others will know this session by."),
    ]
    model: Annotated[
        Line | None, Field(description="The model that runs the session, if you want it kept.")
    ] = None
    capabilities: Annotated[
        list[Item], Field(max_length=100, description="What the session is good at, in single words.")
    ] = []
    worktree: Annotated[
        PathText | None, Field(description="The Git worktree the session works in, absolute or relative.")
    ] = None


class ListAgentsInput(ForemergeInput):
    """`list_agents`."""


class Agent(ForemergeAnswer):
    """A session that registered; a new registration is a new agent."""

    id: str
    name: str
    model: str | None = None
    capabilities: list[str] = []
    worktree: str | None = None
    git_branch: str | None = None
    git_head: str | None = None
    status: AgentStatus = AgentStatus.ACTIVE
    registered_at: datetime


class RegisteredAgent(Agent):
    """`register_agent`: the agent, and what to know about earlier ones of the same name and worktree."""

    left_out: ClassVar[frozenset[str]] = frozenset({"warnings"})

    warnings: list[str] = []
