"""Projects, their settings, people and tokens, as REST takes and shows them."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, StringConstraints, field_validator

from protocol.checks import CheckDefinition
from protocol.claims import Prefix
from protocol.foremerge.words import AcceptancePolicy, Operation
from protocol.project_checks import Checks, ChecksInput
from protocol.scopes import Path
from protocol.states import Mediation, When
from protocol.wire import Answer, Input, Record


def _seen_whole(name: str) -> str:
    if not name.isprintable():
        raise ValueError("a name holds only characters that are seen")
    return name


Slug = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]{0,62}$")]
Name = Annotated[
    str,
    StringConstraints(min_length=1, max_length=100, pattern=r"^[^\x00-\x1f\x7f]+$"),
    AfterValidator(_seen_whole),
]
LineName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._/-]{0,199}$")]


class CreateProject(Input):
    """`POST /api/v1/projects`."""

    slug: Slug
    source: Annotated[
        str | None, Field(max_length=4096, description="Path or URL of a repository to import.")
    ] = None
    checks: ChecksInput | None = None
    default_line: LineName | None = None


class ProjectSettings(Record):
    """The rules of a project, as stored; new fields need a default."""

    test: str | None = None
    timeout_sec: int = 900
    environment: list[str] = []
    network: bool = False
    named_checks: list[CheckDefinition] = []
    plan_review: When = When.HIGH
    merge_approval: When = When.HIGH
    mediation: Mediation | None = None
    shared_files: list[str] = []
    max_places: int = 25
    people_only: list[str] = [".github/", "CLAUDE.md", "AGENTS.md"]
    folder_writers: dict[str, list[str]] = {}  # folder -> ids of the people whose intents may change it
    owner_approves: list[str] = []
    # Of the Foremerge face.
    acceptance_policy: AcceptancePolicy = AcceptancePolicy.STRICT
    verify_symbol_scopes: bool = False
    person_accepts: list[Operation] = []  # work that does one of these is accepted by a person alone
    exclusions: list[str] = []  # untracked output of checks that does not make a worktree dirty

    @property
    def has_checks(self) -> bool:
        """False when nothing is run, so that a person decides about every merge."""
        return self.test is not None or bool(self.named_checks)


class ChangeSettings(Input):
    """`PATCH /api/v1/projects/{id}`: only the fields given are changed; `checks: null` removes all checks."""

    checks: ChecksInput | None = None
    plan_review: When | None = None
    merge_approval: When | None = None
    mediation: Mediation | None = None
    shared_files: list[Path] | None = None
    max_places: Annotated[int | None, Field(ge=1, le=1000)] = None
    people_only: Annotated[
        list[Path] | None, Field(max_length=200, description="Paths that only people's intents change.")
    ] = None
    folder_writers: Annotated[
        dict[Path, list[str]] | None,
        Field(max_length=200, description="By folder, the ids of the people whose intents may change it."),
    ] = None
    owner_approves: Annotated[
        list[Path] | None, Field(max_length=200, description="Folders whose merge an owner approves.")
    ] = None
    acceptance_policy: Annotated[
        AcceptancePolicy | None,
        Field(description="Whether a Foremerge ChangeSet that was never validated may be accepted."),
    ] = None
    verify_symbol_scopes: Annotated[
        bool | None,
        Field(description="Warn of declared symbols that the agent's worktree does not mention."),
    ] = None
    person_accepts: Annotated[
        list[Operation] | None,
        Field(max_length=len(Operation), description="Foremerge operations that only a person accepts."),
    ] = None
    exclusions: Annotated[
        list[str] | None,
        Field(max_length=256, description="Untracked output of checks that makes no worktree dirty."),
    ] = None

    @field_validator(
        "plan_review",
        "merge_approval",
        "shared_files",
        "max_places",
        "people_only",
        "folder_writers",
        "owner_approves",
        "acceptance_policy",
        "verify_symbol_scopes",
        "person_accepts",
        "exclusions",
    )
    @classmethod
    def _never_null(cls, value: Any) -> Any:
        if value is None:
            raise ValueError("may be left out, but is never null")
        return value


class Project(Answer):
    """One project as lists and `POST /projects` answer it."""

    id: str
    slug: str
    default_line: str
    head: str | None
    live_intents: int
    checks: Checks
    plan_review: When
    merge_approval: When
    mediation: Mediation | None
    shared_files: list[str] = []
    max_places: int = 25
    people_only: list[str] = []
    folder_writers: dict[str, list[str]] = {}
    owner_approves: list[str] = []
    acceptance_policy: AcceptancePolicy = AcceptancePolicy.STRICT
    verify_symbol_scopes: bool = False
    person_accepts: list[Operation] = []
    exclusions: list[str] = []
    git: str
    acting_for: str | None = None
    created_at: datetime


class CreateLine(Input):
    """`POST /api/v1/projects/{id}/lines`: a release line, from a commit or another line's head."""

    name: LineName
    start: Annotated[str, Field(alias="from", max_length=200, description="A line, or a full commit id.")]


class PauseLine(Input):
    """`POST /api/v1/projects/{id}/lines/{line}/pause`."""

    reason: Annotated[str, StringConstraints(min_length=1, max_length=500)]


class Line(Answer):
    """One line: its head, and why its queue stands still, if it does.

    `stopped_by`: `owner`; `line`, when the line fails its own checks; `drained`. `draining` says why what is queued
    now is the last to land. `untested`: an owner landed its head without checks.
    """

    name: str
    head: str | None
    paused: str | None
    queued: int
    stopped_by: str | None = None
    draining: str | None = None
    untested: bool = False


class LineList(Answer):
    """The lines of a project, the oldest first."""

    lines: list[Line]


class CreateSeries(Input):
    """`POST /api/v1/projects/{id}/series`: numbers that intents reserve, such as D560."""

    prefix: Prefix
    next: Annotated[
        int, Field(ge=0, le=10**15, description="The number that is given first; none is given twice.")
    ] = 1


class Series(Answer):
    """A series: its prefix, and the number that is given next."""

    prefix: str
    next: int
    created_by: str
    created_at: datetime


class SeriesList(Answer):
    """The series of a project, by prefix."""

    series: list[Series]


class TokenKind(StrEnum):
    """Who a token speaks for; the prefix is `gitring_<kind>_`."""

    PERSON = "person"
    AGENT = "agent"
    GIT = "git"
    MCP = "mcp"


class CreateToken(Input):
    """`POST /api/v1/tokens`."""

    name: Name
    projects: Annotated[list[str], Field(min_length=1, max_length=50)]
    kind: Literal["agent"] = "agent"
    credential_helper: bool = False


class NewToken(Answer):
    """A token, shown this once."""

    id: str
    token: str
    name: str
    projects: list[str]


class TokenInfo(Answer):
    """A token as lists show it, without the secret."""

    id: str
    name: str
    kind: TokenKind
    projects: list[str]
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None


class Caller(Record):
    """Who makes a call, once its token was accepted."""

    token_id: str
    kind: TokenKind
    token_name: str
    person_id: str
    person_name: str
    project_ids: list[str]
    credential_helper: bool = False

    @property
    def is_person(self) -> bool:
        """True for a signed-in person; agents never decide."""
        return self.kind is TokenKind.PERSON
