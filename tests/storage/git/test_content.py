import os
from pathlib import Path

from protocol.ids import CommitId
from storage.git.content import Change
from storage.git.names import EMPTY_TREE
from storage.git.repository import Repository
from tests.storage.git.conftest import bring
from tests.storage.git.work import Clone


async def two_commits(
    repo: Repository, clone: Clone, files: dict[str, str | bytes]
) -> tuple[CommitId, CommitId]:
    base = await clone.git("rev-parse", "main")
    head = await clone.commit("Change", files)
    await bring(repo, clone)
    return CommitId(base), CommitId(head)


async def test_each_kind_of_change_is_told_with_both_sides(repo: Repository, clone: Clone) -> None:
    await clone.commit("More", {"gone.txt": "g\n", "old/name.txt": "1\n2\n3\n4\n5\n", "kind.txt": "k\n"})
    await clone.git("rm", "--quiet", "gone.txt")
    await clone.git("mv", "old/name.txt", "new name\n.txt")
    (clone.folder / "kind.txt").unlink()
    os.symlink("a.txt", clone.folder / "kind.txt")
    base, head = await two_commits(repo, clone, {"a.txt": "changed\n", "added.txt": "+"})
    changes = {change.path: change for change in await repo.changed_paths(base, head)}
    assert {path: change.status for path, change in changes.items()} == {
        "a.txt": Change.MODIFIED,
        "added.txt": Change.ADDED,
        "gone.txt": Change.DELETED,
        "kind.txt": Change.TYPE_CHANGED,
        "new name\n.txt": Change.RENAMED,
    }
    assert changes["new name\n.txt"].old_path == "old/name.txt"
    assert changes["added.txt"].old_blob is None and changes["added.txt"].old_path is None
    assert changes["gone.txt"].blob is None
    assert (changes["kind.txt"].old_mode, changes["kind.txt"].mode) == ("100644", "120000")
    assert await repo.read_blobs([changes["added.txt"].blob or ""], 10) == {changes["added.txt"].blob: b"+"}


async def test_nothing_changed_is_an_empty_answer_and_everything_is_against_the_empty_tree(
    repo: Repository,
) -> None:
    head = await repo.head("refs/heads/main")
    assert head is not None
    assert await repo.changed_paths(head, head) == ()
    assert [change.path for change in await repo.changed_paths(EMPTY_TREE, head)] == ["a.txt", "src/b.txt"]


async def test_a_path_that_is_not_utf8_is_shown_in_percent_form(repo: Repository, clone: Clone) -> None:
    raw = os.fsdecode("cafü-".encode() + b"\xe9%.txt")
    base, head = await two_commits(repo, clone, {raw: "latin"})
    [change] = await repo.changed_paths(base, head)
    assert change.path == "cafü-%E9%.txt"
    assert change.model_dump_json()
    assert change.blob is not None
    assert await repo.read_blobs([change.blob], 10) == {change.blob: b"latin"}
    assert "cafü-%E9%.txt" in [entry.path for entry in await repo.list_tree(head)]


async def test_a_file_is_read_up_to_the_limit(repo: Repository, clone: Clone) -> None:
    _, head = await two_commits(repo, clone, {"big.bin": b"x" * 300_000})
    assert await repo.read_file(head, "big.bin", 1_000) == b"x" * 1_000
    assert await repo.read_file(head, "src/b.txt", 1_000) == b"b\n"


async def test_what_is_no_file_reads_as_none(repo: Repository) -> None:
    head = await repo.head("refs/heads/main")
    assert head is not None
    for path in ("absent", "src", "../a.txt", "./a.txt", "a.txt/x", "a\0.txt"):
        assert await repo.read_file(head, path, 100) is None, path


async def test_a_diff_is_cut_at_its_limit(repo: Repository, clone: Clone) -> None:
    base, head = await two_commits(repo, clone, {"a.txt": b"one\n\xff\nthree\n" + b"more\n" * 10_000})
    whole = await repo.diff(base, head, 1_000_000)
    assert not whole.truncated
    assert "-two\n+\ufffd\n" in whole.text
    cut = await repo.diff(base, head, 500)
    assert cut.truncated
    assert cut.text == whole.text[: len(cut.text)]


async def test_attributes_in_a_commit_cannot_run_or_hide_a_diff(
    repo: Repository, clone: Clone, tmp_path: Path
) -> None:
    await repo.git("config", "diff.evil.command", f"touch {tmp_path}/ran")
    base, head = await two_commits(repo, clone, {".gitattributes": "* diff=evil\n", "a.txt": "changed\n"})
    assert "+changed" in (await repo.diff(base, head, 10_000)).text
    assert not (tmp_path / "ran").exists()


async def test_blobs_above_the_limit_and_ids_that_are_no_blob_are_left_out(
    repo: Repository, clone: Clone
) -> None:
    _, head = await two_commits(repo, clone, {"big.bin": b"x" * 5_000, "bin": b"\n\0\n"})
    ids = {entry.path: entry.id for entry in await repo.list_tree(head)}
    found = await repo.read_blobs([*ids.values(), ids["bin"], head, "1" * 40], 100)
    assert found == {ids["bin"]: b"\n\0\n", ids["a.txt"]: b"one\ntwo\nthree\n", ids["src/b.txt"]: b"b\n"}
    assert await repo.read_blobs([], 100) == {}
