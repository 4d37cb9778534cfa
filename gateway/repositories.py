"""Where this machine keeps the repositories that git asks the gateway for."""

from pathlib import Path


class Repositories:
    """The bare repositories below one data folder."""

    def __init__(self, data_dir: Path) -> None:
        self._folder = data_dir / "repositories"

    def path(self, project_id: str) -> Path:
        """The repository of a project."""
        return self._folder / f"{project_id}.git"
