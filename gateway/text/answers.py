"""An answer's first text block: plain lines, then `afterSeq: N`, then the blocks agents parse."""

from collections.abc import Callable, Iterable
from typing import Any

from pydantic import BaseModel

from gateway.text import asks, briefs, intents, nearby, projects, waits
from gateway.text.blocks import change_request_blocks, notice_block, unlike_a_block
from gateway.text.untrusted import one_line
from protocol.answers import IntentDetail, WaitAnswer
from protocol.states import WaitsFor
from protocol.surroundings import Nearby

NEXT_LIMIT = 5000

_LINES: dict[str, Callable[[Any], Iterable[str]]] = {
    "gitring_projects": projects.projects,
    "gitring_asks": asks.asks,
    "gitring_board": projects.board,
    "gitring_brief": briefs.brief,
    "gitring_nearby": nearby.nearby,
    "gitring_clone": projects.git_token,
    "gitring_declare": intents.declared,
    "gitring_revert": intents.declared,
    "gitring_update_plan": intents.replanned,
    "gitring_ack": intents.acknowledged,
    "gitring_status": intents.status,
    "gitring_submit": intents.submitted,
    "gitring_withdraw": intents.withdrawn,
    "gitring_wait": waits.waited,
}


def render(answer: BaseModel, tool_name: str) -> str:
    """The text of `answer`, as the tool named `tool_name` gives it. KeyError for a tool without a text."""
    lines = list(_LINES[tool_name](answer))
    if isinstance(answer, IntentDetail):
        lines = [*(one_line(said, NEXT_LIMIT) for said in answer.said), *lines, _next(answer)]
    lines = [unlike_a_block(line) for line in lines]
    after_seq = getattr(answer, "after_seq", None)
    if after_seq is not None:
        lines.append(f"afterSeq: {after_seq}")
    return "\n\n".join(["\n".join(lines), *_blocks(answer)])


def render_again(answer: IntentDetail) -> str:
    """One line for an agent that asks for the same status in a loop, and the blocks, which every answer ends with."""
    intent = answer.intent
    waits = (
        "It waits for you: take the step its status named. For"
        if answer.waiting_for is WaitsFor.YOU
        else "For"
    )
    line = (
        f"Nothing new about #{intent.number} ({intent.state.text}) since you last asked. {waits} news, call gitring_wait "
        f"with intentId {intent.id} and afterSeq {answer.after_seq}: it answers as soon as something happens."
    )
    return "\n\n".join([line, *_blocks(answer)])


def _next(answer: IntentDetail) -> str:
    step = f"Next: {one_line(answer.next, NEXT_LIMIT)}"
    again = isinstance(answer, WaitAnswer) and not answer.intent.state.final
    return f"{step} Pass afterSeq {answer.after_seq} next time." if again else step


def _blocks(answer: BaseModel) -> list[str]:
    if isinstance(answer, Nearby):
        return change_request_blocks(answer.change_requests)
    if not isinstance(answer, IntentDetail):
        return []
    return [*change_request_blocks(answer.change_requests), *map(notice_block, answer.notices)]
