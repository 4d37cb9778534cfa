from pathlib import Path

import pytest

from protocol.ids import CommitId
from storage.git.commits import Signature
from storage.git.errors import GitFailed
from storage.git.merge import AlreadyThere, Conflicted, Member, Merged, merge_chain, merge_commit
from storage.git.repository import Repository
from tests.storage.git.conftest import bring
from tests.storage.git.work import Clone

ANA = Signature(name="Ana Ruiz", email="ana@example.com", at=1_700_000_000)
SERVER = Signature(name="gitring", email="gitring@localhost", at=1_700_000_500)


def member(work: str, message: str = "Merge #49") -> Member:
    return Member(work=CommitId(work), message=message, author=ANA, committer=SERVER)


async def on_branch(clone: Clone, name: str, files: dict[str, str | bytes], start: str = "main") -> str:
    await clone.branch(name, start)
    return await clone.commit(name, files)


async def main_of(repo: Repository) -> CommitId:
    head = await repo.head("refs/heads/main")
    assert head is not None
    return head


async def test_a_merge_has_both_parents_both_changes_and_the_words_it_was_given(
    repo: Repository, clone: Clone
) -> None:
    work = await on_branch(clone, "work", {"src/b.txt": "changed\n"})
    await clone.git("switch", "--quiet", "main")
    line = CommitId(await clone.commit("Line moved", {"a.txt": "line\n"}))
    await bring(repo, clone)
    outcome = await merge_commit(repo, line, member(work, "Merge #49: a title\n\nwith a body"))
    assert isinstance(outcome, Merged)
    assert await repo.tree_of(outcome.commit) == outcome.tree
    raw = (await repo.git("cat-file", "commit", outcome.commit)).stdout.decode()
    assert raw == (
        f"tree {outcome.tree}\nparent {line}\nparent {work}\n"
        "author Ana Ruiz <ana@example.com> 1700000000 +0000\n"
        "committer gitring <gitring@localhost> 1700000500 +0000\n"
        "\nMerge #49: a title\n\nwith a body\n"
    )
    assert await repo.read_file(outcome.commit, "a.txt", 100) == b"line\n"
    assert await repo.read_file(outcome.commit, "src/b.txt", 100) == b"changed\n"
    assert await main_of(repo) == line


async def test_the_same_merge_is_the_same_commit_in_another_repository(
    repo: Repository, clone: Clone, tmp_path: Path
) -> None:
    main = await main_of(repo)
    work = await on_branch(clone, "work", {"a.txt": "changed\n"})
    await bring(repo, clone)
    other = await Repository.import_from(tmp_path / "other.git", str(clone.folder))
    assert await merge_commit(repo, main, member(work)) == await merge_commit(other, main, member(work))


async def test_names_and_messages_cannot_forge_parts_of_a_commit(repo: Repository, clone: Clone) -> None:
    work = await on_branch(clone, "work", {"a.txt": "changed\n"})
    await bring(repo, clone)
    forger = Signature(name="Eve> 1 +0000\nparent x <", email="<eve@x>\n", at=7)
    made = await merge_commit(
        repo,
        await main_of(repo),
        Member(
            work=CommitId(work),
            message="a\0b\nparent y",
            author=forger,
            committer=Signature(name=" ", email="", at=7),
        ),
    )
    assert isinstance(made, Merged)
    raw = (await repo.git("cat-file", "commit", made.commit)).stdout.decode()
    head, body = raw.split("\n\n", 1)
    assert [row.split(" ")[0] for row in head.splitlines()] == [
        "tree",
        "parent",
        "parent",
        "author",
        "committer",
    ]
    assert "author Eve 1 +0000 parent x <eve@x> 7 +0000" in head
    assert "committer unknown <> 7 +0000" in head
    assert body == "ab\nparent y\n"
    await repo.git("fsck", "--strict", made.commit)


async def test_a_conflict_names_its_files_and_moves_nothing(repo: Repository, clone: Clone) -> None:
    work = await on_branch(clone, "work", {"a.txt": "mine\n", "ü\n.txt": "mine", "fine.txt": "x"})
    await clone.git("switch", "--quiet", "main")
    line = CommitId(await clone.commit("Line", {"a.txt": "theirs\n", "ü\n.txt": "theirs"}))
    await bring(repo, clone)
    outcome = await merge_commit(repo, line, member(work))
    assert isinstance(outcome, Conflicted)
    assert sorted(outcome.paths) == ["a.txt", "ü\n.txt"]
    assert [text.split(":")[0] for text in outcome.messages] == ["CONFLICT (content)", "CONFLICT (add/add)"]


async def test_a_file_deleted_on_one_side_and_changed_on_the_other_conflicts(
    repo: Repository, clone: Clone
) -> None:
    work = await on_branch(clone, "work", {"a.txt": "mine\n"})
    await clone.git("switch", "--quiet", "main")
    await clone.git("rm", "--quiet", "a.txt")
    line = CommitId(await clone.commit("Delete", {}))
    await bring(repo, clone)
    outcome = await merge_commit(repo, line, member(work))
    assert isinstance(outcome, Conflicted)
    assert outcome.paths == ("a.txt",)
    assert "modify/delete" in outcome.messages[0]


async def test_a_rename_on_one_side_carries_the_change_of_the_other(repo: Repository, clone: Clone) -> None:
    work = await on_branch(clone, "work", {"a.txt": "one\ntwo\nthree\nfour\n"})
    await clone.git("switch", "--quiet", "main")
    await clone.git("mv", "a.txt", "moved.txt")
    line = CommitId(await clone.commit("Move", {}))
    await bring(repo, clone)
    outcome = await merge_commit(repo, line, member(work))
    assert isinstance(outcome, Merged)
    assert [entry.path for entry in await repo.list_tree(outcome.commit)] == ["moved.txt", "src/b.txt"]
    assert await repo.read_file(outcome.commit, "moved.txt", 100) == b"one\ntwo\nthree\nfour\n"


async def test_unrelated_work_is_a_conflict_in_words(repo: Repository, clone: Clone) -> None:
    await clone.git("switch", "--quiet", "--orphan", "alone")
    work = await clone.commit("Alone", {"z.txt": "z"})
    await bring(repo, clone)
    outcome = await merge_commit(repo, await main_of(repo), member(work))
    assert isinstance(outcome, Conflicted)
    assert outcome.paths == ()
    assert "shares no commit" in outcome.messages[0]


async def test_a_conflict_of_submodules_is_told_like_any_other(repo: Repository, clone: Clone) -> None:
    async def moved(branch: str, start: str, to: str) -> str:
        await clone.branch(branch, start)
        await clone.git("update-index", "--add", "--cacheinfo", f"160000,{to * 40},lib")
        await clone.git("commit", "--quiet", "--message", branch)
        return await clone.git("rev-parse", "HEAD")

    await moved("with-lib", "main", "1")
    line, work = await moved("line", "with-lib", "2"), await moved("work", "with-lib", "3")
    await bring(repo, clone)
    outcome = await merge_commit(repo, CommitId(line), member(work))
    assert isinstance(outcome, Conflicted)
    assert outcome.paths == ("lib",)
    assert outcome.messages[-1] == "CONFLICT (submodule): Merge conflict in lib"


async def test_a_file_where_the_line_has_a_folder_is_named_as_its_agent_knows_it(
    repo: Repository, clone: Clone
) -> None:
    work = await on_branch(clone, "work", {"place": "a file\n"})
    line = await on_branch(clone, "line", {"place/inside.txt": "a folder\n"})
    await bring(repo, clone)
    outcome = await merge_commit(repo, CommitId(line), member(work))
    assert isinstance(outcome, Conflicted)
    assert outcome.paths == ("place",)


async def test_a_folder_split_in_two_under_a_new_file_is_named_although_no_file_conflicts(
    repo: Repository, clone: Clone
) -> None:
    start = await on_branch(clone, "docs", {f"docs/{n}.txt": f"{n}\n" * 9 for n in range(2)})
    line = await on_branch(clone, "line", {"docs/new.txt": "new\n"}, start)
    await clone.branch("work", start)
    for n in range(2):
        (clone.folder / f"docs-{n}").mkdir()
        await clone.git("mv", f"docs/{n}.txt", f"docs-{n}/{n}.txt")
    work = await clone.commit("Split", {})
    await bring(repo, clone)
    outcome = await merge_commit(repo, CommitId(line), member(work))
    assert isinstance(outcome, Conflicted)
    assert outcome.paths == ("docs",)


async def test_work_the_line_contains_is_already_there(repo: Repository, clone: Clone) -> None:
    old = await main_of(repo)
    line = CommitId(await clone.commit("Line", {"a.txt": "line\n"}))
    await bring(repo, clone)
    assert await merge_commit(repo, line, member(old)) == AlreadyThere(commit=line)
    assert await merge_commit(repo, line, member(line)) == AlreadyThere(commit=line)


async def test_work_that_changes_nothing_but_is_not_on_the_line_is_still_merged(
    repo: Repository, clone: Clone
) -> None:
    main = await main_of(repo)
    work = await on_branch(clone, "work", {})
    await bring(repo, clone)
    outcome = await merge_commit(repo, main, member(work))
    assert isinstance(outcome, Merged)
    assert outcome.tree == await repo.tree_of(main)
    assert await repo.is_ancestor(CommitId(work), outcome.commit)


async def test_a_missing_commit_is_a_failure_and_not_a_conflict(repo: Repository) -> None:
    with pytest.raises(GitFailed):
        await merge_commit(repo, await main_of(repo), member("1" * 40))


async def test_a_chain_leaves_out_the_member_that_conflicts_and_goes_on(
    repo: Repository, clone: Clone
) -> None:
    main = await main_of(repo)
    works = [
        await on_branch(clone, "one", {"a.txt": "1\n"}),
        await on_branch(clone, "two", {"a.txt": "2\n"}),
        await on_branch(clone, "three", {"c.txt": "3\n"}),
        await on_branch(clone, "four", {"d.txt": "4\n"}, start="three"),
    ]
    await bring(repo, clone)
    members = [member(work, f"Merge {number}") for number, work in enumerate([*works, works[2]])]
    chain = await merge_chain(repo, main, members)
    assert [outcome.kind for outcome in chain.outcomes] == [
        "merged",
        "conflicted",
        "merged",
        "merged",
        "already_there",
    ]
    one, _, _, last, there = chain.outcomes
    assert isinstance(one, Merged) and isinstance(last, Merged) and isinstance(there, AlreadyThere)
    assert chain.head == last.commit == there.commit
    firsts = await repo.git("rev-list", "--first-parent", "--count", f"{main}..{chain.head}")
    assert firsts.stdout == b"3\n"
    assert [e.path for e in await repo.list_tree(chain.head)] == ["a.txt", "c.txt", "d.txt", "src/b.txt"]


async def test_a_chain_equals_its_members_merged_one_by_one(repo: Repository, clone: Clone) -> None:
    main = await main_of(repo)
    works = [await on_branch(clone, f"w{n}", {f"w{n}.txt": "x"}) for n in range(4)]
    await bring(repo, clone)
    head = main
    for work in works:
        outcome = await merge_commit(repo, head, member(work))
        assert isinstance(outcome, Merged)
        head = outcome.commit
    assert (await merge_chain(repo, main, [member(work) for work in works])).head == head


async def test_an_empty_chain_stays_where_it_is(repo: Repository) -> None:
    main = await main_of(repo)
    chain = await merge_chain(repo, main, [])
    assert (chain.head, chain.outcomes) == (main, ())
