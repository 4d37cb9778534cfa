"""`gitring clone`: the narrow clone of an intent, its steps run as the server lists them and without a shell."""

import os
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from cli.clean import one_line
from cli.references import intent_id
from cli.served import served
from cli.session import Failed, Session
from cli.shown import Shown

# The words of the protocol's steps. The server says where and what, never with which powers of git.
_STEPS = ("clone", "sparse-checkout", "fetch", "checkout")
_FLAGS = frozenset(
    {"-C", "--", "--filter=blob:none", "--no-checkout", "--sparse", "--cone", "--no-cone", "--detach"}
)


@served
def clone(
    session: Session,
    intent: Annotated[str, typer.Option(help="PROJECT#N, or the intent's id (int_…).")],
    folder: Annotated[Path | None, typer.Argument(metavar="[DIR]", help="intent-N by default.")] = None,
    project: Annotated[str | None, typer.Option(help="The project, when the number stands alone.")] = None,
) -> Shown:
    """Clone only the folders an intent reaches, file contents when they are needed."""
    found = intent_id(session, intent, project)
    where = session.get(f"/intents/{found}")["intent"]["projectId"]
    answer = session.post(f"/projects/{where}/git-token", {"intentId": found, "withToken": True})
    steps, made = steps_of(answer, folder)
    if made.exists() and (not made.is_dir() or any(made.iterdir())):
        raise Failed(f"{made} is there already and not empty. Name another folder.")
    environment = token_environment(session.url, answer["token"], os.environ)
    for step in steps:
        _run(step, environment)
    _use_helper(session.url, made)
    narrow = answer["sparse"]
    folders = ", ".join(one_line(each, 200) for each in narrow["folders"]) or "no folder"
    return Shown(
        {"folder": str(made.absolute()), "commit": narrow["commit"], "folders": narrow["folders"]},
        [
            f"{made} holds {narrow['commit'][:12]}: {folders}, and the files at the root.",
            "Later fetches ask `gitring git-credential` for access: keep the server's address and your token at hand.",
        ],
    )


def steps_of(answer: dict[str, Any], folder: Path | None) -> tuple[list[list[str]], Path]:
    """The git steps of a narrow clone, into `folder` when it is given; and the folder they make.

    Refuses steps that are not the protocol's own.
    """
    steps: list[list[str]] = answer["sparse"]["args"]
    for step in steps:
        flags = {word for word in step if word.startswith("-")}
        if step[0] != "git" or not flags <= _FLAGS or not any(word in _STEPS for word in step[1:4]):
            raise Failed(
                f"The server asks for a git step this gitring does not know: {one_line(shlex.join(step))}"
            )
    place = steps[0][-1]
    if not answer["remote"].startswith(("http://", "https://")) or answer["remote"] not in steps[0]:
        raise Failed("The server's clone does not come from its own repository. Update gitring.")
    made = folder or Path(place)
    return [[str(made) if word == place else word for word in step] for step in steps], made


def token_environment(url: str, token: str, environment: Mapping[str, str]) -> dict[str, str]:
    """`environment` with a git token for `url` in it and every prompt of git off."""
    return {
        **environment,
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ASKPASS": "",
        "GCM_INTERACTIVE": "never",
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": f"http.{url}/.extraHeader",
        "GIT_CONFIG_VALUE_0": f"Authorization: Bearer {token}",
    }


def _run(step: Sequence[str], environment: Mapping[str, str]) -> None:
    quiet = ["git", "-c", "core.askPass=", "-c", "credential.interactive=false", *step[1:]]
    try:
        done = subprocess.run(
            quiet, env=environment, stdin=subprocess.DEVNULL, capture_output=True, check=False
        )
    except FileNotFoundError:
        raise Failed("git is not installed, or not on PATH. Install git 2.38 or newer.") from None
    if done.returncode:
        said = one_line(done.stderr.decode(errors="replace").strip(), 1000)
        raise Failed(f"`{shlex.join(step)}` ended with {done.returncode}: {said}")


def _use_helper(url: str, made: Path) -> None:
    """Let the clone's later fetches ask for a token of their own: none is written down."""
    helper = f"!{shlex.quote(str(Path(sys.argv[0]).absolute()))} git-credential"
    for name, value in (("helper", helper), ("useHttpPath", "true")):
        _run(["git", "-C", str(made), "config", f"credential.{url}.{name}", value], os.environ)
