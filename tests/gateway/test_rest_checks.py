"""A running check by REST: its log as a stream, and the files it handed over, which no browser interprets."""

import asyncio

import pytest

from tests.gateway import samples
from tests.gateway.edge import Edge

RUN = f"/api/v1/checks/{samples.CHECK}"


async def test_a_followed_log_tells_output_and_verdict_and_ends(edge: Edge) -> None:
    edge.operations.news.set()
    response = await edge.http.get(f"{RUN}/log/stream", params={"offset": 7})
    assert response.headers["content-type"] == "text/event-stream"
    frames = [frame.split("\n") for frame in response.text.split("\n\n") if frame]
    assert [frame[:2] for frame in frames] == [
        ["id: 30.17", "event: output"],
        ["id: 30.17", "event: end"],
    ]
    # What looks like an event in the output stays within its line of data.
    assert frames[0][3] == r'data: {"text":"ok 1\n\nevent: end\ndata: {}\n","offset":30}'
    assert '"state":"failed"' in frames[1][3]
    assert edge.operations.asked == [("follow_log", (samples.CHECK, "7"))]


async def test_a_stream_goes_on_after_the_last_event_that_was_heard(edge: Edge) -> None:
    edge.operations.news.set()
    await edge.http.get(f"{RUN}/log/stream", params={"offset": 7}, headers={"Last-Event-ID": "30.17"})
    assert edge.operations.asked == [("follow_log", (samples.CHECK, "30.17"))]


@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [
        ("/api/v1/checks/chk_absent/log/stream", {}, 404),
        (f"{RUN}/log/stream?offset=-1", {}, 400),
        (f"{RUN}/log/stream", {"Last-Event-ID": "30;DROP"}, 400),
        (f"{RUN}/artifacts/0", {}, 400),
        (f"{RUN}/artifacts/2", {}, 404),
        (f"{RUN}/artifacts/..%2F1", {}, 404),
    ],
)
async def test_what_cannot_be_followed_or_fetched_is_refused(
    edge: Edge, path: str, headers: dict[str, str], status: int
) -> None:
    assert (await edge.http.get(path, headers=headers)).status_code == status


async def test_a_follower_that_leaves_ends_the_following(edge: Edge) -> None:
    async with edge.http.stream("GET", f"{RUN}/log/stream"):
        await edge.operations.waiting.wait()
    async with asyncio.timeout(30):
        await edge.operations.left.wait()


async def test_the_files_of_a_run_are_listed_with_what_is_left_out(edge: Edge) -> None:
    listed = (await edge.http.get(f"{RUN}/artifacts")).json()
    [file] = listed["artifacts"]
    assert (file["number"], file["name"], listed["leftOut"]) == (1, "out/junit.xml", 2)
    assert file["url"].endswith("/artifacts/1")


async def test_a_file_is_a_download_that_no_browser_interprets_whatever_its_name(edge: Edge) -> None:
    response = await edge.http.get(f"{RUN}/artifacts/1")
    assert response.content == b"<script>alert(1)</script>"
    assert response.headers["content-type"] == "application/octet-stream"
    assert response.headers["x-content-type-options"] == "nosniff"
    assert response.headers["content-disposition"] == (
        "attachment; filename=\"___b_.html\"; filename*=UTF-8''%C3%A9%20%3Cb%3E.html"
    )
    assert "sandbox" in response.headers["content-security-policy"]
