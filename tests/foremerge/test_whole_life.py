"""One piece of work from registration to landing through both doors, as agents and operators call them."""

import asyncio
from typing import Any

from tests.foremerge.doors import opened
from tests.foremerge.work import Bench, SlowCheck
from tests.support.engine import Engine, git, write

CART = {"kind": "symbol", "key": "Cart", "operation": "extend"}


async def test_work_goes_from_its_agent_to_the_line_through_both_doors(engine: Engine) -> None:
    async with opened(engine) as house:
        doors = await house.doors()
        bench = await Bench.of(engine, doors.project)
        root = bench.repository.parent / f"{bench.repository.name}-one" / "tree"
        git(bench.repository, "worktree", "add", "-q", "-b", "one", str(root))
        async with doors.mcp("2026-07-28") as call, doors.api() as operator:
            agent = (await call("register_agent", name="one", worktree=str(root)))["id"]
            told = await call(
                "publish_intent", agent_id=agent, task="cart", summary="Extend the cart", scopes=[CART]
            )
            intent = told["intent"]["id"]
            scope = {name: CART[name] for name in ("kind", "key")}
            await call("claim_work", agent_id=agent, intent_id=intent, scopes=[scope])
            await call("start_work", agent_id=agent, intent_id=intent)
            write(root, {"cart.py": "class Cart:\n    pass\n"})
            git(root, "add", "-A")
            git(root, "commit", "-qm", "the cart")
            made = await call("publish_changeset", agent_id=agent, intent_id=intent, summary="The cart")
            assert (made["status"], made["symbols"]) == ("PROVISIONAL", ["Cart"])
            await _checked_while_others_are_served(call, root, made["id"])
            refused = await call.refused("accept_changeset", changeset_id=made["id"], allow_unverified=True)
            assert refused.startswith("FORBIDDEN: ")
            accepted = await operator.post(f"/v1/changesets/{made['id']}/accept")
            assert accepted["acceptance_verification"] == "VERIFIED"
            git(bench.repository, "merge", "-q", "--squash", "one")
            git(bench.repository, "commit", "-qm", "landed")
            landed = await operator.post(f"/v1/changesets/{made['id']}/commit", git_ref="main")
            assert landed["provenance"]["integration"]["method"] == "content"
            (work,) = await operator.get("/v1/work", status="COMMITTED")
            assert work["latest_changeset_id"] == made["id"]
            audit = await operator.get("/v1/audit/event-chain")
            assert audit["valid"] is True


async def _checked_while_others_are_served(call: Any, root: Any, changeset: str) -> None:
    """A check that waits for us: the same client goes on meanwhile."""
    slow = SlowCheck(root)
    async with asyncio.timeout(60):
        running = asyncio.create_task(call("run_verification", changeset_id=changeset, check="slow"))
        await slow.began()
        status = await call("status")
        assert status["changesets"] == [{"status": "PROVISIONAL", "count": 1, "ids": [changeset]}]
        assert not running.done()
        await slow.go_on()
        assert (await running)["passed"] is True
        await slow.ended()
