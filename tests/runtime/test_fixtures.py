"""The servers behind every other test."""

import asyncpg
import nats
from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest
from temporalio.client import Client

from tests.support.servers import TemporalPlace


async def test_each_test_has_a_migrated_database_of_its_own(database: str, pool: asyncpg.Pool) -> None:
    assert await pool.fetchval("SELECT count(*) FROM project") == 0
    assert await pool.fetchval("SELECT current_database()") == database.rsplit("/", 1)[1]


async def test_the_session_has_nats_with_jetstream(nats_url: str) -> None:
    client = await nats.connect(nats_url)
    try:
        assert (await client.jetstream().account_info()).streams >= 0
    finally:
        await client.close()


async def test_the_session_has_temporal_with_its_namespace(
    temporal: TemporalPlace, temporal_client: Client
) -> None:
    answer = await temporal_client.workflow_service.describe_namespace(
        DescribeNamespaceRequest(namespace=temporal.namespace)
    )
    assert answer.namespace_info.name == temporal.namespace
