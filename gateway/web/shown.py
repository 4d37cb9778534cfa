"""What the templates print: everything is bounded and made visible here, then escaped by the template itself."""

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from gateway.text.untrusted import lines_of, one_line
from protocol.ids import short

TEMPLATES = Path(__file__).parent / "templates"
_LONGEST = 20_000
# Colours and cursor moves that a check printed for a terminal; each part starts at ESC, so a scan is linear.
_TERMINAL = re.compile(
    r"\x1b\][^\x07\x1b\n]*(?:\x07|\x1b\\)?|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|\x1b[ -/]*[0-Z\\^-~]"
)
# Up to so many seconds, told in units of so many.
_UNITS = ((60, 1, "s"), (3600, 60, "min"), (86_400, 3600, "h"), (60 * 86_400, 86_400, "d"))


def finalize(value: Any) -> Any:
    """Applied to every value that a template prints: no control or bidirectional character ever reaches a page."""
    if isinstance(value, Markup) or not isinstance(value, str):
        return value
    if value.isprintable() and len(value) <= _LONGEST:
        return value
    return "\n".join(lines_of(value, _LONGEST))


def line(text: str, limit: int = 300) -> str:
    """`text` on one line."""
    return one_line(text, limit)


def block(text: str, limit: int = 10_000) -> str:
    """`text` with its line ends, for places that keep them."""
    return "\n".join(lines_of(text, limit))


def sha(commit: str | None) -> str:
    """Seven digits, or a dash."""
    return short(commit) if commit else "–"


def output(raw: bytes, limit: int) -> Markup:
    """The end of what a check printed, as plain text of at most `limit` bytes, escaped."""
    text = raw[-limit:].decode("utf-8", "replace").replace("\r\n", "\n").expandtabs(4)
    shown = "\n".join(lines_of(_TERMINAL.sub("", text), limit))
    return escape(f"…\n{shown}" if len(raw) > limit else shown)


def ago(moment: datetime, now: datetime | None = None) -> str:
    """How long ago, in one unit: `5 min`."""
    seconds = max(0, int(((now or datetime.now(UTC)) - moment).total_seconds()))
    for limit, unit, word in _UNITS:
        if seconds < limit:
            return f"{seconds // unit} {word}"
    return f"{moment:%Y-%m-%d}"


def soon(seconds: int) -> str:
    """An estimate as people say one: `about 2 min`."""
    if seconds < 60:
        return f"about {max(5, 5 * round(seconds / 5))} s"
    return f"about {round(seconds / 60)} min" if seconds < 5400 else f"about {round(seconds / 3600)} h"


def time_tag(moment: datetime | str) -> Markup:
    """A moment for people and scripts: how long ago, with the exact time behind it."""
    at = datetime.fromisoformat(moment) if isinstance(moment, str) else moment
    at = at.astimezone(UTC)
    return Markup('<time datetime="{}" title="{}" data-ago>{}</time>').format(
        at.strftime("%Y-%m-%dT%H:%M:%SZ"), at.strftime("%Y-%m-%d %H:%M:%S UTC"), ago(at)
    )


def environment() -> Environment:
    """The templates: they escape everything, and a name that is not there is an error."""
    made = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=finalize,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.filters |= {"line": line, "block": block, "sha": sha, "when": time_tag, "soon": soon}
    return made
