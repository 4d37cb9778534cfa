"""The tables that follow from the code alone, written between `<!-- table: NAME -->` and `<!-- end -->`."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from pydantic.fields import FieldInfo

from protocol.tools import TOOLS
from runtime.settings import PREFIX, Settings
from tests.docs.pages import OPERATE, PROTOCOL

# Defaults that are worked out on the machine, in words.
_COMPUTED = {"data_dir": "`~/.local/share/gitring`", "check_slots": "processors, at least 4"}


def _table(heading: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    body = [heading, ["---"] * len(heading), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in body)


def _default(name: str, field: FieldInfo) -> str:
    if field.default_factory is not None:
        return _COMPUTED[name]
    value: Any = field.default
    if value is None:
        return "unset"
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def _text(text: str) -> str:
    """Prose for a cell: a placeholder in angle brackets would pass for HTML."""
    return text.replace("<", "&lt;")


def settings_table() -> str:
    """Every setting: variable, default, meaning."""
    fields = Settings.model_fields.items()
    return _table(
        ("variable", "default", "meaning"),
        ((f"`{PREFIX}{n.upper()}`", _default(n, f), _text(str(f.description))) for n, f in fields),
    )


def tools_table() -> str:
    """Every tool: name, REST twin, reads or writes, what it is."""
    return _table(
        ("tool", "REST", "", "what"),
        ((f"`{t.name}`", f"`{t.rest}`", "writes" if t.writes else "reads", t.title) for t in TOOLS),
    )


TABLES = {"settings": (OPERATE, settings_table), "tools": (PROTOCOL, tools_table)}


def _place_of(name: str) -> re.Pattern[str]:
    return re.compile(rf"(<!-- table: {name} -->\n).*?(<!-- end -->)", re.S)


def written(name: str) -> str:
    """The table as it stands on its page."""
    page, _ = TABLES[name]
    found = _place_of(name).search(page.read_text())
    assert found, f"{page.name} has no place for the table {name}"
    return found[0].split("\n", 1)[1].rpartition("<!-- end -->")[0].strip("\n")


def rewrite(name: str) -> Path:
    """Write the table anew on its page."""
    page, make = TABLES[name]
    text = _place_of(name).sub(lambda m: f"{m[1]}{make()}\n{m[2]}", page.read_text())
    page.write_text(text)
    return page
