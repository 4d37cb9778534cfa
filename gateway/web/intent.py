"""The page of an intent, and the decisions that people take there."""

from typing import Any

from starlette.responses import Response

from gateway.web.checks import files_of, running
from gateway.web.inputs import checked, number, text
from gateway.web.intent_view import (
    MOST_EVENTS,
    changes,
    failing_tail,
    find_row,
    intent_number,
    read_page,
    shown_head,
    workflow_link,
)
from gateway.web.reasons import ORDER_RULES
from gateway.web.router import PageRoutes
from gateway.web.shown import sha
from gateway.web.visit import Visit, go
from protocol.intents import AcceptDriftInput, CommentInput, DecideInput, SettleInput, WithdrawInput
from protocol.refusals import invalid_input
from rules.git_commands import intent_ref

_DONE = {"approve": "approved", "send_back": "returned"}


async def intent(visit: Visit) -> Response:
    """`/p/{slug}/i/{number}`."""
    page = await read_page(visit)
    # A page that asks for itself again has the patch already, unless the work or the comments moved on.
    has = visit.request.query_params.get("has") == page.shown
    found, no_changes = (None, "") if has else await changes(visit, page)
    slug, label = page.seen.project.slug, page.row.number
    chosen = page.chosen
    return await visit.show(
        "intent.html",
        slug=slug,
        page=page,
        project=page.seen.project,
        detail=page.detail,
        intent=page.detail.intent,
        possible=page.possible,
        tail=await failing_tail(visit, page),
        live={run.id: run for run in await running(visit, page.detail.checks)},
        files=await files_of(visit, page.detail.checks),
        changes=found,
        no_changes=no_changes,
        commit=page.commit,
        typed=visit.form if visit.problem and "text" in visit.form else None,
        ref=intent_ref(page.row.id),
        has=has,
        chosen=chosen,
        compare=f"&from={chosen[0]}&to={chosen[1]}" if page.compared else "",
        rules=ORDER_RULES,
        accepted_drift=any(
            d.kind == "drift_accepted" and d.head == page.row.head for d in page.detail.decisions
        ),
        note=visit.form.get("note", ""),
        events_cut=len(page.moments) == MOST_EVENTS,
        workflow=workflow_link(visit, page),
        stream=f"/p/{slug}/live?after={page.detail.after_seq}",
        address=f"/p/{slug}/i/{label}",
    )


async def decide(visit: Visit) -> Response:
    """`POST …/decide`: bound to the plan version or the commit that the person had before their eyes."""
    intent_id = await _intent_id(visit)
    given = checked(
        DecideInput,
        decision=_word(visit, "decision"),
        subject=_word(visit, "subject"),
        note=text(visit, "note"),
        plan_version=number(visit, "plan_version"),
        head_commit=text(visit, "head_commit"),
    )
    if given.decision == "send_back" and given.note is None:
        raise invalid_input("A note is missing.", "Say in a sentence what has to change; the agent reads it.")
    await visit.web.surface.decide(visit.caller, intent_id, given)
    return _back(visit, _DONE[given.decision])


def _word(visit: Visit, name: str) -> Any:
    return visit.form.get(name, "")


async def withdraw(visit: Visit) -> Response:
    """`POST …/withdraw`: for somebody who left, or an intent that nobody wants any more."""
    given = checked(WithdrawInput, intent_id=await _intent_id(visit), reason=text(visit, "reason") or "")
    await visit.web.surface.withdraw(visit.caller, given)
    return _back(visit, "withdrawn")


async def comment(visit: Visit) -> Response:
    """`POST …/comment`: a change request on lines of a file, on a file, or on the whole."""
    given = checked(
        CommentInput,
        text=text(visit, "text") or "",
        path=text(visit, "path"),
        start_line=number(visit, "start_line"),
        end_line=number(visit, "end_line"),
    )
    after = await visit.web.surface.comment(visit.caller, await _intent_id(visit), given)
    # Back to where the comment stands on the page: the newest of those that people sent.
    made = max((one for one in after.change_requests if one.kind == "review"), key=lambda one: one.created_at)
    head = shown_head(after.intent)
    return _back(visit, "asked", f"remark-{sha(head)}-{made.id}" if given.path and head else "")


async def settle(visit: Visit) -> Response:
    """`POST …/settle`: who of two in conflict goes first."""
    given = checked(
        SettleInput,
        conflict_id=text(visit, "conflict") or "",
        first=number(visit, "first"),
        note=text(visit, "note"),
    )
    await visit.web.surface.settle_conflict(visit.caller, await _intent_id(visit), given)
    return _back(visit, "settled")


async def accept_drift(visit: Visit) -> Response:
    """`POST …/accept-drift`: what the pushes change outside the plan is fine as it is now."""
    given = checked(AcceptDriftInput, note=text(visit, "note"))
    await visit.web.surface.accept_drift(visit.caller, await _intent_id(visit), given)
    return _back(visit, "accepted")


async def _intent_id(visit: Visit) -> str:
    async with visit.web.reads.snapshot() as connection:
        return (await find_row(connection, visit))[1].id


def _back(visit: Visit, done: str, place: str = "") -> Response:
    return go(f"/p/{visit.slug}/i/{intent_number(visit)}", place, done=done)


async def leave(visit: Visit) -> Response:
    """A form's address, asked for by GET: the page it belongs to."""
    return go(f"/p/{visit.slug}/i/{intent_number(visit)}")


def add_intent(routes: PageRoutes) -> None:
    """The page and its forms."""
    routes.get("/p/{slug}/i/{number}", intent)
    forms = {
        "decide": decide,
        "withdraw": withdraw,
        "comment": comment,
        "settle": settle,
        "accept-drift": accept_drift,
    }
    for name, handler in forms.items():
        routes.post(f"/p/{{slug}}/i/{{number}}/{name}", handler, intent)
        routes.get(f"/p/{{slug}}/i/{{number}}/{name}", leave)
