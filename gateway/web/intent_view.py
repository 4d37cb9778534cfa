"""Everything the page of an intent shows, read at one moment."""

from typing import NamedTuple

import asyncpg
from markupsafe import Markup

from gateway.access import Seen, see_project
from gateway.text.untrusted import one_line
from gateway.web.changes import Changes, ends_of, read_changes
from gateway.web.plans import PlanVersion, compared, versions
from gateway.web.reasons import why_asked
from gateway.web.remarks import Said, digest_of, said_at_places
from gateway.web.shown import output, sha
from gateway.web.timeline import Moment, moments
from gateway.web.visit import Visit
from protocol.answers import ConflictView, IntentDetail, IntentView
from protocol.checks import TestFailure
from protocol.names import intent_workflow
from protocol.records import IntentRecords, IntentRow, PushRow
from protocol.refusals import not_found
from protocol.states import State, Verdict
from rules.detail import conflict_view
from rules.folders import owner_approves
from rules.places import Place, place_of
from storage.git.errors import GitError
from storage.git.repository import Repository
from storage.sql import events, intents, pages, queue
from storage.sql.foremerge import agents as foremerge
from storage.sql.pages import AskedFor, ClosedRequest
from storage.sql.snapshot import read_intent

MOST_EVENTS = 500
TAIL_BYTES = 6_000
_MOST_VERSIONS = 30
_MOST_PUSHES = 20
_MOST_PAST = 100
_STOPS = (Verdict.HOLD, Verdict.NARROW)
_DECIDED_LATER = (State.AWAITING_APPROVAL, State.QUEUED, State.VERIFYING)


class Possible(NamedTuple):
    """What the person may do with the intent now; the buttons that are shown. `say`: comment, settle, accept drift."""

    approve_plan: bool
    return_plan: bool
    approve_merge: bool
    return_merge: bool
    withdraw: bool
    say: bool

    @property
    def decide(self) -> bool:
        """Whether there is a decision to take."""
        return any(self[:4])


class IntentPage(NamedTuple):
    """One intent at one moment, for one person. `failures` holds the first failing test by the id of its check."""

    seen: Seen
    row: IntentRow
    detail: IntentDetail
    why: list[str]
    possible: Possible
    versions: list[PlanVersion]
    compared: PlanVersion | None
    chosen: tuple[int | None, int | None]
    pushes: list[PushRow]
    closed: list[ClosedRequest]
    said: list[Said]
    ended: list[ConflictView]
    failures: dict[str, TestFailure]
    moments: list[Moment]
    ask: AskedFor | None
    links_ask: bool
    line_head: str | None

    @property
    def shown(self) -> str:
        """Names the patch with its comments: a page that has it need not ask for it again."""
        return f"{self.commit}-{digest_of(self.said)}"

    @property
    def commit(self) -> str:
        """The commit whose difference is shown, in seven digits; part of the ids of all that stands in it."""
        found = self.row.merged_commit or shown_head(self.row)
        return sha(found) if found else "none"

    @property
    def held_by(self) -> list[int]:
        """The numbers of the intents that it waits on or leaves places to."""
        return [c.first for c in self.detail.conflicts if c.second == self.row.number and c.verdict in _STOPS]

    @property
    def holds(self) -> list[int]:
        """The numbers of those that wait on it, or leave places to it."""
        return [c.second for c in self.detail.conflicts if c.first == self.row.number and c.verdict in _STOPS]


def shown_head(intent: IntentRow | IntentView) -> str | None:
    """The commit to look at: what was submitted while that is being decided, else the newest push."""
    return (intent.submitted_head if intent.state in _DECIDED_LATER else None) or intent.head


def intent_number(visit: Visit) -> int:
    """The number in the address; refuses `not_found` for anything else."""
    given = str(visit.request.path_params["number"])
    if not given.isascii() or not given.isdigit() or len(given) > 15:
        raise not_found("intent with that number", "The board lists the live intents.")
    return int(given)


async def find_row(connection: asyncpg.Connection, visit: Visit) -> tuple[Seen, IntentRow]:
    """The intent of the address, in a project that the person may see."""
    seen = await see_project(connection, visit.caller, visit.slug)
    row = await intents.by_number(connection, seen.project.id, intent_number(visit))
    if row is None:
        raise not_found("intent with that number", "The board lists the live intents.")
    return seen, row


async def read_page(visit: Visit) -> IntentPage:
    """All of the page but the patch and the log, from one snapshot."""
    async with visit.web.reads.snapshot() as connection:
        seen, row = await find_row(connection, visit)
        records = await read_intent(connection, row.id)
        assert records is not None
        landing = await queue.is_landing(connection, row.project_id, row.line, row.id)
        plans = await pages.plans(connection, row.id, _MOST_VERSIONS)
        pushes = await pages.pushes(connection, row.id, _MOST_PUSHES)
        closed = await pages.closed_requests(connection, row.id, _MOST_PAST)
        ended = await pages.ended_conflicts(connection, row.id, _MOST_PAST)
        happened = await events.read_after(connection, row.project_id, 0, MOST_EVENTS, intent_id=row.id)
        ask = await pages.ask_of(connection, row.id)
        acting = {event.agent_id for event in happened if (event.agent_id or "").startswith("agt_")}
        agents = await foremerge.many(connection, sorted(str(one) for one in acting)) if acting else {}
    folder = owners_folder(records)
    chosen = (_version(visit, "from"), _version(visit, "to"))
    return IntentPage(
        seen=seen,
        row=row,
        detail=visit.web.reads.detail(visit.caller, records, row.project_id),
        why=why_asked(row, seen.project.settings, folder),
        possible=_possible(row, seen.role, landing, folder),
        versions=versions(plans),
        compared=compared(plans, *chosen),
        chosen=chosen,
        pushes=pushes,
        closed=closed,
        said=said_at_places(records.requests, closed),
        ended=[conflict_view(conflict) for conflict in ended],
        failures={check.id: check.failure for check in records.checks if check.failure is not None},
        moments=moments(happened, {key: one_line(one.name, 100) for key, one in agents.items()}),
        ask=ask,
        links_ask=ask is not None and (seen.role == "owner" or ask.person_id == visit.caller.person_id),
        line_head=records.line_head,
    )


def _version(visit: Visit, name: str) -> int | None:
    given = visit.request.query_params.get(name, "")
    return int(given) if given.isascii() and given.isdigit() and len(given) <= 9 else None


def owners_folder(records: IntentRecords) -> str | None:
    """The folder among the intent's changes, declared or pushed, whose merge only an owner approves."""
    changed = [*map(place_of, records.plan.scope.change), *map(Place, records.pushed_paths)]
    return owner_approves(changed, records.project.settings)


def _possible(row: IntentRow, role: str, landing: bool, folder: str | None) -> Possible:
    may = role in ("owner", "writer")
    plan = may and row.state is State.PLAN_REVIEW
    return Possible(
        approve_plan=plan,
        return_plan=plan,
        approve_merge=may and row.state is State.AWAITING_APPROVAL and (folder is None or role == "owner"),
        return_merge=may and row.state in _DECIDED_LATER and not landing and row.landing == "queue",
        withdraw=may and not row.state.final and not landing,
        say=may and not row.state.final,
    )


async def changes(visit: Visit, page: IntentPage) -> tuple[Changes | None, str]:
    """What the intent changes; without anything to show, the sentence that says why."""
    row, project = page.row, page.seen.project
    if row.head is None:
        return None, "Nothing was pushed yet."
    if project.host != visit.web.site.host_name:
        return None, f"The repository is on {project.host}; this machine cannot read it."
    repository = Repository(visit.web.repositories.path(project.id))
    try:
        ends = await ends_of(repository, row.merged_commit, page.line_head, shown_head(row) or row.head)
        found = await read_changes(repository, ends, page.said)
    except GitError:
        return None, "Git could not compare the work with its line just now. Reload the page to try again."
    return (found, "") if found.total else (None, "Nothing: the work is the same as its line.")


async def failing_tail(visit: Visit, page: IntentPage) -> Markup | None:
    """The end of what the newest checks printed, when they failed."""
    latest = page.detail.checks[0] if page.detail.checks else None
    if latest is None or latest.state not in ("failed", "error"):
        return None
    return output(await visit.web.surface.check_log(visit.caller, latest.id), TAIL_BYTES)


def workflow_link(visit: Visit, page: IntentPage) -> str | None:
    """Where Temporal's pages show the intent's workflow."""
    site = visit.web.site
    if site.temporal_ui_url is None:
        return None
    name = intent_workflow(page.row.id)
    return f"{site.temporal_ui_url}/namespaces/{site.temporal_namespace}/workflows/{name}"
