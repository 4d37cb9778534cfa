"""Reading, comparing and indexing source files: real git, real Postgres, real parser processes."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import psutil
import pytest
import pytest_asyncio
from temporalio.testing import ActivityEnvironment

from activities.folders import Folders
from activities.parsing.parsers import STOPPED, Parsers
from activities.symbols import Symbols, changed_code, changed_places, symbols_of
from protocol.ids import CommitId
from protocol.symbols import FileSymbols
from rules.symbols.changes import SignatureChange
from rules.symbols.extract import HUGE, UNKNOWN
from storage.git.repository import Repository
from storage.sql import symbols
from storage.sql.pool import transaction
from tests.storage.git.work import Clone, new_clone
from tests.storage.sql.ledger import new_project

CART = "from shop.money import Money\n\n\nclass Cart:\n    def add(self, other):\n        return other\n\n    def drop(self):\n        return 1\n\n\ndef total(cart):\n    return 2\n"
FILES = {
    "shop/__init__.py": "",
    "shop/cart.py": CART,
    "shop/money.py": "class Money:\n    pass\n",
    "shop/rates.py": "from .money import Money\nRATE = 1\n",
    "README.md": "# Shop\n",
}


class Counting(Parsers):
    """Real parsers that count what they are asked."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = 0

    async def read(self, language, content, *, background=False):
        self.asked += 1
        return await super().read(language, content, background=background)


@pytest_asyncio.fixture
async def parsers() -> AsyncIterator[Counting]:
    """Parsers that end with the test."""
    async with Counting() as made:
        yield made


@pytest_asyncio.fixture
async def clone(tmp_path: Path) -> Clone:
    """A small shop with one commit."""
    made = await new_clone(tmp_path / "work")
    await made.commit("Start", dict(FILES))
    return made


class Shop:
    """A project, its repository and its index."""

    def __init__(self, pool, folders: Folders, project_id: str, clone: Clone, parsers: Counting) -> None:
        self.pool, self.folders, self.project_id, self.clone, self.parsers = (
            pool,
            folders,
            project_id,
            clone,
            parsers,
        )
        self.repository = folders.repository(project_id)
        self._symbols = Symbols(pool, folders, parsers)
        self.beats = 0

    async def commit(self, files: dict[str, str | bytes], *removed: str) -> CommitId:
        """Commit in the clone and bring it to the repository."""
        for path in removed:
            await self.clone.git("rm", "--quiet", path)
        head = await self.clone.commit("Change", files)
        return await self.fetch(head)

    async def fetch(self, head: str) -> CommitId:
        await self.repository.git("fetch", "--quiet", str(self.clone.folder), "+refs/heads/*:refs/heads/*")
        return CommitId(head)

    async def head(self) -> CommitId:
        return CommitId(await self.clone.git("rev-parse", "HEAD"))

    async def index(self, commit: str | None = None) -> None:
        """Run the activity as a worker would."""
        environment = ActivityEnvironment()
        environment.on_heartbeat = lambda *_: setattr(self, "beats", self.beats + 1)
        await environment.run(self._symbols.index_line, self.project_id, "main", commit or await self.head())

    async def edges(self) -> set[tuple[str, str]]:
        """Every edge that is stored."""
        rows = await self.pool.fetch("SELECT path, target FROM import_edge ORDER BY path, target")
        return {(row["path"], row["target"]) for row in rows}

    async def indexed(self) -> str | None:
        async with transaction(self.pool) as connection:
            return await symbols.indexed_commit(connection, self.project_id, "main")

    async def places(self, base: str, head: str) -> list[tuple[str, str]]:
        return await changed_places(self.pool, self.parsers, self.repository, CommitId(base), CommitId(head))


@pytest_asyncio.fixture
async def shop(pool, clone: Clone, parsers: Counting, tmp_path: Path) -> Shop:
    folders = Folders(tmp_path / "data")
    project_id = await new_project(pool)
    await Repository.import_from(folders.repository_path(project_id), str(clone.folder))
    return Shop(pool, folders, project_id, clone, parsers)


EDGES = {
    ("shop/cart.py", "shop/money.py"),
    ("shop/rates.py", "shop/money.py"),
}


async def test_a_content_is_parsed_once_whatever_its_paths_and_commits(shop):
    entries = [(one.path, one.id) for one in await shop.repository.list_tree(await shop.head())]
    twice = [*entries, ("copy.py", dict(entries)["shop/cart.py"])]
    found = await symbols_of(shop.pool, shop.parsers, shop.repository, twice)

    assert [one.name for one in found["copy.py"].symbols] == ["Cart", "Cart.add", "Cart.drop", "total"]
    assert found["README.md"].note == UNKNOWN
    assert shop.parsers.asked == 4
    assert await symbols_of(shop.pool, shop.parsers, shop.repository, twice) == found
    await shop.index()
    assert shop.parsers.asked == 4


async def test_a_huge_content_gets_a_note_and_is_not_parsed(shop):
    head = await shop.commit({"huge.py": "x = 1\n" * 200_000})
    blob = {one.path: one.id for one in await shop.repository.list_tree(head)}["huge.py"]
    found = await symbols_of(shop.pool, shop.parsers, shop.repository, [("huge.py", blob)])
    assert found["huge.py"].note == HUGE
    assert shop.parsers.asked == 0


async def test_changed_lines_become_the_symbols_that_hold_them(shop):
    base = await shop.head()
    head = await shop.commit(
        {
            "shop/cart.py": "import os\n"
            + CART.replace("return other", "return None")
            + "\n\ndef more(): pass\n",
            "README.md": "# Our shop\n",
            "shop/new.py": "x = 1\n",
        }
    )
    assert await shop.places(base, head) == [
        ("README.md", ""),
        ("shop/cart.py", "Cart.add"),
        ("shop/cart.py", "more"),
        ("shop/new.py", ""),
    ]


async def test_a_symbol_that_is_gone_counts_and_so_does_a_line_outside(shop):
    base = await shop.head()
    gone = await shop.commit({"shop/cart.py": CART.replace("\n    def drop(self):\n        return 1\n", "")})
    assert await shop.places(base, gone) == [("shop/cart.py", "Cart.drop")]
    outside = await shop.commit({"shop/cart.py": CART + "\nprint(total)\n"})
    assert await shop.places(gone, outside) == [("shop/cart.py", ""), ("shop/cart.py", "Cart.drop")]


async def test_renamed_and_deleted_files_count_as_a_whole_under_each_name(shop):
    base = await shop.head()
    await shop.clone.git("mv", "shop/cart.py", "shop/basket.py")
    head = await shop.commit({}, "shop/rates.py")
    assert await shop.places(base, head) == [
        ("shop/basket.py", ""),
        ("shop/cart.py", ""),
        ("shop/rates.py", ""),
    ]


async def test_a_file_that_cannot_be_read_or_changed_in_blank_lines_counts_as_a_whole(shop):
    base = await shop.head()
    head = await shop.commit({"shop/cart.py": "((((" * 40, "shop/money.py": "class Money:\n\n    pass\n"})
    found = await shop.places(base, head)
    assert ("shop/cart.py", "") in found
    assert ("shop/money.py", "") in found


async def test_more_than_300_changed_files_count_as_whole_files(shop):
    base = await shop.head()
    await shop.commit({f"many/f{n}.py": "def f(): pass\n" for n in range(301)})
    first = await shop.head()
    head = await shop.commit({f"many/f{n}.py": "def f(): return 1\n" for n in range(301)})
    assert await shop.places(first, head) == sorted((f"many/f{n}.py", "") for n in range(301))
    assert shop.parsers.asked == 0
    assert len(await shop.places(base, head)) == 301


async def test_exported_signatures_that_a_push_changes_are_named(shop):
    base = await shop.head()
    head = await shop.commit(
        {"shop/cart.py": CART.replace("add(self, other)", "add(self, other, count)")}, "shop/rates.py"
    )
    found = await changed_code(
        shop.pool, shop.parsers, shop.repository, base, head, await shop.repository.changed_paths(base, head)
    )
    assert found.signatures == [
        ("shop/cart.py", SignatureChange("Cart.add", "def add(self, other)", "def add(self, other, count)")),
    ], "shop/rates.py held a plain constant: a value without a signature"


async def test_a_line_is_indexed_once_and_then_only_where_it_changed(shop):
    await shop.index()
    assert await shop.edges() == EDGES
    assert await shop.indexed() == await shop.head()
    assert shop.beats > 0

    shop.parsers.asked = 0
    await shop.index()
    assert shop.parsers.asked == 0

    # An edge that no run would find shows which files the next one touches.
    await shop.pool.execute(
        "INSERT INTO import_edge SELECT project_id, line, 'shop/rates.py', 'mark' FROM line_index"
    )
    head = await shop.commit({"shop/cart.py": "from . import rates\n", "README.md": "# New\n"})
    await shop.index()
    assert await shop.edges() == {
        ("shop/cart.py", "shop/rates.py"),
        ("shop/rates.py", "mark"),
        ("shop/rates.py", "shop/money.py"),
    }
    assert shop.parsers.asked == 1
    assert await shop.indexed() == head


async def test_importers_of_a_file_that_went_or_moved_are_resolved_again(shop):
    await shop.index()
    await shop.clone.git("mv", "shop/money.py", "shop/money_of_old.py")
    await shop.commit({"shop/money/__init__.py": "class Money: ...\n"})
    await shop.index()
    assert await shop.edges() == {(path, "shop/money/__init__.py") for path, _ in EDGES}

    await shop.commit({}, "shop/money/__init__.py", "shop/rates.py")
    await shop.index()
    assert await shop.edges() == set()


async def test_a_file_that_joins_a_go_package_is_imported_by_its_importers(shop):
    go = {
        "go.mod": "module shop.example\n",
        "main.go": 'package main\nimport "shop.example/cart"\n',
        "cart/cart.go": "package cart\n",
    }
    await shop.commit(dict(go))
    await shop.index()
    assert ("main.go", "cart/cart.go") in await shop.edges()
    await shop.commit({"cart/items.go": "package cart\n"})
    await shop.index()
    assert {("main.go", "cart/cart.go"), ("main.go", "cart/items.go")} <= await shop.edges()


async def test_a_manifest_that_changes_has_every_import_resolved_again(shop):
    await shop.commit(
        {
            "go.mod": "module shop.example\n",
            "main.go": 'package main\nimport "b.example/cart"\n',
            "cart/a.go": "package cart\n",
        }
    )
    await shop.index()
    assert await shop.edges() == EDGES
    await shop.commit({"go.mod": "module b.example\n"})
    await shop.index()
    assert await shop.edges() == EDGES | {("main.go", "cart/a.go")}


async def test_a_run_that_was_killed_in_the_middle_is_finished_by_the_next(shop):
    await shop.commit({f"many/f{n}.py": f"import shop.cart\nx = {n}\n" for n in range(150)})

    class Killed(Exception):
        pass

    environment = ActivityEnvironment()
    seen = 0

    def beat(*_: object) -> None:
        nonlocal seen
        seen += 1
        if seen == 100:
            raise Killed

    environment.on_heartbeat = beat
    with pytest.raises(Killed):
        await environment.run(shop._symbols.index_line, shop.project_id, "main", await shop.head())
    assert await shop.indexed() is None
    read = shop.parsers.asked
    await shop.index()
    assert len(await shop.edges()) == 152
    assert await shop.indexed() == await shop.head()
    assert shop.parsers.asked - read < 154


class Overtaken(Counting):
    """Parsers during whose work a later run begins."""

    shop: Shop

    async def read(self, language, content, *, background=False):
        async with transaction(self.shop.pool) as connection:
            await symbols.begin_run(connection, self.shop.project_id, "main", "later")
        return await super().read(language, content, background=background)


async def test_a_run_that_is_overtaken_writes_nothing_more(shop, pool):
    await shop.index()
    before = await shop.indexed()
    head = await shop.commit({"shop/rates.py": "import shop.cart\n"})
    async with Overtaken() as overtaken:
        overtaken.shop = shop
        run = Symbols(pool, shop.folders, overtaken).index_line
        await ActivityEnvironment().run(run, shop.project_id, "main", head)
    assert overtaken.asked == 1
    assert await shop.edges() == EDGES
    assert await shop.indexed() == before


async def test_lines_and_links_that_are_no_files_are_passed_over(shop):
    os.symlink("shop/cart.py", shop.clone.folder / "link.py")
    base = await shop.head()
    head = await shop.commit({})
    await shop.index()
    assert await shop.edges() == EDGES
    assert await shop.places(base, head) == [("link.py", "")]


async def test_a_file_that_costs_too_much_gets_a_note_and_the_next_is_read():
    async with Parsers(seconds=0.2) as parsers:
        hostile = (b"x=" * 40 + b"\n") * 10_000
        assert (await parsers.read("go", hostile)).note == STOPPED
        assert names(await parsers.read("python", b"def f(): pass\n")) == ["f"]


async def test_a_parser_that_is_ended_from_outside_is_replaced():
    others = children()
    async with Parsers() as parsers:
        await parsers.read("python", b"")
        (child,) = set(children()) - set(others)
        child.kill()
        assert names(await parsers.read("python", b"def f(): pass\n")) == ["f"]


async def test_a_cancelled_reading_leaves_no_answer_for_the_next():
    async with Parsers() as parsers:
        await parsers.read("python", b"")
        reading = asyncio.create_task(parsers.read("python", b"def late(): pass\n" * 5_000))
        await asyncio.sleep(0)
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading
        assert names(await parsers.read("python", b"def f(): pass\n")) == ["f"]


async def test_no_parser_outlives_its_block():
    others = children()
    async with Parsers() as parsers:
        await asyncio.gather(*(parsers.read("python", b"", background=n % 2 == 0) for n in range(6)))
        left = set(children()) - set(others)
        assert left
    assert not any(child.is_running() for child in left)


async def test_no_parser_outlives_a_parent_that_was_killed():
    parent = await asyncio.create_subprocess_exec(
        sys.executable, "-c", ORPHAN, stdout=asyncio.subprocess.PIPE, cwd=Path(__file__).parents[2]
    )
    assert parent.stdout is not None
    child = os.pidfd_open(int(await parent.stdout.readline()))
    gone = asyncio.Event()
    asyncio.get_running_loop().add_reader(child, gone.set)
    assert not gone.is_set()
    parent.kill()
    await parent.wait()
    async with asyncio.timeout(30):
        await gone.wait()
    asyncio.get_running_loop().remove_reader(child)
    os.close(child)


ORPHAN = """
import asyncio, psutil
from activities.parsing.parsers import Parsers
async def main():
    async with Parsers() as parsers:
        await parsers.read("python", b"")
        print(psutil.Process().children()[0].pid, flush=True)
        await asyncio.Event().wait()
asyncio.run(main())
"""


def names(found: FileSymbols) -> list[str]:
    return [one.name for one in found.symbols]


def children() -> list[psutil.Process]:
    """This process's parsers, those of a running engine too."""
    return [one for one in psutil.Process().children() if "parsing" in " ".join(one.cmdline())]
