"""What stands still in a line's queue though it should land: found from one look, by rule."""

from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta

from protocol.states import State
from protocol.watch import Finding, Heal, LineFact, QueuedFact, StandFact, WatchFacts, WatchKind
from rules.check_plan import definitions_of
from rules.landing_order import landing_order
from rules.watch_words import NEXT_HAND, of_number, some_numbers

# A queue acts on news within a second; building and landing 64 merges takes about four on a loaded machine.
STALL = timedelta(seconds=15)
# Checks of others may fill the host's slots for a while; that is waiting, no trouble, until it lasts.
SLOT_WAIT = timedelta(minutes=10)
# A workflow starts a moment after the row that it serves.
FRESH = timedelta(seconds=5)
# What an owner paused is mostly a release being cut; what stopped by itself waits for somebody who does not know yet.
PAUSED_LONG = timedelta(hours=1)
STOPPED_LONG = timedelta(minutes=10)


def queue_findings(facts: WatchFacts, left: Mapping[str, str]) -> list[Finding]:
    """All that is found of queues. `left` says of live intents why nobody will move them."""
    busy = Counter(check.host for check in facts.checks)
    stands = {stand.id: stand for stand in facts.stands}
    found: list[Finding] = []
    for line in facts.lines:
        if one := _of_line(line, facts.now, busy[line.host]):
            found.append(one)
        found += _on_itself(line, stands, left)
    return found


def _of_line(line: LineFact, now: datetime, host_runs: int) -> Finding | None:
    queue = [q for q in line.queue if line.draining_since is None or q.queued_at <= line.draining_since]
    if line.lost:
        since = min((q.queued_at for q in queue), default=line.landing_since or line.switched_at)
        if since is not None and now - since > FRESH:
            said = f"The queue of {line.name} has work and no workflow that serves it. gitring starts it anew from the record."
            return _finding(line, WatchKind.WORKFLOW_MISSING, since, said, Heal.LINE)
    if line.landing_since is not None:
        if now - line.landing_since <= STALL:
            return None
        said = f"A landing on {line.name} began and has not ended. gitring wakes the queue, which finishes it; if this stays, look at the worker's log on host {line.host}."
        return _finding(line, WatchKind.GREEN_NOT_LANDED, line.landing_since, said, Heal.LINE)
    order = landing_order([q.id for q in queue], {q.id: q.goes_after for q in queue})
    first = next((q for q in queue if order and q.id == order[0]), None)
    if line.paused is not None and not (first and first.emergency):
        return _paused(line, now)
    if first is None:
        return None
    return _stalled(line, first, now, host_runs)


def _paused(line: LineFact, now: datetime) -> Finding | None:
    if not line.queue:
        return None
    by_itself = line.stopped_by == "line"
    oldest = min(q.queued_at for q in line.queue)
    # Work that came while it stood waits since then, not since the pause.
    since = max(line.switched_at or oldest, oldest)
    if now - since <= (STOPPED_LONG if by_itself else PAUSED_LONG):
        return None
    why = "since the line fails its own checks" if by_itself else "since it was paused"
    todo = "Mend the line or correct the check, then resume it." if by_itself else "Resume it, or clear it."
    said = f"The queue of {line.name} stands still with {len(line.queue)} in it {why}. {todo}"
    return _finding(line, WatchKind.PAUSED_LONG, since, said, None)


def _stalled(line: LineFact, first: QueuedFact, now: datetime, host_runs: int) -> Finding | None:
    """The first of the queue is green and does not land, whatever else runs; or nothing is tested at all."""
    names = {definition.name for definition in definitions_of(line.settings)}
    green = first.green_at is not None and names <= set(first.green)
    if line.running and not green:
        return None
    moments = (first.queued_at, first.state_since, line.switched_at, line.moved_at)
    latest = first.green_at if green else line.tested_at
    since = max(moment for moment in (*moments, latest) if moment is not None)
    if now - since <= (SLOT_WAIT if host_runs and not green else STALL):
        return None
    label = of_number(first.number)
    if green:
        said = f"{label} is green and next on {line.name}, and it does not land. gitring wakes the queue; if this stays, look at the worker's log on host {line.host}."
        return _finding(line, WatchKind.GREEN_NOT_LANDED, since, said, Heal.LINE, first)
    if host_runs:
        said = f"{label} is next on {line.name} and waits for a check slot of host {line.host}. Raise GITRING_CHECK_SLOTS there, or withdraw what is less urgent."
    else:
        said = f"{label} is next on {line.name}, and nothing tests it. gitring wakes the queue; if this stays, look at the worker's log on host {line.host}."
    return _finding(line, WatchKind.NOT_TESTED, since, said, Heal.LINE, first)


def _on_itself(line: LineFact, stands: Mapping[str, StandFact], left: Mapping[str, str]) -> Iterator[Finding]:
    """Queued ones that wait for what will never be queued."""
    queued = {q.id for q in line.queue}
    for q in line.queue:
        path = _path(q, queued, stands, left)
        if path is None:
            continue
        label, last = of_number(q.number), path[-1]
        chain = some_numbers([stand.number for stand in path])
        if last.id in left:
            said = f"{label} is queued and waits for {chain}; {of_number(last.number)} will not move: {left[last.id]}. {NEXT_HAND}"
        else:
            said = f"{label} is queued and waits for {chain}, which waits for {label} again. Withdraw one of them, or take one out of dependsOn."
        yield _finding(line, WatchKind.QUEUE_WAITS_ON_ITSELF, q.state_since, said, None, q)


def _path(
    q: QueuedFact, queued: set[str], stands: Mapping[str, StandFact], left: Mapping[str, str]
) -> list[StandFact] | None:
    """From what `q` goes after to one that nobody moves, or to one that waits for `q`; None when there is neither.

    Those that stand in the queue themselves are passed over: what keeps them is said of them.
    """
    seen: set[str] = set()

    def walk(ids: list[str], path: list[StandFact]) -> list[StandFact] | None:
        for one in ids:
            if one == q.id and path:
                return path
            stand = stands.get(one)
            if stand is None or one in seen or one in queued:
                continue
            seen.add(one)
            here = [*path, stand]
            if one in left:
                return here
            holders = stand.held_by if stand.state is State.HELD else []
            if found := walk([*stand.goes_after, *holders], here):
                return found
        return None

    return walk(q.goes_after, [])


def _finding(
    line: LineFact,
    kind: WatchKind,
    since: datetime,
    said: str,
    heal: Heal | None,
    q: QueuedFact | None = None,
) -> Finding:
    return Finding(
        project_id=line.project_id,
        kind=kind,
        subject=q.id if q and kind is WatchKind.QUEUE_WAITS_ON_ITSELF else line.name,
        line=line.name,
        intent_id=q.id if q else None,
        number=q.number if q else None,
        since=since,
        said=said,
        heal=heal,
    )
