"""What an operator sees of a workflow in the Temporal UI. Titles are others' words: one plain line."""

from temporalio import workflow
from temporalio.common import SearchAttributeKey

with workflow.unsafe.imports_passed_through():
    from protocol.commands import IntentSight
    from protocol.ids import short
    from protocol.names import SEARCH_LINE, SEARCH_PROJECT, SEARCH_STATE, SEARCH_WAITS_FOR

PROJECT = SearchAttributeKey.for_keyword(SEARCH_PROJECT)
STATE = SearchAttributeKey.for_keyword(SEARCH_STATE)
LINE = SearchAttributeKey.for_keyword(SEARCH_LINE)
WAITS_FOR = SearchAttributeKey.for_keyword(SEARCH_WAITS_FOR)

# The colon and the first dot, too: a page that shows Markdown makes links of bare addresses.
_MARKUP = str.maketrans({c: f"\\{c}" for c in "\\`*_{}[]<>()#+!|~&:@"})


def plain(text: str, limit: int = 120) -> str:
    """Untrusted text as one line without control characters."""
    line = "".join(char if char.isprintable() else " " for char in text)
    return " ".join(line.split())[:limit]


def escaped(text: str, limit: int = 120) -> str:
    """Untrusted text for Markdown: shown, never interpreted."""
    return plain(text, limit).translate(_MARKUP).replace("www.", "www\\.")


def intent_details(sight: IntentSight) -> str:
    """The current details of an intent, in Markdown."""
    rows = [
        f"**\\#{sight.number} {escaped(sight.title)}**",
        f"State: **{sight.state.text}**, waits for: {sight.waits_for.value.replace('_', ' ')}",
        f"Line: `{plain(sight.line)}`, head: `{short(sight.head) if sight.head else 'nothing pushed'}`",
    ]
    if sight.holds:
        rows.append("Held by: " + ", ".join(f"\\#{number}" for number in sight.holds))
    if sight.last_check:
        rows.append(f"Last check: {escaped(sight.last_check, 300)}")
    rows.append(f"Next: {escaped(sight.next, 300)}")
    return "\n\n".join(rows)


def show_intent(sight: IntentSight) -> None:
    """Put an intent's state where operators look: the details and the search attributes."""
    workflow.set_current_details(intent_details(sight))
    workflow.upsert_search_attributes(
        [
            PROJECT.value_set(sight.project_id),
            STATE.value_set(sight.state.value),
            LINE.value_set(sight.line),
            WAITS_FOR.value_set(sight.waits_for.value),
        ]
    )
