"""One intent's records, as plain as they come, for rules that read them."""

from datetime import UTC, datetime

from protocol.projects import ProjectSettings
from protocol.records import IntentRecords, IntentRow, PlanRow, ProjectRow
from protocol.scopes import Scope
from protocol.states import Priority, Risk, State

THEN = datetime(2026, 1, 1, tzinfo=UTC)


def records() -> IntentRecords:
    """Intent #5 of a project, queued on main, with nothing beside it."""
    row = IntentRow(
        id="int_own",
        project_id="prj_x",
        number=5,
        title="Work",
        goal="The goal.",
        kind="change",
        landing="queue",
        state=State.VERIFYING,
        line="main",
        base="a" * 40,
        head="b" * 40,
        submitted_head="b" * 40,
        merged_commit=None,
        plan_version=1,
        plan_approved=None,
        merge_approved=None,
        priority=Priority.NORMAL,
        issue=None,
        risk=Risk.LOW,
        risk_reasons=[],
        person_id="per_x",
        person_name="Ana Ruiz",
        token_id="tok_x",
        agent_name="claude",
        session_name=None,
        created_at=THEN,
        state_since=THEN,
        queued_at=THEN,
    )
    return IntentRecords(
        intent=row,
        project=ProjectRow(
            id="prj_x",
            slug="shop",
            owner_id="per_x",
            owner_name="Ana Ruiz",
            host="here",
            default_line="main",
            settings=ProjectSettings(),
            created_at=THEN,
        ),
        line_head="a" * 40,
        plan=PlanRow(
            intent_id=row.id,
            version=1,
            summary="The plan.",
            steps=[],
            checks=[],
            scope=Scope(change=[], use=[]),
            reason=None,
            created_at=THEN,
        ),
        conflicts=[],
        requests=[],
        pushed_paths=[],
        checks=[],
        decisions=[],
        goes_after=[],
        followers=[],
        after_seq=1,
    )
