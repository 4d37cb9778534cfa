"""The record by the command: events, live events, audit."""

import json
import os
import signal
import subprocess

from tests.cli.command import Gitring
from tests.support.stack import COMMAND


def test_events_are_listed_oldest_first_and_after_a_seq(agent: Gitring, project: str) -> None:
    agent("declare", "--title", "Listed", "--change", "src/cart.py")
    events = [json.loads(line) for line in agent("events", project, "--json").splitlines()]
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    assert events[0]["event_type"] == "project.created"
    rest = agent("events", project, "--after", str(events[-1]["seq"] - 1)).splitlines()
    assert len(rest) == 1
    assert events[-1]["event_type"] in rest[0]


def test_followed_events_arrive_as_they_happen(agent: Gitring, project: str) -> None:
    command = [str(COMMAND), "events", project, "--follow", "--json", "--connection", str(agent.connection)]
    plain = {name: value for name, value in os.environ.items() if not name.startswith("GITRING_")}
    with subprocess.Popen(command, env=plain, stdout=subprocess.PIPE, text=True) as following:
        said = following.stdout
        assert said
        assert json.loads(said.readline())["event_type"] == "project.created"
        agent("declare", "--title", "Live", "--change", "src/cart.py")
        kinds = iter(lambda: json.loads(said.readline())["event_type"], "intent.declared")
        assert "intent.withdrawn" not in list(kinds)
        following.send_signal(signal.SIGINT)
        assert following.wait(timeout=30) == 130


def test_an_audit_says_how_many_events_hold(gitring: Gitring, project: str) -> None:
    verdict = gitring.json("audit", project)
    assert verdict["valid"]
    assert gitring("audit", project).startswith(
        f"{verdict['eventsVerified']} events verified, the chain is whole."
    )


def test_a_project_that_is_not_there_is_refused(gitring: Gitring) -> None:
    for command in (
        ("events", "absent"),
        ("events", "absent", "--follow"),
        ("audit", "absent"),
        ("board", "absent"),
    ):
        assert gitring.refused(*command).startswith("not_found: There is no project absent")
