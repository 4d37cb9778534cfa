"""What agents say to each other and of each other's work: assessments, messages, resolutions, what was read."""

from collections.abc import Sequence

import asyncpg

from gateway.foremerge.surface import Visit
from gateway.foremerge.writing import Write, writing
from protocol.events import EventType
from protocol.foremerge.changesets import Decision
from protocol.foremerge.conflicts import Conflict, ResolveConflictInput
from protocol.foremerge.intents import Assessment, RecordAssessmentInput
from protocol.foremerge.messages import CoordinateInput, CoordinationMessage
from protocol.foremerge.records import AgentRow, WorkRow
from protocol.foremerge.words import ConflictStatus
from protocol.ids import new_id
from protocol.records import RequestRow
from rules.foremerge.agreements import after_message, must_assess, must_resolve
from rules.foremerge.checks import must_be_stored
from rules.foremerge.notices import message_notice
from rules.foremerge.refusing import filled, missing
from rules.foremerge.stored import must_know
from storage.sql import conflicts as gitring
from storage.sql.foremerge import agents, conflicts, words, work

_MOST_NOTICE = 2_000


class Agreeing:
    """Writes that change no intent."""

    def __init__(self, pool: asyncpg.Pool) -> None:
        self._pool = pool

    async def assess(self, visit: Visit, given: RecordAssessmentInput) -> Assessment:
        """`record_assessment`: appended, as often as somebody judges anew."""
        async with writing(self._pool, visit) as write:
            await write.actor_of(given.agent_id)
            own = await write.work_of(given.intent_id)
            why = must_assess(own.id, own.agent_id, given.agent_id, given.related_intent_id, given.rationale)
            related = await write.work_of(given.related_intent_id)
            fields = given.model_dump(exclude={"rationale"})
            made = Assessment(**fields, id=new_id("asm"), rationale=why, created_at=write.now)
            await words.add_assessment(write.connection, write.project.id, made)
            write.emit(
                EventType.INTENT_ASSESSED, "Intent", own.id, related.id, **made.model_dump(mode="json")
            )
        return made

    async def coordinate(self, visit: Visit, given: CoordinateInput) -> CoordinationMessage:
        """`coordinate_with_agent`: kept for the other's inbox; an open conflict it names is then coordinating."""
        text = filled(given.message, "message")
        async with writing(self._pool, visit) as write:
            sender = await write.actor_of(given.from_agent_id)
            to = must_know(
                await agents.get(write.connection, given.to_agent_id), given.to_agent_id, write.project.id
            )
            conflict = await _conflict(write, given.conflict_id) if given.conflict_id else None
            await _must_have_changeset(write, given.changeset_id)
            fields = given.model_dump(exclude={"message", "mark_read"})
            made = CoordinationMessage(**fields, id=new_id("msg"), message=text, created_at=write.now)
            await words.add_message(write.connection, write.project.id, made)
            await words.mark_read(write.connection, sender.id, given.mark_read, write.now)
            if conflict is not None:
                await conflicts.set_status(write.connection, conflict.id, after_message(conflict.status))
            about = await _work_of_receiver(write, to, conflict)
            write.emit(
                EventType.COORDINATION_SENT,
                "CoordinationMessage",
                made.id,
                about.id if about else None,
                **made.model_dump(mode="json"),
            )
            if to.of_gitring and about is not None:
                await _notice(write, about, sender, text)
        return made

    async def resolve(self, visit: Visit, given: ResolveConflictInput) -> Conflict:
        """`resolve_conflict`: the agreement becomes a decision, and nothing opens the conflict again."""
        must_be_stored(given.conflict_id)
        async with writing(self._pool, visit) as write:
            await write.actor_of(given.agent_id)
            conflict = await _conflict(write, given.conflict_id)
            said = must_resolve(
                conflict.id,
                conflict.status,
                given.agent_id,
                await conflicts.owners(write.connection, conflict),
                (given.resolution, given.rationale),
                parties_only=not visit.operator,
            )
            own, other = await _sides(write, conflict, given.agent_id)
            decision = Decision(
                id=new_id("dec"),
                intent_id=own,
                title=said.resolution,
                rationale=said.rationale,
                created_at=write.now,
            )
            await words.add_decision(
                write.connection,
                write.project.id,
                decision,
                agent_id=given.agent_id,
                conflict_id=conflict.id,
            )
            await conflicts.set_status(write.connection, conflict.id, ConflictStatus.RESOLVED)
            write.emit(
                EventType.CONFLICT_RESOLVED,
                "Conflict",
                conflict.id,
                other,
                resolution=said.resolution,
                rationale=said.rationale,
                decision_id=decision.id,
            )
        return conflict.model_copy(update={"status": ConflictStatus.RESOLVED})

    async def mark_read(self, visit: Visit, agent_id: str, message_ids: Sequence[str]) -> int:
        """An agent has read these messages of its inbox; how many of them were unread."""
        async with writing(self._pool, visit) as write:
            await write.actor_of(agent_id)
            return await words.mark_read(write.connection, agent_id, message_ids, write.now)


async def _conflict(write: Write, conflict_id: str) -> Conflict:
    must_be_stored(conflict_id)
    found = await conflicts.get(write.connection, write.project.id, conflict_id)
    if found is None:
        raise missing(f"conflict {conflict_id[:100]}", "List those of your intent with check_conflicts.")
    return found


async def _must_have_changeset(write: Write, changeset_id: str | None) -> None:
    if changeset_id is not None and not await words.changeset_is_there(
        write.connection, write.project.id, changeset_id
    ):
        raise missing(f"ChangeSet {changeset_id[:100]}", "Find it with query_work.")


async def _parties(write: Write, conflict: Conflict) -> list[WorkRow]:
    ids = [str(conflict.source_intent_id), conflict.target_intent_id]
    return await work.many(write.connection, ids)


async def _sides(write: Write, conflict: Conflict, agent_id: str) -> tuple[str, str]:
    """The party that the agent owns and the other one; the source first where it owns neither."""
    source, target = str(conflict.source_intent_id), conflict.target_intent_id
    owned = {one.id for one in await _parties(write, conflict) if one.agent_id == agent_id}
    return (target, source) if target in owned and source not in owned else (source, target)


async def _work_of_receiver(write: Write, to: AgentRow, conflict: Conflict | None) -> WorkRow | None:
    """The receiver's intent that the message is about: its side of the conflict, else its latest live one."""
    if conflict is not None:
        for one in await _parties(write, conflict):
            if one.agent_id == to.id:
                return one
    latest = await work.query(write.connection, write.project.id, to.id, None, None, 1)
    return latest[0] if latest and latest[0].live else None


async def _notice(write: Write, about: WorkRow, sender: AgentRow, text: str) -> None:
    """A gitring agent has no inbox here: it hears of the message by a notice on its intent."""
    reason, todo = message_notice(f"Agent {sender.name}", text[:_MOST_NOTICE])
    request = RequestRow(
        id=new_id("chq"),
        project_id=write.project.id,
        intent_id=about.id,
        from_kind="agent",
        from_name=f"agent {sender.name} for {write.caller.person_name}",
        kind="notice",
        conflict_id=None,
        check_id=None,
        place=None,
        reason=reason,
        todo=todo,
        blocking=False,
        head=None,
        created_at=write.now,
        closed_at=None,
    )
    await gitring.add_request(write.connection, request)
    write.emit(
        EventType.CHANGE_REQUEST_OPENED,
        "ChangeRequest",
        request.id,
        about.id,
        kind=request.kind,
        conflict_id=None,
        blocking=False,
    )
