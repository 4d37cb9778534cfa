"""Beyond the protocol, on the real engine: claims given back, a person's acceptance, an inbox over MCP with what was read."""

import pytest

from gateway.foremerge.operations import ForemergeOperations
from protocol.foremerge.changesets import AcceptInput
from protocol.foremerge.claims import ReleaseClaimsInput, ReleasedClaims
from protocol.foremerge.messages import CoordinateInput
from protocol.foremerge.words import ChangeSetStatus, ConflictStatus, IntentStatus, Operation
from protocol.foremerge.work import StatusInput
from protocol.projects import ChangeSettings
from protocol.refusals import Refused
from tests.foremerge.face import Face, plain
from tests.foremerge.work import Bench
from tests.support.engine import Engine


async def _release(face: Face, agent: str, intent: str, *scopes: str) -> ReleasedClaims:
    given = ReleaseClaimsInput(agent_id=agent, intent_id=intent, scopes=plain(*scopes))
    return await face.writes.release_claims(face.visit, given)


async def test_a_claim_given_back_is_told_to_nobody_any_more_and_can_be_taken_again(engine: Engine) -> None:
    face = await Face.of(engine)
    one, two = await face.register("one"), await face.register("two")
    mine, yours = (await face.publish(one, "Mine")).intent.id, (await face.publish(two, "Other")).intent.id
    first, _ = (await face.claim(one, mine, "symbol:Cart", "symbol:Till")).claims
    (warning,) = (await face.claim(two, yours, "symbol:Cart")).warnings
    with pytest.raises(Refused, match="FORBIDDEN"):
        await _release(face, two, mine)
    with pytest.raises(Refused, match=r"NOT_FOUND.*symbol:Carts"):
        await _release(face, one, mine, "symbol:Carts")

    back = await _release(face, one, mine, "symbol:cart")
    assert [(claim.id, claim.status) for claim in back.released] == [(first.id, "RELEASED")]
    assert [claim.scope.text for claim in back.held] == ["symbol:Till"]
    assert (await face.claim(two, yours, "symbol:Cart")).warnings == []
    assert (await face.check(intent_id=yours)).conflicts == []
    before = await face.events()
    assert {"claim.released", "conflict.dismissed"} <= {event.event_type for event in before}
    assert (await _release(face, one, mine, "symbol:Cart")).released == []
    assert len(await face.events()) == len(before), "what was given back before is no news"

    assert [claim.scope.text for claim in (await _release(face, one, mine)).released] == ["symbol:Till"]
    assert (await face.shown(mine)).intent.status is IntentStatus.CLAIMED
    again = await face.claim(one, mine, "symbol:Cart")
    assert again.claims[0].id != first.id
    assert [(found.id, found.status) for found in again.warnings] == [(warning.id, ConflictStatus.DISMISSED)]


async def test_work_that_removes_something_waits_for_a_person_where_the_project_says_so(
    engine: Engine,
) -> None:
    bench = await Bench.of(engine)
    chosen = ChangeSettings(person_accepts=[Operation.REMOVE])
    changed = await engine.operations.change_settings(engine.owner, bench.face.project.slug, chosen)
    assert changed.person_accepts == [Operation.REMOVE]
    keeps = await (await bench.work("keeps", "symbol:Till=extend")).accepted()
    assert keeps.status is ChangeSetStatus.ACCEPTED and keeps.acceptance_reason is None

    changeset = await (await bench.work("takes", "symbol:Cart=remove")).published()
    with pytest.raises(Refused, match="CHECK_FAILED"):
        await bench.accept(changeset)
    await bench.verify(changeset)
    face, person = bench.face, engine.owner
    agents = (face.visit, face.visit._replace(operator=True), face.operator._replace(operator=False))
    for visit in agents:
        with pytest.raises(Refused, match=r"FORBIDDEN.*remove symbol:Cart.*--as-person"):
            await face.writes.accept_changeset(visit, AcceptInput(changeset_id=changeset.id))
    accepted = await bench.accept(changeset, operator=True)
    assert accepted.acceptance_reason == f"{person.person_name} accepted: remove symbol:Cart."
    (event,) = [one for one in await face.events() if one.entity_id == changeset.id][-1:]
    assert event.event_type == "changeset.accepted"
    assert event.payload["accepted_by"] == person.person_name
    assert event.payload["asked"] == ["remove symbol:Cart"]


async def test_an_agent_reads_its_inbox_over_mcp_and_says_what_it_has_read(engine: Engine) -> None:
    face = await Face.of(engine)
    one, two = await face.register("one"), await face.register("two")
    sent = [await face.say(two, one, text) for text in ("first", "second")]
    operations = ForemergeOperations(
        engine.found.pool, engine.found.temporal, engine.operations, public_url="http://gitring.test"
    )

    async def unread(agent: str) -> list[str]:
        return [one.id for one in (await operations.status(face.visit, StatusInput(inbox_of=agent))).inbox]

    assert "inbox" not in (await operations.status(face.visit, StatusInput())).model_dump()
    assert await unread(one) == [message.id for message in sent]
    reply = CoordinateInput(
        from_agent_id=one, to_agent_id=two, message="yes", mark_read=[sent[0].id, "msg_of_nobody"]
    )
    answer = await operations.coordinate_with_agent(face.visit, reply)
    assert await unread(one) == [sent[1].id]
    assert await unread(two) == [answer.id], "nobody marks the message of another"
    stolen = reply.model_copy(update={"mark_read": [answer.id]})
    await operations.coordinate_with_agent(face.visit, stolen)
    assert answer.id in await unread(two)
    with pytest.raises(Refused, match="NOT_FOUND"):
        await unread("agt_nobody")
