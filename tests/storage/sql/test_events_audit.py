"""Tampering with the rows behind the trigger's back is found, and the first bad row is named."""

from collections.abc import AsyncIterator

import asyncpg
import pytest
import pytest_asyncio

from protocol.events import event_hash
from protocol.ids import new_id
from storage.sql.events import audit
from storage.sql.pool import UnknownProject
from tests.storage.sql.ledger import commit, new_project, pushed

INTENT = new_id("int")


@pytest_asyncio.fixture
async def tamperer(database: str) -> AsyncIterator[asyncpg.Connection]:
    """A superuser's session in which triggers do not fire."""
    connection = await asyncpg.connect(database)
    await connection.execute("SET session_replication_role = replica")
    try:
        yield connection
    finally:
        connection.terminate()


@pytest_asyncio.fixture
async def project_id(pool: asyncpg.Pool) -> str:
    """A project with twelve events."""
    project = await new_project(pool)
    for n in range(4):
        await commit(pool, project, *(pushed(INTENT, n=n, part=part) for part in range(3)))
    return project


async def test_an_empty_ledger_is_valid(pool, tamperer):
    verdict = await audit(tamperer, await new_project(pool))
    assert (verdict.valid, verdict.events_verified, verdict.last_seq, verdict.head_hash) == (
        True,
        0,
        None,
        None,
    )


async def test_an_untouched_ledger_is_valid_to_its_head(tamperer, project_id):
    verdict = await audit(tamperer, project_id, page=5)
    head = await tamperer.fetchval("SELECT event_hash FROM project_counter WHERE project_id = $1", project_id)
    assert (verdict.valid, verdict.events_verified, verdict.last_seq, verdict.head_hash) == (
        True,
        12,
        12,
        head,
    )


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("payload", "'{}'"),
        ("event_type", "'intent.submitted'"),
        ("entity_type", "'Line'"),
        ("entity_id", "'int_other'"),
        ("agent_id", "NULL"),
        ("created_at", "'2031-01-01T00:00:00.000000Z'"),
        ("event_id", "'evt_other'"),
        ("event_hash", "repeat('0', 64)"),
        ("prev_hash", "repeat('0', 64)"),
    ],
)
async def test_a_changed_field_is_found_at_its_row(tamperer, project_id, column, value):
    await tamperer.execute(
        f"UPDATE event SET {column} = {value} WHERE project_id = $1 AND seq = 6", project_id
    )

    verdict = await audit(tamperer, project_id, page=4)
    assert (verdict.valid, verdict.first_bad_seq, verdict.events_verified, verdict.last_seq) == (
        False,
        6,
        5,
        5,
    )
    assert verdict.reason is not None
    assert "seq 6" in verdict.reason


async def test_a_row_rewritten_with_a_fitting_hash_breaks_at_the_next_row(tamperer, project_id):
    row = await tamperer.fetchrow("SELECT * FROM event WHERE project_id = $1 AND seq = 6", project_id)
    forged = event_hash(
        row["prev_hash"],
        row["event_id"],
        row["event_type"],
        row["entity_type"],
        row["entity_id"],
        row["agent_id"],
        row["created_at"],
        "{}",
    )
    await tamperer.execute(
        "UPDATE event SET payload = '{}', event_hash = $2 WHERE project_id = $1 AND seq = 6",
        project_id,
        forged,
    )

    verdict = await audit(tamperer, project_id)
    assert (verdict.valid, verdict.first_bad_seq) == (False, 7)
    assert "prev_hash" in (verdict.reason or "")


async def test_a_last_row_rewritten_with_a_fitting_hash_is_not_the_head(tamperer, project_id):
    await tamperer.execute("DELETE FROM event WHERE project_id = $1 AND seq = 12", project_id)
    row = await tamperer.fetchrow("SELECT * FROM event WHERE project_id = $1 AND seq = 11", project_id)
    forged = event_hash(row["event_hash"], "evt_x", "a.b", "Intent", "x", None, row["created_at"], "{}")
    await tamperer.execute(
        "INSERT INTO event VALUES ($1, 12, 'evt_x', 'a.b', 'Intent', 'x', NULL, NULL, '{}', $2, $3, $4)",
        project_id,
        row["created_at"],
        row["event_hash"],
        forged,
    )

    verdict = await audit(tamperer, project_id)
    assert (verdict.valid, verdict.first_bad_seq) == (False, 12)
    assert "head" in (verdict.reason or "")


@pytest.mark.parametrize("removed", [1, 6])
async def test_a_removed_row_is_found_at_the_row_after_it(tamperer, project_id, removed):
    await tamperer.execute("DELETE FROM event WHERE project_id = $1 AND seq = $2", project_id, removed)

    verdict = await audit(tamperer, project_id, page=3)
    assert (verdict.valid, verdict.first_bad_seq) == (False, removed + 1)
    assert f"seq {removed} is missing" in (verdict.reason or "")


@pytest.mark.parametrize("kept", [0, 9])
async def test_a_cut_off_end_is_found(tamperer, project_id, kept):
    await tamperer.execute("DELETE FROM event WHERE project_id = $1 AND seq > $2", project_id, kept)

    verdict = await audit(tamperer, project_id, page=3)
    assert (verdict.valid, verdict.first_bad_seq, verdict.events_verified) == (False, kept + 1, kept)
    assert "cut off" in (verdict.reason or "")


async def test_rows_beyond_the_counted_end_are_found(tamperer, project_id):
    await tamperer.execute("UPDATE project_counter SET event_seq = 10 WHERE project_id = $1", project_id)
    verdict = await audit(tamperer, project_id)
    assert (verdict.valid, verdict.first_bad_seq) == (False, 11)


async def test_a_row_before_the_first_is_found(tamperer, project_id):
    await tamperer.execute(
        "INSERT INTO event SELECT project_id, 0, 'evt_zero', event_type, entity_type, entity_id, intent_id, agent_id,"
        " payload, created_at, prev_hash, event_hash FROM event WHERE project_id = $1 AND seq = 1",
        project_id,
    )
    verdict = await audit(tamperer, project_id)
    assert (verdict.valid, verdict.first_bad_seq, verdict.events_verified) == (False, 0, 0)


async def test_an_audit_of_an_unknown_project_says_so(tamperer):
    with pytest.raises(UnknownProject):
        await audit(tamperer, new_id("prj"))
