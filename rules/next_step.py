"""The `Next:` sentence: what the agent does now, with the whole command where one is needed."""

from protocol.records import ConflictRow, IntentRecords
from protocol.states import State, Verdict
from rules.conflict_texts import listed
from rules.folders import owner_approves
from rules.git_commands import GitAddress, intent_ref
from rules.places import Place, covers, parse_place, place_of
from rules.states import holders, numbers

MOST_NAMED = 5
_GET_TOKEN = "get a git token with gitring_clone and export it as GITRING_GIT_TOKEN"


def next_step(records: IntentRecords, address: GitAddress) -> str:
    """What the agent of this intent does now. Names no limits and quotes nobody."""
    intent = records.intent
    wait = f"call gitring_wait with intentId {intent.id} and afterSeq {records.after_seq}"
    if intent.landing == "external" and not intent.state.final:
        return f"#{intent.number} was published through Foremerge: its agent goes on with Foremerge's tools."
    match intent.state:
        case State.ACTIVE:
            return _active(records, address)
        case State.HELD:
            return _held(records, wait)
        case State.PLAN_REVIEW:
            if any(r.kind == "plan" for r in records.requests):
                return (
                    "A person sent the plan back: send the next version with gitring_update_plan, as the change request "
                    "below says. Do not write code yet."
                )
            return f"A person must approve the plan first{_page(records, address)}: {wait}. Do not write code yet."
        case State.VERIFYING | State.QUEUED if records.line_paused:
            return f"The queue of {intent.line} stands still, and nothing waits on you: {wait}, or call gitring_status later."
        case State.VERIFYING:
            return f"Checks run on {intent.line} plus your work: {wait}."
        case State.AWAITING_APPROVAL:
            return (
                f"{_decider(records)} decides about the merge{_page(records, address)}; nothing waits on you: {wait}, or stop and call "
                "gitring_status later."
            )
        case State.QUEUED:
            return f"#{intent.number} stands in the merge queue of {intent.line}: {wait}."
        case State.MERGED:
            return f"Nothing: #{intent.number} is merged. Declare a new intent for more work."
        case State.WITHDRAWN:
            return f"Nothing: #{intent.number} is withdrawn."


def stop_step(records: IntentRecords, address: GitAddress) -> str:
    """What is said instead when nothing waits on the agent and nothing has moved for long: it can stop polling."""
    intent = records.intent
    if intent.state.final:
        return next_step(records, address)
    page = _page(records, address)
    waits = {
        State.PLAN_REVIEW: f"a person to approve the plan{page}",
        State.AWAITING_APPROVAL: f"a person to decide about the merge{page}",
        State.HELD: f"{_behind(records)} to merge or to be withdrawn",
        State.QUEUED: "its turn to merge",
    }
    return (
        f"#{intent.number} still waits for {waits.get(intent.state, 'its checks')}, and nothing waits on you: stop polling "
        "here, gitring keeps the intent. Call gitring_status when you come back, or when the person you act for tells you "
        "that it moved."
    )


def _active(records: IntentRecords, address: GitAddress) -> str:
    blocking = [r for r in records.requests if r.blocking]
    narrowed = [c for c in records.conflicts if _yields(records, c)]
    others = [r for r in blocking if r.conflict_id not in {c.id for c in narrowed}]
    first = _catch_up(records, address) + "".join(map(_leave_out, narrowed))
    if not others:
        return first + _write_push_submit(records, address)
    count = (
        "the change request's Do: line says"
        if len(others) == 1
        else f"each of the {len(others)} Do: lines says"
    )
    return f"{first}Do what {count}, {_push(records, address)}{_then(records, [r.kind for r in others])}."


def _then(records: IntentRecords, kinds: list[str]) -> str:
    """What follows the push: requests from failed checks and merges are answered by the submit itself."""
    acks = sum(kind not in ("check", "merge") for kind in kinds)
    ack = {0: "", 1: "call gitring_ack with the request's id, then "}.get(
        acks, "call gitring_ack with each request's id, then "
    )
    return f"; then {ack}call gitring_submit"


def _push(records: IntentRecords, address: GitAddress) -> str:
    """The push with its ready command; before the first one, where its token comes from."""
    needs_token = _needs_token(records, address) and not _behind_line(records)
    token = f"{_GET_TOKEN}, then " if needs_token else ""
    return f"{token}push from the checkout you work in with: {address.push(intent_ref(records.intent.id))}"


def _needs_token(records: IntentRecords, address: GitAddress) -> bool:
    return records.intent.head is None and not address.helper


def _write_push_submit(records: IntentRecords, address: GitAddress) -> str:
    head = records.intent.head
    if head is None:
        return f"Write and commit your work; {_push(records, address)}; then call gitring_submit."
    return (
        f"Call gitring_submit with headCommit {head} when the work is whole; for more work first, "
        f"{_push(records, address)}."
    )


def _catch_up(records: IntentRecords, address: GitAddress) -> str:
    """That the line comes into the work first, when something landed near its places since its latest push."""
    if not _behind_line(records):
        return ""
    line = records.intent.line
    token = f"{_GET_TOKEN}, and " if _needs_token(records, address) else ""
    return (
        f"{line} moved near your places when {_named(records.landed_near)} merged: first {token}merge "
        f"{line} into your work with `{address.fetch(line)}` and `git merge FETCH_HEAD`. "
    )


def _named(found: list[int]) -> str:
    more = f" and {len(found) - MOST_NAMED} more" if len(found) > MOST_NAMED else ""
    return f"{', '.join(f'#{number}' for number in found[:MOST_NAMED])}{more}" if more else numbers(found)


def _behind_line(records: IntentRecords) -> bool:
    return bool(records.landed_near) and records.line_head != records.intent.base


def _yields(records: IntentRecords, row: ConflictRow) -> bool:
    asked = any(r.conflict_id == row.id and r.blocking for r in records.requests)
    return asked and row.verdict is Verdict.NARROW and row.second_id == records.intent.id


def _leave_out(row: ConflictRow) -> str:
    return (
        f"#{row.second_number} leaves {listed(row.places)} to #{row.first_number}: leave these places out of your plan with "
        "gitring_update_plan, which closes the change request, and use them only as they are on your line; a push that "
        "changes a yielded file is refused. "
    )


def _held(records: IntentRecords, wait: str) -> str:
    intent = records.intent
    holding = [c for c in records.conflicts if c.second_id == intent.id and c.verdict is Verdict.HOLD]
    met = [parse_place(text) for c in holding for text in c.places]
    declared = [place_of(item) for item in records.plan.scope.change]
    elsewhere = any(not any(covers(place, item) for place in met) for item in declared)
    said = f"#{intent.number} is held until {_behind(records)} merges or is withdrawn. Do not push; your work is safe locally. "
    pushed = any(covers(place.file, Place(path)) for place in met for path in records.pushed_paths)
    if pushed or not elsewhere or not met:
        return f"{said}{wait[0].upper()}{wait[1:]}."
    places = listed([place.text for place in sorted(set(met))])
    return f"{said}To go on now with the rest, leave {places} out of your plan with gitring_update_plan; else {wait}."


def _behind(records: IntentRecords) -> str:
    held = holders(records.intent, records.conflicts)
    return numbers(held) if held else "another intent"


def _decider(records: IntentRecords) -> str:
    changed = [*map(place_of, records.plan.scope.change), *map(Place, records.pushed_paths)]
    folder = owner_approves(changed, records.project.settings)
    return "A person" if folder is None else f"An owner, because it changes {folder},"


def _page(records: IntentRecords, address: GitAddress) -> str:
    """Where a person decides."""
    page = f"{address.public_url}/p/{records.project.slug}/i/{records.intent.number}"
    return f", at {page}" if address.public_url else ""
