"""Several checks on one tree: real Postgres, real git, the real runner; what ran is counted in files outside the checkout."""

import asyncio
import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import asyncpg
import pytest
import pytest_asyncio
from temporalio.testing import ActivityEnvironment

from activities.change import change_project
from activities.check_slots import Flights, Slots
from activities.checks import Checks
from activities.folders import Folders
from protocol.checks import CheckDefinition
from protocol.ids import new_id
from protocol.projects import ProjectSettings
from protocol.queue import CheckOutcome, CheckRequest, Member
from storage.git.repository import Repository
from storage.sql import checks, events, flaky, projects
from storage.sql.pool import transaction
from tests.activities.world import World, make_world
from tests.storage.git.work import Clone, new_clone


@dataclass
class Bench:
    """A project with a repository, one intent, and a folder in which checks leave traces."""

    world: World
    clone: Clone
    folders: Folders
    traces: Path
    member: Member
    host: Checks
    environments: dict[str, ActivityEnvironment] = field(default_factory=dict)

    def on_host(self, slots: int = 8, environment: str = "") -> Checks:
        """Another worker on this machine."""
        return Checks(self.world.store, self.folders, slots, environment)

    async def define(self, *named: CheckDefinition) -> None:
        """The project's checks from now on."""
        async with change_project(self.world.store, self.world.project_id) as change:
            settings = ProjectSettings(**{**change.project.settings.model_dump(), "named_checks": named})
            await projects.change_settings(change.connection, self.world.project_id, settings)

    async def request(self, files: dict[str, str]) -> CheckRequest:
        """A new commit with these files, to be checked."""
        commit = await self.clone.commit("Change", dict(files))
        repository = self.folders.repository(self.world.project_id)
        await repository.git("fetch", "--quiet", str(self.clone.folder), "+refs/heads/*:refs/heads/*")
        return CheckRequest(
            check_id=new_id("chk"),
            project_id=self.world.project_id,
            line="main",
            line_head=commit,
            commit=commit,
            tree=await self.clone.git("rev-parse", f"{commit}^{{tree}}"),
            members=[self.member],
        )

    async def run(self, request: CheckRequest, host: Checks | None = None) -> CheckOutcome:
        """Run the activity as a worker would; another request for the same tree each time."""
        environment = self.environments[request.check_id] = ActivityEnvironment()
        return await environment.run((host or self.host).run, request)

    def again(self, request: CheckRequest) -> CheckRequest:
        """Another request for the same tree."""
        return request.model_copy(update={"check_id": new_id("chk")})

    def count(self, name: str) -> int:
        """How often a check of this name began."""
        trace = self.traces / name
        return len(trace.read_text().splitlines()) if trace.exists() else 0

    def trace(self, name: str) -> str:
        """Shell that leaves a trace of a check's beginning."""
        return f"echo began >> {self.traces / name}"

    async def told(self) -> list[tuple[str, Any]]:
        """Type and name of each event about a check, in order."""
        async with transaction(self.world.store.pool) as connection:
            found = await events.read_after(connection, self.world.project_id, 0, 500)
        return [(e.event_type, e.payload.get("name")) for e in found if e.entity_type == "Check"]


@pytest_asyncio.fixture
async def bench(pool: asyncpg.Pool, tmp_path: Path) -> Bench:
    world = await make_world(pool)
    clone = await new_clone(tmp_path / "work")
    await clone.commit("Start", {"src/a.py": "a = 1\n", "docs/a.md": "# A\n"})
    folders, traces = Folders(tmp_path / "data"), tmp_path / "traces"
    traces.mkdir()
    await Repository.import_from(folders.repository_path(world.project_id), str(clone.folder))
    row = await world.declare(["src/a.py"])
    member = Member(intent_id=row.id, number=row.number, head="b" * 40)
    return Bench(world, clone, folders, traces, member, Checks(world.store, folders, 8))


def check(name: str, command: str, **more: Any) -> CheckDefinition:
    return CheckDefinition(name=name, command=command, timeout_sec=20, **more)


def states(outcome: CheckOutcome) -> dict[str, str]:
    return {run.name: run.state for run in outcome.runs}


def beside(bench: Bench, own: str, other: str) -> str:
    """Passes only when `other` runs at the same time."""
    return f"touch {bench.traces / own}; until [ -e {bench.traces / other} ]; do sleep 0.01; done"


async def test_checks_run_side_by_side_as_their_needs_allow_and_all_failures_are_told(bench: Bench) -> None:
    await bench.define(
        check("deploy", "true", needs=("lint",)),
        check("all", f"[ -e {bench.traces}/one ] && [ -e {bench.traces}/two ]", needs=("one", "two")),
        check("one", beside(bench, "one", "two")),
        check("two", beside(bench, "two", "one")),
        check("lint", "echo 'not ok 1 - tidy'; exit 1"),
        check("unit", "exit 3"),
        check("tool", "/no/such/tool"),
    )
    outcome = await bench.run(await bench.request({"src/a.py": "a = 2\n"}))
    assert states(outcome) == {
        "deploy": "skipped", "all": "passed", "one": "passed", "two": "passed",
        "lint": "failed", "unit": "failed", "tool": "error",
    }  # fmt: skip
    runs = {run.name: run for run in outcome.runs}
    assert runs["deploy"].summary == "deploy was not run: it needs lint, which failed."
    assert (outcome.state, outcome.check_id, outcome.good) == ("failed", runs["lint"].check_id, False)
    assert outcome.summary == "lint failed (exited 1): not ok 1 - tidy (also: unit, tool)"
    assert outcome.failure is not None and outcome.failure.test == "not ok 1 - tidy"
    assert len({run.check_id for run in outcome.runs}) == 7
    told = await bench.told()
    for name in ("all", "lint", "unit"):
        assert told.index(("check.started", name)) < told.index(("check.finished", name))
    assert told.index(("check.finished", "one")) < told.index(("check.started", "all"))
    assert ("check.started", "deploy") not in told and ("check.finished", "deploy") in told


async def test_two_wide_checks_never_run_at_once(bench: Bench) -> None:
    alone = f"mkdir {bench.traces}/busy && sleep 0.05 && rmdir {bench.traces}/busy"
    await bench.define(*(check(f"wide {n}", f"{alone} # {n}", slots=2) for n in range(5)))
    host = bench.on_host(slots=3)
    requests = [await bench.request({"src/a.py": f"a = {n}\n"}) for n in range(2)]
    outcomes = await asyncio.gather(*(bench.run(request, host) for request in requests))
    assert [outcome.state for outcome in outcomes] == ["passed", "passed"]


async def turn() -> None:
    """Let every task that can go on do so."""
    for _ in range(5):
        await asyncio.sleep(0)


async def test_slots_are_given_in_the_order_in_which_they_were_asked_for() -> None:
    slots, got, leave = Slots(3), list[str](), asyncio.Event()

    async def hold(name: str, count: int) -> None:
        async with slots.taken(count):
            got.append(name)
            await leave.wait()

    tasks = [asyncio.create_task(hold(n, c)) for n, c in (("first", 2), ("wide", 9), ("narrow", 1))]
    await turn()
    assert got == ["first"]  # one slot is free, yet the wide one stands before the narrow one
    tasks[1].cancel()
    await turn()
    assert got == ["first", "narrow"]
    late = asyncio.create_task(hold("late", 3))
    await turn()
    leave.set()
    await asyncio.gather(tasks[0], tasks[2], late)
    assert got == ["first", "narrow", "late"]


async def test_a_run_that_is_given_up_is_taken_over_by_who_waits_for_it() -> None:
    flights, began, end = Flights[str](), list[str](), asyncio.Event()

    def work(name: str) -> Callable[[], Awaitable[str]]:
        async def run() -> str:
            began.append(name)
            await end.wait()
            return name

        return run

    tasks = [asyncio.create_task(flights.join("same", work(name))) for name in ("a", "b", "c")]
    await turn()
    tasks[0].cancel()
    await turn()
    end.set()
    assert await asyncio.gather(*tasks[1:]) == [("b", True), ("b", False)]
    assert began == ["a", "b"]


async def test_two_requests_for_one_tree_at_once_run_its_checks_once(bench: Bench) -> None:
    gate = bench.traces / "gate"
    os.mkfifo(gate)
    await bench.define(check("slow", f"{bench.trace('slow')}; read line < {gate}; exit 1"))
    request = await bench.request({"src/a.py": "a = 2\n"})
    both = [asyncio.create_task(bench.run(one)) for one in (request, bench.again(request))]
    await asyncio.to_thread(gate.write_text, "go\n")  # returns when a check reads it
    first, second = await asyncio.gather(*both)
    assert (first.state, second.state, bench.count("slow")) == ("failed", "failed", 1)
    assert first.check_id == second.check_id
    assert sorted((first.reused, second.reused)) == [False, True]
    third = await bench.run(bench.again(request))
    assert (third.reused, third.check_id, bench.count("slow")) == (True, first.check_id, 1)


async def test_a_change_elsewhere_reuses_the_result_of_a_check_with_paths(bench: Bench) -> None:
    await bench.define(
        check("docs", bench.trace("docs"), paths=("docs/**/*.md",)), check("unit", bench.trace("unit"))
    )
    await bench.run(await bench.request({"src/a.py": "a = 2\n"}))
    outcome = await bench.run(await bench.request({"src/a.py": "a = 3\n", "docs/a.txt": "new\n"}))
    assert {run.name: run.reused for run in outcome.runs} == {"docs": True, "unit": False}
    assert (bench.count("docs"), bench.count("unit"), outcome.reused) == (1, 2, False)
    await bench.run(await bench.request({"docs/deep/b.md": "# B\n"}))
    assert bench.count("docs") == 2


async def test_another_environment_reuses_nothing(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLAVOUR", "sweet")
    await bench.define(check("unit", bench.trace("unit"), environment=("FLAVOUR",)))
    request = await bench.request({"src/a.py": "a = 2\n"})
    await bench.run(request)
    monkeypatch.setenv("UNRELATED", "yes")
    assert (await bench.run(bench.again(request))).reused
    monkeypatch.setenv("FLAVOUR", "sour")
    assert not (await bench.run(bench.again(request))).reused
    assert not (await bench.run(bench.again(request), bench.on_host(environment="image-2"))).reused
    assert bench.count("unit") == 3


async def test_what_timed_out_or_could_not_run_is_tried_anew(bench: Bench) -> None:
    slow = CheckDefinition(name="slow", command=f"{bench.trace('slow')}; sleep 60", timeout_sec=1)
    await bench.define(slow, check("tool", f"{bench.trace('tool')}; /no/such/tool"))
    request = await bench.request({"src/a.py": "a = 2\n"})
    for _ in range(2):
        outcome = await bench.run(request)
        assert states(outcome) == {"slow": "failed", "tool": "error"}
        assert not outcome.reused
        request = bench.again(request)
    assert (bench.count("slow"), bench.count("tool")) == (2, 2)


async def test_a_flake_is_tried_again_and_recorded_as_one(bench: Bench) -> None:
    trace = bench.trace("unit")
    green_later = (
        f"{trace}; [ $(wc -l < {bench.traces}/unit) -ge 2 ] || {{ echo 'not ok 1 - greets'; exit 1; }}"
    )
    await bench.define(
        check("unit", green_later, retries=3), check("lint", f"{bench.trace('lint')}; exit 1", retries=1)
    )
    outcome = await bench.run(await bench.request({"src/a.py": "a = 2\n"}))
    unit, lint = outcome.runs
    assert (unit.state, unit.tries, unit.flaky) == ("passed", 2, ["not ok 1 - greets"])
    assert unit.summary == "unit passed on try 2; flaky: not ok 1 - greets"
    assert (lint.state, lint.tries, lint.flaky, bench.count("lint")) == ("failed", 2, [], 2)
    assert lint.summary.startswith("lint failed (exited 1)")
    assert lint.summary.endswith("(on each of 2 tries)")
    assert ("check.flaky", "unit") in await bench.told()
    async with transaction(bench.world.store.pool) as connection:
        [seen] = await flaky.listed(connection, bench.world.project_id, 10)
        log = await checks.log_of(connection, unit.check_id)
        shown = await checks.of_intent(connection, bench.member.intent_id)
    assert (seen.check, seen.test, seen.seen) == ("unit", "not ok 1 - greets", 1)
    assert log.startswith(b"[try 1 of 2]\nnot ok 1 - greets\n") and b"[try 2 of 2]" in log
    assert {(row.name, row.tries) for row in shown} == {("unit", 2), ("lint", 2)}


async def test_a_tree_that_was_red_by_time_and_is_green_now_shows_a_flaky_check(bench: Bench) -> None:
    command = f"{bench.trace('slow')}; [ $(wc -l < {bench.traces}/slow) -ge 2 ] || sleep 60"
    await bench.define(CheckDefinition(name="slow", command=command, timeout_sec=1))
    request = await bench.request({"src/a.py": "a = 2\n"})
    assert (await bench.run(request)).state == "failed"
    green = await bench.run(bench.again(request))
    assert (green.state, green.runs[0].tries) == ("passed", 1)
    assert await bench.told() == [
        ("check.started", "slow"), ("check.finished", "slow"),
        ("check.started", "slow"), ("check.finished", "slow"), ("check.flaky", "slow"),
    ]  # fmt: skip
    async with transaction(bench.world.store.pool) as connection:
        [seen] = await flaky.listed(connection, bench.world.project_id, 10)
    assert (seen.check, seen.test, seen.last_tree) == ("slow", None, request.tree)


async def test_after_a_lost_worker_only_unfinished_checks_run_again(bench: Bench) -> None:
    gate = bench.traces / "gate"
    os.mkfifo(gate)
    await bench.define(
        check("quick", bench.trace("quick")),
        check("slow", f"{bench.trace('slow')}; read line < {gate}", needs=("quick",)),
    )
    request = await bench.request({"src/a.py": "a = 2\n"})
    lost = asyncio.create_task(bench.run(request))
    reader = await asyncio.to_thread(os.open, gate, os.O_WRONLY)  # the slow one has begun
    bench.environments[request.check_id].worker_shutdown()
    lost.cancel()
    await asyncio.wait([lost])
    os.close(reader)
    again = asyncio.create_task(bench.run(request, bench.on_host()))
    await asyncio.to_thread(gate.write_text, "go\n")
    outcome = await again
    assert states(outcome) == {"quick": "passed", "slow": "passed"}
    assert (bench.count("quick"), bench.count("slow")) == (1, 2)
    rows = await bench.world.store.pool.fetch("SELECT name, state FROM check_run ORDER BY id")
    assert sorted(map(tuple, rows)) == [("quick", "passed"), ("slow", "cancelled"), ("slow", "passed")]


async def test_a_cancelled_request_ends_all_its_checks_and_says_so(bench: Bench) -> None:
    gate = bench.traces / "gate"
    os.mkfifo(gate)
    await bench.define(check("a", f"echo > {gate}; sleep 60"), check("b", "true", needs=("a",)))
    request = await bench.request({"src/a.py": "a = 2\n"})
    running = asyncio.create_task(bench.run(request))
    await asyncio.to_thread(gate.read_text)
    running.cancel()
    await asyncio.wait([running])
    assert running.cancelled()
    rows = await bench.world.store.pool.fetch("SELECT name, state FROM check_run")
    assert [tuple(row) for row in rows] == [("a", "cancelled")]
    assert await bench.told() == [("check.started", "a"), ("check.finished", "a")]
