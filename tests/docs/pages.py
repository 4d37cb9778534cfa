"""The documents as tests see them: pages, tables, fenced blocks, links."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    path
    for path in (
        *ROOT.glob("docs/**/*.md"),
        ROOT / "CONTRIBUTING.md",
        ROOT / "CHANGELOG.md",
        ROOT / "README.md",
    )
    if path.exists()
)
OPERATE = ROOT / "docs" / "operate.md"
PROTOCOL = ROOT / "docs" / "protocol.md"
HISTORY = ROOT / "docs" / "history-changes.md"
INDEX = ROOT / "docs" / "index.md"

_FENCE = re.compile(r"^ *```(?P<info>[^\n`]*)\n(?P<text>.*?)^ *```$", re.M | re.S)
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


@dataclass(frozen=True)
class Fence:
    """One fenced block: its info string (`json DeclareInput`) and its text."""

    page: Path
    info: str
    text: str


def fences(page: Path) -> list[Fence]:
    """Every fenced block of a page, in order."""
    return [Fence(page, m["info"].strip(), m["text"]) for m in _FENCE.finditer(page.read_text())]


def prose(page: Path) -> str:
    """A page without its fenced blocks."""
    return _FENCE.sub("", page.read_text())


def links(page: Path) -> list[str]:
    """The targets of a page's links that stay in this repository."""
    found = _LINK.findall(prose(page))
    return [target for target in found if not re.match(r"[a-z]+:", target)]


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as web forges make them."""
    headings = re.findall(r"^#+ (.+)$", prose(page), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def rows(page: Path, first: str) -> Iterator[list[str]]:
    """The rows, as cells, of each table of a page whose heading row begins with the cell `first`."""
    inside = False
    for line in page.read_text().splitlines():
        if not line.startswith("|"):
            inside = False
            continue
        cells = [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line.strip())[1:-1]]
        if cells[0] == first:
            inside = True
        elif inside and set(cells[0]) - set("- "):
            yield cells
