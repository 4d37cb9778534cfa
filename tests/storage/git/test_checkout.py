import asyncio
import os
from pathlib import Path

import pytest

from protocol.ids import CommitId
from storage.git.checkout import checkout_tree, remove
from storage.git.errors import GitFailed
from storage.git.repository import Repository
from tests.storage.git.conftest import bring
from tests.storage.git.work import Clone, sh


async def head_of(repo: Repository) -> CommitId:
    head = await repo.head("refs/heads/main")
    assert head is not None
    return head


def kind(path: Path) -> str:
    if path.is_symlink():
        return f"link to {os.readlink(path)}"
    return "folder" if path.is_dir() else ("program" if os.access(path, os.X_OK) else "file")


async def test_files_links_modes_and_submodules_come_out_right(
    repo: Repository, clone: Clone, tmp_path: Path
) -> None:
    os.symlink("../a.txt", clone.folder / "src" / "link")
    os.chmod(clone.folder / "src" / "b.txt", 0o755)
    os.mkdir(clone.folder / "vendored")
    await clone.git("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},vendored")
    await clone.commit("Kinds", {})
    await bring(repo, clone)
    folder = tmp_path / "check"
    await checkout_tree(repo, await head_of(repo), folder)
    assert {name: kind(folder / name) for name in ("a.txt", "src/b.txt", "src/link", "vendored")} == {
        "a.txt": "file",
        "src/b.txt": "program",
        "src/link": "link to ../a.txt",
        "vendored": "folder",
    }
    assert (folder / "a.txt").read_text() == "one\ntwo\nthree\n"
    assert list((folder / "vendored").iterdir()) == []


async def test_a_check_sees_a_clean_clone_with_history_and_tags(
    repo: Repository, clone: Clone, tmp_path: Path
) -> None:
    await clone.git("tag", "--annotate", "--message", "One", "v1.0")
    await clone.commit("Next", {"a.txt": "next\n"})
    await bring(repo, clone)
    await repo.git("fetch", "--quiet", str(clone.folder), "refs/tags/*:refs/tags/*")
    head = await head_of(repo)
    check = Clone(tmp_path / "check")
    await checkout_tree(repo, head, check.folder)
    assert await check.git("status", "--porcelain") == ""
    assert await check.git("rev-parse", "HEAD") == head
    assert await check.git("describe", "--long") == f"v1.0-1-g{head[:7]}"
    assert await check.git("rev-list", "--count", "HEAD") == "2"


async def test_what_a_check_commits_and_tags_stays_in_its_folder(repo: Repository, tmp_path: Path) -> None:
    head = await head_of(repo)
    refs, objects = await repo.list_refs("refs"), (await repo.git("count-objects", "-v")).stdout
    check = Clone(tmp_path / "check")
    await checkout_tree(repo, head, check.folder)
    made = await check.commit("By the check", {"a.txt": "x", ".git/hooks/post-commit": "#!/bin/sh\n"})
    await check.git("tag", "v9")
    await check.git("branch", "main")
    assert await repo.list_refs("refs") == refs
    assert (await repo.git("count-objects", "-v")).stdout == objects
    assert not await repo.commit_exists(CommitId(made))


async def test_many_checkouts_at_once_do_not_disturb_each_other(
    repo: Repository, clone: Clone, tmp_path: Path
) -> None:
    heads = [CommitId(await clone.commit(f"{n}", {"a.txt": f"{n}\n"})) for n in range(6)]
    await bring(repo, clone)
    folders = [tmp_path / f"check-{n}" for n in range(6)]
    await asyncio.gather(
        *(checkout_tree(repo, head, folder) for head, folder in zip(heads, folders, strict=True))
    )
    assert [(folder / "a.txt").read_text() for folder in folders] == [f"{n}\n" for n in range(6)]


async def test_a_commit_that_is_not_there_is_a_failure(repo: Repository, tmp_path: Path) -> None:
    with pytest.raises(GitFailed):
        await checkout_tree(repo, CommitId("1" * 40), tmp_path / "check")


async def test_a_filter_named_in_a_commit_does_not_run(
    repo: Repository, clone: Clone, tmp_path: Path
) -> None:
    await repo.git("config", "filter.evil.smudge", f"touch {tmp_path}/ran")
    await clone.commit("Filter", {".gitattributes": "* filter=evil\n"})
    await bring(repo, clone)
    await checkout_tree(repo, await head_of(repo), tmp_path / "check")
    assert (tmp_path / "check" / "a.txt").exists()
    assert not (tmp_path / "ran").exists()


async def test_a_folder_is_removed_with_its_read_only_parts_and_without_following_links(
    tmp_path: Path,
) -> None:
    kept, folder = tmp_path / "kept", tmp_path / "check"
    made = await sh(
        *("sh", "-c", "mkdir -p kept check/cache/deep && echo x > kept/f && echo x > check/cache/deep/f"),
        cwd=tmp_path,
    )
    assert made.code == 0
    os.symlink(kept, folder / "cache" / "link")
    os.chmod(folder / "cache" / "deep", 0o500)
    os.chmod(folder / "cache", 0o500)
    await remove(folder)
    await remove(folder)
    assert sorted(os.listdir(tmp_path)) == ["kept"]
    assert os.listdir(kept) == ["f"]
