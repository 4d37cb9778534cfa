"""Which lines changed, by files that git itself compares."""

import pytest

from protocol.ids import CommitId
from storage.git.errors import OutputTooLarge
from storage.git.hunks import ChangedLines, changed_lines
from storage.git.repository import Repository
from tests.storage.git.conftest import bring
from tests.storage.git.work import Clone

LIMIT = 1_000_000


async def between(clone: Clone, repo: Repository, files: dict[str, str], *paths: str, limit: int = LIMIT):
    """The changed lines of `paths` after a commit of `files`, in the order of the paths."""
    base = CommitId(await clone.git("rev-parse", "HEAD"))
    head = CommitId(await clone.commit("Change", files))
    await bring(repo, clone)
    found = await changed_lines(repo, base, head, paths, limit)
    blobs = {one.path: (one.old_blob, one.blob) for one in await repo.changed_paths(base, head)}
    return [found.get(blobs[path]) for path in paths]


async def test_lines_that_went_and_lines_that_came_are_counted_from_one(clone, repo):
    assert await between(clone, repo, {"a.txt": "one\n2\nthree\nfour\n"}, "a.txt") == [
        ChangedLines([(2, 2)], [(2, 2), (4, 4)])
    ]


async def test_blank_lines_are_left_out(clone, repo):
    assert await between(clone, repo, {"a.txt": "one\n\n  \nnew\n\nnewer\ntwo\nthree\n"}, "a.txt") == [
        ChangedLines([], [(4, 4), (6, 6)])
    ]


async def test_content_that_looks_like_a_patch_is_content(clone, repo):
    await clone.commit(
        "Patch", {"p.txt": "-- a/x\n@@ -1 +1 @@\nindex " + "0" * 40 + ".." + "1" * 40 + "\nend"}
    )
    forged = (
        "++ b/x\ndiff --git a/a.txt b/a.txt\n@@ -1,9 +1,9 @@\nindex " + "2" * 40 + ".." + "3" * 40 + "\nend\n"
    )
    assert await between(clone, repo, {"p.txt": forged, "a.txt": "1\ntwo\nthree\n"}, "p.txt", "a.txt") == [
        ChangedLines([(1, 4)], [(1, 5)]),
        ChangedLines([(1, 1)], [(1, 1)]),
    ]


async def test_odd_names_are_names(clone, repo):
    names = ["é ü.txt", "a\nb.txt", ":(top)x", "*", 'q"uote']
    await clone.commit("Names", dict.fromkeys(names, "1\n") | {"other": "1\n"})
    found = await between(clone, repo, dict.fromkeys(names, "2\n") | {"other": "3\n"}, *names)
    assert found == [ChangedLines([(1, 1)], [(1, 1)])] * len(names)


async def test_two_files_of_the_same_contents_have_the_same_lines(clone, repo):
    await clone.commit("Twins", {"x": "1\n2\n", "y": "1\n2\n"})
    assert (
        await between(clone, repo, {"x": "1\n3\n", "y": "1\n3\n"}, "x", "y")
        == [ChangedLines([(2, 2)], [(2, 2)])] * 2
    )


async def test_attributes_do_not_hide_a_change(clone, repo):
    await clone.commit("Attributes", {".gitattributes": "*.txt binary\n"})
    assert await between(clone, repo, {"a.txt": "1\ntwo\nthree\n"}, "a.txt") == [
        ChangedLines([(1, 1)], [(1, 1)])
    ]


async def test_no_path_asks_for_nothing(clone, repo):
    head = CommitId(await clone.git("rev-parse", "HEAD"))
    assert await changed_lines(repo, head, head, [], LIMIT) == {}


async def test_a_patch_past_the_limit_is_refused(clone, repo):
    with pytest.raises(OutputTooLarge):
        await between(clone, repo, {"a.txt": "x\n" * 1_000}, "a.txt", limit=500)
