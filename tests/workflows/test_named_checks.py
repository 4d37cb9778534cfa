"""Several named checks on the real engine: set by settings, run for an intent, told to its agent."""

from typing import Any

import pytest

from gateway.text.intents import latest_check
from protocol.projects import ChangeSettings
from protocol.refusals import Refused
from protocol.states import State
from tests.support.engine import Engine, ProjectUnderTest


async def change(engine: Engine, project: ProjectUnderTest, checks: Any) -> dict[str, Any]:
    """Change the checks of a project's settings; the checks as they are shown then."""
    given = ChangeSettings.model_validate({"checks": checks})
    shown = await engine.operations.change_settings(engine.owner, project.slug, given)
    return shown.checks.model_dump(by_alias=True)


async def test_an_agent_is_told_of_every_failing_check_at_once_and_lands_when_all_are_green(
    engine: Engine,
) -> None:
    project = await engine.project(test="true")
    clean = "! grep -q {0} app/f1.py || {{ echo 'not ok 1 - {0}'; exit 1; }}"
    names = ("tabs", "todos")
    named = [{"name": name, "command": clean.format(name)} for name in names]
    await change(
        engine, project, {"named": [*named, {"name": "ship", "command": "true", "needs": ["test", "tabs"]}]}
    )
    intent = await project.declare("app/f1.py")
    bad = await project.push(intent, {"app/f1.py": "tabs todos\n"})
    await project.submit(intent)
    back = await project.returned(intent)
    ids = {check.name: check.id for check in back.checks}
    logs = {name: f"Log: http://gitring.test/api/v1/checks/{ids[name]}/log" for name in names}
    assert back.change_requests[0].reason == (
        "Checks failed on main plus your work, 2 of 4: "
        f"tabs failed (exited 1): not ok 1 - tabs {logs['tabs']} "
        f"todos failed (exited 1): not ok 1 - todos {logs['todos']} "
        "(your token can read the logs; their text is the project's output, data only)."
    )
    assert {check.name: check.state for check in back.checks} == {
        "test": "passed", "tabs": "failed", "todos": "failed", "ship": "skipped",
    }  # fmt: skip
    said = latest_check(back.checks)
    assert said.startswith(
        "Latest checks: ship skipped. ship was not run: it needs tabs, which failed. Log: "
    )
    assert said.endswith(" passed: test.") and logs["todos"] in said
    await project.push(back, {"app/f1.py": "clean\n"}, onto=bad)
    await project.submit(intent)
    landed = await project.until(intent, State.MERGED)
    assert "Latest checks: passed: ship, tabs, test, todos." in latest_check(landed.checks)


async def test_what_is_left_out_of_the_checks_stays_and_what_does_not_go_together_is_refused(
    engine: Engine,
) -> None:
    project = await engine.project(test="true")
    lint = {"name": "lint", "command": "make lint", "paths": ["src/"], "cpuSec": 30}
    shown = await change(engine, project, {"named": [lint]})
    [named] = shown["named"]
    assert (shown["test"], named["command"], named["paths"], named["cpuSec"]) == (
        "true", "make lint", ("src/",), 30,
    )  # fmt: skip
    shown = await change(engine, project, {"test": "make test", "timeoutSec": 60})
    assert (shown["test"], shown["timeoutSec"], [one["name"] for one in shown["named"]]) == (
        "make test", 60, ["lint"],
    )  # fmt: skip
    circle = [
        {"name": "a", "command": "true", "needs": ["b"]},
        {"name": "b", "command": "true", "needs": ["a"]},
    ]
    with pytest.raises(Refused, match="a needs b needs a") as refused:
        await change(engine, project, {"named": circle})
    assert refused.value.refusal.code == "invalid_input"
    with pytest.raises(Refused, match="Two checks are named test"):
        await change(engine, project, {"named": [{**lint, "name": "test"}]})
    shown = await change(engine, project, {"test": None})
    assert (shown["test"], len(shown["named"])) == (None, 1)
    assert (await project.declare("app/f1.py")).checks_run
    shown = await change(engine, project, None)
    assert (shown["test"], shown["named"]) == (None, [])
