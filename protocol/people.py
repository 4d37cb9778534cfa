"""People, their roles in projects, and their browser sessions, as REST and the pages show them."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated

from pydantic import Field

from protocol.projects import Name
from protocol.wire import Answer, Input


class Role(StrEnum):
    """What a member of a project may do: read; work and decide; and, for an owner, set its rules too."""

    OWNER = "owner"
    WRITER = "writer"
    VIEWER = "viewer"


class InvitePerson(Input):
    """`POST /api/v1/people`: a new person, member of projects that the caller owns."""

    name: Annotated[Name, Field(description="What others see beside their decisions.")]
    projects: Annotated[list[str], Field(min_length=1, max_length=50, description="Ids or slugs.")]
    role: Annotated[Role, Field(description="Their role in each of these projects.")] = Role.WRITER


class MakeLink(Input):
    """`POST /api/v1/sign-in-links`: a link for the caller, or for a person all of whose projects the caller owns."""

    person_id: Annotated[str | None, Field(max_length=100, description="per_…; you when left out.")] = None


class SignInLink(Answer):
    """A link that signs one person in, once; shown this once."""

    person_id: str
    name: str
    link: str
    expires_at: datetime


class Member(Answer):
    """A person of a project."""

    id: str
    name: str
    role: Role


class MemberList(Answer):
    """`GET /api/v1/projects/{id}/members`, owners first."""

    members: list[Member]


class SetRole(Input):
    """`PUT /api/v1/projects/{id}/members/{person_id}`."""

    role: Annotated[Role, Field(description="What they may do in the project from now on.")]


class SessionInfo(Answer):
    """A browser in which a person is signed in; `browser` is what it called itself."""

    id: str
    method: str
    browser: str
    created_at: datetime
    seen_at: datetime
    expires_at: datetime
