"""The steps of a clone come from the server; only the protocol's own are run."""

from pathlib import Path
from typing import Any

import pytest

from cli.clone import steps_of, token_environment
from cli.session import Failed

REMOTE = "http://gitring.example.com/git/prj_1.git"


def answer(*steps: list[str]) -> dict[str, Any]:
    """An answer of `git-token` with these steps after the first."""
    first = ["git", "clone", "--filter=blob:none", "--no-checkout", "--sparse", "--", REMOTE, "intent-7"]
    return {"remote": REMOTE, "sparse": {"args": [first, *steps]}}


def test_the_folder_given_takes_the_place_of_the_servers() -> None:
    given = answer(["git", "-C", "intent-7", "checkout", "--detach", "c0ffee"])
    assert steps_of(given, None)[1] == Path("intent-7")
    steps, made = steps_of(given, Path("here"))
    assert made == Path("here")
    assert steps[1] == ["git", "-C", "here", "checkout", "--detach", "c0ffee"]


@pytest.mark.parametrize(
    "step",
    [
        ["git", "-C", "intent-7", "-c", "core.sshCommand=touch /tmp/x", "fetch"],
        ["git", "-C", "intent-7", "fetch", "--upload-pack=touch /tmp/x", "origin"],
        ["git", "-C", "intent-7", "config", "core.fsmonitor", "touch /tmp/x"],
        ["sh", "-c", "checkout"],
    ],
)
def test_a_step_with_other_powers_is_refused(step: list[str]) -> None:
    with pytest.raises(Failed, match="does not know"):
        steps_of(answer(step), None)


def test_a_clone_from_elsewhere_is_refused() -> None:
    given = answer() | {"remote": "ext::sh -c touch% /tmp/x"}
    with pytest.raises(Failed, match="own repository"):
        steps_of(given, None)


def test_the_token_is_in_gits_environment_for_its_server_only() -> None:
    found = token_environment("http://gitring.example.com", "secret", {"PATH": "/bin"})
    assert found["GIT_CONFIG_KEY_0"] == "http.http://gitring.example.com/.extraHeader"
    assert found["GIT_CONFIG_VALUE_0"] == "Authorization: Bearer secret"
    assert found["PATH"] == "/bin"
