"""Where an import may reach: public hosts and the server's folders, never its own data, a private network, or a second host."""

import asyncio
import os
import shutil
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from html import escape
from pathlib import Path

import pytest
from pydantic import ValidationError

from protocol.projects import CreateProject
from protocol.refusals import Refused
from storage.git.errors import ImportRefused, NotARepository, SourceRefused
from storage.git.repository import Repository
from storage.git.sources import ImportRules, admitted
from tests.security.house import House, signed_in
from tests.support.engine import git, make_repository
from tests.web.visitor import Visitor

PUBLIC_ADDRESS = "93.184.215.14"


class Site:
    """An HTTP server that counts who comes, and serves a folder or sends everybody elsewhere."""

    def __init__(self, folder: Path | None = None, elsewhere: str | None = None) -> None:
        self._folder, self._elsewhere = folder, elsewhere
        self.asked: list[str] = []
        self.port = 0
        self.visits = 0

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.visits += 1
        head = await reader.readuntil(b"\r\n\r\n")
        path = head.split(b" ", 2)[1].decode()
        self.asked.append(path)
        found = self._folder / path.partition("?")[0].lstrip("/") if self._folder else None
        if self._elsewhere:
            writer.write(f"HTTP/1.1 302 Found\r\nLocation: {self._elsewhere}{path}\r\n".encode())
            writer.write(b"Content-Length: 0\r\n")
        elif found is not None and found.is_file():
            body = found.read_bytes()
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n" % len(body))
        else:
            body = b""
            writer.write(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n")
        writer.write(b"Connection: close\r\n\r\n")
        if not self._elsewhere:
            writer.write(body)
        await writer.drain()
        writer.close()


@asynccontextmanager
async def serving(site: Site) -> AsyncIterator[Site]:
    server = await asyncio.start_server(site.answer, "127.0.0.1", 0)
    site.port = server.sockets[0].getsockname()[1]
    async with server:
        yield site


@pytest.fixture
def source(tmp_path: Path) -> Path:
    made = tmp_path / "site" / "x.git"
    work = tmp_path / "work"
    make_repository(work, {"a.txt": "a\n"})
    git(tmp_path, "clone", "-q", "--bare", str(work), str(made))
    git(made, "update-server-info")
    return made


def answering(*addresses: str) -> ImportRules:
    """Rules whose names all stand for these addresses."""

    async def resolve(host: str, port: int) -> Sequence[str]:
        return addresses

    return ImportRules(resolve=resolve)


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1", "localhost", "127.1", "2130706433", "0x7f000001", "0177.0.0.1", "0.0.0.0", "[::1]", "[::]",
        "[::ffff:127.0.0.1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]",
    ],
)  # fmt: skip
async def test_no_name_of_this_machine_is_ever_connected_to(tmp_path: Path, host: str) -> None:
    async with serving(Site()) as site:
        for scheme in ("http", "https", "git", "ssh"):
            with pytest.raises(SourceRefused, match="GITRING_IMPORT_PRIVATE"):
                await Repository.import_from(tmp_path / "p.git", f"{scheme}://{host}:{site.port}/x.git")
        assert site.asked == []


@pytest.mark.parametrize(
    "address",
    [
        "169.254.169.254", "10.1.2.3", "172.16.0.1", "192.168.1.1", "100.64.0.1", "fd00:ec2::254", "fe80::1%eth0", "fc00::1",
        "::ffff:10.0.0.1", "64:ff9b::a00:1", "2002:a00:1::", "224.0.0.1", "255.255.255.255", "192.0.2.1", "2001:db8::1",
    ],
)  # fmt: skip
@pytest.mark.parametrize("beside", [[], [PUBLIC_ADDRESS]])
async def test_no_private_address_is_imported_from_whatever_its_name(address: str, beside: list[str]) -> None:
    with pytest.raises(SourceRefused, match="private network"):
        await admitted("https://code.example/x.git", answering(*beside, address))


async def test_git_is_held_to_the_addresses_that_were_judged() -> None:
    found = await admitted("https://code.example/x.git", answering(PUBLIC_ADDRESS, "2606:2800::1"))
    assert found.options == ("-c", f"http.curloptResolve=code.example:443:{PUBLIC_ADDRESS},[2606:2800::1]")
    ssh = await admitted("ssh://git@code.example:2222/x.git", answering(PUBLIC_ADDRESS))
    command = ssh.env["GIT_SSH_COMMAND"]
    assert f"-o HostName={PUBLIC_ADDRESS}" in command and "HostKeyAlias='[code.example]:2222'" in command
    plain = await admitted("git://code.example/x.git", answering(PUBLIC_ADDRESS))
    assert plain.address == f"git://{PUBLIC_ADDRESS}:9418/x.git"


async def test_a_name_that_answers_anew_gains_nothing(source: Path, tmp_path: Path) -> None:
    """No server of names knows this host: git finds it only because it asks none."""
    answers = [["127.0.0.1"], []]

    async def resolve(host: str, port: int) -> Sequence[str]:
        return answers.pop(0)

    async with serving(Site(source.parent)) as site:
        url = f"http://rebinding.invalid:{site.port}/x.git"
        repo = await Repository.import_from(
            tmp_path / "p.git", url, rules=ImportRules(private=True, resolve=resolve)
        )
        assert await repo.default_line() == "main" and site.asked
    assert answers == [[]], "and the name was asked for once"


async def test_no_redirect_is_followed(source: Path, tmp_path: Path) -> None:
    async with serving(Site(source.parent)) as inner:
        for elsewhere in (f"http://127.0.0.1:{inner.port}", source.parent.as_uri()):
            async with serving(Site(elsewhere=elsewhere)) as outer:
                with pytest.raises(NotARepository, match="give that one"):
                    await Repository.import_from(
                        tmp_path / "p.git",
                        f"http://127.0.0.1:{outer.port}/x.git",
                        rules=ImportRules(private=True),
                    )
                assert outer.asked
        assert inner.asked == []
    assert not (tmp_path / "p.git").exists()


async def test_objects_are_not_fetched_from_where_the_source_points(source: Path, tmp_path: Path) -> None:
    """A dumb server may name another one that has its objects: git would ask it in our name."""
    async with serving(Site(source.parent)) as inner:
        poor = tmp_path / "poor" / "x.git"
        shutil.copytree(source, poor)
        shutil.rmtree(poor / "objects")
        (poor / "objects" / "info").mkdir(parents=True)
        (poor / "objects/info/http-alternates").write_text(f"http://127.0.0.1:{inner.port}/x.git/objects\n")
        async with serving(Site(poor.parent)) as outer:
            with pytest.raises(NotARepository):
                await Repository.import_from(
                    tmp_path / "p.git",
                    f"http://127.0.0.1:{outer.port}/x.git",
                    rules=ImportRules(private=True),
                )
        assert inner.asked == []


@pytest.mark.parametrize(
    "source",
    [
        "http://public.example#@127.0.0.1/x", "http://public.example?@127.0.0.1/x", "http://a@public.example@127.0.0.1/x",
        "http://public.example\\@127.0.0.1/x", "http://127.0.0.1%2f@public.example/x/%0d%0aHost:x?y", "http://%31%32%37.0.0.1/x",
        "http://public.example:99999/x", "http://public.example./x", "http://публичный.example/x", "http:///x", "file://evil.example/x",
        "ssh://git@-oProxyCommand=x/y", "ssh://$(touch pwned)/x", "ssh://`id`/x", "git://public.example;id/x", "HTTP://public.example/x",
        "ext::sh -c 'touch pwned'", "file:///etc\x00/x", "--upload-pack=touch pwned", "http::http://public.example/x",
    ],
)  # fmt: skip
async def test_an_address_of_two_readings_is_refused(source: str, tmp_path: Path) -> None:
    with pytest.raises(ImportRefused):
        await Repository.import_from(tmp_path / "p.git", source, rules=answering(PUBLIC_ADDRESS))
    assert os.listdir(tmp_path) == []


async def test_the_servers_own_repositories_are_no_source(house: House) -> None:
    """Else whoever owns one project could read every other."""
    engine, secret = house.engine, house.theirs.project.repository_path
    data = engine.settings.data_dir
    linked = engine.folder / "linked"
    linked.symlink_to(secret)
    worktree = engine.folder / "worktree"
    worktree.mkdir()
    (worktree / ".git").symlink_to(secret)
    detour = data / ".." / data.name / "repositories" / secret.name
    for source in (
        secret,
        secret.as_uri(),
        secret.as_uri().replace("/repositories", "/%72epositories"),
        linked,
        worktree,
        detour,
    ):
        with pytest.raises(Refused, match="data folder"):
            await engine.operations.create_project(
                house.ours.owner, CreateProject(slug="stolen", source=str(source))
            )
    with pytest.raises(Refused, match="not_found"):
        await engine.operations.lines(house.ours.owner, "stolen")


async def test_the_server_as_it_is_set_up_imports_from_no_private_address(house: House) -> None:
    async with serving(Site()) as site:
        for source in (f"http://127.0.0.1:{site.port}/x.git", "http://169.254.169.254/latest/meta-data"):
            with pytest.raises(Refused, match="GITRING_IMPORT_PRIVATE") as caught:
                await house.engine.operations.create_project(
                    house.ours.owner, CreateProject(slug="inner", source=source)
                )
            assert caught.value.refusal.status == 400
        assert site.asked == []


async def test_nothing_of_an_import_asks_for_a_password_or_runs_a_helper(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("GIT_ASKPASS", "SSH_ASKPASS", "GIT_PROXY_COMMAND", "GIT_SSH", "GIT_EXTERNAL_DIFF"):
        monkeypatch.setenv(name, str(_tripwire(tmp_path)))
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "credential.helper")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", f"!{_tripwire(tmp_path)}")

    class Closed(Site):
        async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n")
            self.asked.append("x")
            writer.write(b'HTTP/1.1 401 No\r\nWWW-Authenticate: Basic realm="x"\r\nContent-Length: 0\r\n')
            writer.write(b"Connection: close\r\n\r\n")
            await writer.drain()
            writer.close()

    async with serving(Closed()) as site:
        with pytest.raises(NotARepository):
            await Repository.import_from(
                tmp_path / "p.git", f"http://127.0.0.1:{site.port}/x.git", rules=ImportRules(private=True)
            )
        assert site.asked
    assert not (tmp_path / "tripped").exists()


def _tripwire(folder: Path) -> Path:
    program = folder / "helper"
    program.write_text(f"#!/bin/sh\ntouch {folder}/tripped\n")
    os.chmod(program, 0o755)
    return program


async def test_submodules_stay_names(source: Path, tmp_path: Path) -> None:
    """Of a source that brings one, nothing but the source itself is asked."""
    async with serving(Site()) as inner:
        work = tmp_path / "work"
        modules = f'[submodule "m"]\n\tpath = m\n\turl = http://127.0.0.1:{inner.port}/m.git\n'
        (work / ".gitmodules").write_text(modules)
        git(work, "add", ".gitmodules")
        git(work, "update-index", "--add", "--cacheinfo", f"160000,{git(work, 'rev-parse', 'HEAD')},m")
        git(work, "commit", "-qm", "a submodule")
        repo = await Repository.import_from(tmp_path / "p.git", str(work))
        assert not (repo.path / "modules").exists()
        assert inner.asked == []


async def test_an_issue_is_a_link_and_is_never_fetched(house: House) -> None:
    async with serving(Site()) as site, Visitor(house.pages.url) as visitor:
        url = f"https://127.0.0.1:{site.port}/issue?a=1&b=%3Cb%3E"
        made = await house.ours.project.declare("app/f6.py", issue=url)
        await signed_in(house, visitor)
        page = await visitor.get(f"/p/{house.ours.project.slug}/i/{made.intent.number}")
        link = f'<a href="{escape(url)}" rel="noreferrer noopener">'
        assert link in page.text
        assert (await house.ours.project.status(made)).intent.issue == url
        assert site.visits == 0


@pytest.mark.parametrize(
    "issue",
    [
        "javascript:alert(1)", "http://tracker.example/1", "data:text/html,x", "file:///etc/passwd", "https:evil", "//evil.example",
        "https://ana:pw@tracker.example/1", "https://tracker.example\\@evil.example/", "https://[::1", "https://a.example/\u202e", "HTTPS:/x",
    ],
)  # fmt: skip
async def test_an_issue_of_another_kind_is_refused(house: House, issue: str) -> None:
    with pytest.raises(ValidationError, match="issue"):
        await house.ours.project.declare("app/f7.py", issue=issue)
