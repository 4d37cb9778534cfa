"""A project's bare repository: made or imported here, then read and moved through the parts it is built of."""

import shutil
import time
from pathlib import Path
from typing import Self

from protocol.ids import CommitId
from storage.git.commits import Signature, first_commit
from storage.git.content import Content
from storage.git.creation import complete_or_absent, lay_out
from storage.git.history import History
from storage.git.importing import import_repository
from storage.git.names import line_ref
from storage.git.refs import Refs
from storage.git.sources import PUBLIC, ImportRules

_TIDY_TIMEOUT = 1_800.0
_STALE = 86_400.0


class Repository(Refs, History, Content):
    """One bare repository. Refs in `refs`, ancestry in `history`, files and diffs in `content`."""

    @classmethod
    async def create(cls, path: Path, default_line: str) -> Self:
        """An empty repository whose HEAD names `default_line`. Raises RepositoryExists, BadName."""
        async with complete_or_absent(path) as draft:
            await lay_out(draft, default_line)
        return cls(path)

    @classmethod
    async def import_from(
        cls, path: Path, source: str, default_line: str | None = None, rules: ImportRules = PUBLIC
    ) -> Self:
        """A repository with the branches and tags of `source` (a folder or URL); HEAD names its default line.

        Raises SourceRefused, NotARepository, EmptySource, NoSuchLine, RepositoryExists, BadName.
        """
        if default_line is not None:
            line_ref(default_line)
        await import_repository(path, source, default_line, rules)
        return cls(path)

    async def default_line(self) -> str:
        """The line that HEAD names, born or not."""
        answer = await self.git("symbolic-ref", "--short", "HEAD")
        return answer.stdout.decode().strip()

    async def begin_line(self, line: str, message: str, author: Signature) -> CommitId:
        """Give a line without commits a first, empty one; the same arguments give the same commit. Raises StaleRef."""
        commit = await first_commit(self, message, author)
        await self.create_ref(line_ref(line), commit)
        return commit

    async def tidy(self) -> None:
        """Pack refs and objects so that reads stay fast after many pushes; safe beside pushes.

        No object is pruned. Quarantines that killed pushes left more than a day ago are removed.
        """
        _remove_stale_quarantines(self.path / "objects")
        await self.git("pack-refs", "--all")
        await self.git("repack", "-d", "-q", "--geometric=2", timeout=_TIDY_TIMEOUT)


def _remove_stale_quarantines(objects: Path) -> None:
    for folder in objects.glob("tmp_objdir-*"):
        if time.time() - folder.stat().st_mtime > _STALE:
            shutil.rmtree(folder, ignore_errors=True)
