"""Finds folders in a tree that a git of some system would take for a repository: bare ones, and other names of `.git`.

Git looks for a repository in every folder it is run in. One that is checked out with the code can name programs in
its config, which git then runs for whoever works there.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

_LINK, _SUBMODULE = "120000", "160000"
_DOT_GIT = (".git", "git~1")
_FOLDERS = frozenset(("objects", "refs"))
_FILES = frozenset(("head", "config", "commondir"))
# Code points that the file system of older Macs leaves out when it compares names.
_IGNORED = dict.fromkeys([*range(0x200C, 0x2010), *range(0x202A, 0x202F), *range(0x206A, 0x2070), 0xFEFF])
# Anywhere at all: git takes several sections on one line, and a comment is no reason to look away.
_CORE = re.compile(rb"\[\s*core[\s\]]", re.IGNORECASE)


class TreeFile(NamedTuple):
    """One file, symlink or submodule of a commit: its path, git's octal mode, its blob."""

    path: str
    mode: str
    id: str


class Planted(NamedTuple):
    """What a tree holds: a path named like git's own folder, a folder shaped like a bare repository ("" is the top),
    and (folder, blob) of each config beside a HEAD, which has yet to be read."""

    dot_git: str | None
    bare: str | None
    configs: list[tuple[str, str]]


def has_core(config: bytes) -> bool:
    """Whether a git config has a [core] section."""
    return _CORE.search(config) is not None


def plain_name(name: str) -> str:
    """The name as the most forgetful file system sees it: no case, no ignorable characters, no dots or blanks at its
    end, no stream after a colon."""
    kept = name if name.isascii() else name.translate(_IGNORED)
    return kept.partition(":")[0].rstrip(" .").casefold()


def planted_in(files: Iterable[TreeFile]) -> Planted:
    """Look at every path of a tree once."""
    look = _Look()
    for file in files:
        refused = look.at(file)
        if refused is not None:
            return Planted(refused, None, [])
    return look.result()


class _Folder:
    """What a folder holds of a repository's parts. Its own path is the start of a path below it."""

    def __init__(self, below: str, length: int) -> None:
        self._below, self._length = below, length
        self.parts: set[str] = set()
        self.configs: list[str] = []

    @property
    def path(self) -> str:
        return self._below[: self._length]


class _Look:
    """Folders by number, so that a deep path costs no more than its length."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[int, str], int] = {}
        self._folders: dict[int, _Folder] = {}

    def at(self, file: TreeFile) -> str | None:
        """Take in one file; its path up to a component that may be read as `.git`, if there is one."""
        number, begins = 0, 0
        # A backslash parts folders on some systems.
        *above, leaf = file.path.replace("\\", "/").split("/")
        for name in above:
            plain = plain_name(name)
            if plain in _DOT_GIT:
                return file.path[: begins + len(name)]
            if plain in _FOLDERS:
                self._folder(number, file, begins).parts.add(plain)
            number = self._numbers.setdefault((number, plain), len(self._numbers) + 1)
            begins += len(name) + 1
        plain = plain_name(leaf)
        if plain in _DOT_GIT:
            return file.path
        if plain in _FOLDERS or plain in _FILES:
            self._take(self._folder(number, file, begins), plain, file)
        return None

    def _folder(self, number: int, file: TreeFile, begins: int) -> _Folder:
        found = self._folders.get(number)
        if found is None:
            found = self._folders[number] = _Folder(file.path, max(0, begins - 1))
        return found

    def _take(self, folder: _Folder, plain: str, file: TreeFile) -> None:
        if plain in _FOLDERS:
            # Git asks only whether they can be entered: a symlink, a submodule or a program will do.
            folder.parts.add(plain)
        elif file.mode == _SUBMODULE:
            return
        elif plain == "config" and file.mode != _LINK:
            folder.configs.append(file.id)
        else:
            # A symlinked config is whatever it points to; a commondir lends objects and refs from elsewhere.
            folder.parts.add(plain)

    def result(self) -> Planted:
        heads = [folder for folder in self._folders.values() if "head" in folder.parts]
        for folder in heads:
            if folder.parts >= _FOLDERS or folder.parts & {"config", "commondir"}:
                return Planted(None, folder.path, [])
        return Planted(None, None, [(folder.path, blob) for folder in heads for blob in folder.configs])
