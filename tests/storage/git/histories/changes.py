"""Random changes of a tree, of every kind that git can store. New lines, links and names are unique in a history."""

from collections.abc import Callable
from random import Random

from tests.storage.git.histories.model import (
    EXECUTABLE,
    LINK,
    MODULE,
    PLAIN,
    File,
    Tree,
    clashes,
    folders,
    lines,
    with_file,
)

_NAMES = (
    b"src/app.py", b"src/api/views.py", b"src/api/-x", b"src/Make file", b"docs/README.md", b"docs/na\xc3\xafve.md",
    b"-rf", b"--", b'q"uote', b"new\nline", b"\nfirst", b"last\n", b"tab\there", b"blank name.txt", b" lead", b"trail ",
    b"caf\xe9.txt", b"\xff\xfe", b"back\\slash", b"*.py", b":(top)x", b"a\rb c", b"README", b"Readme", b"#7", b"@{u}",
    b"HEAD", b"a~b^c", b"deep/er/and/deeper/still.c", b"lib/x\ny/z.txt", b"lib/core.rs", b"lib/core.toml", b"e\x01sc",
)  # fmt: skip
_ATTRIBUTES = b"* text=auto eol=crlf\n*.py merge=union\n*.md -diff\n* ident filter=none\n"


class Changes:
    """Makes changes; every kind answers the tree as it was when nothing in it is fit for that kind."""

    def __init__(self, rng: Random) -> None:
        self._rng = rng
        self._count = 0
        self._often: list[Callable[[Tree], Tree]] = [
            self.edited,
            self.edited,
            self.added,
            self.deleted,
            self.renamed,
        ]
        self._seldom: list[Callable[[Tree], Tree]] = [
            self.moded,
            self.retyped,
            self.respelt,
            self.folder_moved,
            self.file_made_folder,
            self.folder_made_file,
            self.ends_changed,
        ]

    def one(self, tree: Tree) -> Tree:
        """One change of a random kind."""
        return self._rng.choice(self._often if self._rng.random() < 0.7 else self._seldom)(tree)

    def added(self, tree: Tree) -> Tree:
        """A new file of any kind."""
        return with_file(tree, self._name(tree), self._file())

    def edited(self, tree: Tree) -> Tree:
        """Some lines of a text changed; of anything else, all of it."""
        path = self._pick(tree)
        return tree if path is None else {**tree, path: self._changed(tree[path])}

    def deleted(self, tree: Tree) -> Tree:
        """A file less."""
        path = self._pick(tree)
        return {p: f for p, f in tree.items() if p != path}

    def renamed(self, tree: Tree) -> Tree:
        """A file under another name, half of them changed on the way, a few beyond recognition."""
        path = self._pick(tree)
        if path is None:
            return tree
        file = tree[path]
        for _ in range(self._rng.choice((0, 0, 1, 1, 12))):
            file = self._changed(file)
        return with_file(self.without(tree, path), self._name(tree), file)

    def moded(self, tree: Tree) -> Tree:
        """The executable bit turned."""
        path = self._pick(tree, lambda file: file.kind == b"100")
        if path is None:
            return tree
        mode = PLAIN if tree[path].mode == EXECUTABLE else EXECUTABLE
        return {**tree, path: File(mode, tree[path].data)}

    def retyped(self, tree: Tree) -> Tree:
        """A file made a link or a submodule, or the other way round."""
        path = self._pick(tree)
        if path is None:
            return tree
        return {
            **tree,
            path: self._text()
            if tree[path].kind != b"100"
            else self._rng.choice((self._link, self._module))(),
        }

    def respelt(self, tree: Tree) -> Tree:
        """A name in other cases."""
        path = self._pick(tree)
        if path is None or path.swapcase() in tree or clashes([*tree, path.swapcase()]):
            return tree
        return with_file(self.without(tree, path), path.swapcase(), tree[path])

    def folder_moved(self, tree: Tree) -> Tree:
        """A folder with all that is in it under another name."""
        found = sorted({folder for path in tree for folder in folders(path)})
        if not found:
            return tree
        old, new = self._rng.choice(found) + b"/", b"moved-%d/" % self._next()
        return {new + p.removeprefix(old) if p.startswith(old) else p: f for p, f in tree.items()}

    def file_made_folder(self, tree: Tree) -> Tree:
        """A folder where a file was; the file goes into it, or is gone."""
        path = self._pick(tree)
        if path is None:
            return tree
        file = tree[path] if self._rng.random() < 0.5 else self._file()
        return {**self.without(tree, path), path + b"/inside": file}

    def folder_made_file(self, tree: Tree) -> Tree:
        """A file where a folder was."""
        found = sorted({folder for path in tree for folder in folders(path)})
        return with_file(tree, self._rng.choice(found), self._file()) if found else tree

    def ends_changed(self, tree: Tree) -> Tree:
        """Every line of a text ends otherwise."""
        path = self._pick(tree, lambda file: file.kind == b"100" and not file.binary)
        if path is None:
            return tree
        data = tree[path].data
        data = data.replace(b"\r\n", b"\n") if b"\r\n" in data else data.replace(b"\n", b"\r\n")
        return {**tree, path: File(tree[path].mode, data)}

    def without(self, tree: Tree, path: bytes) -> Tree:
        """The tree but for one path."""
        return {p: f for p, f in tree.items() if p != path}

    def _pick(self, tree: Tree, fit: Callable[[File], bool] = lambda file: True) -> bytes | None:
        found = sorted(path for path, file in tree.items() if fit(file))
        return self._rng.choice(found) if found else None

    def _name(self, tree: Tree) -> bytes:
        """A name that nothing has: a plain one, one of the odd ones, or one beside another file."""
        how = self._rng.random()
        odd = self._rng.choice(_NAMES)
        if how < 0.55 and odd not in tree and not clashes([*tree, odd]):
            return odd
        beside = self._pick(tree) if how < 0.8 else None
        folder = (beside or b"").rpartition(b"/")[0]
        return (folder + b"/" if folder else b"") + b"f%d.txt" % self._next()

    def _file(self) -> File:
        how = self._rng.random()
        if how < 0.68:
            return self._text()
        if how < 0.76:
            return File(PLAIN, self._bytes())
        if how < 0.83:
            return File(PLAIN, b"")
        if how < 0.85:
            return File(PLAIN, _ATTRIBUTES)
        return self._link() if how < 0.94 else self._module()

    def _text(self) -> File:
        ends = self._rng.choice(((b"\n",), (b"\n",), (b"\r\n",), (b"\n", b"\r\n")))
        text = b"".join(self._line() + self._rng.choice(ends) for _ in range(self._rng.randint(4, 30)))
        if self._rng.random() < 0.15:
            text = text.rstrip(b"\r\n")
        return File(self._rng.choice((PLAIN, PLAIN, PLAIN, EXECUTABLE)), text)

    def _line(self) -> bytes:
        shape = self._rng.choice(
            (b"value_%d = 1", b"\tif (x) { f%d(); }", b"<<<<<<< %d", b"caf\xe9 %d", b"-- %d\r", b"%d")
        )
        return shape % self._next()

    def _bytes(self) -> bytes:
        return b"".join(b"\0%d\xfe\n" % self._next() for _ in range(self._rng.randint(2, 8)))

    def _link(self) -> File:
        target = b"gone/%d" if self._rng.random() < 0.5 else b"../src/app.py/../%d"
        return File(LINK, target % self._next())

    def _module(self) -> File:
        return File(MODULE, b"%040x" % self._rng.getrandbits(160))

    def _changed(self, file: File) -> File:
        if file.mode == LINK:
            return self._link()
        if file.mode == MODULE:
            return self._module()
        if file.binary:
            return File(file.mode, self._bytes())
        text = lines(file.data)
        for _ in range(self._rng.choice((1, 1, 2))):
            at = self._rng.randint(0, len(text))
            new = [self._line() + b"\n" for _ in range(self._rng.randint(0, 2))]
            text[at : at + self._rng.randint(0, 2)] = new
        return File(file.mode, b"".join(_ended(text)))

    def _next(self) -> int:
        self._count += 1
        return self._count


def _ended(text: list[bytes]) -> list[bytes]:
    """Only the last line may lack its end."""
    return [line if line.endswith(b"\n") else line + b"\n" for line in text[:-1]] + text[-1:]
