import os
import sys
from pathlib import Path

import pytest

from protocol.ids import CommitId
from storage.git.commits import Signature
from storage.git.errors import (
    BadName,
    EmptySource,
    GitFailed,
    NoSuchLine,
    NotARepository,
    RepositoryExists,
    SourceRefused,
    StaleRef,
)
from storage.git.refs import RefChange
from storage.git.repository import Repository
from storage.git.sources import ImportRules
from tests.storage.git.work import Clone, new_clone, sh

ANA = Signature(name="Ana Ruiz", email="ana@example.com", at=1_700_000_000)
OPEN = ImportRules(private=True)
INTENT = "refs/intents/int_01JBQ8M4ZK7V3XW9N2D5HT6RYE"


def names(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


async def test_a_new_repository_names_its_line_and_runs_no_maintenance_on_its_own(tmp_path: Path) -> None:
    repo = await Repository.create(tmp_path / "p.git", "trunk")
    assert await repo.default_line() == "trunk"
    assert await repo.head("refs/heads/trunk") is None
    assert (await repo.git("config", "gc.auto")).stdout == b"0\n"
    assert (await repo.git("config", "transfer.hideRefs")).stdout == b"refs/gitring\n"
    assert list((tmp_path / "p.git").glob("hooks/*")) == []


async def test_a_taken_folder_is_left_alone(tmp_path: Path) -> None:
    await Repository.create(tmp_path / "p.git", "main")
    with pytest.raises(RepositoryExists):
        await Repository.create(tmp_path / "p.git", "main")
    assert names(tmp_path) == ["p.git"]


@pytest.mark.parametrize(
    "line", ["", "-x", "a..b", "a b", "a.lock", "HEAD", "a/", "/a", "a~1", "a@{1}", ".a", "x" * 300]
)
async def test_a_name_git_would_misread_is_no_line(tmp_path: Path, line: str) -> None:
    with pytest.raises(BadName):
        await Repository.create(tmp_path / "p.git", line)
    assert names(tmp_path) == []


@pytest.mark.parametrize("line", ["main", "release/2.x", "feature-ü", "a.b_c", "@"])
async def test_git_agrees_with_the_names_that_are_taken(tmp_path: Path, line: str) -> None:
    repo = await Repository.create(tmp_path / "p.git", line)
    await repo.git("check-ref-format", f"refs/heads/{line}")


async def test_a_line_begins_with_the_same_empty_commit_for_the_same_words(tmp_path: Path) -> None:
    one = await Repository.create(tmp_path / "1.git", "main")
    two = await Repository.create(tmp_path / "2.git", "main")
    first = await one.begin_line("main", "Begin", ANA)
    assert first == await two.begin_line("main", "Begin", ANA)
    assert await one.head("refs/heads/main") == first
    assert await one.list_tree(first) == ()
    with pytest.raises(StaleRef):
        await one.begin_line("main", "Begin", ANA)


async def test_an_import_brings_branches_and_tags_and_the_sources_own_line(
    clone: Clone, tmp_path: Path
) -> None:
    await clone.branch("trunk")
    head = await clone.commit("More", {"c.txt": "c"})
    await clone.git("tag", "--annotate", "--message", "First", "v1")
    await clone.git("update-ref", "refs/notes/x", head)
    repo = await Repository.import_from(tmp_path / "p.git", str(clone.folder))
    assert await repo.default_line() == "trunk"
    assert sorted(await repo.list_refs("refs")) == ["refs/heads/main", "refs/heads/trunk", "refs/tags/v1"]
    assert await repo.head("refs/tags/v1") == head == (await repo.list_refs("refs/tags"))["refs/tags/v1"]
    assert names(tmp_path) == ["p.git", "work"]


async def test_an_import_takes_the_line_that_was_asked_for(clone: Clone, tmp_path: Path) -> None:
    await clone.branch("release/2.x")
    await clone.git("switch", "--quiet", "main")
    url = clone.folder.as_uri()
    repo = await Repository.import_from(tmp_path / "p.git", url, "release/2.x")
    assert await repo.default_line() == "release/2.x"


async def test_a_line_the_source_lacks_is_refused_with_those_it_has(clone: Clone, tmp_path: Path) -> None:
    with pytest.raises(NoSuchLine, match="name one of main"):
        await Repository.import_from(tmp_path / "p.git", str(clone.folder), "develop")
    assert not (tmp_path / "p.git").exists()


async def test_a_detached_head_without_branches_becomes_main(clone: Clone, tmp_path: Path) -> None:
    head = await clone.git("rev-parse", "HEAD")
    await clone.git("checkout", "--quiet", "--detach")
    await clone.git("branch", "--delete", "--force", "main")
    repo = await Repository.import_from(tmp_path / "p.git", str(clone.folder))
    assert await repo.default_line() == "main"
    assert await repo.head("refs/heads/main") == head


async def test_a_detached_head_with_unusual_branches_needs_the_line_named(
    clone: Clone, tmp_path: Path
) -> None:
    await clone.git("branch", "--move", "main", "one")
    await clone.git("branch", "two")
    await clone.git("checkout", "--quiet", "--detach")
    with pytest.raises(NoSuchLine, match="name the default line"):
        await Repository.import_from(tmp_path / "p.git", str(clone.folder))


async def test_a_source_without_a_commit_is_told_apart(tmp_path: Path) -> None:
    empty = await new_clone(tmp_path / "work")
    with pytest.raises(EmptySource, match="has no commit"):
        await Repository.import_from(tmp_path / "p.git", str(empty.folder))
    assert names(tmp_path) == ["work"]


async def test_a_folder_that_is_no_repository_is_told_so(tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    with pytest.raises(NotARepository, match="does not appear to be a git repository"):
        await Repository.import_from(tmp_path / "p.git", str(tmp_path / "plain"))
    with pytest.raises(NotARepository, match="not a folder"):
        await Repository.import_from(tmp_path / "p.git", str(tmp_path / "absent"))


async def test_a_shallow_source_is_refused_with_the_command_that_completes_it(
    clone: Clone, tmp_path: Path
) -> None:
    await clone.commit("Two", {"a.txt": "2"})
    await sh("git", "clone", "--quiet", "--depth=1", clone.folder.as_uri(), "shallow", cwd=tmp_path)
    with pytest.raises(NotARepository, match="--unshallow"):
        await Repository.import_from(tmp_path / "p.git", str(tmp_path / "shallow"))


@pytest.mark.parametrize(
    "source",
    [
        "",
        "ext::sh -c touch% pwned",
        "fd::17",
        "--upload-pack=touch pwned",
        "-oProxyCommand=x",
        "ssh://-oProxyCommand=touch/x",
        "ftp://example.com/x",
        "git@example.com:x.git",
        "https://exa mple.com/x",
        "https://example.com/x\n",
    ],
)
async def test_a_source_that_could_run_something_or_is_no_address_is_refused(
    tmp_path: Path, source: str
) -> None:
    with pytest.raises(SourceRefused, match="give a folder"):
        await Repository.import_from(tmp_path / "p.git", source)
    assert names(tmp_path) == []


async def test_a_password_in_an_address_never_comes_back_in_a_message(tmp_path: Path) -> None:
    with pytest.raises(NotARepository) as caught:
        await Repository.import_from(tmp_path / "p.git", "http://ana:s3cret@127.0.0.1:9/x.git", rules=OPEN)
    assert "s3cret" not in str(caught.value)


async def test_a_killed_import_leaves_no_half_repository(clone: Clone, tmp_path: Path) -> None:
    program = (
        "import asyncio, os, signal, sys; from pathlib import Path; from storage.git import importing\n"
        "async def die(*_): os.kill(os.getpid(), signal.SIGKILL)\n"
        "importing._fetch = die\n"
        "asyncio.run(importing.import_repository(Path(sys.argv[1]), sys.argv[2], None))\n"
    )
    ran = await sh(
        *(sys.executable, "-c", program, str(tmp_path / "p.git"), str(clone.folder)),
        cwd=Path(__file__).parents[3],
    )
    assert ran.code == -9, ran.err
    assert not (tmp_path / "p.git").exists()
    await Repository.import_from(tmp_path / "p.git", str(clone.folder))


async def test_a_ref_moves_only_from_the_value_the_caller_saw(repo: Repository, clone: Clone) -> None:
    first = await repo.head("refs/heads/main")
    assert first is not None
    second = await repo.begin_line("other", "Other", ANA)
    await repo.update_ref("refs/heads/main", second, first)
    with pytest.raises(StaleRef) as caught:
        await repo.update_ref("refs/heads/main", second, first)
    assert (caught.value.expected, caught.value.actual) == (first, second)
    assert await repo.head("refs/heads/main") == second


async def test_create_and_delete_refuse_what_is_not_as_expected(repo: Repository) -> None:
    head = await repo.head("refs/heads/main")
    assert head is not None
    await repo.create_ref(INTENT, head)
    with pytest.raises(StaleRef):
        await repo.create_ref(INTENT, head)
    await repo.delete_ref(INTENT, head)
    assert await repo.head(INTENT) is None
    with pytest.raises(StaleRef):
        await repo.delete_ref(INTENT, head)


async def test_several_refs_move_together_or_not_at_all(repo: Repository) -> None:
    main = await repo.head("refs/heads/main")
    assert main is not None
    other = await repo.begin_line("other", "Other", ANA)
    good = RefChange(ref="refs/heads/main", old=main, new=other)
    with pytest.raises(StaleRef):
        await repo.update_refs([good, RefChange(ref="refs/gitring/accepted/chg_1", old=other, new=main)])
    assert await repo.head("refs/heads/main") == main
    await repo.update_refs([good, RefChange(ref="refs/gitring/accepted/chg_1", old=None, new=main)])
    assert await repo.head("refs/gitring/accepted/chg_1") == main
    assert await repo.head("refs/heads/main") == other


async def test_a_ref_is_never_moved_to_a_commit_that_is_not_there(repo: Repository) -> None:
    head = await repo.head("refs/heads/main")
    assert head is not None
    with pytest.raises(GitFailed):
        await repo.update_ref("refs/heads/main", CommitId("1" * 40), head)
    assert await repo.head("refs/heads/main") == head


async def test_intent_refs_are_listed_by_intent(repo: Repository) -> None:
    head = await repo.head("refs/heads/main")
    assert head is not None
    assert await repo.intent_refs() == {}
    await repo.create_ref(INTENT, head)
    assert await repo.intent_refs() == {"int_01JBQ8M4ZK7V3XW9N2D5HT6RYE": head}


@pytest.mark.parametrize(
    "name", ["main", "HEAD", "--all", "refs", "refs/heads/../x", "refs/heads/a\nb", "refs//x"]
)
async def test_only_full_refs_reach_git(repo: Repository, name: str) -> None:
    with pytest.raises(BadName):
        await repo.head(name)


@pytest.mark.parametrize("name", ["HEAD", "--all", "abc", "A" * 40, "0" * 41, "main"])
async def test_only_full_commit_ids_reach_git(repo: Repository, name: str) -> None:
    with pytest.raises(BadName):
        await repo.tree_of(name)  # type: ignore[arg-type]


async def test_ancestry_is_answered(repo: Repository, clone: Clone) -> None:
    first = await repo.head("refs/heads/main")
    assert first is not None
    second = CommitId(await clone.commit("Two", {"a.txt": "2"}))
    await repo.git("fetch", "--quiet", str(clone.folder), "main")
    stranger = await repo.begin_line("stranger", "Alone", ANA)
    assert await repo.is_ancestor(first, second)
    assert await repo.is_ancestor(first, first)
    assert not await repo.is_ancestor(second, first)
    assert await repo.merge_base(second, first) == first
    assert await repo.merge_base(second, stranger) is None
    assert await repo.commit_exists(second)
    assert not await repo.commit_exists(CommitId("1" * 40))
    assert not await repo.commit_exists(CommitId(await repo.tree_of(first)))


async def test_what_a_push_brings_is_told_from_what_was_there(repo: Repository, clone: Clone) -> None:
    one = await clone.commit("Secret", {"key.txt": "hunter2", "a.txt": "changed"})
    (clone.folder / "key.txt").unlink()
    two = await clone.commit("Take it out again", {})
    await repo.git("fetch", "--quiet", str(clone.folder), "main")
    tip = CommitId(two)
    assert await repo.new_commits(tip) == (two, one)
    blobs = await repo.new_blobs(tip)
    assert sorted(blob.path for blob in blobs) == ["a.txt", "key.txt"]
    assert b"hunter2" in (await repo.read_blobs([blob.id for blob in blobs], 100)).values()
    assert await repo.new_commits(tip, known=[tip]) == ()


async def test_no_blob_of_a_push_hides_behind_a_line_break_in_its_name(
    repo: Repository, clone: Clone
) -> None:
    contents = {"\nfirst": b"1", "mid\ndle": b"2", "Icon\r": b"3", "a\rb c.txt": b"4", "plain": b"5"}
    tip = CommitId(await clone.commit("Odd names", dict(contents)))
    await repo.git("fetch", "--quiet", str(clone.folder), "main")
    blobs = await repo.new_blobs(tip)
    assert sorted((await repo.read_blobs([blob.id for blob in blobs], 100)).values()) == sorted(
        contents.values()
    )
    assert sorted(blob.path for blob in blobs) == ["", "Icon\r", "a\rb c.txt", "mid", "plain"]


async def test_tidying_packs_everything_and_loses_nothing(repo: Repository, clone: Clone) -> None:
    loose = await clone.commit("Loose", {"c.txt": "c"})
    await repo.git("fetch", "--quiet", str(clone.folder), "main:refs/heads/loose")
    await repo.tidy()
    counted = dict(
        row.split(": ") for row in (await repo.git("count-objects", "-v")).stdout.decode().splitlines()
    )
    assert counted["count"] == "0"
    assert await repo.head("refs/heads/loose") == loose
    await repo.git("fsck", "--strict")


async def test_tidying_removes_what_a_killed_push_left_long_ago(repo: Repository) -> None:
    old, young = repo.path / "objects/tmp_objdir-incoming-a", repo.path / "objects/tmp_objdir-incoming-b"
    for folder in (old, young):
        os.mkdir(folder)
    os.utime(old, (1, 1))
    await repo.tidy()
    assert [name for name in os.listdir(repo.path / "objects") if name.startswith("tmp_")] == [young.name]


async def test_a_lock_that_a_killed_git_left_behind_stops_one_try_and_no_more(
    repo: Repository, clone: Clone
) -> None:
    head = CommitId(await clone.git("rev-parse", "main"))
    lock = repo.path / "refs" / "heads" / "side.lock"
    lock.touch()
    with pytest.raises(GitFailed):
        await repo.create_ref("refs/heads/side", head)
    assert lock.exists(), "a lock of this moment is somebody's"
    os.utime(lock, (0, 0))
    with pytest.raises(GitFailed):
        await repo.create_ref("refs/heads/side", head)
    await repo.create_ref("refs/heads/side", head)
