"""What stands still though it should move: a pure rule from one look at the record (and its clock) to findings.

The queue's own findings are `rules/watch_queue.py`'s. A sentence holds no duration: it is told once, and `since` goes on.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta

from protocol.projects import ProjectSettings
from protocol.states import State
from protocol.watch import CheckFact, Finding, Heal, LiveFact, WatchFacts, WatchKind
from rules.check_plan import definitions_of
from rules.watch_queue import SLOT_WAIT, STALL, queue_findings
from rules.watch_words import NEXT_HAND, of_number, some_numbers

# A worker says every ten seconds that it lives.
HOST_SILENT = timedelta(seconds=20)
# The runner ends a check at its time limit and kills what resists within a few seconds.
OVERTIME = timedelta(seconds=15)
# From the record of a run to its first try lies the checkout, minutes for a large repository.
CHECKOUT = timedelta(minutes=10)
# After this long nobody is there any more who would end it.
CLOSE_AFTER = timedelta(seconds=60)
# Test tools print as they go; one that says nothing for so long mostly waits for something.
QUIET = timedelta(minutes=5)
# An agent works in minutes; one that did nothing for half a working day has been left.
LEFT = timedelta(hours=4)
# A held intent rightly does nothing while another works, but not for days.
LEFT_HELD = timedelta(hours=24)


def findings(facts: WatchFacts) -> list[Finding]:
    """All that is found, each `(project, kind, subject)` once."""
    left = {live.id: why for live in facts.lives if (why := _why_left(live, facts.now))}
    found = [
        *queue_findings(facts, left),
        *_checks(facts),
        *_left(facts, left),
        *_unchecked(facts),
        *_lost(facts),
    ]
    return list({(one.project_id, one.kind, one.subject): one for one in found}.values())


def _why_left(live: LiveFact, now: datetime) -> str | None:
    """Why nobody will move an intent that its agent has to move; None while somebody may."""
    if live.state is State.VERIFYING or (live.state is State.PLAN_REVIEW and not live.sent_back):
        return None
    if live.gone is not None and (live.gone_at is None or live.moved_at <= live.gone_at):
        return live.gone
    patience = LEFT_HELD if live.state is State.HELD else LEFT
    if now - max(live.moved_at, live.state_since) > patience:
        return f"nobody has done anything with it for more than {int(patience.total_seconds()) // 3600} hours"
    return None


def _left(facts: WatchFacts, left: Mapping[str, str]) -> Iterator[Finding]:
    for live in facts.lives:
        if live.id not in left:
            continue
        gone = left[live.id] == live.gone
        since = live.gone_at if gone else max(live.moved_at, live.state_since)
        waits = "waits" if len(live.waited_on_by) == 1 else "wait"
        waiting = f" {some_numbers(live.waited_on_by)} {waits} for it." if live.waited_on_by else ""
        state = "has its plan back" if live.sent_back else f"is {live.state.text.lower()}"
        yield Finding(
            project_id=live.project_id,
            kind=WatchKind.NOBODY_MOVES,
            subject=live.id,
            line=live.line,
            intent_id=live.id,
            number=live.number,
            since=since or live.state_since,
            said=f"{of_number(live.number)} {state}, and {left[live.id]}.{waiting} {NEXT_HAND}",
        )


def _checks(facts: WatchFacts) -> Iterator[Finding]:
    for check in facts.checks:
        found = _silent(check, facts)
        if found is None:
            continue
        since, said, heal = found
        yield Finding(
            project_id=check.project_id,
            kind=WatchKind.CHECK_SILENT,
            subject=check.id,
            line=check.line,
            check_id=check.id,
            number=check.numbers[0] if len(check.numbers) == 1 else None,
            since=since,
            said=said,
            heal=heal,
        )


def _silent(check: CheckFact, facts: WatchFacts) -> tuple[datetime, str, Heal | None] | None:
    """Since when a run does not report, what is said of it, and what a watchdog can do."""
    what = f"Check {check.name} of {some_numbers(check.numbers) or check.line}"
    heard = facts.heard.get(check.host)
    if heard is not None and facts.now - heard > HOST_SILENT:
        said = f"{what} does not report: the worker of host {check.host} is silent. Start that worker again; the check then runs anew."
        return heard, said, None
    limit = _limit(check.settings, check.name)
    end = (check.began_at or check.started_at + CHECKOUT) + timedelta(seconds=limit)
    if facts.now - end > OVERTIME:
        said = f"{what} runs beyond its limit of {limit} s, so nobody watches over it. gitring closes it, and the queue tests again."
        return end, said, Heal.CHECK if facts.now - end > CLOSE_AFTER else None
    last = max(filter(None, (check.began_at, check.wrote_at)), default=None)
    if last is not None and facts.now - last > QUIET:
        said = (
            f"{what} prints nothing. Read its log; its limit of {limit} s ends it, or withdraw what it tests."
        )
        return last, said, None
    return None


def _limit(settings: ProjectSettings, name: str) -> int:
    known = {definition.name: definition.timeout_sec for definition in definitions_of(settings)}
    return known.get(name, settings.timeout_sec)


def _unchecked(facts: WatchFacts) -> Iterator[Finding]:
    """Submitted work that is checked before a person decides, while nobody checks it."""
    for live in facts.lives:
        if live.state is not State.VERIFYING or live.checks_running:
            continue
        since = max(live.state_since, live.checked_at or live.state_since)
        # Somebody else's check may take the slots of its host.
        if facts.now - since <= (SLOT_WAIT if facts.checks else STALL):
            continue
        yield Finding(
            project_id=live.project_id,
            kind=WatchKind.NOT_TESTED,
            subject=live.id,
            line=live.line,
            intent_id=live.id,
            number=live.number,
            since=since,
            said=f"{of_number(live.number)} is being verified, and nothing tests it. gitring wakes it; if this stays, look at the worker's log.",
            heal=Heal.INTENT,
        )


def _lost(facts: WatchFacts) -> Iterator[Finding]:
    for lost in facts.lost:
        yield Finding(
            project_id=lost.project_id,
            kind=WatchKind.WORKFLOW_MISSING,
            subject=lost.id,
            line=lost.line,
            intent_id=lost.id,
            number=lost.number,
            since=lost.since,
            said=f"{of_number(lost.number)} is live and no workflow runs for it. gitring builds it anew from the record.",
            heal=Heal.INTENT,
        )
