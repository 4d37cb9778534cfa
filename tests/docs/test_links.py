"""The documents point at things that are there."""

import re
from pathlib import Path

import pytest

from tests.docs.pages import INDEX, PAGES, ROOT, anchors, links, prose

_FILE = re.compile(r"`((?:[\w.-]+/)+[\w.-]+\.(?:py|sql|md|toml|json|yaml))`")


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_link_leads_to_a_file_and_a_heading_that_exist(page: Path) -> None:
    missing = []
    for link in links(page):
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            missing.append(link)
    assert missing == []


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_file_that_is_named_exists(page: Path) -> None:
    named = [name for name in _FILE.findall(prose(page)) if name.split("/")[0] in _rooms()]
    assert [name for name in named if not (ROOT / name).exists()] == []


def _rooms() -> set[str]:
    return {path.name for path in ROOT.iterdir() if path.is_dir()}


def test_every_page_can_be_reached_from_the_index() -> None:
    named = re.findall(r"`([\w-]+\.md)`", prose(INDEX))
    reached = {(INDEX.parent / link.partition("#")[0]).resolve() for link in (*links(INDEX), *named)}
    pages = {page for page in PAGES if page.is_relative_to(ROOT / "docs") and page != INDEX}
    assert pages - reached == set()
