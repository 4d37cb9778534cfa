"""The files that a check names are kept after a run: by its patterns, within bounds, and none from outside its checkout."""

import os
from pathlib import Path

import pytest

from activities.runner import artifacts
from activities.runner.artifacts import Collected, collect, named_files
from activities.runner.check import run_check
from protocol.checks import CheckDefinition
from tests.activities.runner.conftest import BARE, Log

FAILING = "<testsuite><testcase name='{name}'><failure message='no'/></testcase></testsuite>"


def write(checkout: Path, **files: str) -> None:
    """Files of the checkout, `__` in place of the slash and `_` of the dot."""
    for name, text in files.items():
        path = checkout / name.replace("__", "/").replace("_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def test_patterns_name_files_folders_and_globs_each_file_once(checkout: Path) -> None:
    write(checkout, out__a_xml="1", out__deep__b_xml="2", out__c_txt="3", other_xml="4", one_log="5")
    assert list(named_files(checkout, ["one.log", "out/**/*.xml", "out/", "absent"])) == [
        "one.log",
        "out/a.xml",
        "out/deep/b.xml",
        "out/c.txt",
    ]
    assert list(named_files(checkout, ["*.xml"])) == ["other.xml"]
    assert list(named_files(checkout, ["out"])) == []


def test_nothing_is_taken_through_a_link_or_from_what_is_no_file(checkout: Path, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.xml").write_text("secret")
    (checkout / "linked").symlink_to(tmp_path / "outside")
    (checkout / "secret.xml").symlink_to(tmp_path / "outside" / "secret.xml")
    (checkout / "loop").symlink_to(checkout)
    os.mkfifo(checkout / "pipe.xml")
    (checkout / "fine.xml").write_text("fine")
    found = collect(checkout, ["secret.xml", "linked/secret.xml", "linked/", "**/*.xml", "linked/*.xml"])
    assert found == Collected([("fine.xml", b"fine")], 0)


def test_what_is_too_much_is_left_out_and_counted(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(artifacts, "MAX_FILES", 2)
    monkeypatch.setattr(artifacts, "MAX_FILE_BYTES", 10)
    write(checkout, a_txt="x" * 11, b_txt="x" * 10, c_txt="", d_txt="late")
    assert collect(checkout, ["*.txt"]) == Collected([("b.txt", b"x" * 10), ("c.txt", b"")], 2)


async def test_a_report_among_the_artifacts_names_the_first_failing_test(checkout: Path, log: Log) -> None:
    write(checkout, old__mine_xml=FAILING.format(name="of the repository"))
    command = f'mkdir new; echo "{FAILING.format(name="fails")}" >new/mine.xml; exit 1'
    os.utime(checkout / "old" / "mine.xml", (1, 1))
    for patterns, test in ((("**/mine.xml",), "fails"), ((), None)):
        definition = CheckDefinition(command=f"rm -rf new; {command}", artifacts=patterns)
        result = await run_check(definition, checkout, log.path, isolation=BARE, scratch=checkout.parent)
        assert (result.failure.test if result.failure else None) == test
