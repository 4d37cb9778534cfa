"""Bring many histories into a bare repository with one git process."""

from collections.abc import Iterable, Iterator

from storage.git.repository import Repository
from tests.storage.git.histories.model import MODULE, WHO, File, History, Tree, object_id

_REF = b"refs/histories/last"


async def bring_in(repo: Repository, histories: Iterable[History]) -> None:
    """Store every commit, its files and trees. No ref of use is made: what is stored is found by its id."""
    stream = b"".join(_stream(histories))
    await repo.git("fast-import", "--quiet", "--force", "--depth=0", stdin=stream)


def _stream(histories: Iterable[History]) -> Iterator[bytes]:
    known: set[bytes] = set()
    first = 1  # git numbers marks from one
    for history in histories:
        for place, commit in enumerate(history.commits):
            before = history.commits[commit.parents[0]].tree if commit.parents else {}
            yield from _blobs(commit.tree, known)
            if not commit.parents:
                yield b"reset %s\n\n" % _REF
            who = f"committer {WHO} {history.seed} +0000\n".encode()
            message = b"Commit %d\n" % place
            yield b"commit %s\nmark :%d\n%sdata %d\n%s" % (_REF, first + place, who, len(message), message)
            for verb, parent in zip((b"from", b"merge"), commit.parents, strict=False):
                yield b"%s :%d\n" % (verb, first + parent)
            yield from _changes(before, commit.tree)
        first += len(history.commits)
    yield b"done\n"


def _blobs(tree: Tree, known: set[bytes]) -> Iterator[bytes]:
    for file in tree.values():
        oid = object_id(file)
        if file.mode != MODULE and oid not in known:
            known.add(oid)
            yield b"blob\ndata %d\n%s\n" % (len(file.data), file.data)


def _changes(before: Tree, after: Tree) -> Iterator[bytes]:
    for path in before:
        if path not in after:
            yield b"D %s\n" % _quoted(path)
    for path, file in after.items():
        if before.get(path) != file:
            yield _set(path, file)


def _set(path: bytes, file: File) -> bytes:
    return b"M %s %s %s\n" % (file.mode, object_id(file).hex().encode(), _quoted(path))


def _quoted(path: bytes) -> bytes:
    return b'"%s"' % b"".join(b"\\%03o" % byte for byte in path)
