"""Changing a project's settings: what was not named stays as it is, whoever else changes something meanwhile."""

import asyncio

import pytest
from pydantic import ValidationError

from protocol.projects import ChangeSettings
from storage.sql import projects
from storage.sql.pool import transaction
from tests.support.engine import Engine


async def test_changes_of_different_fields_at_one_moment_all_hold(engine: Engine) -> None:
    project = await engine.project()
    changes = [
        {"planReview": "always"},
        {"mergeApproval": "never"},
        {"sharedFiles": ["CHANGELOG.md"]},
        {"maxPlaces": 7},
    ]
    await asyncio.gather(
        *(
            engine.operations.change_settings(
                engine.owner, project.slug, ChangeSettings.model_validate(change)
            )
            for change in changes
        )
    )
    async with transaction(engine.found.pool, readonly=True) as connection:
        found = await projects.find(connection, project.id)
    assert found is not None
    kept = found.settings
    assert (kept.plan_review, kept.merge_approval) == ("always", "never")
    assert (kept.shared_files, kept.max_places) == (["CHANGELOG.md"], 7)


@pytest.mark.parametrize("field", ["planReview", "mergeApproval", "sharedFiles", "maxPlaces"])
def test_a_setting_that_is_never_empty_is_refused_as_null(field: str) -> None:
    with pytest.raises(ValidationError, match="never null"):
        ChangeSettings.model_validate({field: None})


def test_checks_and_mediation_may_be_null() -> None:
    given = ChangeSettings.model_validate({"checks": None, "mediation": None})
    assert given.model_fields_set == {"checks", "mediation"}
