"""`gitring owner`: the first person of a deployment."""

import asyncio
from pathlib import Path

from tests.cli.command import program


async def test_the_owner_of_a_deployment_keeps_one_token(database: str, tmp_path: Path) -> None:
    settings = {"GITRING_DATABASE_URL": database, "GITRING_DATA_DIR": str(tmp_path / "data")}
    first = await asyncio.to_thread(program, "owner", **settings)
    assert (first.code, first.err) == (0, "")
    assert first.out.startswith("gitring_person_")
    assert (await asyncio.to_thread(program, "owner", **settings)).out == first.out
    assert (tmp_path / "data" / "owner_token").stat().st_mode & 0o777 == 0o600


async def test_without_a_database_it_says_which_setting_is_missing(tmp_path: Path) -> None:
    done = await asyncio.to_thread(program, "owner", GITRING_DATA_DIR=str(tmp_path))
    assert done.code == 1
    assert "GITRING_DATABASE_URL" in done.err
