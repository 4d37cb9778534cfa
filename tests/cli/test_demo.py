"""`gitring demo`: the whole story as a program, and how it ends when it cannot go on."""

import os
import signal
import subprocess
from pathlib import Path

import pytest

from cli.demo_repository import CHECK, PACKAGES, make_repository
from tests.cli.command import git, program
from tests.support.running import started_on
from tests.support.stack import COMMAND


@pytest.mark.timeout(180)
def test_two_agents_meet_in_one_file_and_both_land(tmp_path: Path) -> None:
    done = program("demo", TMPDIR=str(tmp_path))
    assert done.code == 0, done
    story = done.out
    for step in (
        '"Write sizes in binary units" in src/rich/filesize.py is active',
        '"Keep the sign of a negative size" in src/rich/filesize.py is held',
        "git push is refused: Intent #2 is held until #1 merges",
        "intents        2 declared, 2 merged",
        "main           2 merges by the queue",
        "hash chain     whole",
    ):
        assert step in story
        story = story.partition(step)[2]
    (events,) = [line.split() for line in done.out.splitlines() if line.startswith("  events ")]
    assert events[1] == events[5], "NATS brought every event of the ledger"
    assert "\x1b" not in done.out, "plain lines where there is no terminal"
    assert list(tmp_path.iterdir()) == []
    assert started_on(tmp_path) == []


def test_a_step_that_fails_is_named_and_nothing_is_left(tmp_path: Path) -> None:
    tools = tmp_path / "bin"
    tools.mkdir()
    (tools / "sh").symlink_to("/bin/sh")
    done = program("demo", TMPDIR=str(tmp_path), PATH=str(tools))
    assert done.code == 1
    assert "FAILED while: making a repository" in done.out
    assert "git is not installed" in done.out
    assert list(tmp_path.iterdir()) == [tools]
    assert started_on(tmp_path) == []


def test_an_interrupted_demo_leaves_nothing(tmp_path: Path) -> None:
    plain = {name: value for name, value in os.environ.items() if not name.startswith("GITRING_")}
    with subprocess.Popen(
        [COMMAND, "demo"], env={**plain, "TMPDIR": str(tmp_path)}, stdout=subprocess.PIPE, text=True
    ) as demo:
        assert demo.stdout
        for line in demo.stdout:
            if "starting Postgres" in line:
                demo.send_signal(signal.SIGINT)
                break
        demo.stdout.read()
        assert demo.wait(timeout=75) == 130
    assert list(tmp_path.iterdir()) == []
    assert started_on(tmp_path) == []


def test_the_repository_holds_hundreds_of_real_files_and_its_check_passes(tmp_path: Path) -> None:
    made = make_repository(tmp_path / "made")
    assert made.files > 250
    for package in PACKAGES:
        assert (made.path / "src" / package / "__init__.py").exists()
        assert list((made.path / "licenses" / package).iterdir())
    assert git(made.path, "rev-parse", "main").strip() == made.head
    assert git(made.path, "status", "--porcelain") == ""
    subprocess.run(["/bin/sh", "-c", CHECK], cwd=made.path, check=True, capture_output=True)
