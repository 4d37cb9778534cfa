"""A gitring intent as this face keeps it: agent, task, words and scopes. What it only uses is not compared."""

import hashlib
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import NamedTuple

from protocol.foremerge.records import AgentRow, NewScope, NewWork
from protocol.records import IntentRow
from rules.foremerge.alike import SUMMARIES_ALIKE, kept_under
from rules.foremerge.faces import declared_by_gitring
from rules.foremerge.likeness import words
from rules.foremerge.stored import new_scope
from rules.places import Place


class Mirror(NamedTuple):
    """What is kept of a gitring intent. `work.task_id` is the id of its task if that is new."""

    agent: AgentRow
    task_key: str
    task: str
    work: NewWork
    scopes: list[NewScope]


def mirrored(
    row: IntentRow,
    changes: Iterable[Place],
    names: Sequence[str],
    depends_on: Sequence[str],
    default_line: str,
    now: datetime,
) -> Mirror:
    """The intent in this face's words. Only work for the default line is compared: all of this face's goes there."""
    return Mirror(
        agent_of_token(row, now),
        hashlib.sha256(row.goal.encode()).hexdigest(),
        row.goal[:1_000],
        NewWork(
            intent_id=row.id,
            project_id=row.project_id,
            agent_id=agent_id_of(row.project_id, row.token_id),
            task_id=f"tsk_{row.id.removeprefix('int_')}",
            summary=row.title,
            rationale=None,
            depends_on=list(depends_on),
            metadata="{}",
            status=None,
            summary_likes=kept_under(words(row.title), SUMMARIES_ALIKE),
            live=not row.state.final and row.line == default_line,
        ),
        [new_scope(one) for one in declared_by_gitring(changes, names)],
    )


def agent_id_of(project_id: str, token_id: str) -> str:
    """The agent that stands for a token in a project."""
    digest = hashlib.sha256(f"{project_id} {token_id}".encode()).hexdigest()
    return f"agt_{digest[:32]}"


def agent_of_token(row: IntentRow, now: datetime) -> AgentRow:
    """The agent that stands for the token that declared `row`."""
    return AgentRow(
        id=agent_id_of(row.project_id, row.token_id),
        project_id=row.project_id,
        person_id=row.person_id,
        token_id=row.token_id,
        of_gitring=True,
        name=row.agent_name,
        model=None,
        capabilities=[],
        worktree=None,
        git_branch=None,
        git_head=None,
        registered_at=now,
        last_seen_at=now,
    )
