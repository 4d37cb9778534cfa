"""Addresses that climb, and what is named by them: no file of the server is served, whichever way the path is written."""

import asyncio

import pytest

from tests.security.house import House
from tests.security.routes import ABSENT

CLIMBS = [
    "..", "%2e%2e", "%2E%2E%2F", "..%2f..%2f..%2f..%2fetc%2fpasswd", "..%5c..%5cetc", "....//....//etc/passwd",
    "%252e%252e%252fetc", "/etc/passwd", "%2fetc%2fpasswd", "file:%2f%2f%2fetc%2fpasswd", "x%00.css", "~root", "." * 3000,
    "app.css/../../app.py", "app.css%2f..%2f..%2fapp.py", "../app.py", "..;/app.py", "app.css::$DATA", "APP.CSS", "app.css.",
]  # fmt: skip


async def raw(house: House, path: str, token: str | None = None) -> tuple[int, bytes]:
    """A request whose path no client put in order first: its status and its body."""
    port = int(house.pages.url.rpartition(":")[2])
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    bearer = f"Authorization: Bearer {token}\r\n" if token else ""
    writer.write(
        f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{bearer}Connection: close\r\n\r\n".encode()
    )
    async with asyncio.timeout(20):
        answer = await reader.read()
    writer.close()
    head, _, body = answer.partition(b"\r\n\r\n")
    return int(head.split(b" ", 2)[1]), body


def nothing_of_ours(status: int, body: bytes, path: str) -> None:
    assert status in (303, 400, 401, 403, 404, 405), (path[:200], status, body[:200])
    assert b"root:" not in body and b"import " not in body and b"[core]" not in body, path[:200]


@pytest.mark.parametrize("climb", CLIMBS, ids=lambda text: text[:40])
async def test_no_path_leads_out_of_where_it_begins(house: House, climb: str) -> None:
    slug, check = house.ours.project.slug, house.ours.ids["check_run"][0]
    for path, token in (
        (f"/static/{climb}", None),
        (f"/p/{climb}", None),
        (f"/p/{slug}/checks/{climb}", None),
        (f"/api/v1/checks/{climb}/log", house.ours.owner_token),
        (f"/api/v1/checks/{check}/artifacts/{climb}", house.ours.owner_token),
        (f"/api/v1/projects/{climb}/board", house.ours.owner_token),
        (f"/git/{climb}.git/info/refs?service=git-upload-pack", house.ours.git_token),
        (f"/git/{slug}.git/{climb}", house.ours.git_token),
        (f"/git/{slug}.git/../{house.theirs.project.slug}.git/{climb}", house.ours.git_token),
    ):
        nothing_of_ours(*await raw(house, path, token), path)


@pytest.mark.parametrize(
    "name",
    [
        "HEAD", "config", "objects/info/packs", "info/refs", "info/refs?service=git-upload-archive", "objects/../config",
        "info/refs?service=git-upload-pack&service=git-receive-pack", "info/refs?service=git-upload-pack%00", "git-upload-archive",
        "info/refs?service=--help", "hooks/pre-receive", "../../owner_token", "info/refs/..?service=git-upload-pack",
    ],
)  # fmt: skip
async def test_git_serves_its_smart_protocol_and_no_file(house: House, name: str) -> None:
    path = f"/git/{house.ours.project.slug}.git/{name}"
    nothing_of_ours(*await raw(house, path, house.ours.git_token), path)


async def test_two_projects_in_one_git_path_are_none(house: House) -> None:
    """The token is judged for the very project whose repository is then opened."""
    ours, theirs = house.ours.project.slug, house.theirs.project.slug
    service = "info/refs?service=git-upload-pack"
    for path in (
        f"/git/{ours}.git/../{theirs}.git/{service}",
        f"/git/{ours}.git/%2e%2e/{theirs}.git/{service}",
        f"/git/{theirs}.git%2f..%2f{ours}.git/{service}",
        f"/git//{theirs}.git/{service}",
        f"/git/{ours}%2egit/../{theirs}.git/{service}",
        f"/git/{ABSENT['project']}.git/{service}",
    ):
        nothing_of_ours(*await raw(house, path, house.ours.git_token), path)
    assert (await raw(house, f"/git/{ours}.git/{service}", house.ours.git_token))[0] == 200
