"""A check sees none of the server's secrets and addresses, and only what its project passes through."""

from pathlib import Path

import pytest

from activities.runner.environment import check_environment, is_servers_own, make_folders

SERVER = {
    "PATH": "/opt/bin:/bin",
    "LANG": "de_DE.UTF-8",
    "LC_TIME": "C",
    "TZ": "Europe/Berlin",
    "HOME": "/home/server",
    "TMPDIR": "/var/tmp",
    "GITRING_DATABASE_URL": "postgresql://secret",
    "GITRING_OWNER_TOKEN": "gitring_person_x",
    "TEMPORAL_ADDRESS": "127.0.0.1:7233",
    "NATS_URL": "nats://secret",
    "PGPASSWORD": "secret",
    "DATABASE_URL": "postgresql://secret",
    "NPM_TOKEN": "secret",
    "AWS_SECRET_ACCESS_KEY": "secret",
    "LD_PRELOAD": "/tmp/x.so",
    "PYTHONPATH": "/server",
    "SSH_AUTH_SOCK": "/run/agent",
    "http_proxy": "http://inside",
}


def test_nothing_of_the_server_is_seen_but_a_short_list(tmp_path: Path) -> None:
    folders = make_folders(tmp_path)
    assert check_environment(folders, [], SERVER) == {
        "PATH": "/opt/bin:/bin",
        "LANG": "de_DE.UTF-8",
        "LC_TIME": "C",
        "TZ": "Europe/Berlin",
        "HOME": str(folders.home),
        "TMPDIR": str(folders.temporary),
        "CI": "true",
    }


def test_a_project_passes_through_exactly_the_names_it_lists(tmp_path: Path) -> None:
    environment = check_environment(make_folders(tmp_path), ["NPM_TOKEN", "http_proxy", "NOT_SET"], SERVER)
    assert environment["NPM_TOKEN"] == "secret"
    assert environment["http_proxy"] == "http://inside"
    assert "NOT_SET" not in environment
    assert "AWS_SECRET_ACCESS_KEY" not in environment


@pytest.mark.parametrize("name", [name for name in SERVER if is_servers_own(name)])
def test_no_project_can_ask_for_the_servers_own_settings(tmp_path: Path, name: str) -> None:
    environment = check_environment(make_folders(tmp_path), [name], SERVER)
    assert name not in environment


def test_the_servers_own_settings_are_known_by_their_names() -> None:
    assert [name for name in SERVER if is_servers_own(name)] == [
        "GITRING_DATABASE_URL",
        "GITRING_OWNER_TOKEN",
        "TEMPORAL_ADDRESS",
        "NATS_URL",
        "PGPASSWORD",
        "DATABASE_URL",
    ]


def test_a_project_cannot_move_its_home_to_the_servers(tmp_path: Path) -> None:
    folders = make_folders(tmp_path)
    assert check_environment(folders, ["HOME", "TMPDIR"], SERVER)["HOME"] == str(folders.home)


def test_a_server_without_a_path_still_finds_programs(tmp_path: Path) -> None:
    environment = check_environment(make_folders(tmp_path), [], {})
    assert "/usr/bin" in environment["PATH"].split(":")
    assert environment["LANG"] == "C.UTF-8"


def test_the_folders_of_a_run_are_fresh_empty_and_its_own(tmp_path: Path) -> None:
    first, second = make_folders(tmp_path), make_folders(tmp_path)
    assert first.top != second.top
    assert list(first.home.iterdir()) == list(first.temporary.iterdir()) == []
    assert first.top.stat().st_mode & 0o077 == 0
