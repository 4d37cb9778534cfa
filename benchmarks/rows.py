"""One measured number, the table of all of them, and the file they are kept in."""

import json
import math
import platform
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import psutil

RESULTS = Path(__file__).parent / "results" / "latest.json"


@dataclass(frozen=True)
class Row:
    """One line of the table. `holds` is None where there is no target; `numbers` is what the value was made of.

    `beside` is what others, by name, needed for the same work.
    """

    metric: str
    value: str
    target: str = ""
    holds: bool | None = None
    numbers: dict[str, float] = field(default_factory=dict)
    beside: dict[str, str] = field(default_factory=dict)


def percentile(values: Sequence[float], share: float) -> float:
    """The nearest-rank percentile, `share` between 0 and 1. Raises ValueError without values."""
    if not values:
        raise ValueError("nothing was measured")
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]


def ms(seconds: float) -> str:
    """Seconds as milliseconds, short."""
    return f"{seconds * 1000:.0f} ms" if seconds >= 0.01 else f"{seconds * 1000:.1f} ms"


def summary(values: Sequence[float], prefix: str = "") -> dict[str, float]:
    """p50, p99, the extremes and the count, in seconds."""
    return {
        f"{prefix}p50": percentile(values, 0.5),
        f"{prefix}p99": percentile(values, 0.99),
        f"{prefix}min": min(values),
        f"{prefix}max": max(values),
        f"{prefix}count": float(len(values)),
    }


def table(rows: Sequence[Row]) -> str:
    """The rows as a Markdown table, columns aligned."""
    head = ("what", "measured", "target", "holds")
    lines = [(r.metric, r.value, r.target, {True: "yes", False: "NO", None: ""}[r.holds]) for r in rows]
    return aligned([head, *lines])


def aligned(lines: Sequence[Sequence[str]]) -> str:
    """A head and lines of as many cells as a Markdown table, columns aligned."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]

    def shown(line: Sequence[str]) -> str:
        return "| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) + " |"

    rule = "| " + " | ".join("-" * width for width in widths) + " |"
    return "\n".join([shown(lines[0]), rule, *map(shown, lines[1:])])


def keep(rows: Sequence[Row], seconds: float) -> None:
    """Write `benchmarks/results/latest.json`."""
    RESULTS.parent.mkdir(exist_ok=True)
    about = {
        "measured_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "cores": psutil.cpu_count(),
        "load_1min": psutil.getloadavg()[0],
        "python": platform.python_version(),
        "system": platform.platform(),
        "seconds": round(seconds, 1),
    }
    content = {**about, "rows": [asdict(row) for row in rows]}
    RESULTS.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n")
