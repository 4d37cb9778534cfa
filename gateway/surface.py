"""What the edge asks of the system: one method for each thing a caller may do, whichever door it came through.

Every method raises `protocol.refusals.Refused`; any other exception is a defect and is answered as one.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from typing import Any, Protocol, cast

from pydantic import BaseModel

from gateway.live_logs import Following
from protocol.answers import (
    Board,
    CheckView,
    DeclareResult,
    GitToken,
    IntentDetail,
    IntentView,
    ProjectList,
    WaitAnswer,
)
from protocol.asks import AgentAsk, AskList, AsksInput, CreateAsk
from protocol.checks import FlakyList
from protocol.events import ChainVerdict, Event
from protocol.intents import (
    AcceptDriftInput,
    AckInput,
    BoardInput,
    BriefInput,
    CloneInput,
    CommentInput,
    DecideInput,
    DeclareInput,
    IntentInput,
    LandNowInput,
    ProjectsInput,
    SettleInput,
    SubmitInput,
    SuggestInput,
    UpdatePlanInput,
    WaitInput,
    WithdrawInput,
)
from protocol.live import ArtifactList
from protocol.people import InvitePerson, MakeLink, Member, MemberList, SetRole, SignInLink
from protocol.projects import (
    Caller,
    ChangeSettings,
    CreateLine,
    CreateProject,
    CreateSeries,
    CreateToken,
    LineList,
    NewToken,
    PauseLine,
    Project,
    SeriesList,
    TokenInfo,
)
from protocol.states import State
from protocol.surroundings import Brief, Nearby
from protocol.tools import Tool
from protocol.watch import WatchList


class Surface(Protocol):
    """The operations behind every door. `project_ref` is an id or a slug."""

    async def authenticate(self, raw_token: str) -> Caller:
        """Whose token this is; refuses `unauthenticated`."""
        ...

    async def projects(self, caller: Caller, input: ProjectsInput, /) -> ProjectList: ...
    async def declare(self, caller: Caller, input: DeclareInput, /) -> DeclareResult: ...
    async def clone(self, caller: Caller, input: CloneInput, /) -> GitToken: ...
    async def status(self, caller: Caller, input: IntentInput, /) -> IntentDetail: ...
    async def update_plan(self, caller: Caller, input: UpdatePlanInput, /) -> IntentDetail: ...
    async def ack(self, caller: Caller, input: AckInput, /) -> IntentDetail: ...
    async def submit(self, caller: Caller, input: SubmitInput, /) -> IntentDetail: ...
    async def withdraw(self, caller: Caller, input: WithdrawInput, /) -> IntentDetail: ...
    async def board(self, caller: Caller, input: BoardInput, /) -> Board: ...
    async def brief(self, caller: Caller, input: BriefInput, /) -> Brief: ...
    async def nearby(self, caller: Caller, input: IntentInput, /) -> Nearby: ...

    async def wait(self, caller: Caller, input: WaitInput, /) -> WaitAnswer:
        """Held until the first event after `after_seq` or for `seconds`; with 0 it answers at once. Cancellable."""
        ...

    async def asks(self, caller: Caller, input: AsksInput, /) -> AskList:
        """Held for `wait` seconds while the caller's person has no open ask. Cancellable."""
        ...

    async def open_ask(self, caller: Caller, project_ref: str, input: CreateAsk, /) -> AgentAsk: ...
    async def close_ask(self, caller: Caller, ask_id: str, /) -> AgentAsk: ...

    async def decide(self, caller: Caller, intent_id: str, input: DecideInput, /) -> IntentDetail:
        """A person's decision; refuses `people_only`."""
        ...

    async def comment(self, caller: Caller, intent_id: str, input: CommentInput, /) -> IntentDetail: ...
    async def suggest(self, caller: Caller, intent_id: str, input: SuggestInput, /) -> IntentDetail: ...
    async def settle_conflict(
        self, caller: Caller, intent_id: str, input: SettleInput, /
    ) -> IntentDetail: ...
    async def accept_drift(
        self, caller: Caller, intent_id: str, input: AcceptDriftInput, /
    ) -> IntentDetail: ...
    async def land_now(self, caller: Caller, intent_id: str, input: LandNowInput, /) -> IntentDetail: ...

    async def create_project(self, caller: Caller, input: CreateProject, /) -> Project: ...
    async def change_settings(
        self, caller: Caller, project_ref: str, input: ChangeSettings, /
    ) -> Project: ...

    async def lines(self, caller: Caller, project_ref: str, /) -> LineList: ...
    async def create_line(self, caller: Caller, project_ref: str, input: CreateLine, /) -> LineList: ...
    async def pause_line(
        self, caller: Caller, project_ref: str, line: str, input: PauseLine, /
    ) -> LineList: ...
    async def drain_line(
        self, caller: Caller, project_ref: str, line: str, input: PauseLine, /
    ) -> LineList: ...
    async def resume_line(self, caller: Caller, project_ref: str, line: str, /) -> LineList: ...

    async def series(self, caller: Caller, project_ref: str, /) -> SeriesList: ...
    async def create_series(self, caller: Caller, project_ref: str, input: CreateSeries, /) -> SeriesList: ...

    async def create_token(self, caller: Caller, input: CreateToken, /) -> NewToken: ...
    async def list_tokens(self, caller: Caller, /) -> list[TokenInfo]: ...
    async def revoke_token(self, caller: Caller, token_id: str, /) -> TokenInfo: ...

    async def invite(self, caller: Caller, input: InvitePerson, /) -> SignInLink: ...
    async def make_link(self, caller: Caller, input: MakeLink, /) -> SignInLink: ...

    async def members(self, caller: Caller, project_ref: str, /) -> MemberList: ...
    async def member(self, caller: Caller, project_ref: str, person_id: str, /) -> Member: ...
    async def set_role(
        self, caller: Caller, project_ref: str, person_id: str, input: SetRole, /
    ) -> Member: ...
    async def remove_member(self, caller: Caller, project_ref: str, person_id: str, /) -> Member: ...

    async def intents(
        self, caller: Caller, project_ref: str, states: Collection[State] | None, limit: int, /
    ) -> list[IntentView]:
        """Newest first; `states` None is every state."""
        ...

    async def check(self, caller: Caller, check_id: str, /) -> CheckView: ...

    async def check_log(self, caller: Caller, check_id: str, /) -> bytes:
        """The log as it was written, of a running check what is there so far: the project's own output, untrusted."""
        ...

    def follow_log(self, caller: Caller, check_id: str, at: str, /) -> Following:
        """The log from `at` on as it grows, ended by the verdict; refuses at any step, also when access is lost."""
        ...

    async def artifacts(self, caller: Caller, check_id: str, /) -> ArtifactList: ...

    async def artifact(self, caller: Caller, check_id: str, number: int, /) -> tuple[str, bytes]:
        """Name and content of a file that a run handed over, untrusted."""
        ...

    async def events(self, caller: Caller, project_ref: str, after_seq: int, limit: int, /) -> list[Event]:
        """At most `limit` events with a seq above `after_seq`, oldest first."""
        ...

    def live_events(self, caller: Caller, project_ref: str, after_seq: int, /) -> AsyncIterator[Event]:
        """Every event after `after_seq`, as it is committed, without end; refuses at the first step."""
        ...

    async def flaky(self, caller: Caller, project_ref: str, /) -> FlakyList:
        """The project's tests that were seen red and green on one tree, the newest first."""
        ...

    async def watch(self, caller: Caller, project_ref: str, /) -> WatchList:
        """What the watchdog finds in the project now, the longest first."""
        ...

    async def audit(self, caller: Caller, project_ref: str, /) -> ChainVerdict:
        """Whether the project's ledger is whole."""
        ...


Operation = Callable[[Caller, Any], Awaitable[BaseModel]]


def operation_of(surface: Surface, tool: Tool) -> Operation:
    """The method of `surface` that answers `tool`. AttributeError when there is none."""
    return cast(Operation, getattr(surface, tool.operation))
