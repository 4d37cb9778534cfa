"""Intents by the command alone: from declare to merged, and what a person decides."""

import shlex
from pathlib import Path

import httpx2
import pytest

from tests.cli.command import Gitring, git, program
from tests.support.stack import RunningStack


@pytest.fixture
def helped(gitring: Gitring, project: str) -> dict[str, str]:
    """The environment of an agent whose git asks the command for access, as `tokens create` prints it."""
    said = gitring("tokens", "create", "--project", project, "--name", "helped", "--credential-helper")
    exports = [line.removeprefix("export ") for line in said.splitlines() if line.startswith("export ")]
    words = [word.partition("=") for line in exports for word in shlex.split(line)]
    return {name: value for name, _, value in words}


def test_work_is_declared_cloned_pushed_approved_and_merged_by_the_command_alone(
    gitring: Gitring, agent: Gitring, project: str, helped: dict[str, str], tmp_path: Path
) -> None:
    gitring("projects", "settings", project, "--merge-approval", "always")
    said = agent("declare", "--title", "Count the cart", "--change", "src/cart.py", "--step", "Count")
    assert f'{project}#1 "Count the cart" is active' in said

    cloned = program("clone", "--intent", f"{project}#1", str(tmp_path / "work"), **helped)
    assert cloned.code == 0, cloned
    work = tmp_path / "work"
    assert (work / "src" / "cart.py").exists()
    assert not (work / "docs").exists(), "the clone is narrow"

    (work / "src" / "cart.py").write_text("total = 1\n")
    git(work, "commit", "--quiet", "--all", "--message=Count")
    ref = f"refs/intents/{agent.json('status', '1')['intent']['id']}"
    git(work, "push", "--quiet", "origin", f"HEAD:{ref}", **helped)

    assert "is verifying" in agent("submit", "1")
    assert "is awaiting approval" in agent("wait", "1", "--until", "awaiting approval")
    assert agent.refused("approve", "1").startswith("people_only: ")
    gitring("approve", f"{project}#1", "--note", "Good.")
    assert "merged" in agent("wait", "1", "--until", "merged")
    check = agent.json("status", "1")["checks"][-1]["id"]
    assert agent.run("log", check).code == 0
    assert agent.json("log", check)["state"] == "passed"


def test_an_owner_lands_an_intent_before_all_others_and_an_agent_does_not(
    gitring: Gitring, agent: Gitring, project: str
) -> None:
    agent("declare", "--title", "Now", "--change", "src/cart.py")
    assert agent.refused("land-now", "1", "--reason", "Down").startswith("people_only: ")
    said = gitring.refused("land-now", f"{project}#1", "--reason", "Customers cannot pay")
    assert said.startswith("nothing_pushed: ")


def test_waiting_for_a_state_that_can_no_longer_come_ends_with_1(agent: Gitring) -> None:
    agent("declare", "--title", "Leave", "--change", "src/cart.py")
    assert "is withdrawn" in agent("withdraw", "1", "--reason", "Another way.")
    assert agent.refused("wait", "1", "--until", "merged") == "1 is withdrawn, so it will never be merged.\n"


def test_a_wait_ends_empty_after_its_seconds(agent: Gitring) -> None:
    agent("declare", "--title", "Quiet", "--change", "src/cart.py")
    answer = agent.json("wait", "1", "--seconds", "0")
    assert (answer["events"], answer["intent"]["state"]) == ([], "active")


def test_the_board_shows_who_waits_for_whom(agent: Gitring, project: str) -> None:
    agent("declare", "--title", "First", "--change", "src/cart.py")
    said = agent("declare", "--title", "Second", "--change", "src/cart.py")
    assert "is held" in said
    assert "meets    #1 and #2" in said
    rows = [line.split() for line in agent("board", project).splitlines()]
    assert rows[1][:3] == ["#1", "active", "First"]
    assert rows[2][:5] == ["#2", "held", "Second", "robot", "#1"]


def test_a_plan_sent_back_is_changed_in_part_and_approved(
    gitring: Gitring, agent: Gitring, project: str
) -> None:
    gitring("projects", "settings", project, "--plan-review", "always")
    said = agent("declare", "--title", "Careful", "--change", "src/cart.py", "--use", "docs/")
    assert "is plan review" in said
    gitring("send-back", f"{project}#1", "--note", "Say more.")
    assert "Say more." in agent("status", "1")
    agent("plan", "1", "--summary", "Much more.", "--step", "Think", "--reason", "Asked for.")
    shown = agent("plan", "1")
    assert shown.splitlines() == [
        f"{project}#1 plan v2",
        "  Much more.",
        "  1. Think",
        "  changes src/cart.py",
        "  uses docs/",
    ]
    assert "is active" in gitring("approve", f"{project}#1", "--plan")


def test_the_same_request_id_declares_once(agent: Gitring) -> None:
    call = ("declare", "--title", "Once", "--change", "src/cart.py", "--request-id", "the-same")
    assert agent.json(*call)["intent"]["id"] == agent.json(*call)["intent"]["id"]


def test_an_intent_is_found_by_number_by_slug_and_number_and_by_id(agent: Gitring, project: str) -> None:
    made = agent.json("declare", "--title", "Found", "--change", "src/cart.py")["intent"]["id"]
    for name in ("1", "#1", f"{project}#1", made):
        assert agent.json("status", name)["intent"]["id"] == made
    assert agent.refused("status", "7").startswith(f"not_found: There is no intent #7 in {project}")
    assert "names no intent" in agent.refused("status", "one", code=2)


def test_a_bare_number_among_several_projects_is_wrong_usage(gitring: Gitring, project: str) -> None:
    gitring("projects", "create", f"{project}-more")
    said = gitring.refused("status", "1", code=2)
    assert said.startswith("Say which project with --project: ")
    assert f"{project}-more" in said


def test_other_peoples_text_loses_its_control_characters(
    agent: Gitring, project: str, stack: RunningStack
) -> None:
    plan = {"summary": "a\x1b[2Jb\u202ec", "scope": {"change": [{"path": "src/cart.py"}]}}
    answer = httpx2.post(
        f"{stack.connection['url']}/api/v1/intents",
        json={"title": "red \x1b[31malert\x07", "goal": "g", "plan": plan},
        headers={"Authorization": f"Bearer {agent.token}"},
        trust_env=False,
    )
    assert answer.status_code == 201, answer.text
    printed = agent("status", "1") + agent("plan", "1") + agent("board", project) + agent("events", project)
    assert "alert" in printed
    assert all(char.isprintable() or char == "\n" for char in printed)


def test_a_clone_into_a_folder_that_holds_something_is_refused(
    agent: Gitring, project: str, tmp_path: Path
) -> None:
    agent("declare", "--title", "Clone", "--change", "src/cart.py")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine").write_text("keep")
    assert "not empty" in agent.refused("clone", "--intent", "1", str(tmp_path / "full"))
    assert (tmp_path / "full" / "mine").read_text() == "keep"
