"""Lines about one intent: what a call did, where the intent stands, what is left to do."""

from collections.abc import Iterator

from gateway.text.untrusted import counted, listed, name_of, one_line, title_of
from protocol.answers import CheckView, ConflictView, DeclareResult, GoesAfter, IntentDetail
from protocol.ids import short
from protocol.states import Risk, State


def commit(sha: str | None) -> str:
    """Seven digits, or `none`."""
    return short(one_line(sha, 64)) if sha else "none"


def declared(answer: DeclareResult) -> Iterator[str]:
    """After `gitring_declare`: may it start, whom does it meet, where to push."""
    intent = answer.intent
    yield f"#{intent.number} declared in {one_line(intent.project)}. State: {intent.state.text}. Risk: {intent.risk}."
    yield from risk(answer)
    if intent.state is State.PLAN_REVIEW:
        yield "A person must approve the plan before you write code."
    yield from conflicts(answer)
    yield from order(answer)
    if answer.reserved:
        yield f"Reserved: {listed(answer.reserved)}."
    yield f"Intent id: {intent.id}. Push to {one_line(answer.push.ref)} on {one_line(answer.push.url)}."


def submitted(answer: IntentDetail) -> Iterator[str]:
    """After `gitring_submit`."""
    intent = answer.intent
    yield f"#{intent.number} submitted at {commit(intent.submitted_head)}. State: {intent.state.text}."
    yield from queue(answer)


def withdrawn(answer: IntentDetail) -> Iterator[str]:
    """After `gitring_withdraw`."""
    yield f"#{answer.intent.number} withdrawn. Its ref stays readable."


def replanned(answer: IntentDetail) -> Iterator[str]:
    """After `gitring_update_plan`."""
    intent = answer.intent
    yield f"#{intent.number} has plan v{intent.plan.version}. State: {intent.state.text}."
    yield from risk(answer)
    yield from conflicts(answer)


def acknowledged(answer: IntentDetail) -> Iterator[str]:
    """After `gitring_ack`; what became of the request is in the answer's own sentences."""
    yield f"#{answer.intent.number}. State: {answer.intent.state.text}."
    yield open_requests(answer)


def status(answer: IntentDetail) -> Iterator[str]:
    """`gitring_status`: the whole of it."""
    intent = answer.intent
    head = f"Head {commit(intent.head)}" if intent.head else "Nothing pushed yet"
    yield f"#{intent.number} {title_of(intent.title)}. State: {intent.state.text}. Plan v{intent.plan.version}. {head}."
    if intent.merged_commit:
        yield f"Merged as {commit(intent.merged_commit)} on {one_line(intent.line)}."
    yield from queue(answer)
    yield from risk(answer)
    yield from order(answer)
    yield from base(answer)
    if answer.conflicts:
        yield from conflicts(answer)
    yield from drift(answer)
    yield latest_check(answer.checks)
    yield from decisions(answer)
    yield from left(answer)
    yield open_requests(answer)


def queue(answer: IntentDetail) -> Iterator[str]:
    """The place in the queue, with whom it is tested, and about when it lands."""
    place = answer.queue
    if place is None:
        return
    line = one_line(answer.intent.line)
    if place.position is None:
        waits = ", ".join(f"#{number}" for number in place.waits_for) or "what it goes after"
        yield f"In the queue of {line}, behind {waits}, not queued yet."
        return
    beside = (
        f", tested with {', '.join(f'#{number}' for number in place.tested_with)}"
        if place.tested_with
        else ""
    )
    about = f"; about {place.eta_sec} s if all goes well" if place.eta_sec is not None else ""
    yield f"Place {place.position} of {place.of} in the queue of {line}{beside}{about}."


def risk(answer: IntentDetail) -> Iterator[str]:
    """Why the risk is high, one line a reason."""
    if answer.intent.risk is Risk.HIGH:
        for reason in answer.intent.risk_reasons[:10]:
            yield f"High risk: {one_line(reason)}"


def order(answer: IntentDetail) -> Iterator[str]:
    """What the intent goes after, and what goes after it."""
    for before in answer.intent.depends_on[:20]:
        yield f"Goes after #{before.number} ({_why(before)})."
    if answer.intent.dependents:
        yield f"Go after it: {listed([f'#{number}' for number in answer.intent.dependents])}."


def _why(before: GoesAfter) -> str:
    if before.why == "uses":
        return f"uses {one_line(before.path) if before.path else 'what it changes'}"
    return one_line(before.why, 40)


def base(answer: IntentDetail) -> Iterator[str]:
    """How the line stands against the work, in the words the protocol gives each status."""
    found = answer.base
    if found is None:
        return
    line, head = one_line(found.line), commit(found.head)
    behind = f"Base: behind {line} by {found.behind} (now {head})"
    match found.status:
        case "current":
            yield f"Base: current with {line} {head}."
        case "behind_clean":
            yield f"{behind}, applies cleanly. Nothing to do; gitring merges onto the newest {line}."
        case "behind_conflicted":
            yield f"{behind}, conflicts. Rebase onto {head} locally, keep the other intent's change, and push."
        case "behind" if found.near:
            merged = listed([f"#{number}" for number in found.near], 5)
            yield (
                f"Base: {line} moved near your places when {merged} merged (now {head}). Merge {line} into your work before "
                "you go on."
            )
        case "behind":
            yield (
                f"Base: {line} moved on (now {head}), nowhere near your places since your latest push. Nothing to do; "
                f"gitring merges onto the newest {line}."
            )
        case other:
            yield f"Base: {one_line(other, 40)} ({line} is at {head})."


def conflict(found: ConflictView) -> str:
    """One conflict on one line; its text begins with the numbers of the pair."""
    return one_line(found.text, 1000)


def conflicts(answer: IntentDetail) -> Iterator[str]:
    """How many conflicts, then each."""
    count = len(answer.conflicts)
    yield f"{counted(count, 'conflict')}{':' if count else '.'}"
    for found in answer.conflicts[:20]:
        yield conflict(found)
    if count > 20:
        yield f"And {count - 20} more; the JSON of this answer lists all."


def drift(answer: IntentDetail) -> Iterator[str]:
    """What the pushes changed outside the plan."""
    if answer.drift:
        count = len(answer.drift)
        verb = "was" if count == 1 else "were"
        yield (
            f"Drift: {counted(count, 'change')} outside the plan: {listed(answer.drift)} {verb} not declared. "
            "The merge is not blocked."
        )


def latest_check(checks: list[CheckView]) -> str:
    """The newest run of each check; where the logs of those are that are not green."""
    if not checks:
        return "Checks: none yet. They run after gitring_submit."
    newest: dict[str, CheckView] = {}
    for check in sorted(checks, key=lambda check: check.started_at):
        newest[check.name] = check
    latest = max(checks, key=lambda check: check.started_at)
    if len(newest) == 1:
        return f"Latest check: {_check(latest)}"
    # A check that is no check of the project any more speaks of an older head.
    shown = sorted((c for c in newest.values() if c.head == latest.head), key=lambda check: check.name)
    green = [_named(check) for check in shown if check.state == "passed"]
    rest = [f"{one_line(check.name, 64)} {_check(check)}" for check in shown if check.state != "passed"]
    passed = [f"passed: {', '.join(green)}."] if green else []
    return f"Latest checks: {' '.join([*rest, *passed])}"


def _check(check: CheckView) -> str:
    reused = " (the result of the same tree, reused)" if check.reused else ""
    summary = f" {one_line(check.summary, 600)}" if check.summary else ""
    return f"{one_line(check.state, 40)}{reused}.{summary} Log: {one_line(check.log, 600)}"


def _named(check: CheckView) -> str:
    """A green check, with what tells about it: reused, or green only on a later try."""
    notes = ["reused"] if check.reused else []
    if check.flaky:
        notes.append(f"on try {check.tries}; flaky: {listed(check.flaky, 3)}")
    return one_line(check.name, 64) + (f" ({', '.join(notes)})" if notes else "")


def decisions(answer: IntentDetail) -> Iterator[str]:
    """What people decided; a note is in the change request it became, never here."""
    if not answer.decisions:
        yield "Decisions: none."
        return
    said = [
        f"{one_line(decision.kind, 40)} by {name_of(decision.person)} (plan v{decision.plan_version})"
        for decision in answer.decisions[-10:]
    ]
    yield f"Decisions: {'; '.join(said)}."


def left(answer: IntentDetail) -> Iterator[str]:
    """What the pushes have not changed yet, and what gitring would refuse."""
    if answer.not_yet_changed:
        asked = f", as of push {commit(answer.as_of)}" if answer.as_of else ""
        yield f"Not yet changed (declared places{asked}): {listed(answer.not_yet_changed)}."
    if answer.do_not_change:
        yield "Do not change (gitring refuses these):"
        for refused in answer.do_not_change[:20]:
            yield f"- {one_line(refused.place)}: {one_line(refused.why)}"


def open_requests(answer: IntentDetail) -> str:
    """How many change requests are open."""
    return f"{counted(len(answer.change_requests), 'open change request')}."
