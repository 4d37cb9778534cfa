"""Folders shaped like a repository, and names of `.git`, in the list of a tree's files."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules.planted import TreeFile, has_core, plain_name, planted_in

FILE, PROGRAM, LINK, SUBMODULE = "100644", "100755", "120000", "160000"


def tree(*paths: str, **modes: str) -> list[TreeFile]:
    """Files in git's order; `modes` holds the odd ones, by their last name."""
    return [TreeFile(p, modes.get(p.rpartition("/")[2], FILE), f"id of {p}") for p in sorted(paths)]


BARE = ("x/HEAD", "x/objects/info/a", "x/refs/keep")


@pytest.mark.parametrize(
    ("files", "folder"),
    [
        (tree(*BARE), "x"),
        (tree("HEAD", "objects/a", "refs/a", "src/main.py"), ""),
        (tree(*(f"tests/data/{path}" for path in BARE), "README"), "tests/data/x"),
        (tree("x/head", "x/Objects/a", "x/REFS/a"), "x"),
        (tree("X/HEAD", "x/objects/a", "x/refs/a"), "X"),
        (tree("x/HEAD.", "x/objects /a", "x/refs/a"), "x"),
        (tree("x/HE\u200cAD", "x/objects/a", "x/ref\u017f/a"), "x"),
        (tree("x\\HEAD", "x\\objects\\a", "x\\refs\\a"), "x"),
        (tree("x/HEAD", "x/objects", "x/refs", HEAD=LINK, objects=LINK, refs=LINK), "x"),
        (tree("x/HEAD", "x/objects", "x/refs", objects=SUBMODULE, refs=PROGRAM), "x"),
        (tree("x/HEAD", "x/commondir"), "x"),
        (tree("x/HEAD", "x/config", config=LINK), "x"),
    ],
)
def test_a_folder_shaped_like_a_bare_repository_is_named(files: list[TreeFile], folder: str) -> None:
    assert planted_in(files) == (None, folder, [])


@pytest.mark.parametrize(
    "files",
    [
        tree("x/HEAD", "x/objects/a", "refs/a"),
        tree("x/HEAD/a", "x/objects/a", "x/refs/a"),
        tree("x/HEAD", "x/objects/a", "x/refs/a", HEAD=SUBMODULE),
        tree("x/HEADER", "x/objects/a", "x/refs/a"),
        tree("x/objects/a", "x/refs/a", "x/config", "x/commondir"),
        tree("src/objects/HEAD", "src/refs.py", "config"),
        tree("x/HEAD", "x/config", config=SUBMODULE),
        tree(".github/workflows/ci.yml", ".gitignore", ".gitattributes", ".gitmodules", "a.git/readme"),
        tree("fixtures/repo.tar.gz"),
        [],
    ],
)
def test_other_folders_are_let_through(files: list[TreeFile]) -> None:
    assert planted_in(files) == (None, None, [])


def test_each_config_beside_a_head_is_to_be_read() -> None:
    files = tree("a/HEAD", "a/config", "a/CONFIG", "b/config", "c/d/HEAD", "c/d/config", "config")
    assert planted_in(files).configs == [
        ("a", "id of a/CONFIG"),
        ("a", "id of a/config"),
        ("c/d", "id of c/d/config"),
    ]


@pytest.mark.parametrize(
    ("config", "has"),
    [
        (b"[core]\n\tbare = true\n", True),
        (b"# mine\n[user] name = x [CORE]fsmonitor=run", True),
        (b'[core "x"]', True),
        (b"\xef\xbb\xbf[ core ]", True),
        (b"[corelib]\nname = x\n", False),
        (b"core = 1\n[section]\n", False),
    ],
)
def test_a_config_is_a_repositorys_when_it_has_a_core_section(config: bytes, has: bool) -> None:
    assert has_core(config) is has


@pytest.mark.parametrize(
    ("path", "named"),
    [
        ("a/.git", "a/.git"),
        ("a/.git/config", "a/.git"),
        (".GIT/hooks/x", ".GIT"),
        ("a/b/git~1/config", "a/b/git~1"),
        ("a/GIT~1", "a/GIT~1"),
        ("a/.git. ./config", "a/.git. ."),
        ("a/.git /x", "a/.git "),
        ("a/.g\u200cit/x", "a/.g\u200cit"),
        ("a/\ufeff.git", "a/\ufeff.git"),
        ("a/.git::$INDEX_ALLOCATION/x", "a/.git::$INDEX_ALLOCATION"),
        ("a\\.git\\config", "a\\.git"),
    ],
)
def test_a_name_that_some_system_reads_as_git_is_named(path: str, named: str) -> None:
    assert planted_in(tree("README", path)) == (named, None, [])


NAMES = st.sampled_from(["HEAD", "objects", "refs", "config", "src", "a", "x.py", "Head", "repo"])
PATHS = st.lists(NAMES, min_size=1, max_size=5).map("/".join)


@given(st.lists(PATHS, max_size=12, unique=True))
def test_what_is_found_is_what_the_definition_says(paths: list[str]) -> None:
    """The definition, slowly: in some folder a file named HEAD, and something below or at objects and refs."""
    plain = [tuple(plain_name(name) for name in path.split("/")) for path in paths]
    folders = {path[:depth] for path in plain for depth in range(len(path))}

    def holds(folder: tuple[str, ...], name: str) -> bool:
        return any(path[: len(folder) + 1] == (*folder, name) for path in plain)

    expected = any((*f, "head") in plain and holds(f, "objects") and holds(f, "refs") for f in folders)
    assert (planted_in(tree(*paths)).bare is not None) is expected


def test_a_very_deep_path_costs_no_more_than_its_length() -> None:
    deep = "refs/objects/" * 20_000
    assert planted_in([TreeFile(f"{deep}{n}/HEAD", FILE, "") for n in range(20)]) == (None, None, [])
