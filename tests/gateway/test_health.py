"""Health, readiness and numbers."""

import asyncio

from gateway.app import create_app
from gateway.health import add_health
from tests.gateway import samples
from tests.gateway.edge import Edge, answers, served


async def test_the_process_says_that_it_lives_without_a_token(edge: Edge) -> None:
    response = await edge.http.get("/healthz", headers={"Authorization": ""})
    about = {"name": "gitring", "version": "0.1.0", "status": "alive"}
    assert (response.status_code, response.json()) == (200, {**about, "ok": True, "data": about})


async def test_readiness_needs_every_server(edge: Edge) -> None:
    response = await edge.http.get("/readyz")
    assert response.status_code == 200
    assert response.json()["servers"] == {"temporal": "ok", "nats": "ok", "postgres": "ok"}


async def test_readiness_names_the_servers_that_did_not_answer(monkeypatch) -> None:
    async def refuses() -> None:
        raise ConnectionRefusedError("nats is down")

    async def hangs() -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr(add_health, "__defaults__", (0.05,))
    async with served(probes={"temporal": hangs, "nats": refuses, "postgres": answers}) as edge:
        response = await edge.http.get("/readyz")
    body = response.json()
    assert (response.status_code, response.headers["retry-after"]) == (503, "2")
    assert body["servers"] == {"temporal": "no answer", "nats": "no answer", "postgres": "ok"}
    assert body["error"]["code"] == "not_ready"
    assert body["error"]["message"] == "temporal and nats did not answer."


async def test_requests_are_counted_by_route_and_never_by_raw_path() -> None:
    async with served(waits_held=lambda: 7.0) as edge:
        await edge.http.get(f"/api/v1/intents/{samples.INTENT}")
        await edge.http.get("/secret/path")
        await edge.http.request("PROPFIND", "/healthz")
        await edge.http.get("/git/p.git/info/refs")
        async with edge.mcp("2026-07-28") as client:
            await client.call_tool("gitring_board", {})
        numbers = (await edge.http.get("/metrics")).text
    counts = 'gitring_http_requests_total{method="%s",route="%s",status="%s"} 1.0'
    assert counts % ("GET", "/api/v1/intents/{intent_id}", 200) in numbers
    assert counts % ("GET", "other", 404) in numbers
    assert counts % ("OTHER", "/healthz", 405) in numbers
    assert counts % ("GET", "/git", 200) in numbers
    assert 'route="/mcp",status="200"' in numbers
    assert 'gitring_http_request_seconds_count{route="/api/v1/intents/{intent_id}"} 1.0' in numbers
    assert 'gitring_tool_calls_total{outcome="ok",tool="gitring_board"} 1.0' in numbers
    assert "gitring_waits_held 7.0" in numbers
    assert "process_resident_memory_bytes" in numbers
    assert "secret" not in numbers


def test_two_apps_in_one_process_do_not_share_numbers() -> None:
    from tests.gateway.edge import Scripted, echo_git

    for _ in range(2):
        create_app(Scripted(), public_url="http://localhost", probes={}, git_app=echo_git)
