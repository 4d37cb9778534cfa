"""Why an intent waits for a person, and why one goes before another: the rule that decided, in a sentence."""

from protocol.projects import ProjectSettings
from protocol.records import ConflictRow, IntentRow
from protocol.states import State, When
from rules.conflict_texts import conflict_text

# What each rule of the order says, the strongest first (docs/rules.md, Order).
ORDER_RULES = {
    "R1": "one of the two was declared to go after the other",
    "R0": "a person said who goes first",
    "R1a": "one of the two uses what the other changes",
    "R2": "one of the two has been submitted already",
    "R3": "one of the two has high priority",
    "R4": "one of the two has pushed into the shared place already",
    "R5": "nothing else tells the two apart, so the lower number goes first",
}


def why_asked(row: IntentRow, settings: ProjectSettings, owners_folder: str | None = None) -> list[str]:
    """Why a person decides about this intent's plan or merge; empty when nobody is asked.

    `owners_folder` is the folder of its changes whose merge an owner approves, where the caller knows.
    """
    if row.state is State.PLAN_REVIEW:
        return _by_rule(settings.plan_review, row, "plan")
    if row.state is State.AWAITING_APPROVAL:
        if not settings.has_checks:
            return ["The project has no checks, so a person decides about every merge."]
        return [*_by_folder(owners_folder), *_by_rule(settings.merge_approval, row, "merge")]
    return []


def _by_folder(owners_folder: str | None) -> list[str]:
    if owners_folder is not None:
        return [f"It changes {owners_folder}: an owner approves the merge."]
    return []


def _by_rule(when: When, row: IntentRow, what: str) -> list[str]:
    risks = [f"High risk: {reason}." for reason in row.risk_reasons]
    if when is When.ALWAYS:
        return [f"The project asks a person about every {what}.", *risks]
    return risks


def why_held(intent_id: str, pairs: list[ConflictRow]) -> list[str]:
    """The sentences of the conflicts in which this intent goes second."""
    return [conflict_text(pair) for pair in pairs if pair.second_id == intent_id]
