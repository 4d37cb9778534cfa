"""What each state allows: pushes, submits, withdrawals, decisions; and the refusal when it does not."""

from collections.abc import Sequence

from protocol.ids import short
from protocol.records import ConflictRow, IntentRow, RequestRow
from protocol.refusals import Refused, refused
from protocol.states import State, Verdict
from rules.places import Place, covers, parse_place


def holders(intent: IntentRow, conflicts: Sequence[ConflictRow]) -> list[int]:
    """The numbers of the intents that hold `intent`, lowest first."""
    return sorted(
        c.first_number
        for c in conflicts
        if c.state == "open" and c.second_id == intent.id and c.verdict is Verdict.HOLD
    )


def numbers(found: Sequence[int]) -> str:
    """`#40`, `#40 and #41`, `#40, #41 and #42`."""
    marks = [f"#{number}" for number in found]
    return marks[0] if len(marks) == 1 else f"{', '.join(marks[:-1])} and {marks[-1]}"


def why_closed(intent: IntentRow, conflicts: Sequence[ConflictRow]) -> tuple[str, str] | None:
    """Why `intent` takes no push and no submit now, and what to do instead; None while it is Active."""
    label = f"Intent {intent.label}"
    match intent.state:
        case State.ACTIVE:
            return None
        case State.HELD:
            held = holders(intent, conflicts)
            until = f"until {numbers(held)} merges" if held else "for the moment"
            return f"{label} is held {until}.", "Your work is safe locally. Call gitring_wait."
        case State.PLAN_REVIEW:
            return (
                f"{label} waits for a person to approve its plan.",
                "Your work is safe locally. Write no more code yet; call gitring_wait.",
            )
        case State.QUEUED | State.VERIFYING | State.AWAITING_APPROVAL:
            word = {State.QUEUED: "queued", State.VERIFYING: "being verified"}.get(
                intent.state, "awaiting approval"
            )
            return (
                f"{label} is {word}, so its code is locked.",
                f"To change it, ask {intent.person_name} to send it back, or call gitring_withdraw.",
            )
        case State.MERGED:
            at = f" as {short(intent.merged_commit)}" if intent.merged_commit else ""
            return (
                f"{label} is merged{at} already.",
                "Declare a new intent with gitring_declare for more work.",
            )
        case State.WITHDRAWN:
            return f"{label} is withdrawn.", "Declare a new intent with gitring_declare for this work."


def must_be_open(intent: IntentRow, conflicts: Sequence[ConflictRow]) -> None:
    """Refuse (`wrong_state`) unless `intent` is Active."""
    closed = why_closed(intent, conflicts)
    if closed:
        raise refused("wrong_state", *closed)


def must_be_of_gitring(intent: IntentRow) -> None:
    """Refuse (`wrong_state`) what only gitring's own tools do to gitring's own intents."""
    if intent.landing == "external" and not intent.state.final:
        raise refused(
            "wrong_state",
            f"Intent {intent.label} was published through Foremerge, and gitring lands nothing of it.",
            "Its agent goes on with Foremerge's tools; gitring_withdraw gives it up.",
        )


def must_submit(
    intent: IntentRow,
    conflicts: Sequence[ConflictRow],
    requests: Sequence[RequestRow],
    head_commit: str | None,
) -> str:
    """The commit that a submit may take to the line, or a refusal that names the next step."""
    must_be_open(intent, conflicts)
    if intent.head is None:
        raise refused(
            "nothing_pushed",
            f"Nothing was pushed for intent {intent.label} yet.",
            f"Commit your work, push it to refs/intents/{intent.id} (gitring_clone gives the command), then submit.",
        )
    if head_commit is not None and head_commit != intent.head:
        raise refused(
            "stale_head",
            f"You submitted {short(head_commit)}, but the latest push to your ref is {short(intent.head)}.",
            f"Submit {intent.head}, or push again.",
        )
    blocking = [r for r in requests if r.blocking and not _answered_by_new_head(r, intent)]
    if blocking:
        raise _open_requests(intent, blocking)
    return intent.head


def _answered_by_new_head(request: RequestRow, intent: IntentRow) -> bool:
    """A request from failed checks, or from a merge that did not apply, closes with a new head."""
    return request.kind in ("check", "merge") and request.head != intent.head


def _open_requests(intent: IntentRow, blocking: Sequence[RequestRow]) -> Refused:
    listed = ", ".join(f"{r.id} (from {_sender(r)})" for r in blocking)
    count = f"{len(blocking)} open change request{'s' if len(blocking) > 1 else ''}"
    if all(r.kind in ("check", "merge") for r in blocking):
        what = "Fix it, push, then submit the new head: gitring closes it then, with no gitring_ack."
    else:
        what = "Apply each one, push, call gitring_ack with each id, then submit again."
    return refused("open_change_requests", f"Intent {intent.label} has {count}: {listed}.", what)


def _sender(request: RequestRow) -> str:
    if request.from_kind != "gitring":
        return request.from_name
    reason = {"conflict": "a conflict", "check": "failed checks", "merge": "a merge that did not apply"}
    return f"gitring ({reason.get(request.kind, 'a notice')})"


def must_withdraw(intent: IntentRow, landing: bool) -> None:
    """Refuse to withdraw what is final or being landed right now."""
    if intent.state is State.MERGED:
        raise refused(
            "wrong_state",
            f"Intent {intent.label} is merged already.",
            "Revert it with a new intent if it must go.",
        )
    if intent.state is State.WITHDRAWN:
        raise refused("wrong_state", f"Intent {intent.label} is withdrawn already.", "Nothing is left to do.")
    if landing:
        raise refused(
            "wrong_state",
            f"Intent {intent.label} is being landed at this moment.",
            "Call gitring_wait: it is merged in a moment. Then revert it with a new intent if it must go.",
        )


def yields_refusal(yielded: Sequence[ConflictRow], paths: Sequence[str]) -> str | None:
    """Why a push that changes `paths` is refused, when it changes a file or folder that its intent yielded.

    A yielded symbol is no reason: whether the push reaches it is decided when it is recorded.
    """
    for row in yielded:
        for place in map(parse_place, row.places):
            hit = next((path for path in paths if not place.symbol and covers(place, Place(path))), None)
            if hit is not None:
                return (
                    f"Intent #{row.second_number} yielded {place.text} to intent #{row.first_number}, which keeps it until "
                    f"it merges or is withdrawn. Take the changes to {hit} out of the commits you push, leave it out of "
                    "your plan with gitring_update_plan, and push again."
                )
    return None
