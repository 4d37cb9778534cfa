"""What pushes hold, judged on real repositories: secrets in any new commit, planted repositories in the head."""

import asyncio
import os
import shutil
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import pytest_asyncio

from gateway.contents import __main__ as entry
from gateway.contents.child import LARGEST_BLOB, MOST_BLOBS
from gateway.contents.refusing import Contents, planted_refusal
from gateway.contents.scanning import Found, Scan, ScanFailed, Scanner
from protocol.ids import CommitId
from storage.git.command import environment
from storage.git.receive import RefUpdate
from storage.git.repository import Repository
from tests.gateway.git_server import INTENT, Story, listening
from tests.gateway.test_git_http import Place
from tests.storage.git.work import Clone, new_clone, sh

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
KEY = "-----BEGIN RSA " + "PRIVATE KEY-----\nMIIEpAIBAAKCAQEA" + "q7Wm" * 12 + "\n"
TO_AMEND = "git commit --amend or git rebase rewrites a commit), rotate the secret, and push again."


@pytest_asyncio.fixture
async def clone(tmp_path: Path) -> Clone:
    made = await new_clone(tmp_path / "work")
    await made.commit("Start", {"a.txt": "one\n", "old.txt": TOKEN})
    return made


@pytest_asyncio.fixture
async def repo(clone: Clone, tmp_path: Path) -> Repository:
    return await Repository.import_from(tmp_path / "repo.git", str(clone.folder))


async def brought(repo: Repository, clone: Clone) -> CommitId:
    """The clone's commits as a push brings them: there, and on no ref."""
    await repo.git("fetch", "--quiet", "--no-write-fetch-head", str(clone.folder), "HEAD")
    return CommitId(await clone.git("rev-parse", "HEAD"))


async def scanned(repo: Repository, clone: Clone) -> Scan:
    return await Scanner().scan(repo, await brought(repo, clone))


async def test_secrets_are_found_in_every_new_commit_and_in_new_files_alone(
    repo: Repository, clone: Clone
) -> None:
    first = await clone.commit("One", {"deploy/config.txt": f"host\nport\n{KEY}", "b.txt": "b\n"})
    await clone.commit(
        "Gone again", {"deploy/config.txt": "host\nport\n", "more/ä b.py": f"x\nt = '{TOKEN}'"}
    )
    second = await clone.git("rev-parse", "HEAD")
    scan = await scanned(repo, clone)
    assert scan.blobs == 4
    assert set(scan.found) == {
        Found(path="deploy/config.txt", line=3, what="a private key", commit=first),
        Found(path="more/ä b.py", line=2, what="a GitHub token", commit=second),
    }
    await repo.create_ref("refs/heads/taken", CommitId(second))
    await clone.commit("Moved", {"again.txt": TOKEN, "c.txt": "c\n"})
    assert await scanned(repo, clone) == Scan(blobs=1)


async def test_a_secret_that_only_a_merge_brings_is_found(repo: Repository, clone: Clone) -> None:
    await clone.branch("side")
    await clone.commit("Side", {"side.txt": "s\n"})
    await clone.git("switch", "--quiet", "main")
    await clone.commit("Main", {"main.txt": "m\n"})
    await clone.git("merge", "--quiet", "--no-commit", "side")
    await clone.commit("Merge", {"evil.txt": f"t: {TOKEN}"})
    scan = await scanned(repo, clone)
    assert scan.found == (Found(path="evil.txt", line=1, what="a GitHub token", commit=None),)


async def test_binary_and_very_large_files_are_skipped(repo: Repository, clone: Clone) -> None:
    filler = b"x" * (LARGEST_BLOB - len(TOKEN) - 1) + b"\n"
    large = filler + TOKEN.encode()
    await clone.commit("Large", {"larger.txt": large + b"\n", "a.bin": b"\0" + TOKEN.encode()})
    assert await scanned(repo, clone) == Scan(blobs=1)
    await clone.commit("Just small enough", {"large.txt": large})
    scan = await scanned(repo, clone)
    assert [(one.path, one.line) for one in scan.found] == [("large.txt", 2)]


async def test_a_file_with_an_odd_name_is_read_too(repo: Repository, clone: Clone) -> None:
    await clone.commit("Odd", {os.fsdecode(b"caf\xe9.txt"): f"t: {TOKEN}", "\nline": f"u: {TOKEN}"})
    scan = await scanned(repo, clone)
    assert sorted(one.path for one in scan.found) == ["?", "caf%E9.txt"]


async def test_a_push_of_too_many_files_is_told_to_come_in_steps(repo: Repository) -> None:
    blobs = b"".join(b"blob\nmark :%d\ndata %d\n%d\n" % (n, len(str(n)), n) for n in range(1, MOST_BLOBS + 2))
    files = b"".join(b"M 100644 :%d f%d/%d\n" % (n, n % 500, n) for n in range(1, MOST_BLOBS + 2))
    commit = b"commit refs/heads/many\ncommitter A <a@b> 1 +0000\ndata 1\nm\n" + files
    await repo.git("fast-import", "--quiet", stdin=blobs + commit)
    head = await repo.target("refs/heads/many")
    assert head is not None
    await repo.git("update-ref", "-d", "refs/heads/many")
    assert await Scanner().scan(repo, head) == Scan(blobs=None)
    refusal = await Contents().refusal(repo, head)
    assert refusal is not None and "in several steps, oldest first" in refusal


async def test_a_scan_that_git_cannot_finish_fails(repo: Repository) -> None:
    with pytest.raises(ScanFailed, match="rev-list ended with code 128"):
        await Scanner().scan(repo, CommitId("1" * 40))


class Stuck:
    """A repository in which git waits for ever for one commit, and tells when it begins and when it is gone."""

    def __init__(self, repo: Repository, folder: Path) -> None:
        self.tip = CommitId("ab" * 20)
        loose = repo.path / "objects" / self.tip[:2] / self.tip[2:]
        loose.parent.mkdir(parents=True)
        os.mkfifo(loose)
        self._socket = folder / "trace"
        self.repo = repo.with_env({"GIT_TRACE2_EVENT": f"af_unix:stream:{self._socket}"})
        self.began, self.gone = asyncio.Event(), asyncio.Event()

    async def _heard(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.began.set()
        await reader.read()
        writer.close()
        self.gone.set()

    @asynccontextmanager
    async def watched(self) -> AsyncIterator[None]:
        async with await asyncio.start_unix_server(self._heard, self._socket):
            yield
            if self.began.is_set():
                async with asyncio.timeout(30):
                    await self.gone.wait()


async def test_a_scan_that_is_cancelled_ends_its_processes(repo: Repository, tmp_path: Path) -> None:
    stuck = Stuck(repo, tmp_path)
    async with stuck.watched():
        scan = asyncio.create_task(Scanner().scan(stuck.repo, stuck.tip))
        await stuck.began.wait()
        scan.cancel()
        with pytest.raises(asyncio.CancelledError):
            await scan


async def test_a_scan_that_takes_too_long_is_given_up(repo: Repository, tmp_path: Path) -> None:
    stuck = Stuck(repo, tmp_path)
    async with stuck.watched():
        assert await Scanner(seconds=1).scan(stuck.repo, stuck.tip) == Scan(blobs=None)


async def test_a_child_ends_itself_and_its_git_when_its_gateway_is_gone(
    repo: Repository, tmp_path: Path
) -> None:
    stuck = Stuck(repo, tmp_path)
    async with stuck.watched():
        child = await asyncio.create_subprocess_exec(
            *(sys.executable, "-I", str(Path(str(entry.__file__)).parent), stuck.tip),
            cwd=repo.path,
            env=environment(stuck.repo.env),
            stdin=PIPE,
            stdout=DEVNULL,
            start_new_session=True,
        )
        await stuck.began.wait()
        assert child.stdin is not None
        child.stdin.close()
        assert await child.wait() == -signal.SIGKILL


SHAPES: dict[str, dict[str, str]] = {
    "bare": {"HEAD": "ref: refs/heads/main\n", "objects/keep": "", "refs/keep": "", "config": "[core]\n"},
    "without a config": {"HEAD": "ref: refs/heads/main\n", "objects/keep": "", "refs/keep": ""},
    "symlinks": {"HEAD": "-> refs/heads/x", "objects": "-> ../src", "refs": "-> ../src"},
    "programs": {"HEAD": "1" * 40, "objects": "+x", "refs": "+x"},
    "commondir": {"HEAD": "1" * 40, "commondir": "../src", "../src/objects/keep": "", "../src/refs/keep": ""},
}


def plant(folder: Path, files: dict[str, str]) -> None:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if content.startswith("-> "):
            path.symlink_to(content[3:])
        else:
            path.write_text(content)
            path.chmod(0o755 if content == "+x" else 0o644)


@pytest.mark.parametrize("shape", SHAPES)
async def test_whatever_git_takes_for_a_repository_is_refused(
    repo: Repository, clone: Clone, tmp_path: Path, shape: str
) -> None:
    (clone.folder / "src").mkdir()
    plant(clone.folder / "x", SHAPES[shape])
    await clone.commit("Planted", {"src/a.txt": "a\n"})
    checkout = tmp_path / "checkout"
    shutil.copytree(clone.folder, checkout, symlinks=True, ignore=shutil.ignore_patterns(".git"))
    taken = await sh("git", "rev-parse", "--git-dir", cwd=checkout / "x")
    assert (taken.code, taken.out.strip()) == (0, "."), taken.err
    refusal = await planted_refusal(repo, await brought(repo, clone))
    assert refusal is not None and refusal.refusal.code == "bare_repository_refused"


async def refused_head(repo: Repository, clone: Clone) -> str | None:
    refusal = await planted_refusal(repo, await brought(repo, clone))
    return refusal.refusal.text if refusal else None


async def test_a_config_with_a_core_section_beside_a_head_is_refused_and_another_is_not(
    repo: Repository, clone: Clone
) -> None:
    await clone.commit("Data", {"data/HEAD": "h\n", "data/config": "[user]\nname = x\n"})
    assert await refused_head(repo, clone) is None
    head = await clone.commit("Core", {"data/config": "[user] name = x\n [Core] pager = x\n"})
    text = await refused_head(repo, clone)
    assert text is not None
    assert text.startswith(
        f"bare_repository_refused: data/ in {head[:12]} is shaped like a bare git repository ("
    )
    assert text.endswith("remove the folder from every commit you push, and push again.")
    await clone.commit("Too large to tell", {"data/config": "# \n" * 30_000})
    assert await refused_head(repo, clone) is not None


async def commit_with(repo: Repository, name: str) -> CommitId:
    """A commit whose tree holds one folder of this name; no porcelain of git would make it."""

    async def made(*args: str, stdin: bytes = b"") -> str:
        who = ("-c", "user.name=Ana", "-c", "user.email=ana@example.com")
        return (await repo.git(*who, *args, stdin=stdin)).stdout.decode().strip()

    blob = await made("hash-object", "-w", "--stdin", stdin=b"x")
    inner = await made("mktree", stdin=f"100644 blob {blob}\tconfig\n".encode())
    outer = await made("mktree", "-z", stdin=f"040000 tree {inner}\t{name}\0".encode())
    return CommitId(await made("commit-tree", "-m", "Odd", outer))


ODD_NAMES = ("git~1", ".g\u200cit", ".GIT", ".git.")


async def test_a_name_of_git_that_git_let_in_is_refused(repo: Repository) -> None:
    for name in ODD_NAMES:
        head = await commit_with(repo, name)
        refusal = await planted_refusal(repo, head)
        assert refusal is not None
        assert f"{name.replace(chr(0x200C), '?')} in {head[:12]} has a name" in refusal.refusal.text


@pytest_asyncio.fixture
async def place(repo: Repository, clone: Clone, tmp_path: Path) -> AsyncIterator[Place]:
    """The project served with its pushes judged by what they hold."""
    story, contents = Story(repo), Contents()

    async def judge(updates: list[RefUpdate], seen: Repository) -> str | None:
        return await contents.refusal(seen, updates[0].new)

    story.judge = judge
    app = story.app(tmp_path / "hooks")
    async with listening(app) as url:
        yield Place(url, story, clone, tmp_path)
        await app.drain()


async def test_a_push_with_a_secret_is_refused_until_no_commit_of_it_holds_the_secret(place: Place) -> None:
    bad = await place.clone.commit("Work", {"deploy/config.txt": f"host\nport\n{KEY}"})
    await place.clone.commit("Remove it", {"deploy/config.txt": "host\nport\n"})
    refused = await place.push()
    said = " ".join(line.removeprefix("remote: ").strip() for line in refused.err.splitlines())
    assert refused.code != 0
    assert "deploy/config.txt line 3 holds what looks like a private key. Remove it from every commit" in said
    assert f"you push ({bad[:12]} brought it; {TO_AMEND}" in said
    assert "MIIEpAIB" not in refused.err
    assert await place.story.moved() == {}
    await place.clone.git("reset", "--quiet", "--soft", "HEAD~2")
    good = await place.clone.commit("Work", {})
    assert (await place.push()).code == 0
    assert await place.story.moved() == {INTENT: good}


async def test_several_secrets_are_named_at_once(place: Place) -> None:
    await place.clone.commit("Work", {"a.py": f"t = '{TOKEN}'\n", "b/c.txt": f"\n{KEY}"})
    said = " ".join((await place.push()).err.replace("remote: ", "").split())
    assert "a.py line 1 holds what looks like a GitHub token" in said
    assert "b/c.txt line 2 holds what looks like a private key" in said
    assert "rotate the secrets, and push again." in said


async def test_a_push_onto_a_planted_repository_is_refused_until_the_folder_is_gone(
    place: Place, repo: Repository
) -> None:
    plant(place.clone.folder / "fixtures" / "repo", SHAPES["bare"])
    await place.clone.commit("Fixture", {})
    await repo.create_ref("refs/heads/taken", await brought(repo, place.clone))
    head = await place.clone.commit("Other work", {"a.txt": "two\n"})
    refused = await place.push()
    assert refused.code != 0
    assert f"bare_repository_refused: fixtures/repo/ in {head[:12]} is shaped like" in refused.err
    assert await place.story.moved() == {}
    await place.clone.git("rm", "-r", "--quiet", "fixtures")
    await place.clone.commit("Without it", {})
    assert (await place.push()).code == 0


@pytest.mark.parametrize("name", ODD_NAMES)
async def test_git_itself_refuses_new_names_of_its_folder(place: Place, name: str) -> None:
    odd = await commit_with(Repository(place.clone.folder / ".git"), name)
    refused = await place.push(what=odd)
    assert refused.code != 0
    assert "hasDotgit" in refused.err
    assert await place.story.moved() == {}
