"""The data folder: closed to others, but for the way to the checks where root runs them as other users."""

import os
import stat
from pathlib import Path

from runtime.folder import DataFolder


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_new_folder_can_be_listed_by_nobody_else(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path / "data")
    folder.lock()
    try:
        passable = 0o711 if os.geteuid() == 0 else 0o700
        assert (
            mode(folder.path)
            == mode(folder.path / "repositories")
            == mode(folder.path / "checks")
            == passable
        )
        assert mode(folder.path / "caches") == mode(folder.path / "hooks") == 0o700
        assert mode(folder.path / "lock") == 0o600
    finally:
        folder.unlock()


def test_a_folder_that_an_operator_made_keeps_its_mode(tmp_path: Path) -> None:
    made = tmp_path / "data"
    made.mkdir(mode=0o750)
    folder = DataFolder(made)
    folder.lock()
    folder.unlock()
    assert mode(made) == 0o750
