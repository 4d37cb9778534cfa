"""The sentences about a conflict: one place for the board, answers, change requests and pages."""

from protocol.records import ConflictRow
from protocol.states import Verdict
from rules.places import covers, parse_place

RANGE_NAMES = {0: "Same place", 1: "Changes what the other uses", 2: "Same file", 3: "One import apart"}
MOST_PLACES = 5


def listed(places: list[str]) -> str:
    """Sorted places for a sentence, none inside the one before: at most five, then how many more."""
    kept: list[str] = []
    for text in places:
        if not kept or not covers(parse_place(kept[-1]), parse_place(text)):
            kept.append(text)
    shown = ", ".join(kept[:MOST_PLACES])
    more = len(kept) - MOST_PLACES
    return f"{shown} and {more} more" if more > 0 else shown


def conflict_text(row: ConflictRow) -> str:
    """`#41 and #49. Range 0: Same place (src/money.py). #49 holds until #41 merges (rule R5).`"""
    low, high = sorted((row.first_number, row.second_number))
    first, second = f"#{row.first_number}", f"#{row.second_number}"
    does = {
        Verdict.HOLD: f"{second} holds until {first} merges or is withdrawn",
        Verdict.NARROW: f"{second} leaves these places to {first} until {first} merges, and goes on with the rest",
        Verdict.ADAPT: f"{second} adapts its plan to {first}",
        Verdict.WATCH: "No action",
        Verdict.SHOWN: "No action",
    }[row.verdict]
    rule = f" (rule {row.rule})" if row.verdict in (Verdict.HOLD, Verdict.NARROW, Verdict.ADAPT) else ""
    return f"#{low} and #{high}. Range {row.range}: {RANGE_NAMES[row.range]} ({listed(row.places)}). {does}{rule}."


def narrow_request(row: ConflictRow) -> tuple[str, str]:
    """Reason and `Do:` of the change request for the one that yields."""
    first, second, places = f"#{row.first_number}", f"#{row.second_number}", listed(row.places)
    return (
        f"{second} leaves {places} to {first} until {first} merges, and goes on with the rest of its plan "
        f"(rule {row.rule}). Use those places only as they are on your line, and never take {first}'s commits into "
        f"yours: they reach you when {first} merges, and then you merge the line into your work. A push that "
        f"changes one of these places is refused until {first} merges or is withdrawn; then they are yours again.",
        f"change your plan with gitring_update_plan to leave out {places}; that closes this request.",
    )


def narrow_notice(row: ConflictRow) -> tuple[str, str]:
    """Reason and `Do:` of the notice for the one that keeps."""
    first, second = f"#{row.first_number}", f"#{row.second_number}"
    return (
        f"{first} keeps {listed(row.places)}: {second} leaves it to you until you merge (rule {row.rule}).",
        f"go on as planned; {_plan_of(second, row.second_id)}. gitring_ack or gitring_submit closes this notice.",
    )


def adapt_request(row: ConflictRow, used: list[str]) -> tuple[str, str]:
    """Reason and `Do:` of the change request for the one that uses `used`, which the other changes (range 1)."""
    first = f"#{row.first_number}"
    return (
        f"Intent {first} changes {listed(used)}, which your plan uses.",
        f"adapt your steps to that change ({_plan_of(first, row.first_id)}), push, then gitring_ack.",
    )


def _plan_of(label: str, intent_id: str) -> str:
    return f"gitring_board with intentId {intent_id} shows the plan of {label}"
