"""The files of one commit, indexed for the questions that resolving imports asks."""

from collections.abc import Iterable
from posixpath import normpath

from rules.symbols.hints import Hints
from rules.symbols.languages import language_of

# A name that more files than this share is no way to find one of them.
_MOST_NAMESAKES = 50


class Layout:
    """Which files there are, by path, by folder and by name, and what the manifests say."""

    def __init__(self, files: Iterable[str], hints: Hints) -> None:
        self.files = frozenset(files)
        self.hints = hints
        self._by_folder: dict[str, list[str]] = {}
        self._by_name: dict[str, list[str]] = {}
        for path in self.files:
            folder, name = split(path)
            self._by_folder.setdefault(folder, []).append(path)
            self._by_name.setdefault(name, []).append(path)
        self._namespaces = _namespaces(self._by_folder)

    def first(self, *paths: str) -> list[str]:
        """The first of these that is a file, alone in a list; empty when none is."""
        return next(([path] for path in paths if path in self.files), [])

    def in_folder(self, folder: str) -> list[str]:
        """The files directly in `folder` (`src/`; '' is the root)."""
        return self._by_folder.get(folder, [])

    def ending_in(self, tail: str) -> list[str]:
        """The one file whose path is `tail` or ends in `/tail`; empty when none or several do."""
        namesakes = self._by_name.get(split(tail)[1], [])
        if len(namesakes) > _MOST_NAMESAKES:
            return []
        found = [path for path in namesakes if path == tail or path.endswith("/" + tail)]
        return found if len(found) == 1 else []

    def in_namespace(self, name: str) -> list[str]:
        """The C# files of the one folder that is named after a namespace; empty when it is not one."""
        folders = self._namespaces.get(name, [])
        if len(folders) != 1:
            return []
        return [path for path in self.in_folder(folders[0]) if language_of(path) == "csharp"]


def split(path: str) -> tuple[str, str]:
    """The folder with its slash ('' for the root), and the name."""
    folder, slash, name = path.rpartition("/")
    return folder + slash, name


def beside(path: str, relative: str) -> str | None:
    """`relative` seen from the folder of `path`; None when it leads out of the repository."""
    joined = normpath(split(path)[0] + relative)
    return None if joined.startswith(("..", "/")) else "" if joined == "." else joined


def above(path: str) -> list[str]:
    """The folders that hold `path`, nearest first, the root ('') last."""
    found, folder = [], split(path)[0]
    while folder:
        found.append(folder)
        folder = split(folder.rstrip("/"))[0]
    return [*found, ""]


def _namespaces(folders: dict[str, list[str]]) -> dict[str, list[str]]:
    """C# folders under each namespace they may stand for: the dotted tails of their paths."""
    found: dict[str, list[str]] = {}
    for folder, files in folders.items():
        if not any(language_of(path) == "csharp" for path in files):
            continue
        parts = folder.rstrip("/").split("/")[-8:]
        for at in range(len(parts)):
            found.setdefault(".".join(parts[at:]), []).append(folder)
    return found
