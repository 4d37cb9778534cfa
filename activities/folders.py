"""Where a host keeps its repositories and its checks' scratch."""

from pathlib import Path

from storage.git.repository import Repository


class Folders:
    """The data folder of one host."""

    def __init__(self, data_dir: Path) -> None:
        self._data_dir = data_dir

    @property
    def data_dir(self) -> Path:
        """The folder itself."""
        return self._data_dir

    def repository_path(self, project_id: str) -> Path:
        """The bare repository of a project."""
        return self._data_dir / "repositories" / f"{project_id}.git"

    def repository(self, project_id: str) -> Repository:
        """The repository itself."""
        return Repository(self.repository_path(project_id))

    def scratch(self, check_id: str) -> Path:
        """A folder for one check run, made and removed by it."""
        return self._data_dir / "checks" / check_id

    def caches(self) -> Path:
        """Where checks keep folders from one run for the next."""
        return self._data_dir / "caches"
