"""Git over HTTP with git's own client against a real server."""

import asyncio
import gzip
import os
import shlex
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import httpx2
import pytest
import pytest_asyncio
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from protocol.ids import CommitId
from storage.git.receive import RefUpdate
from storage.git.repository import Repository
from tests.gateway.git_server import (
    INTENT,
    PROJECT,
    READ_ONLY,
    TOKEN,
    Story,
    git_processes,
    leftovers,
    listening,
)
from tests.storage.git.work import CLIENT_ENV, Clone, Ran, new_clone, sh

OTHER = "refs/intents/int_01JBQ9A1B3C5D7E9F1G3H5J7K9"
QUIET = {"GIT_TERMINAL_PROMPT": "0", "GIT_ASKPASS": "", "GCM_INTERACTIVE": "never"}


@dataclass
class Place:
    """A served project, and a clone to push from."""

    url: str
    story: Story
    clone: Clone
    folder: Path

    @property
    def remote(self) -> str:
        return f"{self.url}/git/{PROJECT}.git"

    def header(self, token: str = TOKEN) -> dict[str, str]:
        """The environment that hands git its token, as agents set it."""
        return {
            **QUIET,
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": f"http.{self.url}/.extraHeader",
            "GIT_CONFIG_VALUE_0": f"Authorization: Bearer {token}",
        }

    async def push(self, ref: str = INTENT, token: str = TOKEN, what: str = "HEAD") -> Ran:
        return await sh(
            "git", "push", self.remote, f"{what}:{ref}", cwd=self.clone.folder, env=self.header(token)
        )

    async def git(self, *args: str, token: str = TOKEN) -> Ran:
        """git with the token, in a folder beside the clone."""
        return await sh("git", *args, cwd=self.folder, env=self.header(token))


@pytest_asyncio.fixture
async def story(tmp_path: Path) -> Story:
    clone = await new_clone(tmp_path / "work")
    await clone.commit("Start", {"a.txt": "one\n", "src/b.txt": "b\n"})
    return Story(await Repository.import_from(tmp_path / "repo.git", str(clone.folder)))


@pytest_asyncio.fixture
async def place(story: Story, tmp_path: Path) -> AsyncIterator[Place]:
    app = story.app(tmp_path / "hooks")
    async with listening(app) as url:
        yield Place(url, story, Clone(tmp_path / "work"), tmp_path)
        await app.drain()
    assert git_processes(story.repository.path) == []


async def objects_in(repository: Repository) -> list[bytes]:
    return (await repository.git("cat-file", "--batch-all-objects", "--batch-check")).stdout.splitlines()


async def test_the_agents_push_line_pushes_as_it_is_printed(place: Place) -> None:
    head = await place.clone.commit("Work", {"a.txt": "two\n"})
    line = (
        "GIT_TERMINAL_PROMPT=0 GIT_ASKPASS= GCM_INTERACTIVE=never GIT_CONFIG_COUNT=1 "
        f"GIT_CONFIG_KEY_0=http.{place.url}/.extraHeader "
        'GIT_CONFIG_VALUE_0="Authorization: Bearer ${GITRING_GIT_TOKEN:?GITRING_GIT_TOKEN is not set: export the '
        'token gitring_clone returned, on its own line, then run this line}" '
        f"git -c core.askPass= -c credential.interactive=false push {place.remote} HEAD:{INTENT}"
    )
    refused = await sh("sh", "-c", line, cwd=place.clone.folder)
    assert refused.code != 0
    assert "GITRING_GIT_TOKEN is not set" in refused.err
    pushed = await sh("sh", "-c", line, cwd=place.clone.folder, env={"GITRING_GIT_TOKEN": TOKEN})
    assert pushed.code == 0, pushed.err
    assert await place.story.moved() == {INTENT: head}
    expected = RefUpdate.model_validate({"old": "0" * 40, "new": head, "ref": INTENT})
    assert place.story.judged == place.story.recorded == [[expected]]


async def test_the_credential_helper_form_pushes_with_basic_authorization(place: Place) -> None:
    helper = f"!f() {{ echo username=anything; echo password={TOKEN}; }}; f"
    await place.clone.commit("Work", {"a.txt": "two\n"})
    ran = await sh(
        *(
            "git",
            "-c",
            "core.askPass=",
            "-c",
            "credential.interactive=false",
            "-c",
            f"credential.helper={helper}",
        ),
        *("push", place.remote, f"HEAD:{INTENT}"),
        cwd=place.clone.folder,
        env=QUIET,
    )
    assert ran.code == 0, ran.err
    assert place.story.asked[0][1] is None
    assert (place.story.asked[-1][1] or "").startswith("Basic ")
    assert place.story.asked[-1][2] is True


async def test_a_project_is_also_found_by_its_slug(place: Place) -> None:
    ran = await place.git("ls-remote", f"{place.url}/git/storefront.git")
    assert ran.code == 0, ran.err
    assert place.story.asked[-1][0] == "storefront"
    assert place.story.asked[-1][2] is False


async def test_a_push_is_recorded_before_the_pusher_hears_of_success(place: Place) -> None:
    seen: list[dict[str, CommitId]] = []
    release, keeping = asyncio.Event(), asyncio.Event()

    async def keep() -> None:
        seen.append(await place.story.moved())
        keeping.set()
        await release.wait()

    place.story.keep = keep
    head = await place.clone.commit("Work", {"a.txt": "two\n"})
    pushing = asyncio.create_task(place.push())
    await keeping.wait()
    assert seen == [{INTENT: head}]
    assert not pushing.done()
    assert place.story.recorded == []
    release.set()
    assert (await pushing).code == 0
    assert [update.new for update in place.story.recorded[0]] == [head]


async def test_an_amended_commit_replaces_the_intents_own_work(place: Place) -> None:
    first = await place.clone.commit("Work", {"a.txt": "two\n"})
    await place.push()
    await place.clone.git("commit", "--quiet", "--amend", "--message", "Better")
    second = await place.clone.git("rev-parse", "HEAD")
    ran = await place.push(what="+HEAD")
    assert ran.code == 0, ran.err
    assert [(u.old, u.new) for u in place.story.recorded[1]] == [(first, second)]


@pytest.mark.parametrize("size", [3_000_000, 105 * 1024 * 1024], ids=["3 MB", "105 MiB"])
async def test_a_push_too_large_for_one_buffer_arrives_whole(place: Place, size: int) -> None:
    for setting in ("core.compression=0", "core.bigFileThreshold=1m", "core.looseCompression=0"):
        await place.clone.git("config", *setting.split("="))
    head = await place.clone.commit("Data", {"data.bin": os.urandom(size)})
    ran = await place.push()
    assert ran.code == 0, ran.err
    assert await place.story.moved() == {INTENT: head}
    there = await place.story.repository.git("cat-file", "-s", f"{head}:data.bin")
    assert int(there.stdout) == size


async def test_a_push_above_the_servers_limit_is_refused_while_it_arrives(
    story: Story, tmp_path: Path
) -> None:
    before = await objects_in(story.repository)
    async with listening(story.app(tmp_path / "hooks", max_push=200_000)) as url:
        place = Place(url, story, Clone(tmp_path / "work"), tmp_path)
        await place.clone.commit("Data", {"data.bin": os.urandom(6_000_000)})
        ran = await place.push()
    assert ran.code == 1
    assert "pack exceeds maximum allowed size" in ran.err
    assert await objects_in(story.repository) == before
    assert leftovers(story.repository.path) == []


async def test_two_pushes_at_once_to_two_refs_are_each_judged_and_recorded(place: Place) -> None:
    both = asyncio.Barrier(2)

    async def judge(updates: list[RefUpdate], seen: Repository) -> None:
        await both.wait()

    place.story.judge = judge
    head = await place.clone.commit("Work", {"a.txt": "two\n"})
    one, two = await asyncio.gather(place.push(INTENT), place.push(OTHER))
    assert (one.code, two.code) == (0, 0), one.err + two.err
    assert await place.story.moved() == {INTENT: head, OTHER: head}
    assert sorted(updates[0].ref for updates in place.story.recorded) == sorted([INTENT, OTHER])


async def test_of_two_pushes_at_once_to_one_ref_only_the_one_that_moved_it_is_recorded(place: Place) -> None:
    both = asyncio.Barrier(2)

    async def judge(updates: list[RefUpdate], seen: Repository) -> None:
        await both.wait()

    place.story.judge = judge
    one = await place.clone.commit("One", {"a.txt": "1\n"})
    await place.clone.git("branch", "one")
    two = await place.clone.commit("Two", {"a.txt": "2\n"})
    ran = await asyncio.gather(place.push(what="one"), place.push(what="HEAD"))
    assert sorted(r.code for r in ran) == [0, 1], ran
    winner = one if ran[0].code == 0 else two
    assert await place.story.moved() == {INTENT: winner}
    assert [[u.new for u in updates] for updates in place.story.recorded] == [[winner]]


async def test_the_judge_reads_the_pushed_objects_while_they_are_in_quarantine(place: Place) -> None:
    read: list[tuple[bytes | None, bool]] = []

    async def judge(updates: list[RefUpdate], seen: Repository) -> None:
        content = await seen.read_file(updates[0].new, "a.txt", 100)
        read.append((content, await Repository(seen.path).commit_exists(updates[0].new)))

    place.story.judge = judge
    await place.clone.commit("Work", {"a.txt": "secret\n"})
    assert (await place.push()).code == 0
    assert read == [(b"secret\n", False)]


async def test_a_refused_push_shows_why_and_leaves_nothing_behind(place: Place) -> None:
    async def judge(updates: list[RefUpdate], seen: Repository) -> str:
        assert await seen.commit_exists(updates[0].new)
        return f"gitring writes main. Push to {INTENT},\nthen call gitring_submit.\x1b[31m"

    place.story.judge = judge
    before = await objects_in(place.story.repository)
    await place.clone.commit("Work", {"a.txt": "two\n", "big.bin": os.urandom(2_000_000)})
    ran = await place.push("refs/heads/main")
    assert ran.code == 1
    assert f"remote: gitring writes main. Push to {INTENT}," in ran.err
    assert "remote: then call gitring_submit." in ran.err
    assert "\x1b[31m" not in ran.err
    assert "pre-receive hook declined" in ran.err
    assert await objects_in(place.story.repository) == before
    assert leftovers(place.story.repository.path) == []
    assert place.story.recorded == []


async def test_a_push_nobody_could_judge_is_refused(place: Place) -> None:
    async def judge(updates: list[RefUpdate], seen: Repository) -> None:
        raise ConnectionError("the record is away")

    place.story.judge = judge
    await place.clone.commit("Work", {"a.txt": "two\n"})
    ran = await place.push()
    assert ran.code == 1
    assert "Push again in a moment" in ran.err
    assert await place.story.moved() == {}


async def test_a_push_that_could_not_be_recorded_is_no_success(place: Place) -> None:
    async def keep() -> None:
        raise ConnectionError("the record is away")

    place.story.keep = keep
    head = await place.clone.commit("Work", {"a.txt": "two\n"})
    ran = await place.push()
    assert ran.code != 0
    assert "could not record the push yet" in ran.err
    assert await place.story.moved() == {INTENT: head}


async def test_a_move_that_git_never_reported_is_found_and_recorded(place: Place) -> None:
    (place.folder / "hooks" / "post-receive").unlink()
    head = await place.clone.commit("Work", {"a.txt": "two\n"})
    ran = await place.push()
    assert ran.code == 0, ran.err
    assert [update.new for update in place.story.recorded[0]] == [head]


@pytest.mark.parametrize("token", ["gitring_agent_x", "gitring_git_old"])
async def test_a_wrong_token_is_told_so_in_words(place: Place, token: str) -> None:
    await place.clone.commit("Work", {"a.txt": "two\n"})
    ran = await place.push(token=token)
    assert ran.code == 128
    assert "remote: Your git token expired. Call gitring_clone for a new one." in ran.err
    assert "403" in ran.err


async def test_a_helpers_stale_token_is_told_so_in_words(place: Place) -> None:
    helper = "!f() { echo username=x; echo password=gitring_git_old; }; f"
    ran = await sh(
        "git", "-c", f"credential.helper={helper}", "ls-remote", place.remote, cwd=place.folder, env=QUIET
    )
    assert ran.code == 128
    assert "remote: Your git token expired." in ran.err
    assert "Authentication failed" in ran.err


async def test_no_token_at_all_ends_at_once_without_a_prompt(place: Place) -> None:
    ran = await sh("git", "ls-remote", place.remote, cwd=place.folder, env=QUIET)
    assert ran.code == 128
    assert "could not read Username" in ran.err
    async with httpx2.AsyncClient() as client:
        answer = await client.get(f"{place.remote}/info/refs?service=git-upload-pack")
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == 'Basic realm="gitring"'
    assert answer.text == "Call gitring_clone for a git token.\n"


async def test_who_may_only_read_clones_but_does_not_push(place: Place) -> None:
    assert (await place.git("clone", "--quiet", place.remote, "c", token=READ_ONLY)).code == 0
    ran = await place.push(token=READ_ONLY)
    assert ran.code == 128
    assert "remote: You may read this project, not push to it." in ran.err


async def test_a_narrow_clone_fetches_file_contents_only_when_they_are_needed(place: Place) -> None:
    await place.clone.commit("Work", {"docs/long.txt": "long\n"})
    await place.push()
    steps = (
        ("clone", "--quiet", "--filter=blob:none", "--no-checkout", "--sparse", "--", place.remote, "narrow"),
        ("-C", "narrow", "sparse-checkout", "set", "--cone", "--", "src"),
        ("-C", "narrow", "fetch", "--quiet", "origin", f"+{INTENT}:{INTENT}"),
        ("-C", "narrow", "checkout", "--quiet", INTENT),
    )
    for step in steps:
        ran = await place.git(*step)
        assert ran.code == 0, ran.err
    assert (place.folder / "narrow/src/b.txt").read_text() == "b\n"
    missing = await place.git("-C", "narrow", "rev-list", "--objects", "--missing=print", INTENT)
    assert any(row.startswith("?") for row in missing.out.splitlines())
    ran = await place.git("-C", "narrow", "cat-file", "blob", f"{INTENT}:docs/long.txt")
    assert ran.out == "long\n"


async def test_a_shallow_clone_works_and_deepens(place: Place) -> None:
    await place.clone.commit("Two", {"a.txt": "2\n"})
    await place.push()
    assert (await place.git("clone", "--quiet", "--depth=1", place.remote, "s")).code == 0
    ran = await place.git("-C", "s", "fetch", "--quiet", "--depth=1", "origin", INTENT)
    assert ran.code == 0, ran.err
    assert (await place.git("-C", "s", "rev-list", "--count", "FETCH_HEAD")).out.strip() == "1"
    ran = await place.git("-C", "s", "fetch", "--quiet", "--unshallow", "origin", INTENT)
    assert ran.code == 0, ran.err
    assert (await place.git("-C", "s", "rev-list", "--count", "FETCH_HEAD")).out.strip() == "2"


@pytest.mark.parametrize("version", ["0", "2"])
async def test_gitrings_own_refs_are_neither_shown_nor_writable(place: Place, version: str) -> None:
    await place.clone.commit("Accepted", {"a.txt": "accepted\n"})
    await place.push()
    head = (await place.story.moved())[INTENT]
    await place.story.repository.create_ref("refs/gitring/accepted/chg_1", head)
    ran = await place.git("-c", f"protocol.version={version}", "ls-remote", place.remote)
    shown = [row.split("\t")[1] for row in ran.out.splitlines()]
    assert shown == ["HEAD", "refs/heads/main", INTENT]
    ran = await place.push("refs/gitring/accepted/chg_2")
    assert ran.code == 1
    assert "deny updating a hidden ref" in ran.err


async def test_a_negotiation_compressed_with_gzip_is_understood(place: Place) -> None:
    body = b"0014command=ls-refs\n00010009peel\n0000"
    async with httpx2.AsyncClient() as client:
        answer = await client.post(
            f"{place.remote}/git-upload-pack",
            content=gzip.compress(body),
            headers={
                "Authorization": f"Bearer {TOKEN}",
                "Content-Type": "application/x-git-upload-pack-request",
                "Content-Encoding": "gzip",
                "Git-Protocol": "version=2",
            },
        )
    assert answer.status_code == 200
    assert b"refs/heads/main" in answer.content


@pytest.mark.parametrize(
    "path",
    [
        "/git/../etc/passwd",
        "/git/%2e%2e/x.git/info/refs?service=git-upload-pack",
        f"/git/{PROJECT}.git/objects/..",
        f"/git/{PROJECT}.git/objects/info/packs",
        f"/git/{PROJECT}.git/HEAD",
        f"/git/{PROJECT}.git/config",
        f"/git/{PROJECT}.git/info/refs",
        f"/git/{PROJECT}.git/info/refs?service=git-upload-archive",
        f"/git/{PROJECT}.git/info/refs?service=git-upload-pack&x=1",
        f"/git/{PROJECT}.git/info/refs/?service=git-upload-pack",
        f"/git/{PROJECT}.git/git-upload-pack%0a",
        f"/git/{PROJECT}/info/refs?service=git-upload-pack",
        f"/git//{PROJECT}.git/info/refs?service=git-upload-pack",
        f"/git/a/{PROJECT}.git/info/refs?service=git-upload-pack",
        "/git/-x.git/info/refs?service=git-upload-pack",
        "/git/..git/info/refs?service=git-upload-pack",
    ],
)
async def test_a_path_git_itself_would_not_ask_for_is_not_found(place: Place, path: str) -> None:
    host = place.url.removeprefix("http://")
    status, _ = await raw_request(
        host, f"GET {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {TOKEN}"
    )
    assert status == 404
    assert place.story.asked == []


async def test_other_methods_and_encodings_are_refused(place: Place) -> None:
    async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {TOKEN}"}) as client:
        assert (await client.get(f"{place.remote}/git-upload-pack")).status_code == 405
        assert (await client.post(f"{place.remote}/info/refs?service=git-upload-pack")).status_code == 405
        answer = await client.post(f"{place.remote}/git-upload-pack", headers={"Content-Encoding": "br"})
        assert answer.status_code == 415
        answer = await client.post(f"{place.remote}/git-upload-pack", content=b"0000")
        assert answer.status_code == 415


async def raw_request(host: str, head: str) -> tuple[int, bytes]:
    """Send a request line exactly as written, which HTTP clients tidy up."""
    name, port = host.split(":")
    reader, writer = await asyncio.open_connection(name, int(port))
    writer.write(f"{head}\r\nConnection: close\r\n\r\n".encode())
    answer = await reader.read()
    writer.close()
    await writer.wait_closed()
    return int(answer.split(b" ", 2)[1]), answer


class Tap:
    """Holds a push's body back once `after` bytes of it went through, until released."""

    def __init__(self, app: ASGIApp, after: int) -> None:
        self._app, self._left = app, after
        self.reached, self.release = asyncio.Event(), asyncio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def tapped() -> Message:
            message = await receive()
            if scope["method"] == "POST" and scope["path"].endswith("receive-pack"):
                self._left -= len(message.get("body", b""))
                if self._left <= 0 and not self.reached.is_set():
                    self.reached.set()
                    await self.release.wait()
            return message

        await self._app(scope, tapped, send)


async def test_a_client_killed_in_mid_push_leaves_nothing_and_no_process(
    story: Story, tmp_path: Path
) -> None:
    app = story.app(tmp_path / "hooks")
    tap = Tap(app, after=1_000_000)
    before = await objects_in(story.repository)
    async with listening(tap) as url:
        place = Place(url, story, Clone(tmp_path / "work"), tmp_path)
        await place.clone.commit("Data", {"data.bin": os.urandom(8_000_000)})
        client = await started_push(place)
        await tap.reached.wait()
        assert git_processes(story.repository.path) != []
        kill(client)
        tap.release.set()
        await client.wait()
    await app.drain()
    assert git_processes(story.repository.path) == []
    assert leftovers(story.repository.path) == []
    assert await objects_in(story.repository) == before
    assert story.judged == story.recorded == []
    await story.repository.git("fsck", "--strict")


async def test_a_client_killed_while_its_push_is_judged_has_pushed_nothing(place: Place) -> None:
    judging, cancelled = asyncio.Event(), asyncio.Event()

    async def judge(updates: list[RefUpdate], seen: Repository) -> None:
        judging.set()
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()

    place.story.judge = judge
    await place.clone.commit("Work", {"a.txt": "two\n"})
    client = await started_push(place)
    await judging.wait()
    kill(client)
    await client.wait()
    await cancelled.wait()
    assert await place.story.moved() == {}
    assert place.story.recorded == []


async def test_a_client_killed_after_the_refs_moved_has_its_push_recorded(place: Place) -> None:
    keeping, release, kept = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def keep() -> None:
        keeping.set()
        await release.wait()
        kept.set()

    place.story.keep = keep
    head = await place.clone.commit("Work", {"a.txt": "two\n"})
    client = await started_push(place)
    await keeping.wait()
    kill(client)
    await client.wait()
    release.set()
    await kept.wait()
    assert await place.story.moved() == {INTENT: head}
    assert [update.new for update in place.story.recorded[0]] == [head]


class Cancellable:
    """Runs each push in a task that the test cancels, as a server that shuts down does."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self.pushes: list[asyncio.Task[None]] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] == "GET":
            return await self._app(scope, receive, send)

        async def push() -> None:
            await self._app(scope, receive, send)

        self.pushes.append(asyncio.create_task(push()))
        with suppress(asyncio.CancelledError):
            await self.pushes[-1]


@pytest.mark.parametrize("moment", ["judged", "recorded"])
async def test_a_server_that_stops_gives_up_a_push_not_yet_allowed_and_completes_one_that_is(
    story: Story, tmp_path: Path, moment: str
) -> None:
    reached, release = asyncio.Event(), asyncio.Event()

    async def wait() -> None:
        reached.set()
        await release.wait()

    async def judge(updates: list[RefUpdate], seen: Repository) -> None:
        await wait()

    if moment == "judged":
        story.judge = judge
    else:
        story.keep = wait
    app = story.app(tmp_path / "hooks")
    cancellable = Cancellable(app)
    async with listening(cancellable) as url:
        place = Place(url, story, Clone(tmp_path / "work"), tmp_path)
        head = await place.clone.commit("Work", {"a.txt": "two\n"})
        client = await started_push(place)
        await reached.wait()
        cancellable.pushes[0].cancel()
        assert await client.wait() != 0
        if moment == "recorded":
            release.set()
        await app.drain()
    assert git_processes(story.repository.path) == []
    assert leftovers(story.repository.path) == []
    expected = {} if moment == "judged" else {INTENT: head}
    assert await story.moved() == expected
    assert [update.new for updates in story.recorded for update in updates] == list(expected.values())


async def test_a_gateway_killed_while_it_judges_fails_closed(story: Story, tmp_path: Path) -> None:
    before = await objects_in(story.repository)
    server = await asyncio.create_subprocess_exec(
        sys.executable,
        str(Path(__file__).with_name("git_server_process.py")),
        str(story.repository.path),
        str(tmp_path / "hooks"),
        cwd=Path(__file__).parents[2],
        stdout=asyncio.subprocess.PIPE,
    )
    assert server.stdout is not None
    try:
        url = (await server.stdout.readline()).decode().strip()
        place = Place(url, story, Clone(tmp_path / "work"), tmp_path)
        head = await place.clone.commit("Work", {"a.txt": "two\n"})
        assert (await place.push(OTHER)).code == 0
        assert (await server.stdout.readline()).decode().strip() == f"recorded {OTHER} {head}"
        await place.clone.commit("More", {"a.txt": "three\n"})
        client = await started_push(place)
        assert (await server.stdout.readline()).strip() == b"judging"
        children = git_processes(story.repository.path)
        assert children != []
    finally:
        server.kill()
        await server.wait()
    assert await client.wait() != 0
    await asyncio.gather(*(asyncio.to_thread(child.wait, 30) for child in children))
    assert await story.moved() == {OTHER: head}
    assert len(await objects_in(story.repository)) == len(before) + 3


async def started_push(place: Place) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *shlex.split(f"git push --quiet {place.remote} HEAD:{INTENT}"),
        cwd=place.clone.folder,
        env={**CLIENT_ENV, **place.header()},
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
        start_new_session=True,
    )


def kill(client: asyncio.subprocess.Process) -> None:
    os.killpg(client.pid, signal.SIGKILL)
