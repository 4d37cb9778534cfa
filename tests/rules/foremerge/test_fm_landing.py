"""Landings recognised by content: squash, rebase, cherry-pick, rename, partial; with the patches of real git."""

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocol.refusals import Refused
from rules.foremerge.landing import CandidateChange, Entry, LandedPath, landed_at, landing_method
from rules.foremerge.patches import Edit, edits, first_missing

LINES = "".join(f"line {n}\n" for n in range(1, 41))
OTHER = "".join(f"row {n}\n" for n in range(1, 41))


class Worktree:
    """A small repository: files in, commits out."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.git("init", "-q", "-b", "main")
        self.empty = self.git("hash-object", "-w", "-t", "blob", "/dev/null").decode().strip()

    def git(self, *arguments: str) -> bytes:
        """What git said."""
        settings = ("user.name=t", "user.email=t@t", "commit.gpgsign=false", "core.hooksPath=/dev/null")
        options = [part for setting in settings for part in ("-c", setting)]
        return subprocess.run(
            ["git", "-C", str(self.root), *options, *arguments], check=True, capture_output=True
        ).stdout

    def write(self, path: str, text: str | bytes) -> None:
        """Put a file there."""
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text.encode() if isinstance(text, str) else text)

    def commit(self) -> str:
        """Commit all there is."""
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "x")
        return self.git("rev-parse", "HEAD").decode().strip()

    def entries(self, commit: str) -> dict[str, Entry]:
        """What a commit has, by path."""
        rows = (row.split(None, 3) for row in self.git("ls-tree", "-r", commit).decode().splitlines())
        return {path: Entry(blob, mode) for mode, _, blob, path in rows}

    def changes(self, base: str, accepted: str) -> list[CandidateChange]:
        """What the candidate changed."""
        before, after = self.entries(base), self.entries(accepted)
        found = []
        for status, first, *rest in self._named(base, accepted):
            path, old = (rest[0], first) if status.startswith("R") else (first, None)
            found.append(CandidateChange(path, old, before.get(first), after.get(path)))
        return found

    def moved(self, base: str, landing: str) -> dict[str, str]:
        """Renames from the base to the landing."""
        return {f[1]: f[2] for f in self._named(base, landing) if f[0].startswith("R")}

    def _named(self, one: str, other: str) -> list[list[str]]:
        rows = self.git("diff", "--name-status", "-M", one, other).decode().splitlines()
        return [row.split("\t") for row in rows]

    def patch(self, old: Entry | None, new: Entry | None) -> list[bytes] | None:
        """The patch of two blobs; None for what git calls binary."""
        one, other = (entry.blob if entry else self.empty for entry in (old, new))
        if one == other:
            return []
        text = self.git("diff", "--unified=0", "--no-ext-diff", "--no-textconv", one, other)
        return None if b"\nBinary files" in text else text.split(b"\n")

    def method(self, base: str, accepted: str, landing: str) -> str:
        """How the landing is recognised."""
        moved, landed = self.moved(base, landing), self.entries(landing)
        pairs = []
        for change in self.changes(base, accepted):
            now = landed.get(landed_at(change, moved))
            there = change.old_path in landed
            ours, theirs = self.patch(change.before, change.after), self.patch(change.before, now)
            pairs.append((change, LandedPath(now, ours, theirs, there)))
        return landing_method(False, pairs).value


@pytest.fixture
def tree(tmp_path: Path) -> Worktree:
    made = Worktree(tmp_path)
    made.write("a.txt", LINES)
    made.write("b.txt", OTHER)
    made.write("gone.txt", "old\n")
    return made


def candidate(tree: Worktree) -> tuple[str, str]:
    """A base, and a candidate of two commits that edits, adds, deletes and renames."""
    base = tree.commit()
    tree.git("checkout", "-q", "-b", "work")
    tree.write(
        "a.txt", LINES.replace("line 10\n", "line ten\nline ten and a half\n").replace("line 30\n", "")
    )
    tree.write("new.txt", "new\n")
    tree.commit()
    (tree.root / "moved").mkdir()
    tree.git("mv", "b.txt", "moved/b.txt")
    tree.write("moved/b.txt", OTHER.replace("row 20\n", "row twenty\n"))
    (tree.root / "gone.txt").unlink()
    accepted = tree.commit()
    tree.git("checkout", "-q", "main")
    return base, accepted


def other_work(tree: Worktree) -> None:
    """What somebody else landed meanwhile, in the same file too."""
    tree.write("a.txt", LINES.replace("line 1\n", "line one\n").replace("line 40\n", "line forty\n"))
    tree.write("else.txt", "else\n")
    tree.commit()


def test_a_squash_on_a_line_that_went_on_holds_the_work(tree: Worktree) -> None:
    base, accepted = candidate(tree)
    other_work(tree)
    tree.git("merge", "-q", "--squash", "work")
    assert tree.method(base, accepted, tree.commit()) == "content"


@pytest.mark.parametrize("command", ["rebase", "cherry-pick"])
def test_a_rebase_and_a_cherry_pick_hold_the_work(tree: Worktree, command: str) -> None:
    base, accepted = candidate(tree)
    other_work(tree)
    if command == "rebase":
        tree.git("checkout", "-q", "work")
        tree.git("rebase", "-q", "main")
    else:
        tree.git("cherry-pick", f"{base}..work")
    assert tree.method(base, accepted, tree.git("rev-parse", "HEAD").decode().strip()) == "content"


def test_later_work_elsewhere_in_the_files_does_not_matter(tree: Worktree) -> None:
    base, accepted = candidate(tree)
    tree.git("merge", "-q", "--squash", "work")
    tree.commit()
    text = (tree.root / "a.txt").read_text()
    tree.write(
        "a.txt", text.replace("line 9\n", "line nine\n").replace("line 29\n", "").replace("line 31\n", "l\n")
    )
    assert tree.method(base, accepted, tree.commit()) == "content"


def test_a_file_that_the_line_renamed_is_followed(tree: Worktree) -> None:
    base, accepted = candidate(tree)
    tree.git("mv", "a.txt", "renamed.txt")
    tree.commit()
    tree.git("merge", "-q", "--squash", "work")
    landing = tree.commit()
    assert not (tree.root / "a.txt").exists()
    assert tree.method(base, accepted, landing) == "content"


def missing(tree: Worktree, base: str, accepted: str, landing: str) -> str:
    with pytest.raises(Refused, match=r"^TARGET_DIVERGED") as problem:
        tree.method(base, accepted, landing)
    return problem.value.refusal.message


def test_a_commit_that_has_nothing_of_it_is_refused_with_every_path(tree: Worktree) -> None:
    base, accepted = candidate(tree)
    other_work(tree)
    said = missing(tree, base, accepted, tree.git("rev-parse", "HEAD").decode().strip())
    assert all(f"'{path}'" in said for path in ("a.txt", "new.txt", "moved/b.txt", "gone.txt"))


PARTS = [
    ("a.txt", LINES.replace("line 10\n", "line ten\nline ten and a half\n"), "line 30 of the base"),
    ("a.txt", LINES.replace("line 10\n", "line ten\n").replace("line 30\n", ""), "line 10 of the base"),
    ("moved/b.txt", OTHER, "line 20 of the base"),
    ("new.txt", None, "it is not there"),
    ("gone.txt", "old\n", "it is still there"),
    ("b.txt", OTHER, "'b.txt', which it was renamed from, is still there"),
]


@pytest.mark.parametrize(("path", "text", "why"), PARTS)
def test_a_partial_landing_is_refused_and_names_what_it_lacks(
    tree: Worktree, path: str, text: str | None, why: str
) -> None:
    base, accepted = candidate(tree)
    tree.git("merge", "-q", "--squash", "work")
    if text is None:
        (tree.root / path).unlink()
    else:
        tree.write(path, text)
    said = missing(tree, base, accepted, tree.commit())
    assert why in said
    assert said.count(": ") == 2  # one path and no other


def test_a_landing_that_undid_the_work_again_is_refused(tree: Worktree) -> None:
    base, accepted = candidate(tree)
    tree.git("merge", "-q", "--squash", "work")
    landed = tree.commit()
    assert tree.method(base, accepted, landed) == "content"
    tree.git("revert", "--no-edit", landed)
    assert "'a.txt'" in missing(tree, base, accepted, tree.git("rev-parse", "HEAD").decode().strip())


def test_binaries_and_modes_must_be_exactly_the_same(tree: Worktree) -> None:
    tree.write("logo.bin", b"\0one")
    base = tree.commit()
    tree.write("logo.bin", b"\0two")
    (tree.root / "a.txt").chmod(0o755)
    accepted = tree.commit()
    (tree.root / "b.txt").write_text("more\n")
    assert tree.method(base, accepted, tree.commit()) == "content"
    (tree.root / "a.txt").chmod(0o644)
    assert "mode" in missing(tree, base, accepted, tree.commit())
    (tree.root / "a.txt").chmod(0o755)
    tree.write("logo.bin", b"\0three")
    assert "cannot be compared by lines" in missing(tree, base, accepted, tree.commit())


def test_the_last_line_counts_with_or_without_its_newline(tree: Worktree) -> None:
    base = tree.commit()
    tree.write("a.txt", LINES.removesuffix("\n"))
    accepted = tree.commit()
    tree.write("a.txt", LINES.replace("line 40\n", "line forty\n"))
    assert "line 40 of the base" in missing(tree, base, accepted, tree.commit())
    tree.write("a.txt", LINES.removesuffix("\n").replace("line 1\n", "first\n"))
    assert tree.method(base, accepted, tree.commit()) == "content"


def test_a_candidate_that_changes_nothing_lands_by_history_alone() -> None:
    assert landing_method(True, []) == "ancestor"
    with pytest.raises(Refused, match="changes nothing"):
        landing_method(False, [])


def test_content_that_looks_like_a_header_is_content() -> None:
    patch = b"@@ -3 +3,2 @@\n-@@ -1 +1 @@\n+@@ -9 +9 @@\n+--- a\n@@ -7,0 +9 @@\n+x\n\\ No newline at end of file".split(
        b"\n"
    )
    assert edits(patch) == [
        Edit(2, 3, (b"@@ -9 +9 @@", b"--- a")),
        Edit(7, 7, (b"x\0no newline",)),
    ]


EDITS = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 2), st.lists(st.sampled_from([b"a", b"b"]), max_size=3)),
    max_size=4,
)


def placed(parts: list[tuple[int, int, list[bytes]]]) -> list[Edit]:
    found, at = [], 0
    for gap, removed, added in parts:
        start = at + gap + 1
        found.append(Edit(start, start + removed, tuple(added)))
        at = start + removed
    return found


@given(EDITS, EDITS)
def test_a_patch_holds_itself_and_what_it_holds_never_grows_with_more_wanted(
    one: list[tuple[int, int, list[bytes]]], other: list[tuple[int, int, list[bytes]]]
) -> None:
    wanted, made = placed(one), placed(other)
    assert first_missing(wanted, wanted) is None
    assert first_missing([], made) is None
    if first_missing(wanted, made) is None:
        assert all(first_missing([edit], made) is None for edit in wanted)


def test_a_hostile_patch_of_equal_lines_is_read_in_one_pass() -> None:
    run = (b"",) * 200_000
    wanted = [Edit(0, 0, (*run, b"end"))]
    assert first_missing(wanted, [Edit(0, 0, run * 2)]) == wanted[0]


@given(st.lists(st.binary(max_size=30), max_size=12))
def test_any_bytes_can_be_read_as_a_patch(patch: list[bytes]) -> None:
    assert all(edit.start <= edit.end for edit in edits(patch))
