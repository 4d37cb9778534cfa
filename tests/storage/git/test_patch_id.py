"""A patch keeps its id through a clean rebase and gets another with any change; and what a merge takes back."""

from protocol.ids import CommitId
from storage.git.patch_id import hashed, patch_id
from storage.git.repository import Repository
from storage.git.undone import taken_back
from tests.storage.git.conftest import bring
from tests.storage.git.work import Clone


async def commit(clone: Clone, files: dict[str, str | bytes]) -> CommitId:
    return CommitId(await clone.commit("Change", files))


async def test_a_clean_rebase_keeps_the_patch_and_a_blank_more_does_not(
    repo: Repository, clone: Clone
) -> None:
    text = "".join(f"line {n}\n" for n in range(40))
    base = await commit(clone, {"a.py": text, "b.py": "b\n"})
    await clone.branch("mine")
    mine = await commit(clone, {"a.py": text.replace("line 30", "mine")})
    await clone.branch("other", "main")
    moved = await commit(clone, {"a.py": "new first\n" + text, "b.py": "other\n"})
    rebased = await commit(clone, {"a.py": "new first\n" + text.replace("line 30", "mine")})
    await clone.branch("indented", moved)
    indented = await commit(clone, {"a.py": "new first\n" + text.replace("line 30", " mine")})
    await bring(repo, clone)
    before = await patch_id(repo, base, mine)
    assert before == await patch_id(repo, moved, rebased)
    assert before != await patch_id(repo, moved, indented)


async def test_modes_and_binary_contents_count(repo: Repository, clone: Clone) -> None:
    base = await commit(clone, {"a.bin": b"\0one"})
    await clone.branch("two")
    heads = [await commit(clone, {"a.bin": b"\0two"}), await commit(clone, {"a.bin": b"\0three"})]
    await clone.branch("mode", "main")
    await clone.git("update-index", "--chmod=+x", "a.bin")
    await clone.git("commit", "--quiet", "--message", "mode")
    heads.append(CommitId(await clone.git("rev-parse", "HEAD")))
    await bring(repo, clone)
    assert len({await patch_id(repo, base, head) for head in heads}) == 3


def test_a_line_that_looks_like_a_header_counts_and_line_numbers_do_not() -> None:
    one = b"@@ -1 +1 @@ def f\n--- a\n+index 12..34\n"
    assert hashed(one) != hashed(one.replace(b"+index 12..34", b"+index 12..35"))
    assert hashed(one) == hashed(one.replace(b"-1 +1", b"-9 +9"))


async def test_a_merge_that_keeps_an_old_copy_takes_back_the_landing(repo: Repository, clone: Clone) -> None:
    base = await commit(clone, {"tax.py": "rate = 1\nother = 2\n", "mine.py": "mine = 1\n"})
    landed = await commit(clone, {"tax.py": "rate = 7\nother = 2\n"})
    stale = await commit(clone, {"tax.py": "rate = 1\nother = 2\n", "mine.py": "mine = 2\n"})
    await bring(repo, clone)
    found = await taken_back(repo, since=base, onto=landed, merged=stale, paths=["tax.py"])
    assert found == (landed, ["tax.py"])
    assert await taken_back(repo, since=base, onto=landed, merged=stale, paths=["mine.py"]) is None
    assert await taken_back(repo, since=landed, onto=landed, merged=stale, paths=["tax.py"]) is None


async def test_a_further_change_of_what_landed_is_no_undoing(repo: Repository, clone: Clone) -> None:
    base = await commit(clone, {"tax.py": "rate = 1\n"})
    landed = await commit(clone, {"tax.py": "rate = 7\n"})
    further = await commit(clone, {"tax.py": "rate = 8\n"})
    await bring(repo, clone)
    assert await taken_back(repo, since=base, onto=landed, merged=further, paths=["tax.py"]) is None


async def test_deleting_what_landed_takes_it_back_whatever_the_file_is_called(
    repo: Repository, clone: Clone
) -> None:
    name = "dir with blank/\u00e4 *.py"
    base = await commit(clone, {"a.py": "a\n"})
    landed = await commit(clone, {name: "added by another\n"})
    (clone.folder / name).unlink()
    gone = await commit(clone, {})
    await bring(repo, clone)
    found = await taken_back(repo, since=base, onto=landed, merged=gone, paths=[name])
    assert found == (landed, [name])
