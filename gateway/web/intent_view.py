"""Everything the page of an intent shows, read at one moment."""

from typing import NamedTuple

import asyncpg
from markupsafe import Markup

from gateway.access import Seen, see_project
from gateway.web.diffs import MOST_BYTES, Patch, read_patch
from gateway.web.plans import PlanVersion, versions
from gateway.web.reasons import why_asked
from gateway.web.shown import output
from gateway.web.timeline import Moment, moments
from gateway.web.visit import Visit
from protocol.answers import ConflictView, IntentDetail
from protocol.names import intent_workflow
from protocol.records import IntentRecords, IntentRow, PushRow
from protocol.refusals import not_found
from protocol.states import State
from rules.detail import conflict_view
from rules.folders import owner_approves
from rules.places import Place, place_of
from storage.git.errors import GitError
from storage.git.patches import patch_of_landing, patch_of_work
from storage.git.repository import Repository
from storage.sql import events, intents, pages, queue
from storage.sql.pages import ClosedRequest
from storage.sql.snapshot import read_intent

MOST_EVENTS = 500
TAIL_BYTES = 6_000
_MOST_VERSIONS = 10
_MOST_PUSHES = 20
_MOST_PAST = 20
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
    """One intent at one moment, for one person."""

    seen: Seen
    row: IntentRow
    detail: IntentDetail
    why: list[str]
    possible: Possible
    versions: list[PlanVersion]
    pushes: list[PushRow]
    closed: list[ClosedRequest]
    ended: list[ConflictView]
    moments: list[Moment]
    line_head: str | None


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
    folder = owners_folder(records)
    return IntentPage(
        seen=seen,
        row=row,
        detail=visit.web.reads.detail(visit.caller, records, row.project_id),
        why=why_asked(row, seen.project.settings, folder),
        possible=_possible(row, seen.role, landing, folder),
        versions=versions(plans),
        pushes=pushes,
        closed=closed,
        ended=[conflict_view(conflict) for conflict in ended],
        moments=moments(happened),
        line_head=records.line_head,
    )


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
        return_merge=may and row.state in _DECIDED_LATER and not landing,
        withdraw=may and not row.state.final and not landing,
        say=may and not row.state.final,
    )


async def patch(visit: Visit, page: IntentPage) -> tuple[Patch | None, str]:
    """What the intent changes; without one, the sentence that says why there is none to show."""
    row, project = page.row, page.seen.project
    if row.head is None:
        return None, "Nothing was pushed yet."
    if project.host != visit.web.site.host_name:
        return None, f"The repository is on {project.host}; this machine cannot read it."
    repository = Repository(visit.web.repositories.path(project.id))
    try:
        if row.merged_commit:
            found = await patch_of_landing(repository, row.merged_commit, MOST_BYTES)
        else:
            head = row.submitted_head or row.head
            found = await patch_of_work(repository, page.line_head, head, MOST_BYTES)
    except GitError:
        return None, "Git could not compare the work with its line just now. Reload the page to try again."
    return read_patch(found.text, found.truncated), ""


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
