"""git's credential helper: its own server's repositories only, and nothing kept."""

import subprocess
import sys
from datetime import UTC, datetime
from urllib.parse import urlsplit

from tests.cli.command import Gitring, program
from tests.support.stack import RunningStack


def asked(url: str, path: str | None) -> str:
    """What git writes to its helper."""
    parts = urlsplit(url)
    lines = [f"protocol={parts.scheme}", f"host={parts.netloc}"] + ([f"path={path}"] if path else [])
    return "\n".join(lines) + "\n\n"


def variables(stack: RunningStack, agent: Gitring) -> dict[str, str]:
    """An agent's environment."""
    return {"GITRING_URL": stack.connection["url"], "GITRING_TOKEN": agent.token or ""}


def test_get_answers_with_a_git_token_and_its_end(stack: RunningStack, agent: Gitring, project: str) -> None:
    url = stack.connection["url"]
    done = program("git-credential", "get", given=asked(url, f"git/{project}.git"), **variables(stack, agent))
    answer = dict(line.split("=", 1) for line in done.out.splitlines())
    assert (done.code, answer["username"]) == (0, "gitring")
    assert answer["password"].startswith("gitring_git_")
    assert int(answer["password_expiry_utc"]) > datetime.now(UTC).timestamp()


def test_another_server_is_met_with_silence(stack: RunningStack, agent: Gitring) -> None:
    for url, path in (("https://example.com", "git/x.git"), (stack.connection["url"], "other/x.git")):
        done = program("git-credential", "get", given=asked(url, path), **variables(stack, agent))
        assert (done.code, done.out, done.err) == (0, "", "")


def test_a_repository_that_git_does_not_name_is_explained(stack: RunningStack, agent: Gitring) -> None:
    done = program(
        "git-credential", "get", given=asked(stack.connection["url"], None), **variables(stack, agent)
    )
    assert (done.code, done.out) == (1, "quit=1\n")
    assert "useHttpPath true" in done.err


def test_a_refusal_stops_git_with_the_servers_words(stack: RunningStack, agent: Gitring) -> None:
    url = stack.connection["url"]
    done = program("git-credential", "get", given=asked(url, "git/absent.git"), **variables(stack, agent))
    assert (done.code, done.out) == (1, "quit=1\n")
    assert "project_not_in_token: This token cannot use project absent." in done.err


def test_store_and_erase_do_nothing() -> None:
    for action in ("store", "erase"):
        done = program("git-credential", action, given=asked("http://x", "git/a.git"))
        assert (done.code, done.out, done.err) == (0, "", "")


def test_the_helper_loads_none_of_the_slow_libraries() -> None:
    code = (
        "import sys; sys.argv = ['gitring', 'git-credential', 'store']\n"
        "from cli.main import main\n"
        "try: main()\n"
        "except SystemExit: print(*sorted({'typer', 'rich', 'pydantic', 'httpx2', 'protocol'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], input="", capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout == "\n"
