"""Tokens in the record: found only by their secret, and only while they live."""

from datetime import UTC, datetime, timedelta

import asyncpg
import pytest
import pytest_asyncio

from protocol.ids import new_id
from protocol.projects import Caller, TokenKind
from storage.sql import tokens

NOW = datetime(2026, 11, 8, 12, 0, tzinfo=UTC)
LATER = NOW + timedelta(hours=1)


@pytest_asyncio.fixture
async def connection(pool: asyncpg.Pool):
    async with pool.acquire() as connection:
        yield connection


@pytest_asyncio.fixture
async def person(connection: asyncpg.Connection) -> str:
    person_id = new_id("per")
    await connection.execute("INSERT INTO person VALUES ($1, 'Ana Ruiz', $2)", person_id, NOW)
    return person_id


@pytest_asyncio.fixture
async def project(connection: asyncpg.Connection, person: str) -> str:
    project_id = new_id("prj")
    await connection.execute(
        "INSERT INTO project VALUES ($1, 'storefront', $2, 'host', 'main', '{}', $3)", project_id, person, NOW
    )
    return project_id


async def make(connection: asyncpg.Connection, person: str, **options) -> tuple[str, str]:
    defaults = {"kind": TokenKind.AGENT, "name": "claude-code", "project_ids": [], "now": NOW}
    return await tokens.create(connection, person_id=person, **(defaults | options))


async def test_a_secret_finds_its_caller(connection: asyncpg.Connection, person: str, project: str) -> None:
    token_id, secret = await make(connection, person, project_ids=[project], credential_helper=True)
    assert secret.startswith("gitring_agent_")
    assert await tokens.find_by_secret(connection, secret, NOW) == Caller(
        token_id=token_id,
        kind=TokenKind.AGENT,
        token_name="claude-code",
        person_id=person,
        person_name="Ana Ruiz",
        project_ids=[project],
        credential_helper=True,
    )


@pytest.mark.parametrize("kind", TokenKind)
async def test_each_kind_has_its_prefix(connection: asyncpg.Connection, person: str, kind: TokenKind) -> None:
    _, secret = await make(connection, person, kind=kind)
    assert secret.startswith(f"gitring_{kind.value}_")
    found = await tokens.find_by_secret(connection, secret, NOW)
    assert found is not None and found.kind is kind


async def test_the_record_does_not_hold_the_secret(connection: asyncpg.Connection, person: str) -> None:
    _, secret = await make(connection, person)
    row = await connection.fetchrow("SELECT token::text AS everything, hash FROM token")
    assert secret.removeprefix("gitring_agent_") not in row["everything"]
    assert len(row["hash"]) == 32


async def test_secrets_are_long_and_never_the_same() -> None:
    made = {tokens.secret_of(TokenKind.AGENT) for _ in range(100)}
    assert len(made) == 100
    assert min(map(len, made)) >= len("gitring_agent_") + 43


@pytest.mark.parametrize(
    "wrong", ["", "gitring_agent_wrong", "gitring_person_", "x" * 10_000, "gitring_agent_\ud800"]
)
async def test_a_wrong_secret_finds_nobody(connection: asyncpg.Connection, person: str, wrong: str) -> None:
    await make(connection, person)
    assert await tokens.find_by_secret(connection, wrong, NOW) is None


async def test_an_expired_token_finds_nobody(connection: asyncpg.Connection, person: str) -> None:
    _, secret = await make(connection, person, expires_at=LATER)
    assert await tokens.find_by_secret(connection, secret, NOW) is not None
    assert await tokens.find_by_secret(connection, secret, LATER) is None


async def test_a_revoked_token_finds_nobody_and_takes_its_git_tokens_with_it(
    connection: asyncpg.Connection, person: str
) -> None:
    parent, secret = await make(connection, person)
    _, git_secret = await make(connection, person, kind=TokenKind.GIT, parent_id=parent)
    _, other = await make(connection, person)
    assert await tokens.find_by_secret(connection, git_secret, NOW) is not None
    revoked = await tokens.revoke(connection, parent, person, LATER)
    assert revoked is not None and revoked.revoked_at == LATER
    assert await tokens.find_by_secret(connection, secret, NOW) is None
    assert await tokens.find_by_secret(connection, git_secret, NOW) is None
    assert await tokens.find_by_secret(connection, other, NOW) is not None


async def test_a_git_token_dies_with_a_parent_that_expired(
    connection: asyncpg.Connection, person: str
) -> None:
    parent, _ = await make(connection, person, kind=TokenKind.MCP, expires_at=LATER)
    _, git_secret = await make(connection, person, kind=TokenKind.GIT, parent_id=parent)
    assert await tokens.find_by_secret(connection, git_secret, LATER) is None


async def test_revoking_again_changes_nothing(connection: asyncpg.Connection, person: str) -> None:
    token_id, _ = await make(connection, person)
    await tokens.revoke(connection, token_id, person, NOW)
    again = await tokens.revoke(connection, token_id, person, LATER)
    assert again is not None and again.revoked_at == NOW


async def test_nobody_revokes_anothers_token(connection: asyncpg.Connection, person: str) -> None:
    token_id, secret = await make(connection, person)
    assert await tokens.revoke(connection, token_id, "per_other", LATER) is None
    assert await tokens.find_by_secret(connection, secret, NOW) is not None


async def test_a_persons_tokens_are_listed_newest_first_without_git_tokens(
    connection: asyncpg.Connection, person: str, project: str
) -> None:
    old, _ = await make(connection, person, project_ids=[project])
    new, _ = await make(connection, person, now=LATER, kind=TokenKind.PERSON)
    await make(connection, person, kind=TokenKind.GIT, parent_id=old)
    listed = await tokens.list_of_person(connection, person)
    assert [(token.id, token.projects) for token in listed] == [(new, []), (old, ["storefront"])]
    assert await tokens.list_of_person(connection, "per_other") == []
