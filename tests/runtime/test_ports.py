"""Which ports a stack takes."""

import socket
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from runtime.ports import SERVERS, PortInUse, choose_ports, free_port, is_free
from runtime.settings import Settings


@pytest.fixture
def taken() -> Iterator[int]:
    """A port on which something listens."""
    with closing(socket.create_server(("127.0.0.1", 0))) as listener:
        yield listener.getsockname()[1]


def test_a_port_with_a_listener_is_not_free(taken: int) -> None:
    assert not is_free(taken)
    assert is_free(free_port())


def test_port_0_gives_every_server_a_free_port_of_its_own(tmp_path: Path) -> None:
    chosen = choose_ports(Settings(data_dir=tmp_path, port=0), {})
    assert tuple(chosen) == SERVERS
    assert len(set(chosen.values())) == len(SERVERS)
    assert not {8470, 7233, 8233} & set(chosen.values())
    assert all(is_free(port) for port in chosen.values())


def test_the_ports_of_the_last_start_are_taken_again(tmp_path: Path) -> None:
    remembered = choose_ports(Settings(data_dir=tmp_path, port=0), {})
    assert choose_ports(Settings(data_dir=tmp_path, port=0), remembered) == remembered
    assert choose_ports(Settings(data_dir=tmp_path), remembered) == remembered


def test_a_remembered_port_that_is_taken_now_is_left_to_its_owner(tmp_path: Path, taken: int) -> None:
    chosen = choose_ports(Settings(data_dir=tmp_path, port=0), {"nats": taken, "gateway": taken})
    assert taken not in chosen.values()


def test_the_usual_ports_are_taken_where_they_are_free(tmp_path: Path) -> None:
    usual = {"gateway": 8470, "temporal": 7233, "temporal_ui": 8233}
    free = {name for name, port in usual.items() if is_free(port)}
    chosen = choose_ports(Settings(data_dir=tmp_path), {})
    assert {name for name, port in usual.items() if chosen[name] == port} == free


def test_a_port_asked_for_by_number_is_taken_or_refused(tmp_path: Path, taken: int) -> None:
    asked = free_port()
    assert choose_ports(Settings(data_dir=tmp_path, port=asked), {"gateway": free_port()})["gateway"] == asked
    with pytest.raises(PortInUse, match=rf"Port {taken} .*--port"):
        choose_ports(Settings(data_dir=tmp_path, port=taken), {})
