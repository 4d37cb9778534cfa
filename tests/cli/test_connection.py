"""Which server is asked, with whose token, and what a command says when it cannot be reached."""

import json
from pathlib import Path

import pytest

from cli.connection import Connection, NoServer, NoToken, find_connection
from tests.cli.command import Gitring, program


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A connection file of a default data folder."""
    path = tmp_path / "gitring" / "connection.json"
    path.parent.mkdir()
    path.write_text(json.dumps({"url": "http://here:1", "owner_token": "gitring_person_x"}))
    return path


def test_the_default_data_folder_is_used_when_nothing_is_said(file: Path, tmp_path: Path) -> None:
    found = Connection("http://here:1", "gitring_person_x")
    assert find_connection(environment={"XDG_DATA_HOME": str(tmp_path)}) == found
    assert find_connection(environment={"GITRING_DATA_DIR": str(file.parent)}) == found


def test_options_win_over_variables_and_variables_over_the_file(file: Path, tmp_path: Path) -> None:
    environment = {"XDG_DATA_HOME": str(tmp_path), "GITRING_URL": "http://there/", "GITRING_TOKEN": "t"}
    assert find_connection(environment=environment) == Connection("http://there", "t")
    assert find_connection("http://given", "mine", environment=environment) == Connection(
        "http://given", "mine"
    )
    assert find_connection(file=file, environment=environment) == Connection("http://here:1", "t")


def test_the_owners_token_never_goes_to_another_server(file: Path, tmp_path: Path) -> None:
    environment = {"XDG_DATA_HOME": str(tmp_path)}
    with pytest.raises(NoToken, match="--token"):
        find_connection("http://elsewhere", environment=environment)
    assert find_connection("http://here:1/", environment=environment).token == "gitring_person_x"


@pytest.mark.parametrize("content", ["", "[1]", "{", '{"url": "ftp://x"}'])
def test_a_file_that_names_no_server_says_so(tmp_path: Path, content: str) -> None:
    (tmp_path / "connection.json").write_text(content)
    with pytest.raises(NoServer, match="gitring up"):
        find_connection(file=tmp_path / "connection.json", environment={})


def test_a_command_without_a_server_ends_with_3_and_says_how_to_start_one(tmp_path: Path) -> None:
    done = program("projects", "list", GITRING_DATA_DIR=str(tmp_path))
    assert (done.code, done.out) == (3, "")
    assert "gitring up" in done.err


def test_a_server_that_does_not_answer_ends_with_3(tmp_path: Path) -> None:
    done = program("projects", "list", GITRING_URL="http://127.0.0.1:1", GITRING_TOKEN="t")
    assert done.code == 3
    assert "http://127.0.0.1:1 cannot be reached" in done.err
    assert "gitring up" in done.err


def test_wrong_usage_ends_with_2(gitring: Gitring) -> None:
    assert gitring.run("projects", "list", "--nonsense").code == 2
    assert gitring.run("declare").code == 2
