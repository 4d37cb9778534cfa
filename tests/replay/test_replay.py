"""Histories that earlier versions left behind replay on the workflows of today."""

import json
from pathlib import Path

import pytest
from temporalio.client import WorkflowHistory
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.worker import Replayer

from runtime.worker_process import WORKFLOWS, sandbox

HISTORIES = sorted(Path(__file__).with_name("histories").glob("*.json"))


def replayer() -> Replayer:
    """The worker's own workflows, converter and sandbox."""
    return Replayer(workflows=WORKFLOWS, data_converter=pydantic_data_converter, workflow_runner=sandbox())


def history(path: Path) -> WorkflowHistory:
    """One kept history."""
    return WorkflowHistory.from_json(path.stem, path.read_text())


def test_histories_of_every_kind_of_workflow_are_kept() -> None:
    assert {path.name.split("-")[0] for path in HISTORIES} == {"intent", "line", "setup"}


@pytest.mark.parametrize("path", HISTORIES, ids=lambda path: path.stem)
async def test_a_kept_history_replays_without_a_difference(path: Path) -> None:
    await replayer().replay_workflow(history(path))


async def test_a_history_with_another_order_of_steps_is_told_apart() -> None:
    path = next(path for path in HISTORIES if path.stem == "line-red-then-green.v2")
    events = json.loads(history(path).to_json())
    steps = [e for e in events["events"] if e.get("activityTaskScheduledEventAttributes")]
    names = [e["activityTaskScheduledEventAttributes"]["activityType"]["name"] for e in steps]
    assert names[:2] == ["build_candidate", "run_checks"]
    steps[0]["activityTaskScheduledEventAttributes"]["activityType"]["name"] = "run_checks"
    steps[1]["activityTaskScheduledEventAttributes"]["activityType"]["name"] = "build_candidate"
    with pytest.raises(Exception, match=r"[Nn]ondeterminis"):
        await replayer().replay_workflow(WorkflowHistory.from_json("line-mixed-up", json.dumps(events)))
