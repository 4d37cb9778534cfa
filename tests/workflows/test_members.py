"""Members: what owners set, what a viewer's agent is refused, and the owner who stays."""

import asyncio

import pytest

from protocol.asks import AsksInput
from protocol.intents import CloneInput, DeclareInput, SuggestInput, WaitInput
from protocol.people import Role, SetRole
from protocol.projects import Caller
from protocol.refusals import Refused
from tests.bus.story import turns_until
from tests.support.engine import Engine, ProjectUnderTest
from tests.workflows.test_asks import agent_of, somebody


async def set_role(project: ProjectUnderTest, person: Caller, role: Role, by: Caller | None = None) -> Role:
    operations, owner = project.engine.operations, project.engine.owner
    answer = await operations.set_role(by or owner, project.slug, person.person_id, SetRole(role=role))
    return answer.role


def declaration(project: ProjectUnderTest) -> DeclareInput:
    plan = {"summary": "s", "scope": {"change": [{"path": "app/f1.py"}]}}
    return DeclareInput.model_validate({"projectId": project.slug, "title": "t", "goal": "g", "plan": plan})


async def test_a_viewers_agent_reads_and_cannot_write(engine: Engine) -> None:
    project = await engine.project()
    intent = await project.declare("app/f0.py")
    vera = await somebody(project, "Vera Holm", Role.VIEWER)
    agent, operations = await agent_of(project, vera), engine.operations
    assert len(await operations.intents(agent, project.slug, None, 10)) == 1
    writes = (
        lambda: operations.declare(agent, declaration(project)),
        lambda: operations.clone(agent, CloneInput(project_id=project.slug)),
        lambda: operations.suggest(agent, intent.intent.id, SuggestInput(text="x")),
    )
    for write in writes:
        with pytest.raises(
            Refused, match=r"^forbidden: Vera Holm may read .*Ask an owner for the role writer"
        ):
            await write()
    await set_role(project, vera, Role.WRITER)
    assert (await operations.declare(agent, declaration(project))).intent.number == 2
    await set_role(project, vera, Role.VIEWER)
    with pytest.raises(Refused, match=r"^forbidden"):
        await operations.declare(agent, declaration(project))


async def test_owners_list_and_change_members_and_each_change_is_in_the_ledger(engine: Engine) -> None:
    project = await engine.project()
    jonas = await somebody(project, "Jonas Weber", Role.WRITER)
    operations, owner = engine.operations, engine.owner
    listed = await operations.members(owner, project.slug)
    assert [(one.name, one.role) for one in listed.members] == [
        ("Ana Ruiz", "owner"),
        ("Jonas Weber", "writer"),
    ]
    assert await set_role(project, jonas, Role.VIEWER) is Role.VIEWER
    assert await set_role(project, jonas, Role.VIEWER) is Role.VIEWER
    assert (await operations.member(owner, project.slug, jonas.person_id)).role is Role.VIEWER
    await operations.remove_member(owner, project.slug, jonas.person_id)
    with pytest.raises(Refused, match=r"^not_found: There is no member .*GET …/members lists them"):
        await operations.member(owner, project.slug, jonas.person_id)
    assert await set_role(project, jonas, Role.WRITER) is Role.WRITER
    found = await operations.events(owner, project.slug, 0, 100)
    told = [
        (event.event_type, event.payload["role"]) for event in found if event.entity_id == jonas.person_id
    ]
    assert told == [
        ("member.added", "writer"),
        ("member.role_changed", "viewer"),
        ("member.removed", "viewer"),
        ("member.added", "writer"),
    ]


async def test_whoever_was_removed_is_shut_out_with_their_agents_at_once(engine: Engine) -> None:
    project = await engine.project()
    jonas = await somebody(project, "Jonas Weber", Role.WRITER)
    agent, operations = await agent_of(project, jonas), engine.operations
    await operations.declare(agent, declaration(project))
    await operations.remove_member(engine.owner, project.slug, jonas.person_id)
    with pytest.raises(Refused, match=r"^project_not_in_token"):
        await operations.declare(agent, declaration(project))
    with pytest.raises(Refused, match=r"^not_found"):
        await operations.events(jonas, project.slug, 0, 10)


async def test_only_owners_signed_in_as_people_see_or_change_members(engine: Engine) -> None:
    project = await engine.project()
    jonas = await somebody(project, "Jonas Weber", Role.WRITER)
    for caller in (jonas, project.agent):
        with pytest.raises(Refused, match=r"^forbidden: Only an owner"):
            await engine.operations.members(caller, project.slug)
        with pytest.raises(Refused, match=r"^forbidden: Only an owner"):
            await set_role(project, jonas, Role.OWNER, by=caller)
        with pytest.raises(Refused, match=r"^forbidden: Only an owner"):
            await engine.operations.remove_member(caller, project.slug, engine.owner.person_id)
    with pytest.raises(Refused, match=r"^not_found: There is no person per_nobody .*POST /api/v1/people"):
        nobody = jonas.model_copy(update={"person_id": "per_nobody"})
        await set_role(project, nobody, Role.WRITER)


async def test_the_last_owner_is_neither_removed_nor_demoted(engine: Engine) -> None:
    project = await engine.project()
    operations, owner = engine.operations, engine.owner
    refusal = r"^wrong_state: Ana Ruiz is the last owner of .* Make another person its owner first"
    with pytest.raises(Refused, match=refusal):
        await set_role(project, owner, Role.WRITER)
    with pytest.raises(Refused, match=refusal):
        await operations.remove_member(owner, project.slug, owner.person_id)
    jonas = await somebody(project, "Jonas Weber", Role.OWNER)
    await operations.remove_member(owner, project.slug, owner.person_id)
    with pytest.raises(Refused, match="Ask Jonas Weber"):
        await operations.members(await agent_of(project, jonas), project.slug)


async def test_two_owners_who_demote_each_other_at_once_leave_one(engine: Engine) -> None:
    project = await engine.project()
    jonas = await somebody(project, "Jonas Weber", Role.OWNER)
    results = await asyncio.gather(
        set_role(project, jonas, Role.VIEWER),
        set_role(project, engine.owner, Role.VIEWER, by=jonas),
        return_exceptions=True,
    )
    assert len([result for result in results if isinstance(result, Refused)]) == 1
    owners = {Role.OWNER, Role.VIEWER}
    found = [await _role(engine, project, person) for person in (engine.owner, jonas)]
    assert set(found) == owners


async def _role(engine: Engine, project: ProjectUnderTest, person: Caller) -> Role:
    """What the other doors see: only the owner may ask for the members."""
    try:
        await engine.operations.members(person, project.slug)
    except Refused:
        return Role.VIEWER
    return Role.OWNER


async def test_whoever_is_removed_is_refused_in_the_middle_of_a_wait(engine: Engine) -> None:
    project = await engine.project()
    one, two = await project.declare("app/f0.py"), await project.declare("app/f2.py")
    jonas = await somebody(project, "Jonas Weber", Role.WRITER)
    his, hers, operations = await agent_of(project, jonas), project.agent, engine.operations
    last = (await operations.events(engine.owner, project.slug, 0, 1000))[-1].seq
    single = WaitInput(intent_id=one.intent.id, after_seq=last, seconds=100)
    several = WaitInput(intent_ids=[one.intent.id, two.intent.id], after_seq=last, seconds=100)
    asked = AsksInput(project_id=project.slug, wait=100)
    before = engine.waiters.held
    ended = [
        asyncio.create_task(operations.wait(his, single)),
        asyncio.create_task(operations.wait(his, several)),
        asyncio.create_task(operations.asks(his, asked)),
    ]
    kept = asyncio.create_task(operations.wait(hers, single))
    await turns_until(lambda: engine.waiters.held == before + 4)
    await operations.remove_member(engine.owner, project.slug, jonas.person_id)
    async with asyncio.timeout(30):
        refusals = await asyncio.gather(*ended, return_exceptions=True)
    assert [refusal.refusal.code for refusal in refusals if isinstance(refusal, Refused)] == [
        "not_found",
        "project_not_in_token",
        "project_not_in_token",
    ]
    assert not kept.done()
    kept.cancel()
