"""`foremerge status` for people: one aligned screen from one answer."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from cli.clean import one_line

_MOST_ROWS = 20


def screen(report: dict[str, Any], now: datetime | None = None) -> Iterator[str]:
    """The lines. `now` is for leases and silence."""
    now = now or datetime.now(UTC)
    yield f"As of event {report['as_of_event']}"
    yield from _part("Agents", "none registered", [_agent(one, now) for one in report["agents"]])
    for group in report["intents"]:
        rows = [_intent(one) for one in group["intents"]]
        yield from _part(f"Intents {group['status']} ({group['count']})", "", rows)
    if not report["intents"]:
        yield from _part("Intents", "none published", [])
    yield from _part("Claims", "none running", [_claim(one, now) for one in report["claims"]])
    conflicts = [row for one in report["conflicts"] for row in _conflict(one)]
    yield from _part("Conflicts to settle", "none", conflicts, most=3 * _MOST_ROWS)
    rows = [(group["status"], str(group["count"]), ", ".join(group["ids"])) for group in report["changesets"]]
    yield from _part("ChangeSets", "none", rows)


def _part(title: str, empty: str, rows: Sequence[Sequence[str]], most: int = _MOST_ROWS) -> Iterator[str]:
    yield ""
    if not rows:
        yield f"{title}: {empty}" if empty else title
        return
    yield title
    shown = [[one_line(cell, 200) for cell in row] for row in rows[:most]]
    widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
    for row in shown:
        yield "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
    if len(rows) > most:
        yield f"  … and {len(rows) - most} more; --json shows all"


def _agent(agent: dict[str, Any], now: datetime) -> Sequence[str]:
    seen = f"seen {_span(now - datetime.fromisoformat(agent['last_seen_at']))} ago"
    return (
        agent["name"],
        agent["id"],
        seen + (", silent" if agent["stale"] else ""),
        agent["worktree"] or "",
    )


def _intent(intent: dict[str, Any]) -> Sequence[str]:
    return (
        intent["agent_name"],
        intent["id"],
        ("stranded: " if intent["stranded"] else "") + intent["summary"],
    )


def _claim(claim: dict[str, Any], now: datetime) -> Sequence[str]:
    left = _span(datetime.fromisoformat(claim["lease_expires_at"]) - now)
    scope = f"{claim['scope']['kind']}:{claim['scope']['key']}"
    return (claim["agent_name"], scope, claim["intent_id"], f"{left} left")


def _conflict(conflict: dict[str, Any]) -> Iterator[Sequence[str]]:
    yield (conflict["severity"], conflict["kind"], conflict["status"], conflict["id"])
    for side in ("source", "target"):
        name = conflict[f"{side}_agent_name"] or "work to come"
        yield ("", name, str(conflict[f"{side}_intent_id"] or ""), ", ".join(conflict[f"{side}_scopes"]))


def _span(span: Any) -> str:
    seconds = max(int(span.total_seconds()), 0)
    if seconds < 60:
        return f"{seconds} s"
    if seconds < 3600:
        return f"{seconds // 60} min"
    return f"{seconds // 3600} h {seconds % 3600 // 60} min"
