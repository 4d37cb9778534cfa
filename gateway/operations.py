"""The operations behind every door: reads from the record, commands through the workflows."""

from collections.abc import AsyncIterator, Collection
from datetime import UTC, datetime
from typing import Any

import asyncpg
from temporalio.client import Client

from bus.waiters import Waiters
from gateway.access import SeenIntent, must_act_on, must_write, see_intent, see_project
from gateway.administration import Administration
from gateway.asks import Asks
from gateway.auth import AcceptedTokens
from gateway.boards import Boards
from gateway.briefs import Briefs
from gateway.commands import Build, Call, Commands
from gateway.lines import Lines
from gateway.live_logs import Following, LiveLogs
from gateway.members import Members
from gateway.nearby import Surroundings
from gateway.owner_operations import OwnerOperations
from gateway.people import People
from gateway.reads import Reads
from gateway.repositories import Repositories
from gateway.series import SeriesOfProjects
from gateway.waits import Waits
from gateway.waits_of_several import WaitsOfSeveral
from gateway.watching import Watching
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
from protocol.commands import (
    AcceptDrift,
    Ack,
    Command,
    Comment,
    Decide,
    Declare,
    LandNow,
    Settle,
    Submit,
    Suggest,
    UpdatePlan,
    Withdraw,
)
from protocol.events import ChainVerdict, Event
from protocol.ids import new_id
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
from protocol.projects import (
    Caller,
)
from protocol.refusals import people_only
from protocol.states import State
from protocol.surroundings import Brief, Nearby
from protocol.watch import WatchList
from storage.sql import tokens
from storage.sql.watch import WatchNumbers


class Operations(OwnerOperations):
    """One gateway process's operations (`gateway.surface.Surface`)."""

    def __init__(
        self,
        pool: asyncpg.Pool,
        client: Client,
        waiters: Waiters,
        *,
        public_url: str,
        host: str,
        repositories: Repositories | None = None,
    ) -> None:
        self._repositories = repositories
        self._pool = pool
        self.accepted = AcceptedTokens(self._find)
        self._reads = Reads(pool, public_url)
        self._commands = Commands(pool, client)
        self._boards = Boards(self._reads)
        self._lines = Lines(pool, client, self._reads)
        self._briefs = Briefs(self._reads)
        self._watching = Watching(self._reads)
        self._surroundings = Surroundings(self._reads)
        self._series = SeriesOfProjects(pool, self._reads)
        self._waits = Waits(self._reads, waiters)
        self._live_logs = LiveLogs(self._reads, waiters)
        self._waits_of_several = WaitsOfSeveral(self._reads, waiters)
        self._asks = Asks(pool, self._reads, waiters)
        self._members = Members(pool, self._reads)
        self._people = People(pool, public_url)
        self._administration = Administration(pool, client, self._reads, self.accepted, host)

    async def _find(self, raw: str) -> Caller | None:
        async with self._reads.snapshot() as connection:
            return await tokens.find_by_secret(connection, raw, datetime.now(UTC))

    async def authenticate(self, raw_token: str) -> Caller:
        """Whose token this is."""
        return await self.accepted.caller(raw_token)

    async def projects(self, caller: Caller, input: ProjectsInput) -> ProjectList:
        """`gitring_projects`."""
        return await self._reads.projects(caller)

    async def declare(self, caller: Caller, input: DeclareInput) -> DeclareResult:
        """`gitring_declare`."""
        async with self._reads.snapshot() as connection:
            seen = await see_project(connection, caller, input.project_id)
        must_write(seen, caller)
        call = Call(
            caller, "gitring_declare", input, input.request_id, seen.project, new_id("int"), new_id("cmd")
        )
        answer = await self._commands.run(call, _builder(Declare, self._reads.public_url), "declare")
        return DeclareResult(**answer)

    async def update_plan(self, caller: Caller, input: UpdatePlanInput) -> IntentDetail:
        """`gitring_update_plan`."""
        keeps = "issue" not in input.model_fields_set
        return await self._change(
            caller,
            "gitring_update_plan",
            input.intent_id,
            input,
            UpdatePlan,
            "update_plan",
            keeps_issue=keeps,
        )

    async def submit(self, caller: Caller, input: SubmitInput) -> IntentDetail:
        """`gitring_submit`."""
        found = await self._writable(caller, input.intent_id)
        row, project = found.intent, found.seen.project
        behind = self._repositories is None or self._repositories.loose_ref(project.id, row.id) != row.head
        call = Call(caller, "gitring_submit", input, input.request_id, project, row.id, new_id("cmd"), row)
        build = _builder(Submit, self._reads.public_url, may_be_behind=behind)
        return IntentDetail(**await self._commands.run(call, build, "submit"))

    async def withdraw(self, caller: Caller, input: WithdrawInput) -> IntentDetail:
        """`gitring_withdraw`."""
        return await self._change(caller, "gitring_withdraw", input.intent_id, input, Withdraw, "withdraw")

    async def ack(self, caller: Caller, input: AckInput) -> IntentDetail:
        """`gitring_ack`."""
        return await self._change(caller, "gitring_ack", input.intent_id, input, Ack, "ack")

    async def decide(self, caller: Caller, intent_id: str, input: DecideInput) -> IntentDetail:
        """A person's decision on a plan or a merge."""
        return await self._by_person(caller, "decide", intent_id, input, Decide)

    async def comment(self, caller: Caller, intent_id: str, input: CommentInput) -> IntentDetail:
        """A person's change request on an intent."""
        return await self._by_person(caller, "comment", intent_id, input, Comment)

    async def settle_conflict(self, caller: Caller, intent_id: str, input: SettleInput) -> IntentDetail:
        """A person says who goes first."""
        return await self._by_person(caller, "settle_conflict", intent_id, input, Settle)

    async def accept_drift(self, caller: Caller, intent_id: str, input: AcceptDriftInput) -> IntentDetail:
        """A person accepts what lies outside the plan."""
        return await self._by_person(caller, "accept_drift", intent_id, input, AcceptDrift)

    async def land_now(self, caller: Caller, intent_id: str, input: LandNowInput) -> IntentDetail:
        """An owner has an intent land before all others."""
        return await self._by_person(caller, "land_now", intent_id, input, LandNow)

    async def suggest(self, caller: Caller, intent_id: str, input: SuggestInput) -> IntentDetail:
        """A suggestion for another agent's intent; any member may make one."""
        found = await self._reads.seen_intent(caller, intent_id)
        must_write(found.seen, caller)
        row, project = found.intent, found.seen.project
        call = Call(caller, "suggest", input, input.request_id, project, row.id, new_id("cmd"), row)
        answer = await self._commands.run(call, _builder(Suggest, self._reads.public_url), "suggest")
        return IntentDetail(**answer)

    async def _by_person(
        self, caller: Caller, update: str, intent_id: str, input: Any, command: type[Command]
    ) -> IntentDetail:
        found = await self._reads.seen_intent(caller, intent_id)
        if not caller.is_person:
            raise people_only(found.intent.person_name, found.intent.number)
        return await self._change(caller, update, intent_id, input, command, update)

    async def _change(
        self,
        caller: Caller,
        tool: str,
        intent_id: str,
        input: Any,
        command: type[Command],
        update: str,
        **more: Any,
    ) -> IntentDetail:
        found = await self._writable(caller, intent_id)
        row, project = found.intent, found.seen.project
        call = Call(caller, tool, input, input.request_id, project, row.id, new_id("cmd"), row)
        answer = await self._commands.run(call, _builder(command, self._reads.public_url, **more), update)
        return IntentDetail(**answer)

    async def _writable(self, caller: Caller, intent_id: str) -> SeenIntent:
        async with self._reads.snapshot() as connection:
            found = await see_intent(connection, caller, intent_id)
        must_act_on(found, caller)
        return found

    async def clone(self, caller: Caller, input: CloneInput) -> GitToken:
        """`gitring_clone`."""
        return await self._administration.clone(caller, input)

    async def status(self, caller: Caller, input: IntentInput) -> IntentDetail:
        """`gitring_status`."""
        return await self._reads.status(caller, input.intent_id)

    async def wait(self, caller: Caller, input: WaitInput) -> WaitAnswer:
        """`gitring_wait`."""
        waits = self._waits if input.intent_ids is None else self._waits_of_several
        return await waits.wait(caller, input)

    async def board(self, caller: Caller, input: BoardInput) -> Board:
        """`gitring_board`."""
        return await self._boards.board(caller, input)

    async def brief(self, caller: Caller, input: BriefInput) -> Brief:
        """`gitring_brief`."""
        return await self._briefs.brief(caller, input)

    async def nearby(self, caller: Caller, input: IntentInput) -> Nearby:
        """`gitring_nearby`."""
        return await self._surroundings.nearby(caller, input)

    async def asks(self, caller: Caller, input: AsksInput) -> AskList:
        """`gitring_asks`."""
        return await self._asks.waiting(caller, input)

    async def open_ask(self, caller: Caller, project_ref: str, input: CreateAsk) -> AgentAsk:
        """A person asks their agents for something."""
        return await self._asks.open(caller, project_ref, input)

    async def close_ask(self, caller: Caller, ask_id: str) -> AgentAsk:
        """A person gives an ask up."""
        return await self._asks.close(caller, ask_id)

    async def intents(
        self, caller: Caller, project_ref: str, states: Collection[State] | None, limit: int
    ) -> list[IntentView]:
        """Intents of a project, newest first."""
        return await self._reads.intents(caller, project_ref, states, limit)

    async def events(self, caller: Caller, project_ref: str, after_seq: int, limit: int) -> list[Event]:
        """The ledger after `after_seq`."""
        return await self._reads.events(caller, project_ref, after_seq, limit)

    def live_events(self, caller: Caller, project_ref: str, after_seq: int) -> AsyncIterator[Event]:
        """Every event as it is committed."""
        return self._waits.live_events(caller, project_ref, after_seq)

    async def flaky(self, caller: Caller, project_ref: str) -> FlakyList:
        """The flaky tests of a project."""
        return await self._reads.flaky(caller, project_ref)

    async def watch(self, caller: Caller, project_ref: str) -> WatchList:
        """What the watchdog finds."""
        return await self._watching.of_project(caller, project_ref)

    async def watch_numbers(self) -> WatchNumbers:
        """What a monitor reads."""
        return await self._watching.numbers()

    async def audit(self, caller: Caller, project_ref: str) -> ChainVerdict:
        """Whether the ledger is whole."""
        return await self._reads.audit(caller, project_ref)

    async def check(self, caller: Caller, check_id: str) -> CheckView:
        """One check run."""
        return await self._reads.check(caller, check_id)

    async def check_log(self, caller: Caller, check_id: str) -> bytes:
        """The log of a check run."""
        return await self._reads.check_log(caller, check_id)

    def follow_log(self, caller: Caller, check_id: str, at: str) -> Following:
        """The log of a running check as it grows."""
        return self._live_logs.follow(caller, check_id, at)

    async def artifacts(self, caller: Caller, check_id: str) -> ArtifactList:
        """The files that a check run handed over."""
        return await self._reads.artifacts(caller, check_id)

    async def artifact(self, caller: Caller, check_id: str, number: int) -> tuple[str, bytes]:
        """One of those files."""
        return await self._reads.artifact(caller, check_id, number)


def _builder(command: type[Command], public_url: str, **more: Any) -> Build:
    def build(call: Call) -> Command:
        return command(
            command_id=call.command_id,
            caller=call.caller,
            public_url=public_url,
            project_id=call.project.id,
            host=call.project.host,
            intent_id=call.intent_id,
            **{"input": call.input, **more},
        )

    return build
