"""The Foremerge command against the session's stack: tie a repository, publish, look, export."""

import json
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import git
from tests.cli.foremerge import Foremerge, repository
from tests.support.stack import RunningStack

_NUMBERS = count(1)


@pytest.fixture
def fm(stack: RunningStack, tmp_path: Path) -> Foremerge:
    """The command in a repository of this test's own, tied to a project; nothing else names the server."""
    folder = repository(tmp_path / f"shop{next(_NUMBERS)}")
    named = {"FOREMERGE_DB": str(stack.folder / "connection.json")}
    Foremerge(folder, named)("init")
    return Foremerge(folder)


def publish(fm: Foremerge, agent: str, summary: str, *scopes: str) -> Any:
    """A published intent."""
    given = [word for scope in scopes for word in ("--scope", scope)]
    return fm("intent", "publish", "--agent", agent, "--task", "payments", "--summary", summary, *given)


def register(fm: Foremerge, name: str) -> str:
    """An agent's id."""
    return str(fm("agent", "register", "--name", name)["id"])


def test_init_touches_no_tracked_file_and_done_again_it_keeps_project_and_token(
    stack: RunningStack, fm: Foremerge
) -> None:
    token = fm.folder / ".git" / "foremerge" / "token"
    before = token.read_text()
    assert (token.stat().st_mode & 0o777, token.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    again = fm("init")
    assert again["project"]["slug"] == fm.folder.name
    assert again["database"] == stack.connection["url"]
    assert again["git_common_dir"] == str(fm.folder / ".git")
    assert token.read_text() == before
    token.write_text("gitring_agent_gone\n")
    assert fm.refused("status").startswith("UNAUTHORIZED: ")
    fm("init")
    assert fm("status")["agents"] == []
    reused = fm("daemon")
    assert (reused["started"], reused["project"]) == (False, again["project"])
    assert git(fm.folder, "status", "--porcelain") == ""


def test_another_repository_of_the_same_name_gets_a_project_of_its_own(
    stack: RunningStack, fm: Foremerge, tmp_path: Path
) -> None:
    twin = repository(tmp_path / "elsewhere" / fm.folder.name)
    (twin / "own.txt").write_text("own\n")
    git(twin, "add", "--all")
    git(twin, "commit", "--quiet", "--amend", "--message=Other")
    other = Foremerge(twin, {"FOREMERGE_DB": str(stack.folder / "connection.json")})
    assert other("init")["project"]["slug"].startswith(f"{fm.folder.name}-")
    clone = tmp_path / "clone" / fm.folder.name
    git(tmp_path, "clone", "--quiet", str(fm.folder), str(clone))
    cloned = other.at(clone)
    assert cloned("init")["project"]["slug"].startswith(f"{fm.folder.name}-")
    assert cloned.refused("init", "--project", fm.folder.name).startswith("ALREADY_EXISTS: ")
    agent = register(fm, "here")
    fm("worktree", "create", "--branch", "side", "--path", str(tmp_path / "side"))
    assert [one["id"] for one in fm.at(tmp_path / "side")("agent", "list")] == [agent]
    said = fm.refused("agent", "register", "--name", "lost", "--worktree", str(twin))
    assert said.startswith("INVALID_INPUT: ") and "repository" in said


def test_an_operation_that_is_left_out_is_read_from_the_summary_and_asserts_nothing(fm: Foremerge) -> None:
    first = register(fm, "first")
    told = publish(fm, first, "Delete the flaky ThumbnailCache benchmark test", "component:ThumbnailCache")
    (scope,) = told["intent"]["scopes"]
    assert (scope["operation"], scope["inferred"]) == ("modify", True)
    second = register(fm, "second")
    told = publish(fm, second, "Replace the thumbnails", "component:ThumbnailCache=Replace")
    assert [one["severity"] for one in told["conflicts"]] == ["MEDIUM"]
    guess = ("--intent", "Remove ThumbnailCache", "--scope", "component:ThumbnailCache")
    report = fm("conflicts", "check", *guess)
    assert report["ephemeral"] and not report["blocking"] and len(report["conflicts"]) == 2
    sure = fm("conflicts", "check", *guess[:3], "component:ThumbnailCache=remove")
    assert sure["blocking"]
    own = told["intent"]["id"]
    assert fm("conflicts", "check", "--intent-id", own)["ephemeral"] is False
    assert fm.refused("conflicts", "check", "--intent", own).startswith("INVALID_INPUT: ")


@pytest.mark.parametrize("scope", ["nope:x", "symbol:", "symbol", "symbol: =replace"])
def test_what_is_no_scope_is_refused_before_anything_is_sent(tmp_path: Path, scope: str) -> None:
    # No server is named anywhere: the refusal comes first.
    fm = Foremerge(repository(tmp_path / "shop"))
    said = fm.refused("intent", "publish", "--agent", "a", "--task", "t", "--summary", "s", "--scope", scope)
    assert said.startswith("INVALID_INPUT: ")


def test_scopes_fold_or_contradict_and_claims_take_no_operation(fm: Foremerge) -> None:
    agent = register(fm, "a")
    once = publish(fm, agent, "Add it", "symbol:Cart::add=add", "symbol:cart::ADD=add")
    assert len(once["intent"]["scopes"]) == 1
    two = ("--scope", "symbol:Cart=add", "--scope", "symbol:Cart=remove")
    said = fm.refused("intent", "publish", "--agent", agent, "--task", "t", "--summary", "s", *two)
    assert said.startswith("INVALID_INPUT: ")
    claim = ("work", "claim", "--agent", agent, "--intent", once["intent"]["id"], "--scope")
    assert "symbol:Cart::add" in fm.refused(*claim, "symbol:Cart::add=add")
    assert fm(*claim, "config:FEATURE=on", "--lease-seconds", "5")["advisory_only"] is True


def test_claims_are_given_back_by_name_or_all_at_once(fm: Foremerge) -> None:
    agent = register(fm, "a")
    intent = publish(fm, agent, "Add it", "symbol:Cart::add=add")["intent"]["id"]
    scopes = ("--scope", "symbol:Cart::add", "--scope", "file:a.py", "--scope", "file:b.py")
    fm("work", "claim", "--agent", agent, "--intent", intent, *scopes)
    back = ("work", "release", intent, "--agent", agent)
    assert [one["scope"]["key"] for one in fm(*back, "file:a.py")["released"]] == ["a.py"]
    assert len(fm("status")["claims"]) == 2
    assert len(fm(*back)["released"]) == 2 and fm("status")["claims"] == []
    assert fm(*back) == {"released": [], "held": []}
    assert fm.refused(*back, "file:c.py").startswith("NOT_FOUND: ")
    assert fm.refused("changeset", "accept", "chg_1", "--as-person").startswith("NOT_FOUND: ")


def test_status_is_one_aligned_screen_and_the_same_report_in_json(fm: Foremerge) -> None:
    assert fm.text("work", "query") == "No results.\n"
    stripe, paypal = register(fm, "stripe"), register(fm, "paypal\u202e")
    first = publish(fm, stripe, "Replace PaymentService", "symbol:PaymentService=replace")["intent"]["id"]
    publish(fm, paypal, "Add PayPal support to PaymentService", "symbol:PaymentService=extend")
    fm("work", "claim", "--agent", stripe, "--intent", first, "--scope", "symbol:PaymentService")
    report = fm("status")
    lines = fm.text("status").splitlines()
    assert lines[0] == f"As of event {report['as_of_event']}"
    agents = lines[lines.index("Agents") + 1 :][:2]
    assert len({line.index("agt_") for line in agents}) == 1
    assert "Intents INTENT (1)" in lines and "Intents CLAIMED (1)" in lines
    (at,) = [
        number for number, line in enumerate(lines) if line.startswith("  HIGH  destructive_vs_additive")
    ]
    parties = "".join(lines[at + 1 : at + 3])
    assert "stripe" in parties and "paypal" in parties and "\u202e" not in "".join(lines)
    assert lines[-1] == "ChangeSets: none"


def test_an_export_of_the_ledger_is_verified_without_the_server_and_against_it(
    fm: Foremerge, tmp_path: Path
) -> None:
    publish(fm, register(fm, "a"), "Räume auf", "config:retry=add")
    register(fm, "b")
    made = fm("ledger", "export", "--output", "ledger.jsonl")
    path = fm.folder / "ledger.jsonl"
    assert fm.refused("ledger", "export", "--output", "ledger.jsonl").startswith("ALREADY_EXISTS: ")
    verdict = fm("ledger", "verify", "ledger.jsonl", "--against-server")
    assert verdict == {
        "valid": True,
        "events_verified": made["events"],
        "last_seq": made["last_seq"],
        "head_hash": made["head_hash"],
        "server": "same",
    }
    assert fm("events", "audit")["head_hash"] == made["head_hash"]
    assert fm.text("ledger", "export").splitlines()[1:] == path.read_text().splitlines()[1:]
    watched = fm.text("work", "watch", "--once").splitlines()
    assert [json.loads(line)["seq"] for line in watched] == list(range(1, made["events"] + 1))
    lines = path.read_text().splitlines()
    published = next(number for number, line in enumerate(lines) if "intent.published" in line)
    spoilt = {
        f"line {published + 1}: event_hash": [
            *lines[:published],
            lines[published].replace("Räume", "Raeume"),
            *lines[published + 1 :],
        ],
        f"line {published + 1}: event {published} is missing": lines[:published] + lines[published + 1 :],
        f"line {len(lines)}: the end is missing": lines[:-1],
        f"line {len(lines) - 1}: it tells": [*lines[:-2], lines[-1]],
        "line 1: it is not the first": lines[1:],
    }
    for reason, changed in spoilt.items():
        path.write_text("\n".join(changed) + "\n")
        done = fm.run("ledger", "verify", "ledger.jsonl")
        assert done.code == 1
        assert json.loads(done.out)["reason"].startswith(reason)


def test_only_an_operator_sets_checks_exclusions_and_policy(fm: Foremerge) -> None:
    registry = fm(
        "checks", "set", "unit", "--timeout-seconds", "60", "--", "grep", "-q", "two words", "a b.txt"
    )
    check = {"command": ["grep", "-q", "two words", "a b.txt"], "timeout_seconds": 60}
    assert registry["registry"]["checks"] == {"unit": check}
    assert fm("checks", "policy")["acceptance_policy"] == "strict"
    assert fm("checks", "policy", "advisory")["acceptance_policy"] == "advisory"
    assert fm("checks", "verify-symbols")["verify_symbol_scopes"] is False
    assert fm("checks", "verify-symbols", "true")["verify_symbol_scopes"] is True
    assert fm("checks", "person")["person_accepts"] == []
    assert fm("checks", "person", "rename", "remove")["person_accepts"] == ["remove", "rename"]
    assert fm("checks", "person", "--none")["person_accepts"] == []
    rules = fm("validation-exclusions", "set", "--path", "build/", "--path", "a.log")
    assert rules["ruleset"]["paths"] == ["a.log", "build/"] and rules["mcp_mutation_allowed"] is False
    assert fm("validation-exclusions", "show") == rules
    assert fm.refused("validation-exclusions", "set", "--path", "../x").startswith("INVALID_INPUT: ")
    assert fm("checks", "list")["registry"]["acceptance_policy"] == "advisory"
    assert fm.refused("checks", "remove", "other").startswith("NOT_FOUND: ")
    assert fm("checks", "remove", "unit")["registry"]["checks"] == {}
    token = (fm.folder / ".git" / "foremerge" / "token").read_text().strip()
    link = json.loads((fm.folder / ".git" / "foremerge" / "link.json").read_text())
    agent = Foremerge(fm.folder, {"FOREMERGE_DB": link["url"], "GITRING_TOKEN": token})
    assert agent.refused("checks", "policy", "strict").startswith("FORBIDDEN: ")
    assert agent.refused("init").startswith("FORBIDDEN: ")


def test_the_api_can_be_called_by_hand_but_only_as_it_is(fm: Foremerge) -> None:
    agent = register(fm, "a")
    assert [one["id"] for one in fm("request", "get", "/v1/agents")] == [agent]
    body = json.dumps({"name": "b"})
    assert fm("request", "post", "/v1/agents/register", "--body", body)["name"] == "b"
    assert "404: NOT_FOUND" in fm.refused("request", "get", "/v1/nothing")
    for path in ("v1/agents", "/v1/../x"):
        assert fm.refused("request", "get", path).startswith("INVALID_INPUT: ")
    assert fm.refused("request", "get", "/v1/agents", "--url", "http://example.com").startswith(
        "INVALID_INPUT: "
    )


def test_an_inbox_is_read_and_says_so(fm: Foremerge) -> None:
    here, there = register(fm, "here"), register(fm, "there")
    fm("coordinate", "send", "--from", here, "--to", there, "--message", "You first.")
    assert [one["status"] for one in fm("coordinate", "inbox", there)] == ["UNREAD"]
    assert [one["status"] for one in fm("coordinate", "inbox", "--agent", there, "--mark-read")] == ["READ"]
    assert fm.refused("coordinate", "inbox", there, "--agent", here).startswith("INVALID_INPUT: ")


def test_a_repository_that_is_tied_to_nothing_is_told_what_to_do(tmp_path: Path) -> None:
    fm = Foremerge(repository(tmp_path / "shop"))
    assert fm.refused("status").startswith("NOT_INITIALIZED: ")
    assert fm.refused("init").startswith("NOT_READY: ")
    assert fm.at(tmp_path).refused("status").startswith("NOT_A_REPOSITORY: ")
    away = Foremerge(fm.folder, {"FOREMERGE_DB": "http://127.0.0.1:9", "GITRING_TOKEN": "gitring_agent_x"})
    assert away.refused("agent", "list").startswith("NOT_READY: ")
    assert away.refused("daemon", "--bind", "0.0.0.0:1").startswith("REFUSED_BIND: ")
    assert not (fm.folder / ".git" / "foremerge").exists()
    usage = fm.run("status", "--nonsense")
    assert (usage.code, usage.out) == (2, "")
    people = fm.run("status")
    assert (people.code, people.out) == (1, "") and people.err.startswith("error: NOT_INITIALIZED: ")


def test_clients_are_tied_in_and_what_somebody_edited_is_kept(tmp_path: Path) -> None:
    fm = Foremerge(repository(tmp_path / "shop"))
    settings = fm.folder / ".mcp.json"
    settings.write_text('{"other": 1, "mcpServers": {"mine": {"command": "x"}}}')
    (told,) = fm("setup", "claude")["clients"]
    assert told["skill"]["change"] == told["mcp"]["change"] == "written"
    content = json.loads(settings.read_text())
    assert list(content) == ["other", "mcpServers"] and list(content["mcpServers"]) == ["mine", "foremerge"]
    assert content["mcpServers"]["foremerge"]["args"] == ["--cwd", str(fm.folder), "mcp"]
    (told,) = fm("setup", "claude")["clients"]
    assert told["skill"]["change"] == told["mcp"]["change"] == "none"
    done = fm.run("--json", "doctor", "--client", "claude")
    report = json.loads(done.out)["data"]
    assert done.code == 1 and report["database_error"]["code"] == "NOT_INITIALIZED"
    assert report["clients"][0]["ready"] is True
    skill = fm.folder / ".claude" / "skills" / "foremerge" / "SKILL.md"
    skill.write_text(skill.read_text().replace("lease", "lock"))
    assert fm.refused("setup", "claude").startswith("ALREADY_EXISTS: ")
    assert "lock" in skill.read_text()
    fm("setup", "claude", "--force")
    assert "lock" not in skill.read_text()
    content["mcpServers"]["foremerge"]["args"] = []
    settings.write_text(json.dumps(content))
    assert fm.refused("setup", "claude").startswith("ALREADY_EXISTS: ")
    settings.write_text("{")
    assert fm.refused("setup", "claude").startswith("INVALID_INPUT: ")
