"""Where this machine keeps the repositories that git asks the gateway for."""

from pathlib import Path


class Repositories:
    """The bare repositories below one data folder."""

    def __init__(self, data_dir: Path) -> None:
        self._folder = data_dir / "repositories"

    def path(self, project_id: str) -> Path:
        """The repository of a project."""
        return self._folder / f"{project_id}.git"

    def loose_ref(self, project_id: str, intent_id: str) -> str | None:
        """Where an intent's ref stands, from its file alone; None when it is packed, absent, or elsewhere."""
        ref = self.path(project_id) / "refs" / "intents" / intent_id
        try:
            # Forty bytes: a thread would cost more than the read.
            return ref.read_text(encoding="ascii").strip()
        except (OSError, UnicodeDecodeError):
            return None
