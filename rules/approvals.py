"""An approval is bound to what a person saw: the plan's version and what the work does, not the commit's name."""

from protocol.ids import short
from protocol.records import IntentRow


def stands(row: IntentRow, head: str, patch: str | None) -> bool:
    """True when the merge of `head`, whose patch id is `patch`, was approved: itself, or as the same patch."""
    if row.merge_approved is None:
        return False
    if row.approved_plan is not None and row.approved_plan != row.plan_version:
        return False
    return row.merge_approved == head or (patch is not None and patch == row.approved_patch)


def said_of_approval(row: IntentRow, head: str, patch: str | None) -> str | None:
    """What an agent hears of an earlier approval when it submits; None when there was none, or it is this head's."""
    if row.merge_approved is None or row.merge_approved == head:
        return None
    approved = short(row.merge_approved)
    if stands(row, head, patch):
        return f"The approval of {approved} stands: {short(head)} is the same patch on a newer base."
    if row.approved_plan is not None and row.approved_plan != row.plan_version:
        return f"Plan v{row.approved_plan} was approved with {approved}; the plan is v{row.plan_version} now."
    return f"The approval was for {approved}; {short(head)} changes something else."
