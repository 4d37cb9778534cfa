"""Worktrees of other people's repositories: found, and read so that the same content always says the same."""

import os
from pathlib import Path

import pytest

from activities.foremerge.sources import snapshot_on_disk
from protocol.foremerge.validations import ExclusionRules
from protocol.ids import CommitId
from rules.foremerge.exclusions import normal_rules
from rules.foremerge.fingerprint import Snapshot, fingerprint
from storage.git.errors import NotAWorktree, OutputTooLarge
from storage.git.snapshots import Budget, Found, open_untracked
from storage.git.worktrees import Worktree, parents_of, resolve
from tests.storage.git.work import Clone

NO_RULES = ExclusionRules()


def odd_name(folder: Path) -> None:
    """A file whose name is no UTF-8."""
    Path(os.fsdecode(os.fsencode(folder) + b"/caf\xe9.txt")).write_text("latin\n")


async def seen(folder: Path, rules: ExclusionRules = NO_RULES) -> Snapshot:
    """A snapshot of what lies there."""
    return await snapshot_on_disk(await Worktree.open(folder), "prj_1", rules)


async def test_a_clean_worktree_says_the_same_wherever_it_lies(clone: Clone, tmp_path: Path) -> None:
    other = tmp_path / "elsewhere" / "copy"
    await clone.git("worktree", "add", "--quiet", "--detach", str(other))
    one, two = await seen(clone.folder), await seen(other)
    assert fingerprint(one) == fingerprint(two)
    assert not one.dirty
    (other / "a.txt").write_text("other\n")
    assert (await seen(other)).changed == ("a.txt",)
    assert fingerprint(await seen(other)) != fingerprint(one)
    (other / "a.txt").write_text("one\ntwo\nthree\n")
    assert fingerprint(await seen(other)) == fingerprint(one)


async def test_each_kind_of_change_changes_the_fingerprint(clone: Clone) -> None:
    folder = clone.folder
    known = {fingerprint(await seen(folder))}

    async def is_new() -> None:
        found = fingerprint(await seen(folder))
        assert found not in known
        known.add(found)

    (folder / "new.txt").write_text("new\n")
    await is_new()
    (folder / "new.txt").write_text("newer\n")
    await is_new()
    (folder / "new.txt").unlink()
    (folder / "new.txt").symlink_to("a.txt")
    await is_new()
    await clone.git("add", "new.txt")
    await is_new()
    await clone.git("commit", "--quiet", "--message", "link")
    await is_new()
    (folder / "a.txt").chmod(0o755)
    await is_new()
    await clone.git("mv", "src/b.txt", "b.txt")
    assert {"b.txt", "src/b.txt"} <= set((await seen(folder)).changed)
    await is_new()


async def test_untracked_paths_of_every_kind_are_read_without_following_anything(clone: Clone) -> None:
    folder = clone.folder
    os.mkfifo(folder / "pipe")
    (folder / "link").symlink_to("/etc/passwd")
    (folder / "into").symlink_to(folder / "src")
    nested = folder / "nested"
    nested.mkdir()
    await Clone(nested).git("init", "--quiet")
    odd_name(folder)
    found = await seen(folder)
    assert found.changed == ("caf%E9.txt", "into", "link", "nested/")  # git does not name a pipe
    assert fingerprint(found) == fingerprint(await seen(folder))
    worktree = await Worktree.open(folder)
    assert open_untracked(worktree, "link", Budget())[0] is Found.SYMLINK
    for path in ("pipe", "nested/", "into/b.txt", "absent"):
        assert open_untracked(worktree, path, Budget())[0] is Found.OTHER
    (folder / "large").write_bytes(b"x" * 100)
    with pytest.raises(OutputTooLarge):
        list(open_untracked(worktree, "large", Budget(99))[1])


async def test_exclusions_hide_untracked_output_and_nothing_tracked(clone: Clone) -> None:
    rules = normal_rules(["out/", "a.txt"])
    (clone.folder / "out").mkdir()
    (clone.folder / "out" / "report").write_text("x\n")
    (clone.folder / "a.txt").write_text("edited\n")
    found = await seen(clone.folder, rules)
    assert (found.changed, found.excluded) == (("a.txt",), ("out/report",))
    (clone.folder / "out" / "report").write_text("another\n")
    assert fingerprint(await seen(clone.folder, rules)) == fingerprint(found)
    assert fingerprint(await seen(clone.folder)) != fingerprint(found)


async def test_settings_that_change_how_differences_look_change_nothing(clone: Clone) -> None:
    (clone.folder / "a.txt").write_text("one\ntwo and more\nthree\n")
    before = fingerprint(await seen(clone.folder))
    for key, value in (
        ("diff.noprefix", "true"),
        ("diff.context", "0"),
        ("diff.algorithm", "patience"),
        ("color.ui", "always"),
        ("core.abbrev", "40"),
        ("status.showUntrackedFiles", "no"),
        ("core.quotePath", "false"),
    ):
        await clone.git("config", key, value)
    assert fingerprint(await seen(clone.folder)) == before


async def test_what_is_no_worktree_is_said_so(clone: Clone, tmp_path: Path) -> None:
    bare = tmp_path / "bare.git"
    await clone.git("clone", "--quiet", "--bare", ".", str(bare))
    for folder in (bare, tmp_path, tmp_path / "absent", clone.folder / "a.txt", Path("work"), Path("/x\0y")):
        with pytest.raises(NotAWorktree):
            await Worktree.open(folder)


async def test_names_are_resolved_and_what_git_could_misread_is_no_name(clone: Clone) -> None:
    head = await clone.git("rev-parse", "HEAD")
    await clone.git("tag", "--annotate", "v1", "--message", "v1")
    worktree = await Worktree.open(clone.folder)
    for name in ("HEAD", "@", "main", "refs/heads/main", "v1", head, head[:10], "HEAD^0"):
        assert await resolve(worktree, name) == head
    for name in (
        "",
        "-h",
        "--all",
        "HEAD:a.txt",
        ":/Start",
        "a b",
        "HEAD~9",
        "main..main",
        "HEAD^{tree}",
        "x\ny",
    ):
        assert await resolve(worktree, name) is None


async def test_a_root_commit_and_a_shallow_boundary_are_told_apart(clone: Clone, tmp_path: Path) -> None:
    root = CommitId(await clone.git("rev-parse", "HEAD"))
    head = CommitId(await clone.commit("two", {"c.txt": "c\n"}))
    here = await Worktree.open(clone.folder)
    assert await parents_of(here, root) == ([], False)
    assert await parents_of(here, head) == ([root], False)
    shallow = tmp_path / "shallow"
    await clone.git("clone", "--quiet", "--depth=1", f"file://{clone.folder}", str(shallow))
    assert await parents_of(await Worktree.open(shallow), head) == ([], True)
