"""What a check keeps for its next run: from green runs only, whole, and without any tie between two runs' files."""

import os
import threading
from pathlib import Path

import pytest

from activities.runner import caches
from activities.runner.caches import Cache, cache_folder, sweep
from activities.runner.check import run_check
from activities.runner.copying import copy_tree
from protocol.checks import CheckDefinition, CheckState
from tests.activities.runner.conftest import BARE

PATHS = ("vendor/", "~/.cache/tool")
FILLS = "mkdir -p vendor ~/.cache/tool; cat vendor/a ~/.cache/tool/b 2>/dev/null; echo {text} >vendor/a; echo {text} >~/.cache/tool/b"


class Host:
    """Runs checks with one store of kept folders, each in a fresh checkout."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.store = folder / "store"
        self._runs = 0

    async def run(
        self, command: str, paths: tuple[str, ...] = PATHS, before: str = ""
    ) -> tuple[CheckState, str]:
        """The state and the output of one run; `before` prepares the checkout."""
        self._runs += 1
        place = self.folder / f"run-{self._runs}"
        (place / "tree").mkdir(parents=True)
        if before:
            (place / "tree" / before).mkdir(parents=True)
        result = await run_check(
            CheckDefinition(command=command, cache=paths),
            place / "tree",
            place / "log",
            isolation=BARE,
            cache=Cache(self.store, paths),
            scratch=place,
        )
        assert sorted(os.listdir(place)) == ["log", "tree"]
        return result.state, (place / "log").read_text()


@pytest.fixture
def host(tmp_path: Path) -> Host:
    """A host without anything kept."""
    return Host(tmp_path)


async def test_the_next_run_finds_what_a_green_run_left_and_nothing_of_a_red_one(host: Host) -> None:
    assert await host.run(FILLS.format(text="one")) == (CheckState.PASSED, "")
    assert await host.run(FILLS.format(text="red") + "; exit 1") == (CheckState.FAILED, "one\none\n")
    assert await host.run(FILLS.format(text="two")) == (CheckState.PASSED, "one\none\n")
    assert (await host.run("cat vendor/a ~/.cache/tool/b"))[1] == "two\ntwo\n"
    assert len(list(host.store.glob("gen_*"))) == 1


async def test_a_run_changes_its_own_copy_alone(host: Host) -> None:
    await host.run(FILLS.format(text="kept"))
    await host.run("echo poison >>vendor/a; chmod 600 vendor/a; rm ~/.cache/tool/b; exit 1")
    assert (await host.run("cat vendor/a ~/.cache/tool/b"))[1] == "kept\nkept\n"


async def test_what_the_commit_has_there_is_neither_replaced_nor_kept(host: Host) -> None:
    await host.run("mkdir vendor; echo kept >vendor/a")
    assert await host.run("ls vendor; echo mine >vendor/b", before="vendor") == (CheckState.PASSED, "")
    assert (await host.run("ls vendor || echo none"))[1].splitlines()[-1] == "none"


async def test_no_link_leads_a_kept_folder_out_of_the_checkout(host: Host, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_text("secret")
    await host.run(f"ln -s {outside} vendor; ln -s {outside} ~/.cache")
    assert not list(host.store.glob("gen_*/?"))
    await host.run(
        f"mkdir -p vendor; ln -s {outside}/secret vendor/link; mkfifo vendor/pipe; echo x >vendor/f"
    )
    _, said = await host.run("ls vendor; readlink vendor/link")
    assert said == f"f\nlink\n{outside}/secret\n"  # the link as it was, and never what it leads to


async def test_a_folder_over_the_limit_is_not_kept_and_the_one_before_stays(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    await host.run(FILLS.format(text="small"))
    monkeypatch.setattr(caches, "MAX_CACHE_ENTRIES", 20)
    state, _ = await host.run("for n in $(seq 30); do echo >vendor/$n; done")
    assert state is CheckState.PASSED
    assert (await host.run("cat vendor/a"))[1] == "small\n"


def kept(store: Path, text: str, size: int = 10) -> Cache:
    """A cache in which a green run has kept a file."""
    checkout = store.parent / f"checkout-{store.name}-{text}"
    (checkout / "vendor").mkdir(parents=True)
    (checkout / "vendor" / "a").write_text(text)
    (checkout / "vendor" / "fill").write_bytes(b"x" * size)
    cache = Cache(store, ["vendor"])
    cache.keep(checkout, checkout)
    return cache


def test_a_copy_that_is_under_way_is_whole_when_another_run_ends_green(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = tmp_path / "store"
    cache = kept(store, "old")
    copying, go_on = threading.Event(), threading.Event()

    def slow_copy(source: Path, target: Path, budget: object) -> None:
        copying.set()
        assert go_on.wait(30)
        copy_tree(source, target, budget)  # type: ignore[arg-type]

    monkeypatch.setattr(caches, "copy_tree", slow_copy)
    place = tmp_path / "place"
    place.mkdir()
    reader = threading.Thread(target=cache.fetch, args=(place, place))
    reader.start()
    assert copying.wait(30)
    monkeypatch.setattr(caches, "copy_tree", copy_tree)
    kept(store, "new")
    kept(store, "newest")
    go_on.set()
    reader.join(30)
    assert (place / "vendor" / "a").read_text() == "old"
    sweep(tmp_path.parent)
    other = tmp_path / "other"
    other.mkdir()
    cache.fetch(other, other)
    assert (other / "vendor" / "a").read_text() == "newest"


def test_the_caches_unused_for_longest_go_first(tmp_path: Path) -> None:
    stores = [cache_folder(tmp_path, "prj_1", "main", name, ["vendor"]) for name in "abc"]
    for at, store in enumerate(stores):
        store.parent.mkdir(exist_ok=True)
        kept(store, "x", size=1000)
        os.utime(store, (at, at))
    place = tmp_path / "place"
    place.mkdir()
    Cache(stores[0], ["vendor"]).fetch(place, place)
    for checkout in tmp_path.glob("prj_1/checkout-*"):
        os.rename(checkout, tmp_path / f"gone-{checkout.name}")
    assert sweep(tmp_path, most_bytes=2500) == [f"prj_1/{stores[1].name}"]
    assert [store.exists() for store in stores] == [True, False, True]


def test_lines_checks_and_projects_share_nothing(tmp_path: Path) -> None:
    given = [
        ("prj_1", "main", "test", ("a",)),
        ("prj_2", "main", "test", ("a",)),
        ("prj_1", "rel", "test", ("a",)),
        ("prj_1", "main", "lint", ("a",)),
        ("prj_1", "main", "test", ("b",)),
    ]
    assert len({cache_folder(tmp_path, *each) for each in given}) == len(given)
