"""Both doors on the real engine: what acceptance asks of MCP and of the JSON API."""

import asyncio
import json
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest
import pytest_asyncio

from protocol.events import GENESIS, event_hash
from protocol.foremerge.changesets import ChangeSet, DecisionInput
from protocol.foremerge.validations import ValidationAttempt
from protocol.foremerge.words import ChangeSetStatus
from protocol.ids import new_id
from rules.foremerge.fingerprint import Snapshot
from storage.sql.foremerge import changesets
from storage.sql.foremerge.changesets import StoredChangeSet
from storage.sql.pool import transaction
from tests.foremerge.doors import REVISIONS, Api, House, Tools, opened
from tests.gateway.samples import NOW
from tests.support.engine import Engine

EXTEND = {"kind": "symbol", "key": "PaymentService", "operation": "extend"}
REPLACE = {**EXTEND, "operation": "replace"}
HEX_ID = "int_" + "0123456789abcdef" * 2


@pytest_asyncio.fixture(scope="module")
async def house(engine: Engine) -> AsyncIterator[House]:
    """The engine's operations behind a real server."""
    async with opened(engine) as found:
        yield found


async def published(call: Tools, name: str, summary: str, *scopes: dict[str, str]) -> tuple[str, Any]:
    """A new agent's id, and what it was told of its intent."""
    agent = (await call("register_agent", name=name))["id"]
    told = await call("publish_intent", agent_id=agent, task="payments", summary=summary, scopes=list(scopes))
    return agent, told


async def collision(call: Tools) -> tuple[tuple[str, str], tuple[str, str], str]:
    """Two agents with an intent each, and the HIGH conflict between them."""
    one, first = await published(call, "stripe", "Replace PaymentService with StripePaymentService", REPLACE)
    other, second = await published(call, "paypal", "Add PayPal support to PaymentService", EXTEND)
    (conflict,) = second["conflicts"]
    return (one, first["intent"]["id"]), (other, second["intent"]["id"]), conflict["id"]


async def test_scopes_that_cannot_be_read_are_refused_at_both_doors_and_nothing_is_kept(house: House) -> None:
    doors = await house.doors()
    async with doors.mcp("2026-07-28") as call, doors.api(doors.agent) as api:
        agent = (await call("register_agent", name="a"))["id"]
        base = {"agent_id": agent, "task": "t", "summary": "s"}
        wrong: list[dict[str, str]] = [
            {"kind": "class", "key": "A", "operation": "add"},
            {"kind": "symbol", "key": "  ", "operation": "add"},
            {"kind": "symbol", "key": "A", "operation": "rewrite"},
        ]
        for scope in wrong:
            said = await call.refused("publish_intent", **base, scopes=[scope])
            assert said.startswith("INVALID_INPUT: "), said
            assert (await api.refused("/v1/intents", **base, scopes=[scope])).startswith(
                "400 INVALID_INPUT: "
            )
        bare = {"kind": "symbol", "key": "A"}
        assert "operation" in await call.refused("publish_intent", **base, scopes=[bare])
        twice = [REPLACE, EXTEND]
        assert (await call.refused("publish_intent", **base, scopes=twice)).startswith("INVALID_INPUT: ")
        folded = await call("publish_intent", **base, scopes=[EXTEND, {**EXTEND, "key": "paymentservice"}])
        assert folded["intent"]["scopes"] == [EXTEND]
        assert len(await api.get("/v1/work")) == 1


@pytest.mark.parametrize("revision", REVISIONS)
async def test_an_id_is_no_description_and_a_what_if_keeps_nothing(house: House, revision: str) -> None:
    doors = await house.doors()
    async with doors.mcp(revision) as call, doors.api(doors.agent) as api:
        (agent, intent), (other, _), conflict = await collision(call)
        assert (await call.refused("check_conflicts", intent=f" {HEX_ID} ")).startswith("INVALID_INPUT: ")
        assert (await call.refused("check_conflicts", intent=intent)).startswith("INVALID_INPUT: ")
        assert (await call.refused("check_conflicts", intent_id=HEX_ID)).startswith("NOT_FOUND: ")
        before = await api.get("/v1/events", limit=1000)
        asked = {"intent": "Drop the PaymentService", "scopes": [{**REPLACE, "operation": "remove"}]}
        one, two = await call("check_conflicts", **asked), await call("check_conflicts", **asked)
        assert [len(report["conflicts"]) for report in (one, two)] == [2, 2]
        ids = {found["id"] for report in (one, two) for found in report["conflicts"]}
        assert len(ids) == 4 and all(found.startswith("eph_") for found in ids)
        assert all(found["evidence"]["ephemeral"] is True for found in one["conflicts"])
        assert one["ephemeral"] and one["blocking"] and one["checked_intents"] == 2
        stored = [await call("check_conflicts", intent_id=intent) for _ in range(2)]
        assert stored[0] == stored[1] and not stored[0]["ephemeral"]
        assert [found["id"] for found in stored[0]["conflicts"]] == [conflict]
        assert one["as_of_event"] == stored[0]["as_of_event"] == before[-1]["seq"]
        assert await api.get("/v1/events", limit=1000) == before
        ephemeral = ids.pop()
        said = await call.refused(
            "coordinate_with_agent",
            from_agent_id=agent,
            to_agent_id=other,
            message="m",
            conflict_id=ephemeral,
        )
        assert said.startswith("NOT_FOUND: ")
        agreed = {"agent_id": agent, "resolution": "split", "rationale": "r"}
        assert (await call.refused("resolve_conflict", conflict_id=ephemeral, **agreed)).startswith(
            "NOT_FOUND"
        )
        assert (await api.refused(f"/v1/conflicts/{ephemeral}/resolve", **agreed)).startswith("404 NOT_FOUND")


async def test_over_mcp_only_a_party_resolves_and_over_the_api_any_agent(house: House) -> None:
    doors = await house.doors()
    async with doors.mcp("legacy") as call, doors.api() as api:
        (agent, intent), _, conflict = await collision(call)
        third = (await call("register_agent", name="third"))["id"]
        agreed = {"resolution": "split scopes", "rationale": "agreed in msg_1"}
        said = await call.refused("resolve_conflict", conflict_id=conflict, agent_id=third, **agreed)
        assert said.startswith("FORBIDDEN: ")
        assert (await call("get_intent", id=intent))["open_conflicts"][0]["status"] == "OPEN"
        settled = await call("resolve_conflict", conflict_id=conflict, agent_id=agent, **agreed)
        assert (settled["id"], settled["status"]) == (conflict, "RESOLVED")
        said = await call.refused("resolve_conflict", conflict_id=conflict, agent_id=agent, **agreed)
        assert said.startswith("INVALID_TRANSITION: ")
    doors = await house.doors()
    async with doors.mcp("2026-07-28") as call, doors.api() as api:
        _, _, conflict = await collision(call)
        integrator = (await api.post("/v1/agents/register", name="integrator"))["id"]
        path = f"/v1/conflicts/{conflict}/resolve"
        assert (await api.post(path, agent_id=integrator, **agreed))["status"] == "RESOLVED"
        assert (await api.refused(path, agent_id=integrator, **agreed)).startswith("422 INVALID_TRANSITION")
        assert await api.get("/v1/conflicts", status="open") == []
        assert [found["id"] for found in await api.get("/v1/conflicts", status="Resolved")] == [conflict]
        assert len(await api.get(f"/v1/conflicts/{conflict}/detections")) == 1


async def test_the_overview_names_everything_under_way_at_one_moment(house: House) -> None:
    doors = await house.doors()
    async with doors.mcp("2026-07-28") as call, doors.api(doors.agent) as api:
        (agent, intent), (other, second), conflict = await collision(call)
        scope = {"kind": "symbol", "key": "PaymentService"}
        (claim,) = (await call("claim_work", agent_id=agent, intent_id=intent, scopes=[scope]))["claims"]
        started = await call("start_work", agent_id=agent, intent_id=intent)
        assert started["open_conflicts"]["ids"] == [conflict]
        await call("discard_work", agent_id=other, intent_id=second, reason="duplicate")
        report = await call("status")
        assert report == await api.get("/v1/status")
        assert [(one["name"], one["stale"]) for one in report["agents"]] == [
            ("stripe", False),
            ("paypal", False),
        ]
        assert [(group["status"], group["count"]) for group in report["intents"]] == [
            ("IN_PROGRESS", 1),
            ("DISCARDED", 1),
        ]
        (seen,) = report["intents"][0]["intents"]
        assert (seen["id"], seen["agent_name"], seen["stranded"]) == (intent, "stripe", False)
        (held,) = report["claims"]
        assert (held["id"], held["agent_name"], held["scope"]) == (claim["id"], "stripe", scope)
        assert report["conflicts"] == [] == report["changesets"]
        assert report["as_of_event"] == (await api.get("/v1/events", limit=1000))[-1]["seq"]
        _, third = await published(
            call, "third", "Remove the PaymentService", {**EXTEND, "operation": "remove"}
        )
        (met,) = (await call("status"))["conflicts"]
        assert {met["source_intent_id"], met["target_intent_id"]} == {intent, third["intent"]["id"]}
        assert {met["source_agent_name"], met["target_agent_name"]} == {"stripe", "third"}
        assert met["source_scopes"] == met["target_scopes"] == ["symbol:PaymentService"]
        kinds = {edge["kind"] for edge in (await api.get("/v1/graph"))["edges"]}
        assert kinds >= {"WORKS_ON", "HAS_INTENT", "MAKES_CLAIM", "CLAIMS", "HAS_CONFLICT", "OCCURRENCE_OF"}


async def test_a_changeset_and_the_runs_on_it_are_shown_wherever_they_belong(house: House) -> None:
    doors = await house.doors()
    async with doors.mcp("2026-07-28") as call, doors.api() as api:
        agent, told = await published(call, "a", "Extend it", EXTEND)
        made = _changeset(agent, told["intent"])
        async with transaction(house.engine.found.pool) as connection:
            snapshot = Snapshot(doors.project.id, "0" * 40, "1" * 40, "h", (), (), "d")._asdict()
            stored = StoredChangeSet(made, doors.project.id, None, snapshot)
            await changesets.add(connection, stored)
            for number, counts in ((1, False), (2, True)):
                at = NOW + timedelta(seconds=number)
                await changesets.add_attempt(connection, _attempt(number, made, counts), at)
        assert await call("get_changeset", id=made.id) == await api.get(f"/v1/changesets/{made.id}")
        assert (await call("get_changeset", id=made.id))["decisions"][0]["title"] == "Use a trait"
        attempts = await api.get(f"/v1/changesets/{made.id}/validation-attempts")
        assert [run["authoritative"] for run in attempts] == [True, False]
        assert (await call("status"))["changesets"] == [
            {"status": "PROVISIONAL", "count": 1, "ids": [made.id]}
        ]
        (work,) = await call("query_work")
        assert work["latest_changeset_id"] == work["latest_changeset"]["id"] == made.id
        graph = await api.get("/v1/graph")
        keys = {node["key"] for node in graph["nodes"]}
        assert {made.id, f"{made.id}:0", f"{made.id}:provenance", f"{attempts[0]['id']}:validation"} <= keys
        assert attempts[1]["id"] not in keys
        override = {"allow_unverified": True, "override_reason": "now"}
        said = await call.refused("accept_changeset", changeset_id=made.id, **override)
        assert said.startswith("FORBIDDEN: ")
        async with doors.api(doors.agent) as agents:
            said = await agents.refused(f"/v1/changesets/{made.id}/accept", **override)
            assert said.startswith("403 FORBIDDEN: ")
        assert (await call("get_changeset", id=made.id))["status"] == "PROVISIONAL"
    other = await house.doors()
    async with other.mcp("legacy") as call, other.api() as api:
        assert (await call.refused("get_changeset", id=made.id)).startswith("NOT_FOUND: ")
        assert (await api.http.get(f"/v1/changesets/{made.id}/validation-attempts")).status_code == 404


def _changeset(agent: str, intent: dict[str, Any]) -> ChangeSet:
    return ChangeSet(
        id=new_id("chg"),
        agent_id=agent,
        task_id=intent["task_id"],
        intent_id=intent["id"],
        summary="made",
        decisions=[DecisionInput(title="Use a trait", rationale="Both fit")],
        provenance={"git": {"head": "0" * 40}},
        fingerprint="sha256:0",
        status=ChangeSetStatus.PROVISIONAL,
        created_at=NOW,
        updated_at=NOW,
    )


def _attempt(number: int, made: ChangeSet, counts: bool) -> ValidationAttempt:
    return ValidationAttempt(
        id=new_id("val"),
        changeset_id=made.id,
        command=["make", "test"],
        passed=counts,
        exit_code=0,
        stdout="",
        stderr="",
        duration_ms=number,
        run_at=NOW,
        expected_fingerprint=made.fingerprint,
        observed_fingerprint=made.fingerprint,
        authoritative=counts,
        exclusion_ruleset_digest="d",
    )


async def test_paging_the_ledger_has_no_gaps_and_its_chain_can_be_followed(house: House) -> None:
    doors = await house.doors()
    async with doors.mcp("legacy") as call, doors.api(doors.agent) as api:
        await collision(call)
        whole = await api.get("/v1/events", limit=1000)
        found: list[dict[str, Any]] = []
        while page := await api.get("/v1/events", after_seq=found[-1]["seq"] if found else 0, limit=2):
            found += page
        assert found == whole
        assert [event["seq"] for event in whole] == list(range(1, len(whole) + 1))
        await _follow(house.engine, doors.project.id, whole)
        audit = await api.get("/v1/audit/event-chain", page_size=1)
        assert audit == {
            "valid": True,
            "events_verified": len(whole),
            "last_seq": len(whole),
            "head_hash": whole[-1]["event_hash"],
        }


async def _follow(engine: Engine, project_id: str, whole: list[dict[str, Any]]) -> None:
    async with transaction(engine.found.pool) as connection:
        rows = await connection.fetch(
            "SELECT payload FROM event WHERE project_id = $1 ORDER BY seq", project_id
        )
    before = GENESIS
    for event, row in zip(whole, rows, strict=True):
        named = ("event_id", "event_type", "entity_type", "entity_id", "agent_id", "created_at")
        assert event["prev_hash"] == before
        words: tuple[Any, ...] = tuple(event[name] for name in named)
        before = event_hash(before, *words[:6], row["payload"])
        assert event["event_hash"] == before
        assert json.loads(row["payload"]) == event["payload"]


async def test_an_intent_is_warned_of_what_it_leaves_out_and_is_kept(house: House) -> None:
    doors = await house.doors()
    async with doors.mcp("2026-07-28") as call:
        agent, told = await published(call, "a", "Plan the work")
        (warning,) = told["warnings"]
        assert "no scopes" in warning
        assert (await call("get_intent", id=told["intent"]["id"]))["intent"]["scopes"] == []
        dotted = {"kind": "symbol", "key": "CheckoutController.checkout"}
        _, told = await published(call, "b", "Change it", {**dotted, "operation": "modify"})
        (warning,) = told["warnings"]
        assert "symbol:checkout" in warning and "CheckoutController::checkout" in warning
        first = (await call("query_work", agent_id=agent))[0]["intent"]["id"]
        claimed = await call("claim_work", agent_id=agent, intent_id=first, scopes=[dotted])
        assert claimed["scope_warnings"] == [warning] and claimed["advisory_only"] is True


async def test_a_token_for_two_projects_says_which_one_it_means(house: House) -> None:
    doors = await house.doors((await house.doors()).project.slug)
    async with doors.mcp("legacy") as call:
        said = await call.refused("status")
        assert said.startswith("INVALID_INPUT: ") and "Gitring-Project" in said and doors.project.slug in said
        assert (await call.refused("register_agent", name="a")).startswith("INVALID_INPUT: ")
    for ref in (doors.project.slug, doors.project.id):
        async with doors.mcp("2026-07-28", ref) as call:
            await call("register_agent", name=ref)
            assert ref in {agent["name"] for agent in await call("list_agents")}
    other = await house.doors()
    async with doors.mcp("legacy", other.project.slug) as call:
        assert (await call.refused("status")).startswith("FORBIDDEN: ")


async def test_nothing_of_another_project_is_there(house: House) -> None:
    mine, theirs = await house.doors(), await house.doors()
    async with theirs.mcp("legacy") as call:
        (agent, intent), _, conflict = await collision(call)
    async with mine.mcp("legacy") as call, mine.api(mine.agent) as api:
        assert await call("query_work") == [] == await call("list_agents")
        assert (await call.refused("get_intent", id=intent)).startswith("NOT_FOUND: ")
        assert (await call.refused("check_conflicts", intent_id=intent)).startswith("NOT_FOUND: ")
        publish = {"agent_id": agent, "task": "t", "summary": "s"}
        assert (await call.refused("publish_intent", **publish)).startswith(("NOT_FOUND: ", "FORBIDDEN: "))
        for path in (
            f"agents/{agent}/inbox",
            f"intents/{intent}/assessments",
            f"conflicts/{conflict}/detections",
        ):
            assert (await api.http.get(f"/v1/{path}")).status_code == 404
        assert await api.get("/v1/conflicts") == []


async def test_what_the_command_needs_beyond_the_protocol_is_in_the_api_alone(house: House) -> None:
    doors = await house.doors()
    async with doors.mcp("2026-07-28") as call, doors.api() as api:
        (agent, intent), (other, _), conflict = await collision(call)
        told = await api.post(
            "/v1/intents/infer",
            agent_id=agent,
            task="t",
            summary="Delete the flaky ThumbnailCache benchmark test",
            undeclared=[{"kind": "component", "key": "ThumbnailCache"}],
        )
        assert told["intent"]["scopes"] == [
            {"kind": "component", "key": "ThumbnailCache", "operation": "modify", "inferred": True}
        ]
        message = await call(
            "coordinate_with_agent",
            from_agent_id=agent,
            to_agent_id=other,
            message="You first.",
            conflict_id=conflict,
        )
        assert [found["id"] for found in await api.get(f"/v1/agents/{other}/inbox")] == [message["id"]]
        read = f"/v1/agents/{other}/inbox/read"
        assert [await api.post(read, message_ids=[message["id"]]) for _ in range(2)] == [
            {"read": 1},
            {"read": 0},
        ]
        said = await api.refused(f"/v1/work/{intent}/adopt", agent_id=other, reason="it is silent")
        assert said.startswith("403 FORBIDDEN: ")


async def test_events_are_pushed_to_whoever_listens(house: House) -> None:
    doors = await house.doors()
    async with doors.mcp("2026-07-28") as call, doors.api(doors.agent) as api:
        last = (await api.get("/v1/events", limit=1000))[-1]["seq"]
        async with api.http.stream("GET", f"/v1/events/stream?after_seq={last}") as stream:
            told = asyncio.ensure_future(collision(call))
            seen: list[str] = []
            async with asyncio.timeout(60):
                async for line in stream.aiter_lines():
                    if line.startswith("event: "):
                        seen.append(line.removeprefix("event: "))
                    if line == "event: conflict.detected":
                        break
            await told
    assert seen[-2:] == ["intent.published", "conflict.detected"]


async def listed(api: Api) -> list[str]:
    """The summaries of all work, newest first."""
    return [item["intent"]["summary"] for item in await api.get("/v1/work")]


async def test_both_revisions_and_the_api_write_side_by_side(house: House) -> None:
    doors = await house.doors()
    async with doors.mcp("2026-07-28") as new, doors.mcp("legacy") as old, doors.api(doors.agent) as api:
        calls = [published(call, f"{n}", f"Work {n}", EXTEND) for n, call in enumerate([new, old] * 3)]
        told = [answer for _, answer in await asyncio.gather(*calls)]
        assert sorted(await listed(api)) == [f"Work {n}" for n in range(6)]
        pairs = [
            frozenset((found["source_intent_id"], found["target_intent_id"]))
            for answer in told
            for found in answer["conflicts"]
            if found["kind"] == "shared_contract"
        ]
        assert len(pairs) == len(set(pairs)) == 15
