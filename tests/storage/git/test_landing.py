"""Whether a landing holds a candidate, on histories that people and hosts of repositories make: with real git."""

import pytest

from activities.foremerge.landings import compared
from protocol.ids import CommitId
from protocol.refusals import Refused
from rules.foremerge.landing import landing_method
from storage.git.landing import BlobPair, patches_of
from storage.git.repository import Repository
from storage.git.worktrees import Worktree, borrowing, bound_repository, copy_history
from tests.storage.git.conftest import bring
from tests.storage.git.test_worktrees import odd_name
from tests.storage.git.work import Clone

LINES = "".join(f"line {n}\n" for n in range(1, 41))
OTHER = "".join(f"row {n}\n" for n in range(1, 41))


class History:
    """A line with a candidate on branch `work`, and the repository that judges."""

    def __init__(self, clone: Clone, repo: Repository) -> None:
        self.clone, self.repo = clone, repo
        self.base = self.accepted = CommitId("")

    async def begin(self, files: dict[str, str | bytes] | None = None) -> None:
        """The line before the work."""
        self.base = CommitId(
            await self.clone.commit(
                "base", {"a.txt": LINES, "b.txt": OTHER, "gone.txt": "old\n", **(files or {})}
            )
        )
        await self.clone.branch("work")

    async def candidate(self, *commits: dict[str, str | bytes]) -> None:
        """Commits of the work; then back to the line."""
        for files in commits:
            self.accepted = CommitId(await self.clone.commit("work", files))
        self.accepted = CommitId(await self.clone.git("rev-parse", "HEAD"))
        await self.clone.git("switch", "--quiet", "main")

    async def squash(self) -> str:
        """The whole work as one commit on the line."""
        await self.clone.git("merge", "--quiet", "--squash", "work")
        await self.clone.git("commit", "--quiet", "--message", "squashed")
        return await self.clone.git("rev-parse", "HEAD")

    async def method(self, landing: str) -> str:
        """How the landing is recognised."""
        await bring(self.repo, self.clone)
        pairs = await compared(self.repo, self.base, self.accepted, CommitId(landing))
        return landing_method(False, pairs).value

    async def missing(self, landing: str) -> str:
        """What a refused landing lacks."""
        with pytest.raises(Refused, match=r"^TARGET_DIVERGED") as problem:
            await self.method(landing)
        return problem.value.refusal.message


@pytest.fixture
def history(clone: Clone, repo: Repository) -> History:
    return History(clone, repo)


TWO_EDITS = LINES.replace("line 10\n", "line ten\n").replace("line 30\n", "")
MEANWHILE = LINES.replace("line 1\n", "line one\n").replace("line 20\n", "line 20\nline 20 and a half\n")


async def test_a_squash_on_a_line_that_changed_the_same_file_holds(history: History) -> None:
    await history.begin()
    await history.candidate({"a.txt": TWO_EDITS}, {"new.txt": "new\n"})
    await history.clone.commit("meanwhile", {"a.txt": MEANWHILE, "else.txt": "else\n"})
    assert await history.method(await history.squash()) == "content"


async def test_a_rebase_of_several_commits_holds(history: History) -> None:
    await history.begin()
    await history.candidate(
        {"a.txt": LINES.replace("line 10\n", "ten\n")}, {"a.txt": TWO_EDITS}, {"new.txt": "n\n"}
    )
    await history.clone.commit("meanwhile", {"a.txt": MEANWHILE})
    await history.clone.git("switch", "--quiet", "--create", "rebased", "work")
    await history.clone.git("rebase", "--quiet", "main")
    assert await history.method(await history.clone.git("rev-parse", "HEAD")) == "content"


async def test_cherry_picks_hold_once_all_of_them_are_there(history: History) -> None:
    await history.begin()
    await history.candidate({"a.txt": TWO_EDITS}, {"b.txt": OTHER.replace("row 5\n", "row five\n")})
    await history.clone.commit("meanwhile", {"c.txt": "c\n"})
    await history.clone.git("cherry-pick", "work~1")
    first = await history.clone.git("rev-parse", "HEAD")
    assert "'b.txt'" in await history.missing(first)
    assert "'a.txt'" not in await history.missing(first)
    await history.clone.git("cherry-pick", "work")
    assert await history.method(await history.clone.git("rev-parse", "HEAD")) == "content"


async def test_a_rename_with_edits_holds_and_half_of_it_does_not(history: History) -> None:
    await history.begin()
    await history.clone.git("mv", "b.txt", "moved.txt")
    await history.candidate({"moved.txt": OTHER.replace("row 20\n", "row twenty\n")})
    landing = await history.squash()
    assert await history.method(landing) == "content"
    half = await history.clone.commit("half", {"b.txt": OTHER})
    assert "renamed from, is still there" in await history.missing(half)
    await history.clone.git("rm", "--quiet", "b.txt")
    undone = await history.clone.commit("undone", {"moved.txt": OTHER})
    assert "line 20 of the base" in await history.missing(undone)


async def test_a_file_that_the_line_renamed_before_is_followed(history: History) -> None:
    await history.begin()
    await history.candidate({"a.txt": TWO_EDITS})
    await history.clone.git("mv", "a.txt", "renamed.txt")
    await history.clone.commit("the line renames it", {"else.txt": "else\n"})
    landing = await history.squash()
    assert not (history.clone.folder / "a.txt").exists()
    assert await history.method(landing) == "content"


async def test_a_deletion_must_have_happened(history: History) -> None:
    await history.begin()
    await history.clone.git("rm", "--quiet", "gone.txt")
    await history.candidate({})
    assert "it is still there" in await history.missing(
        await history.clone.commit("nothing", {"x.txt": "x\n"})
    )
    assert await history.method(await history.squash()) == "content"


async def test_one_of_two_edits_is_a_partial_landing(history: History) -> None:
    await history.begin()
    await history.candidate({"a.txt": TWO_EDITS})
    half = await history.clone.commit("half", {"a.txt": LINES.replace("line 10\n", "line ten\n")})
    assert "line 30 of the base" in await history.missing(half)


async def test_work_that_was_reverted_is_not_there_but_its_landing_is(history: History) -> None:
    await history.begin()
    await history.candidate({"a.txt": TWO_EDITS, "new.txt": "new\n"})
    landing = await history.squash()
    await history.clone.git("revert", "--no-edit", "HEAD")
    said = await history.missing(await history.clone.git("rev-parse", "HEAD"))
    assert "'a.txt'" in said
    assert "'new.txt': it is not there" in said
    assert await history.method(landing) == "content"


async def test_a_conflict_that_was_resolved_against_the_work_does_not_hold_it(history: History) -> None:
    await history.begin()
    await history.candidate({"a.txt": LINES.replace("line 10\n", "ours\n")})
    resolved = await history.clone.commit("theirs", {"a.txt": LINES.replace("line 10\n", "theirs\n")})
    assert "line 10 of the base" in await history.missing(resolved)


async def test_binaries_links_modes_and_odd_names_must_be_the_same(history: History) -> None:
    folder = history.clone.folder
    await history.begin({"logo.bin": b"\0one" * 50, "run.sh": "#!/bin/sh\n"})
    (folder / "run.sh").chmod(0o755)
    (folder / "link").symlink_to("a.txt")
    odd_name(folder)
    await history.candidate({"logo.bin": b"\0two" * 50})
    landing = await history.squash()
    assert await history.method(landing) == "content"
    changed = await history.clone.commit("other", {"logo.bin": b"\0three" * 50, "more.txt": "more\n"})
    assert "cannot be compared by lines" in await history.missing(changed)
    await history.clone.git("reset", "--quiet", "--hard", landing)
    (folder / "run.sh").chmod(0o644)
    assert "mode" in await history.missing(await history.clone.commit("plain", {}))
    await history.clone.git("reset", "--quiet", "--hard", landing)
    (folder / "link").unlink()
    (folder / "link").symlink_to("b.txt")
    assert "'link'" in await history.missing(await history.clone.commit("elsewhere", {}))


async def test_attributes_and_lines_like_headers_mislead_nobody(history: History) -> None:
    text = LINES.replace("line 9\n", "@@ -1,9 +1,9 @@\n").replace(
        "line 12\n", "diff --git a/000000001 b/000000001\n"
    )
    await history.begin({".gitattributes": "*.txt -diff\n", "a.txt": text})
    await history.candidate({"a.txt": text.replace("line 11\n", "+++ b/a.txt\n@@ -30 +30 @@\n")})
    await history.clone.commit(
        "meanwhile", {"a.txt": text.replace("line 1\n", "Binary files a and b differ\n")}
    )
    assert await history.method(await history.squash()) == "content"


async def test_a_last_line_without_newline_and_carriage_returns_count(history: History) -> None:
    await history.begin({"dos.txt": "one\r\ntwo\r\nthree"})
    await history.candidate({"dos.txt": "one\r\nTWO\r\nthree"})
    unix = await history.clone.commit("unix", {"dos.txt": "one\nTWO\nthree"})
    assert "'dos.txt'" in await history.missing(unix)
    more = await history.clone.commit("more", {"dos.txt": "zero\r\none\r\nTWO\r\nthree"})
    assert await history.method(more) == "content"


async def test_a_landing_that_went_on_with_the_work_holds_it_until_it_changes_its_lines(
    history: History,
) -> None:
    await history.begin()
    await history.candidate({"a.txt": TWO_EDITS})
    await history.squash()
    on = await history.clone.commit("on", {"a.txt": TWO_EDITS.replace("line 11\n", "line eleven\n")})
    assert await history.method(on) == "content"
    over = await history.clone.commit("over", {"a.txt": TWO_EDITS.replace("line ten\n", "line X\n")})
    assert "line 10 of the base" in await history.missing(over)


async def test_patches_of_many_files_are_made_at_once_and_leave_nothing(
    repo: Repository, clone: Clone
) -> None:
    many = {f"many/f{n}.txt": f"{n}\nsame\n" for n in range(400)}
    before = CommitId(await clone.commit("many", {**many}))
    after = CommitId(
        await clone.commit("again", {name: text.replace("same", "other") for name, text in many.items()})
    )
    await bring(repo, clone)
    changed = await repo.changed_paths(before, after)
    objects = sorted(path for path in (repo.path / "objects").rglob("*") if path.is_file())
    pairs = [BlobPair(one.old_blob, str(one.blob)) for one in changed]
    found = await patches_of(repo, [*pairs, BlobPair(None, str(changed[0].blob))])
    assert all(patch is not None and b"+other" in patch and b"-same" in patch for patch in found[:-1])
    assert found[-1] is not None
    assert b"@@ -0,0 +1,2 @@" in found[-1]
    assert sorted(path for path in (repo.path / "objects").rglob("*") if path.is_file()) == objects


async def test_a_commit_is_copied_from_a_neighbour_with_its_whole_history(
    repo: Repository, clone: Clone
) -> None:
    await clone.commit("one", {"x.txt": "x\n"})
    head = CommitId(await clone.commit("two", {"y.txt": "y\n"}))
    assert not await repo.commit_exists(head)
    await copy_history(repo, head, clone.folder / ".git" / "objects")
    await repo.create_ref("refs/foremerge/accepted/chg_1", head)
    await repo.git("fsck", "--strict", "--connectivity-only")
    assert await repo.read_file(head, "x.txt", 10) == b"x\n"
    packs = list((repo.path / "objects" / "pack").glob("*.pack"))
    await copy_history(repo, head, clone.folder / ".git" / "objects")
    assert list((repo.path / "objects" / "pack").glob("*.pack")) == packs


async def test_a_neighbours_folder_may_have_any_name(clone: Clone, repo: Repository) -> None:
    odd = clone.folder.parent / 'odd:"name'
    clone.folder.rename(odd)
    head = CommitId(await Clone(odd).commit("odd", {"o.txt": "o\n"}))
    seen = repo.with_env(borrowing(odd / ".git" / "objects"))
    assert await seen.read_file(head, "o.txt", 10) == b"o\n"
    worktree = await Worktree.open(odd / "src")
    assert (worktree.root, worktree.common_dir) == (odd, odd / ".git")
    assert await bound_repository(odd / ".git").commit_exists(head)
