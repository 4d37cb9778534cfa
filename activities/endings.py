"""What follows when intents became final, whichever face they came from."""

from collections.abc import Sequence

from activities.change import Change
from activities.neighbours import settle
from storage.sql import conflicts, intents, places
from storage.sql.foremerge import work


async def end_intents(change: Change, intent_ids: Sequence[str]) -> None:
    """End their conflicts, release who waited, forget their places; nothing is compared with them any more, and
    what others were told of them is closed."""
    rows = await intents.many(change.connection, intent_ids)
    for intent_id in intent_ids:
        await settle(change, rows[intent_id])
    for notice in await conflicts.notices_about(change.connection, intent_ids):
        other = rows[str(notice.about_id)]
        await change.close(notice, f"#{other.number} is {other.state.text.lower()}")
    await places.forget(change.connection, intent_ids)
    await work.end(change.connection, intent_ids)
