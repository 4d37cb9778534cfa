"""Setting up: projects, their settings, tokens."""

from pathlib import Path

from tests.cli.command import Gitring


def test_a_created_project_is_listed_with_its_line_and_its_test(gitring: Gitring, project: str) -> None:
    assert project in gitring("projects", "list")
    found = next(each for each in gitring.json("projects", "list")["projects"] if each["slug"] == project)
    assert found["defaultLine"] == "main"
    assert found["checks"]["test"] == "grep -q total src/cart.py"


def test_a_project_of_the_same_name_is_refused_with_the_next_step(gitring: Gitring, project: str) -> None:
    assert gitring.refused("projects", "create", project) == (
        f"exists: A project named {project} exists already. Choose another slug.\n"
    )


def test_a_source_that_is_no_repository_is_refused(gitring: Gitring, tmp_path: Path) -> None:
    said = gitring.refused("projects", "create", "never", "--from", str(tmp_path))
    assert said.startswith("invalid_input: ")


def test_settings_are_changed_one_by_one(gitring: Gitring, project: str) -> None:
    changed = gitring.json("projects", "settings", project, "--merge-approval", "always")
    assert (changed["mergeApproval"], changed["planReview"]) == ("always", "high")
    changed = gitring.json("projects", "settings", project, "--timeout", "30")
    assert (changed["checks"]["test"], changed["checks"]["timeoutSec"]) == ("grep -q total src/cart.py", 30)
    changed = gitring.json("projects", "settings", project, "--network", "--environment", "HOME")
    assert (changed["checks"]["timeoutSec"], changed["checks"]["network"]) == (30, True)
    assert gitring.json("projects", "settings", project, "--no-test")["checks"]["test"] is None
    assert "test      none" in gitring("projects", "settings", project)


def test_named_checks_come_from_a_file_and_stand_beside_the_test(gitring: Gitring, tmp_path: Path) -> None:
    file = tmp_path / "checks.json"
    file.write_text('[{"name": "lint", "command": "make lint", "paths": ["src/"], "retries": 1}]')
    gitring("projects", "create", "with-checks", "--test", "true", "--checks", str(file))
    changed = gitring("projects", "settings", "with-checks", "--test", "make test")
    assert "test      make test" in changed
    assert "check     lint: make lint (at most 900 s; reads src/; up to 2 tries)" in changed
    file.write_text('{"named": [{"name": "lint", "command": "x", "needs": ["unit"]}]}')
    said = gitring.refused("projects", "settings", "with-checks", "--checks", str(file))
    assert said.startswith("invalid_input: lint needs unit, and there is no check of that name.")
    file.write_text("[]")
    left = gitring.json("projects", "settings", "with-checks", "--checks", str(file), "--no-test")["checks"]
    assert (left["test"], left["named"]) == (None, [])
    file.write_text("lint")
    assert "is not JSON" in gitring.refused(
        "projects", "settings", "with-checks", "--checks", str(file), code=2
    )


def test_an_owner_who_lost_the_first_link_makes_another(gitring: Gitring) -> None:
    link, said = gitring("sign-in-link").splitlines()
    assert "/sign-in#gitring_signin_" in link
    assert said.endswith("it works once and is not shown again.")


def test_a_time_limit_without_a_test_is_wrong_usage(gitring: Gitring) -> None:
    said = gitring.refused("projects", "create", "never", "--timeout", "3", code=2)
    assert "--test" in said


def test_a_token_is_shown_once_and_opens_its_project_only(
    gitring: Gitring, agent: Gitring, project: str
) -> None:
    assert [each["slug"] for each in agent.json("projects", "list")["projects"]] == [project]
    assert agent.token and agent.token not in gitring("tokens", "list")


def test_a_revoked_token_opens_nothing(gitring: Gitring, project: str) -> None:
    made = gitring.json("tokens", "create", "--project", project, "--name", "short-lived")
    assert "short-lived" in gitring("tokens", "list")
    assert gitring("tokens", "revoke", made["id"]) == f"short-lived ({made['id']}) is revoked.\n"
    gone = Gitring(gitring.connection, token=made["token"])
    assert gone.refused("projects", "list").startswith("unauthenticated: ")


def test_an_agent_may_not_make_tokens(agent: Gitring, project: str) -> None:
    assert agent.refused("tokens", "create", "--project", project).startswith("people_only: ")


def test_a_name_that_is_no_slug_is_refused_by_the_server(gitring: Gitring) -> None:
    assert gitring.refused("projects", "create", "Not a slug").startswith("invalid_input: ")


def test_a_line_is_made_paused_with_its_reason_and_resumed(gitring: Gitring, project: str) -> None:
    gitring("lines", "create", "release/1", "--from", "main", "--project", project)
    assert "stand still" in gitring(
        "lines", "pause", "release/1", "--reason", "stand still", "--project", project
    )
    listed = gitring.json("lines", "list", "--project", project)["lines"]
    assert {line["name"]: line["paused"] for line in listed} == {"main": None, "release/1": "stand still"}
    assert "stand still" not in gitring("lines", "resume", "release/1", "--project", project)
    assert gitring.refused("lines", "resume", "no", "--project", project).startswith("unknown_line: ")
