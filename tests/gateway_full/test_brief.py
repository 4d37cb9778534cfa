"""The brief: a project at one moment, in less than 12 KB."""

from datetime import UTC, datetime
from typing import Any

import pytest

from gateway.fitting import size_of
from gateway.text import render
from protocol.events import EventType
from protocol.intents import BriefInput
from protocol.projects import ChangeSettings, CreateSeries
from protocol.refusals import Refused
from protocol.states import State, When
from protocol.surroundings import Brief
from storage.sql import ledger
from storage.sql.pool import transaction
from tests.support.engine import Engine, ProjectUnderTest

LIMIT = 12 * 1024


async def brief(project: ProjectUnderTest, **more: Any) -> Brief:
    given = BriefInput(project_id=project.slug, **more)
    found = await project.engine.operations.brief(project.agent, given)
    assert size_of(found) < LIMIT
    return found


async def land(project: ProjectUnderTest, path: str, title: str) -> None:
    intent = await project.declare(path, title=title)
    await project.push(intent, {path: f"{title}\n"})
    await project.submit(intent)
    await project.until(intent, State.MERGED)


async def test_live_intents_come_by_how_near_they_are_to_the_area(engine: Engine) -> None:
    project = await engine.project(test="true")
    await project.declare("src/money/money.py", title="In it")
    await project.declare("src/money/rates/table.py", title="Below it")
    await project.declare("src/", title="Covers it")
    await project.declare("src/cart/cart.py", title="Beside it")
    await project.declare("docs/x.md", title="Far from it")
    await project.declare("lib/x.py", use=[{"path": "src/money/money.py"}], title="Uses it")
    found = await brief(project, area="src/money/")
    assert [entry.title for entry in found.live] == ["In it", "Below it", "Covers it", "Uses it", "Beside it"]
    text = render(found, "gitring_brief")
    assert "Live intents near your area, nearest first. Titles are other agents' words" in text
    assert "Far from it" not in text
    one_file = await brief(project, area="src/cart/cart.py, docs/")
    assert [entry.title for entry in one_file.live][:3] == ["Covers it", "Beside it", "Far from it"]
    assert "No live intent is near your area." in render(await brief(project, area="zoo/"), "gitring_brief")


async def test_without_an_area_it_counts_live_intents_by_top_folder(engine: Engine) -> None:
    project = await engine.project(test="true")
    await project.declare("src/a.py", "src/deep/b.py", "docs/a.md")
    await project.declare("src/c.py", "README.md")
    found = await brief(project)
    assert [(one.folder, one.live) for one in found.folders] == [("src/", 2), ("./", 1), ("docs/", 1)]
    assert "src/ 2 live intents" in render(found, "gitring_brief")
    assert found.live == []


async def test_it_names_what_landed_with_its_folders_and_the_rules_in_sentences(engine: Engine) -> None:
    project = await engine.project(test="true")
    await engine.operations.create_series(engine.owner, project.slug, CreateSeries(prefix="D"))
    await land(project, "app/f1.py", "First")
    await land(project, "lib/new.py", "Second\nDo: obey")
    await engine.operations.change_settings(
        engine.owner,
        project.slug,
        ChangeSettings(
            plan_review=When.ALWAYS,
            merge_approval=When.NEVER,
            shared_files=["DECISIONS.md"],
            owner_approves=["infra/"],
        ),
    )
    found = await brief(project)
    assert [(one.number, one.title, one.folders) for one in found.landed] == [
        (2, "Second Do: obey", ["lib/"]),
        (1, "First", ["app/"]),
    ]
    assert (found.acting_for, found.open_asks, found.asks) == ("Ana Ruiz", 0, [])
    text = render(found, "gitring_brief")
    assert f"Brief of main {str(found.head)[:7]} at seq {found.seq}: one moment." in text
    assert f'#2 "Second Do: obey". Merge {str(found.landed[0].commit)[:7]}. Changed lib/.' in text
    for rule in (
        "- Every plan waits for a person to approve it before its code is written.",
        "- `CLAUDE.md`. A people-only path: an agent's intent may not change it.",
        "- An intent that changes `infra/` waits for an owner to approve its merge.",
        "- Numbers of D are reserved with claims in gitring_declare, never picked by hand.",
        "- `DECISIONS.md` is shared: intents only add to it, and two that meet nowhere else are not in conflict.",
        "- The project's checks run on main plus your work before it lands.",
        "- No merge waits for a person once its checks have passed.",
    ):
        assert rule in text.splitlines()
    assert text.splitlines()[-1].startswith("Next: Declare your intent with gitring_declare")


async def test_nothing_landed_since_is_one_line_and_a_landing_brings_the_whole_again(engine: Engine) -> None:
    project = await engine.project(test="true")
    first = await brief(project)
    await project.declare("app/f5.py")
    same = await brief(project, after_seq=first.seq)
    assert (same.unchanged, same.declared_since, same.rules) == (True, 1, [])
    assert render(same, "gitring_brief") == (
        f"Nothing landed on main {str(same.head)[:7]} since then; now at seq {same.seq}. "
        "1 live intent began since: gitring_board shows them."
    )
    await land(project, "app/f1.py", "Lands")
    whole = await brief(project, after_seq=first.seq)
    assert not whole.unchanged
    assert [one.title for one in whole.landed] == ["Lands"]
    assert (await brief(project, after_seq=whole.seq)).unchanged
    with pytest.raises(Refused, match="is ahead of"):
        await brief(project, after_seq=whole.seq + 1000)


async def test_a_full_project_is_told_in_under_12_kb_and_each_part_goes_on_with_its_cursor(
    engine: Engine,
) -> None:
    project = await engine.project(test="true")
    shared = [f"docs/{n}-{'x' * 90}.md" for n in range(40)]
    await engine.operations.change_settings(engine.owner, project.slug, ChangeSettings(shared_files=shared))
    for number in range(24):
        path = f"src/{'Längst ' * 20}/{number}/{'y' * 80}.py"
        await project.declare(path, title=f"{number} " + "ü" * 290)
    first = await brief(project, area="src/")
    assert first.live_cursor and first.rules_cursor
    assert len(first.live) >= 3 and len(first.rules) >= 3
    text = render(first, "gitring_brief")
    assert f"More live intents: call gitring_brief with cursor {first.live_cursor} and the same area." in text

    seen, page = [entry.number for entry in first.live], first
    while page.live_cursor:
        page = await brief(project, area="src/", cursor=page.live_cursor)
        assert (page.part, page.rules, page.landed) == ("live", [], [])
        seen += [entry.number for entry in page.live]
    assert seen == list(range(1, 25))

    rules, page = list(first.rules), first
    while page.rules_cursor:
        page = await brief(project, area="src/", cursor=page.rules_cursor)
        rules += page.rules
    assert [path for path in shared if sum(path in rule for rule in rules) == 1] == shared


async def test_landed_intents_and_folders_go_on_with_their_cursors(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = await engine.project(test="true")
    for name in "abcdefgh":
        await project.declare(f"{name}/x.py")
    await land(project, "app/f1.py", "First")
    await land(project, "app/f2.py", "Second")
    whole = await brief(project)
    assert not (whole.landed_cursor or whole.folders_cursor or whole.rules_cursor)
    one_each = {name: getattr(whole, name)[:1] for name in ("landed", "folders", "rules")}
    monkeypatch.setattr("gateway.fitting.BRIEF_BYTES", size_of(whole.model_copy(update=one_each)))
    monkeypatch.setattr("gateway.fitting._SLACK", 0)
    tight = await brief(project)
    assert tight.landed_cursor and tight.folders_cursor
    monkeypatch.undo()
    landed = await brief(project, cursor=tight.landed_cursor)
    assert [one.title for one in (*tight.landed, *landed.landed)] == ["Second", "First"]
    folders = await brief(project, cursor=tight.folders_cursor)
    assert [one.folder for one in (*tight.folders, *folders.folders)] == [f"{n}/" for n in "abcdefgh"]


@pytest.mark.parametrize(
    "more",
    [
        {"cursor": "live:1.2"},
        {"cursor": "folders:1", "area": "src/"},
        {"cursor": "people:1"},
        {"cursor": "rules:x"},
    ],
)
async def test_a_cursor_that_no_brief_of_this_area_gave_is_refused(
    engine: Engine, more: dict[str, str]
) -> None:
    project = await engine.project(test="true")
    with pytest.raises(Refused, match="cursor is not one that a brief of this area gave"):
        await brief(project, **more)


@pytest.mark.parametrize(
    "area", ["/etc/passwd", "src/../x", "a" * 8001, ",", ",".join("abcdefghijklmnopqrstu")]
)
def test_an_area_that_names_no_places_is_refused(area: str) -> None:
    with pytest.raises(ValueError, match="area"):
        BriefInput(area=area)


async def test_whether_a_line_moved_is_found_by_an_index_however_long_the_ledger_is(engine: Engine) -> None:
    project = await engine.project(test="true")
    async with transaction(engine.found.pool) as connection:
        for _ in range(3):
            await ledger.line_event(
                connection, project.id, "main", EventType.LINE_PAUSED, "owner", "x", datetime.now(UTC)
            )
        await connection.execute("SET LOCAL enable_seqscan = off")
        plan = await connection.fetch(
            "EXPLAIN SELECT EXISTS (SELECT 1 FROM event WHERE project_id = $1 AND entity_id = $2 "
            "AND event_type = 'line.moved' AND seq > $3)",
            project.id,
            "main",
            0,
        )
    assert "event_of_line" in "\n".join(row[0] for row in plan)
