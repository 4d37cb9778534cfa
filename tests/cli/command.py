"""The `gitring` command as tests run it: in this process where that is enough, as a program where it is not."""

import json
import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from cli.app import app
from tests.support.stack import COMMAND

WHO = {
    "GIT_AUTHOR_NAME": "Agent",
    "GIT_AUTHOR_EMAIL": "agent@example.com",
    "GIT_COMMITTER_NAME": "Agent",
    "GIT_COMMITTER_EMAIL": "agent@example.com",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
}


@dataclass(frozen=True)
class Done:
    """A command that ended."""

    code: int
    out: str
    err: str


@dataclass(frozen=True)
class Gitring:
    """The command against one server, by its connection file or as an agent with a token."""

    connection: Path
    token: str | None = None
    environment: Mapping[str, str] = field(default_factory=dict)

    def run(self, *arguments: str) -> Done:
        """Run it in this process."""
        options = ["--connection", str(self.connection)] + (["--token", self.token] if self.token else [])
        unset = {name: None for name in os.environ if name.startswith("GITRING_")}
        result = CliRunner().invoke(app, [*arguments, *options], env={**unset, **self.environment})
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        return Done(result.exit_code, result.stdout, result.stderr)

    def __call__(self, *arguments: str) -> str:
        """What it prints; it must succeed."""
        done = self.run(*arguments)
        assert done.code == 0, (arguments, done)
        return done.out

    def json(self, *arguments: str) -> Any:
        """The JSON it prints."""
        return json.loads(self(*arguments, "--json"))

    def refused(self, *arguments: str, code: int = 1) -> str:
        """What it says on standard error; it must end with `code` and print nothing else."""
        done = self.run(*arguments)
        assert (done.code, done.out) == (code, ""), (arguments, done)
        return done.err


def program(*arguments: str, given: str = "", **environment: str) -> Done:
    """Run the installed program; `environment` is all it knows of a server."""
    plain = {name: value for name, value in os.environ.items() if not name.startswith("GITRING_")}
    done = subprocess.run(
        [COMMAND, *arguments],
        env={**plain, **WHO, **environment},
        input=given,
        capture_output=True,
        text=True,
        timeout=75,
        check=False,
    )
    return Done(done.returncode, done.stdout, done.stderr)


def git(at: Path, *arguments: str, **environment: str) -> str:
    """Run git; it must succeed. Its output."""
    done = subprocess.run(
        ["git", *arguments],
        cwd=at,
        env={**os.environ, **WHO, "GIT_TERMINAL_PROMPT": "0", **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, (arguments, done)
    return done.stdout
