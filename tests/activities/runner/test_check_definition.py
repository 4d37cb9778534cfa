"""What a check is, on the wire and in the memory of results."""

import pytest
from pydantic import ValidationError

from activities.check_host import environment_digest
from protocol.checks import RUNNER_VERSION, CheckDefinition, CheckState, RunResult, TestFailure


def test_a_definition_is_camel_case_on_the_wire_and_read_either_way() -> None:
    definition = CheckDefinition.model_validate({"command": "make test", "timeoutSec": 60})
    assert definition == CheckDefinition(command="make test", timeout_sec=60)
    assert definition.model_dump(mode="json", by_alias=True) == {
        "name": "test",
        "command": "make test",
        "timeoutSec": 60,
        "environment": [],
        "network": False,
        "paths": [],
        "needs": [],
        "slots": 1,
        "cache": [],
        "artifacts": [],
        "retries": 0,
        "cpuSec": None,
        "memoryMb": None,
    }


@pytest.mark.parametrize(
    "change", [{"name": "lint"}, {"command": "make  test"}, {"timeout_sec": 61}, {"environment": ("A",)}]
)
def test_whatever_changes_a_definition_changes_its_digest(change: dict[str, object]) -> None:
    definition = CheckDefinition(command="make test", timeout_sec=60)
    assert definition.digest() == CheckDefinition(command="make test", timeout_sec=60).digest()
    assert definition.model_copy(update=change).digest() != definition.digest()


def test_a_new_version_of_the_runner_forgets_old_results(monkeypatch: pytest.MonkeyPatch) -> None:
    definition = CheckDefinition(command="make test")
    before = environment_digest(definition, "")
    monkeypatch.setattr("activities.check_host.RUNNER_VERSION", RUNNER_VERSION + 1)
    assert environment_digest(definition, "") != before


@pytest.mark.parametrize(
    "wrong",
    [
        {"command": ""},
        {"command": " \n"},
        {"command": "a\x00b"},
        {"command": "a" * 10_001},
        {"timeout_sec": 0},
        {"timeout_sec": 86_401},
        {"name": "a\nb"},
        {"name": ""},
        {"environment": ["A=B"]},
        {"environment": ["A\n"]},
    ],
)
def test_a_definition_that_could_not_be_run_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        CheckDefinition.model_validate({"command": "make test", **wrong})


def test_a_result_survives_the_wire() -> None:
    result = RunResult(
        state=CheckState.FAILED,
        exit_code=1,
        summary="tests failed (exited 1)",
        failure=TestFailure(test="not ok 1 - greets", expected="1", actual="2"),
        last_lines=("a", "b"),
    )
    wire = result.model_dump_json(by_alias=True)
    assert '"exitCode":1' in wire and '"lastLines":["a","b"]' in wire
    assert RunResult.model_validate_json(wire) == result
