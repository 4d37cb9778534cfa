"""Indexes over lists answer at once what was written a moment ago."""


async def test_no_index_over_lists_puts_entries_aside(pool) -> None:
    async with pool.acquire() as connection:
        rows = await connection.fetch(
            "SELECT relname, reloptions FROM pg_class JOIN pg_am ON pg_am.oid = relam "
            "WHERE amname = 'gin' AND relnamespace = 'public'::regnamespace"
        )
    assert {"place_ancestors", "fm_scope_likes"} <= {row["relname"] for row in rows}
    assert [row["relname"] for row in rows if "fastupdate=off" not in (row["reloptions"] or [])] == []
