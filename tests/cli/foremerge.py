"""The `foremerge` command as tests run it: in this process where that is enough, as a program where it is not."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from cli.foremerge.app import app
from cli.foremerge.main import hoisted
from tests.cli.command import Done, git

PROGRAM = Path(sys.executable).with_name("foremerge")


@dataclass(frozen=True)
class Foremerge:
    """The command in a folder; `environment` is all it knows of a server."""

    folder: Path
    environment: Mapping[str, str] = field(default_factory=dict)

    def run(self, *arguments: str) -> Done:
        """Run it in this process."""
        unset = {name: None for name in os.environ if name.startswith(("GITRING_", "FOREMERGE_"))}
        home = {"GITRING_DATA_DIR": str(self.folder / "nowhere")}
        result = CliRunner().invoke(
            app, hoisted(["--cwd", str(self.folder), *arguments]), env={**unset, **home, **self.environment}
        )
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        return Done(result.exit_code, result.stdout, result.stderr)

    def __call__(self, *arguments: str) -> Any:
        """The data of a command that must succeed, from its envelope."""
        done = self.run("--json", *arguments)
        assert (done.code, done.err) == (0, ""), (arguments, done)
        (line,) = done.out.splitlines()
        answer = json.loads(line)
        assert set(answer) == {"ok", "data"} and answer["ok"] is True
        return answer["data"]

    def text(self, *arguments: str) -> str:
        """What people see of a command that must succeed."""
        done = self.run(*arguments)
        assert (done.code, done.err) == (0, ""), (arguments, done)
        return done.out

    def refused(self, *arguments: str) -> str:
        """`CODE: message` of a command that must fail, the same in both forms."""
        done = self.run("--json", *arguments)
        assert (done.code, done.err) == (1, ""), (arguments, done)
        error = json.loads(done.out)["error"]
        return f"{error['code']}: {error['message']}"

    def at(self, folder: Path) -> "Foremerge":
        """The same somewhere else."""
        return Foremerge(folder, self.environment)


def program(folder: Path, *arguments: str, given: str = "", **environment: str) -> Done:
    """Run the installed program in `folder`."""
    plain = {
        name: value for name, value in os.environ.items() if not name.startswith(("GITRING_", "FOREMERGE_"))
    }
    done = subprocess.run(
        [PROGRAM, *arguments],
        cwd=folder,
        env={**plain, "GITRING_DATA_DIR": str(folder / "nowhere"), **environment},
        input=given,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return Done(done.returncode, done.stdout, done.stderr)


def repository(folder: Path) -> Path:
    """A repository with one commit on main."""
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "payments.py").write_text(
        "class PaymentService:\n    def pay(self, sum):\n        return sum\n"
    )
    git(folder, "init", "--quiet", "--initial-branch=main")
    for name, value in (("user.name", "Dev"), ("user.email", "dev@example.com")):
        git(folder, "config", name, value)
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message=First")
    return folder
