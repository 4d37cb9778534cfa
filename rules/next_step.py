"""The `Next:` sentence: what the agent does now, with the whole command where one is needed."""

from protocol.records import IntentRecords
from protocol.states import State
from rules.git_commands import GitAddress, intent_ref
from rules.states import holders, numbers


def write_and_push(address: GitAddress, intent_id: str) -> str:
    """Write, push with the ready command, submit."""
    token = (
        ""
        if address.helper
        else "get a git token with gitring_clone and export it as GITRING_GIT_TOKEN, then "
    )
    return (
        f"Write and commit your work; {token}push from the checkout you work in with: "
        f"{address.push(intent_ref(intent_id))}; then call gitring_submit."
    )


def _active(records: IntentRecords, address: GitAddress) -> str:
    intent = records.intent
    blocking = [r for r in records.requests if r.blocking]
    if blocking:
        own = all(r.kind in ("check", "merge") for r in blocking)
        count = "the change request" if len(blocking) == 1 else f"the {len(blocking)} change requests"
        ack = "" if own else ", call gitring_ack for each"
        return f"Do what {count} below asks, push with: {address.push(intent_ref(intent.id))}{ack}; then call gitring_submit."
    if intent.head is None:
        return write_and_push(address, intent.id)
    return (
        f"Call gitring_submit with headCommit {intent.head} when the work is whole; "
        f"for more work first, push with: {address.push(intent_ref(intent.id))}."
    )


def next_step(records: IntentRecords, address: GitAddress) -> str:
    """What the agent of this intent does now. Names no limits and quotes nobody."""
    intent = records.intent
    wait = f"call gitring_wait with intentId {intent.id} and afterSeq {records.after_seq}"
    match intent.state:
        case State.ACTIVE:
            return _active(records, address)
        case State.HELD:
            held = holders(intent, records.conflicts)
            behind = numbers(held) if held else "another intent"
            return (
                f"#{intent.number} is held until {behind} merges or is withdrawn. Do not push; your work is safe locally. "
                f"To go on now, leave the shared places out of your plan; else {wait}."
            )
        case State.PLAN_REVIEW:
            if any(r.kind == "plan" for r in records.requests):
                return "A person sent the plan back: do what the change request asks. Do not write code yet."
            return f"A person must approve the plan first: {wait}. Do not write code yet."
        case State.VERIFYING:
            return f"Checks run on {intent.line} plus your work: {wait}."
        case State.AWAITING_APPROVAL:
            return f"A person decides about the merge; nothing waits on you: {wait}, or stop and call gitring_status later."
        case State.QUEUED:
            return f"#{intent.number} stands in the merge queue of {intent.line}: {wait}."
        case State.MERGED:
            return f"Nothing: #{intent.number} is merged. Declare a new intent for more work."
        case State.WITHDRAWN:
            return f"Nothing: #{intent.number} is withdrawn."
