"""What a call does when its answer does not come back whole, or does not come from gitring."""

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest

from cli.connection import Connection
from cli.session import Failed, Session


@contextmanager
def answering(*answers: bytes | None) -> Iterator[tuple[Session, list[bytes]]]:
    """A server that gives each answer to one connection, None being a connection cut off; and what it was asked."""
    asked: list[bytes] = []

    def serve(listener: socket.socket) -> None:
        for answer in answers:
            connection, _ = listener.accept()
            with connection:
                asked.append(request(connection))
                if answer is not None:
                    connection.sendall(answer)

    with closing(socket.create_server(("127.0.0.1", 0))) as listener:
        thread = threading.Thread(target=serve, args=(listener,))
        thread.start()
        session = Session(Connection(f"http://127.0.0.1:{listener.getsockname()[1]}", "t"))
        try:
            yield session, asked
        finally:
            session.close()
            thread.join(timeout=30)
    assert not thread.is_alive()


def request(connection: socket.socket) -> bytes:
    """One whole request."""
    found = b""
    while b"\r\n\r\n" not in found or len(found.partition(b"\r\n\r\n")[2]) < _length(found):
        found += connection.recv(65536)
    return found


def _length(found: bytes) -> int:
    lines = found.partition(b"\r\n\r\n")[0].lower().split(b"\r\n")
    return next((int(line.split(b":")[1]) for line in lines if line.startswith(b"content-length:")), 0)


def http(body: bytes, status: str = "200 OK") -> bytes:
    """An answer that closes its connection."""
    head = f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    return head.encode() + body


def test_a_write_with_a_request_id_is_sent_again_when_its_answer_is_lost() -> None:
    with answering(None, http(b'{"done": true}')) as (session, asked):
        assert session.post("/intents", {"requestId": "r"}) == {"done": True}
    assert [json.loads(each.partition(b"\r\n\r\n")[2]) for each in asked] == [{"requestId": "r"}] * 2


def test_a_write_without_one_is_not_repeated() -> None:
    with answering(None) as (session, asked), pytest.raises(Failed, match="before you repeat") as failed:
        session.post("/tokens", {})
    assert failed.value.exit_code == 3
    assert len(asked) == 1


def test_an_error_under_status_200_is_an_error() -> None:
    body = b'  {"error": {"code": "busy", "message": "Slow.", "next": "Again."}}'
    with (
        answering(http(body)) as (session, _),
        pytest.raises(Failed, match=r"^busy: Slow\. Again\.$") as failed,
    ):
        session.get("/intents/x/wait")
    assert failed.value.exit_code == 1


@pytest.mark.parametrize(
    "answer", [http(b"<html>", "502 Bad Gateway"), http(b"hello"), http(b"[]", "404 Not Found")]
)
def test_a_server_that_is_no_gitring_ends_with_3(answer: bytes) -> None:
    with answering(answer) as (session, _), pytest.raises(Failed, match="not as gitring does") as failed:
        session.get("/projects")
    assert failed.value.exit_code == 3


def test_an_error_in_a_stream_ends_it() -> None:
    frames = b'id: 1\nevent: a\ndata: {"seq":\ndata: 1}\n\n: open\n\nevent: error\ndata: {"error": {"code": "busy", "message": "M", "next": "N"}}\n\n'
    with answering(http(frames)) as (session, _):
        events = session.events("/x")
        assert next(events) == {"seq": 1}
        with pytest.raises(Failed, match=r"^busy: M N$"):
            next(events)
