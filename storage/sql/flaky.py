"""Tests that were seen red and green on one tree."""

from datetime import datetime

import asyncpg

from protocol.checks import FlakyTest

# Names come from the output of projects: neither one of them nor their number may grow without bound.
LONGEST_TEST = 500
MOST_KEPT = 500


async def seen(
    connection: asyncpg.Connection, project_id: str, check: str, test: str, tree: str, now: datetime
) -> None:
    """Count one more sight of a flaky test; '' stands for the check itself."""
    await connection.execute(
        "INSERT INTO flaky_test (project_id, check_name, test, seen, last_seen, last_tree) VALUES ($1, $2, $3, 1, $5, $4) "
        "ON CONFLICT (project_id, check_name, test) DO UPDATE SET seen = flaky_test.seen + 1, last_seen = $5, last_tree = $4",
        project_id,
        check,
        test[:LONGEST_TEST],
        tree,
        now,
    )
    await connection.execute(
        "DELETE FROM flaky_test WHERE project_id = $1 AND (check_name, test) IN (SELECT check_name, test FROM flaky_test "
        "WHERE project_id = $1 ORDER BY last_seen DESC, check_name, test OFFSET $2)",
        project_id,
        MOST_KEPT,
    )


async def listed(connection: asyncpg.Connection, project_id: str, limit: int) -> list[FlakyTest]:
    """The flaky tests of a project, the one seen last first."""
    rows = await connection.fetch(
        "SELECT check_name AS check, nullif(test, '') AS test, seen, last_seen, last_tree FROM flaky_test "
        "WHERE project_id = $1 ORDER BY last_seen DESC, check_name, test LIMIT $2",
        project_id,
        limit,
    )
    return [FlakyTest(**dict(row)) for row in rows]
