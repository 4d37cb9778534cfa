"""Rules of folders: people-only paths, folders of named people, folders whose merge an owner approves."""

from datetime import UTC, datetime
from typing import Any

import pytest

from protocol.ids import new_id
from protocol.intents import UpdatePlanInput
from protocol.projects import ChangeSettings, CreateProject
from protocol.refusals import Refused
from protocol.states import State
from storage.sql import people
from storage.sql.pool import transaction
from tests.support.engine import Engine


async def test_an_agent_may_not_declare_a_people_only_path(engine: Engine) -> None:
    project = await engine.project(test="true")
    with pytest.raises(
        Refused, match=r"\.github/workflows/ci\.yml is a people-only path in shop-\d+\. An agent's intent"
    ) as refused:
        await project.declare(".github/workflows/ci.yml")
    assert (refused.value.refusal.code, refused.value.refusal.status) == ("folder_write_refused", 403)
    assert "ask Ana Ruiz to declare the change" in refused.value.refusal.next
    assert (await project.declare("app/f1.py")).intent.number == 1


async def test_a_plan_may_not_grow_into_a_people_only_path(engine: Engine) -> None:
    project = await engine.project(test="true")
    intent = await project.declare("app/f1.py")
    plan: Any = {"summary": "s", "scope": {"change": [{"path": "CLAUDE.md"}]}}
    with pytest.raises(Refused, match="folder_write_refused"):
        await engine.operations.update_plan(
            project.agent, UpdatePlanInput(intent_id=intent.intent.id, plan=plan)
        )
    assert (await project.status(intent)).intent.plan.version == 1


async def test_status_names_what_the_rules_keep_from_an_agent(engine: Engine) -> None:
    project = await engine.project(test="true")
    intent = await project.declare("app/f1.py")
    assert [d.place for d in intent.do_not_change] == [".github/", "CLAUDE.md", "AGENTS.md"]


async def test_a_folder_of_named_people_is_closed_to_the_agents_of_others(engine: Engine) -> None:
    project = await engine.project(test="true")
    settings = ChangeSettings(folder_writers={"app/": ["per_somebody"], "docs/": [engine.owner.person_id]})
    await engine.operations.change_settings(engine.owner, project.slug, settings)
    with pytest.raises(Refused, match="app/ is written only by intents of somebody"):
        await project.declare("app/f1.py")
    assert (await project.declare("docs/x.md")).intent.state is State.ACTIVE


async def test_a_folder_whose_merge_an_owner_approves_waits_for_one(engine: Engine) -> None:
    project = await engine.project(test="true")
    await engine.operations.change_settings(
        engine.owner, project.slug, ChangeSettings(owner_approves=["app/"])
    )
    intent = await project.declare("app/f1.py")
    await project.push(intent, {"app/f1.py": "new\n"})
    await project.submit(intent)
    await project.until(intent, State.AWAITING_APPROVAL)
    await project.decide(intent, "approve", "merge")
    await project.until(intent, State.MERGED)


async def test_a_guest_of_the_server_makes_no_projects(engine: Engine) -> None:
    async with transaction(engine.found.pool) as connection:
        person = new_id("per")
        await people.add(connection, person, "Guest", datetime.now(UTC))
    guest = engine.owner.model_copy(update={"person_id": person, "person_name": "Guest"})
    with pytest.raises(Refused, match="Guest owns nothing on this server, and only owners make projects"):
        await engine.operations.create_project(guest, CreateProject(slug="mine", source="/etc"))
