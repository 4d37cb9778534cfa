"""What is remembered of source files, on a real Postgres."""

import asyncio

import pytest_asyncio

from protocol.symbols import FileSymbols, SymbolInfo
from storage.sql import symbols
from storage.sql.pool import transaction
from storage.sql.symbols import BlobKey, Edges
from tests.storage.sql.ledger import new_project

FOUND = FileSymbols(
    language="python",
    symbols=[
        SymbolInfo(name="f", kind="function", signature="def f(é)", exported=True, start_line=1, end_line=2)
    ],
    imports=["a.b:c"],
    import_lines=[(1, 1)],
)
ONE, TWO = BlobKey("1" * 40, "python"), BlobKey("2" * 40, "python")


@pytest_asyncio.fixture
async def project_id(pool):
    return await new_project(pool)


async def test_what_was_read_is_given_back_under_its_blob_language_and_extractor(pool):
    async with transaction(pool) as connection:
        await symbols.save_many(connection, {ONE: FOUND}, 1)
        assert await symbols.get_many(connection, [ONE, TWO], 1) == {ONE: FOUND}
        assert await symbols.get_many(connection, [BlobKey(ONE.blob, "tsx")], 1) == {}
        assert await symbols.get_many(connection, [ONE], 2) == {}
        assert await symbols.imports_of(connection, [ONE, TWO], 1) == {ONE: ["a.b:c"]}


async def test_what_is_known_stays_as_it_is(pool):
    async with transaction(pool) as connection:
        await symbols.save_many(connection, {ONE: FOUND}, 1)
        await symbols.save_many(connection, {ONE: FileSymbols(language="python"), TWO: FOUND}, 1)
        assert await symbols.get_many(connection, [ONE, TWO], 1) == {ONE: FOUND, TWO: FOUND}


async def test_two_that_save_the_same_contents_do_not_wait_in_a_circle(pool):
    keys = [BlobKey(f"{n:040x}", "python") for n in range(200)]

    async def save(order):
        async with transaction(pool) as connection:
            await symbols.save_many(connection, dict.fromkeys(order, FOUND), 1)

    await asyncio.gather(*(save(keys if n % 2 else reversed(keys)) for n in range(6)))
    async with transaction(pool) as connection:
        assert len(await symbols.get_many(connection, keys, 1)) == 200


async def test_edges_are_answered_both_ways(pool, project_id):
    async with transaction(pool) as connection:
        await symbols.replace_edges_of_files(connection, project_id, "main", {"a": ["b", "c"], "d": ["b"]})
        assert await symbols.edges_of(connection, project_id, "main", ["a", "b"]) == Edges(
            imports={"a": {"b", "c"}}, imported_by={"b": {"a", "d"}}
        )
        assert await symbols.edges_of(connection, project_id, "other", ["a", "b"]) == Edges({}, {})
        assert await symbols.edges_of(connection, project_id, "main", []) == Edges({}, {})


async def test_edges_of_a_file_are_replaced_and_those_of_others_stay(pool, project_id):
    async with transaction(pool) as connection:
        await symbols.replace_edges_of_files(connection, project_id, "main", {"a": ["b"], "d": ["b"]})
        await symbols.replace_edges_of_files(connection, project_id, "main", {"a": ["c"], "e": []})
        found = await symbols.edges_of(connection, project_id, "main", ["a", "d", "e"])
        assert found.imports == {"a": {"c"}, "d": {"b"}}


async def test_a_file_that_is_gone_has_no_edge_on_either_side(pool, project_id):
    async with transaction(pool) as connection:
        await symbols.replace_edges_of_files(
            connection, project_id, "main", {"a": ["b"], "b": ["c"], "c": ["a"]}
        )
        await symbols.forget_files(connection, project_id, "main", ["b"])
        found = await symbols.edges_of(connection, project_id, "main", ["a", "b", "c"])
        assert found.imports == {"c": {"a"}}


async def test_only_the_latest_run_may_write(pool, project_id):
    async with transaction(pool) as connection:
        assert await symbols.begin_run(connection, project_id, "main", "first") is None
        assert await symbols.hold_run(connection, project_id, "main", "first")
        await symbols.begin_run(connection, project_id, "main", "second")
        assert not await symbols.hold_run(connection, project_id, "main", "first")
        await symbols.end_run(connection, project_id, "main", "first", "a" * 40)
        assert await symbols.indexed_commit(connection, project_id, "main") is None
        await symbols.end_run(connection, project_id, "main", "second", "b" * 40)
        assert await symbols.indexed_commit(connection, project_id, "main") == "b" * 40
        assert await symbols.begin_run(connection, project_id, "main", "third") == "b" * 40


async def test_a_run_that_holds_keeps_the_next_from_beginning_until_it_is_done(pool, project_id):
    async with transaction(pool) as connection:
        await symbols.begin_run(connection, project_id, "main", "first")

    async def begin_second():
        async with transaction(pool) as connection:
            await symbols.begin_run(connection, project_id, "main", "second")
            found = await symbols.edges_of(connection, project_id, "main", ["a"])
            return found.imports

    async with transaction(pool) as connection:
        assert await symbols.hold_run(connection, project_id, "main", "first")
        waiting = asyncio.create_task(begin_second())
        await symbols.replace_edges_of_files(connection, project_id, "main", {"a": ["b"]})
        assert not waiting.done()
    assert await waiting == {"a": {"b"}}
