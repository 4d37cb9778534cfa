"""One call: whole once begun, and never waited for for ever."""

import asyncio
import logging
from typing import Any

import pytest

from gateway.calls import Calls, Stop
from gateway.limits import Limits
from gateway.metrics import Metrics
from protocol.refusals import Refused
from protocol.tools import BY_NAME
from storage.sql.pool import OutcomeUnknown, RecordBusy
from tests.gateway import samples
from tests.gateway.edge import Scripted

SUBMIT = BY_NAME["gitring_submit"]
STATUS = BY_NAME["gitring_status"]
GIVEN = SUBMIT.input.model_validate({"intentId": samples.INTENT, "requestId": "r"})
READ = STATUS.input.model_validate({"intentId": samples.INTENT})


def calls_of(operations: Scripted, limits: Limits | None = None) -> Calls:
    return Calls(operations, Stop(asyncio.Event()), limits or Limits(), Metrics())


class Slow:
    """A write that begins, and ends when it is let."""

    def __init__(self, problem: Exception | None = None) -> None:
        self.begun = asyncio.Event()
        self.go_on = asyncio.Event()
        self.problem = problem

    async def __call__(self, _: Any) -> Any:
        self.begun.set()
        await self.go_on.wait()
        if self.problem:
            raise self.problem
        return samples.detail()


async def abandoned(calls: Calls, slow: Slow) -> None:
    """Begin a write and leave."""
    caller = asyncio.create_task(calls.run(SUBMIT, samples.AGENT, GIVEN))
    await slow.begun.wait()
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller


async def test_draining_waits_for_a_write_whose_caller_left() -> None:
    operations, slow = Scripted(), Slow()
    operations.script["submit"] = slow
    calls = calls_of(operations)
    await abandoned(calls, slow)
    draining = asyncio.create_task(calls.drain())
    done, _ = await asyncio.wait({draining}, timeout=0.01)
    assert not done
    slow.go_on.set()
    async with asyncio.timeout(40):
        await draining


async def test_draining_is_bounded() -> None:
    operations, slow = Scripted(), Slow()
    operations.script["submit"] = slow
    calls = calls_of(operations, Limits(drain_sec=0.01))
    await abandoned(calls, slow)
    async with asyncio.timeout(40):
        await calls.drain()
    slow.go_on.set()


async def test_a_write_that_breaks_after_its_caller_left_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    operations, slow = Scripted(), Slow(ZeroDivisionError("broken"))
    operations.script["submit"] = slow
    calls = calls_of(operations)
    await abandoned(calls, slow)
    slow.go_on.set()
    with caplog.at_level(logging.ERROR, "gateway"):
        await calls.drain()
        await asyncio.sleep(0)
    [record] = [record for record in caplog.records if record.name == "gateway.errors"]
    assert record.exc_info and isinstance(record.exc_info[1], ZeroDivisionError)


@pytest.mark.parametrize("problem", [TimeoutError(), OutcomeUnknown("lost in COMMIT")])
async def test_a_write_that_may_have_been_saved_is_outcome_unknown(problem: Exception) -> None:
    operations, slow = Scripted(), Slow(problem)
    slow.go_on.set()
    operations.script["submit"] = slow
    with pytest.raises(Refused) as caught:
        await calls_of(operations).run(SUBMIT, samples.AGENT, GIVEN)
    assert caught.value.refusal.code == "outcome_unknown"


async def test_a_wait_that_overruns_its_own_seconds_is_busy() -> None:
    operations, slow = Scripted(), Slow()
    operations.script["wait"] = slow
    wait = BY_NAME["gitring_wait"]
    given = wait.input.model_validate({"intentId": samples.INTENT, "afterSeq": 1, "seconds": 0})
    with pytest.raises(Refused) as caught:
        await calls_of(operations, Limits(wait_grace_sec=0.01)).run(wait, samples.AGENT, given)
    assert caught.value.refusal.code == "busy"


async def test_each_call_is_counted_by_its_outcome() -> None:
    operations = Scripted()
    metrics = Metrics()
    calls = Calls(operations, Stop(asyncio.Event()), Limits(), metrics)

    async def busy_record(_: Any) -> Any:
        raise RecordBusy("locked")

    await calls.run(STATUS, samples.AGENT, READ)
    operations.script["status"] = busy_record
    with pytest.raises(Refused):
        await calls.run(STATUS, samples.AGENT, READ)
    counted = {
        outcome: metrics.registry.get_sample_value(
            "gitring_tool_calls_total", {"tool": "gitring_status", "outcome": outcome}
        )
        for outcome in ("ok", "busy")
    }
    assert counted == {"ok": 1.0, "busy": 1.0}
