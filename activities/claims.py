"""Reserve numbers and names for an intent, inside the transaction of its declare: all of them, or nothing."""

from collections.abc import Sequence

from activities.change import Change
from protocol.claims import ClaimInput, claim_key
from protocol.events import EventType
from protocol.records import IntentRow
from protocol.refusals import Refused, invalid_input, refused
from storage.sql import claims as record
from storage.sql.claims import Given

_SERIES_NAMED = 10


async def reserve(change: Change, row: IntentRow, claims: Sequence[ClaimInput]) -> list[str]:
    """What the intent got, in the order asked. Refuses `unknown_series` and `claim_held`."""
    if not claims:
        return []
    await _must_be_free(change, [claim.name for claim in claims if claim.name is not None])
    given: list[Given] = []
    for claim in claims:
        if claim.name is not None:
            given.append(Given(claim.name, claim_key(claim.name)))
        elif claim.series is not None:
            given += await _numbers(change, claim.series, claim.numbers)
    await record.add(change.connection, change.project.id, row.id, given, change.now)
    got = [one.text for one in given]
    change.emit(EventType.CLAIM_RESERVED, "Intent", row.id, row.id, number=row.number, reserved=got)
    return got


async def _numbers(change: Change, series: str, count: int) -> list[Given]:
    key = claim_key(series)
    taken = await record.take(change.connection, change.project.id, key, count)
    if taken is None:
        raise await _unknown(change, series)
    prefix, first = taken
    return [
        Given(f"{prefix}{number}", claim_key(f"{prefix}{number}"), key, number)
        for number in range(first, first + count)
    ]


async def _unknown(change: Change, series: str) -> Refused:
    known = await record.series_of(change.connection, change.project.id, _SERIES_NAMED)
    named = ", ".join(one.prefix for one in known)
    instead = f"Reserve from one there is ({named}), or ask" if known else "Ask"
    return refused(
        "unknown_series",
        f"{change.project.slug} has no series {series} to take numbers from.",
        f"{instead} {change.project.owner_name} to create {series}. Nothing was declared.",
        400,
    )


async def _must_be_free(change: Change, names: Sequence[str]) -> None:
    keys = [claim_key(name) for name in names]
    behind = await record.series_behind(change.connection, change.project.id, keys)
    if behind is not None:
        prefix, place = behind
        raise invalid_input(
            f"{names[place]} reads as a number of the series {prefix}.",
            f'Reserve the series\' next number with {{"series": "{prefix}"}}, or choose another name.',
        )
    held = await record.holder(change.connection, change.project.id, keys)
    if held is not None:
        given, number = held
        raise refused(
            "claim_held",
            f"{given} is reserved by intent #{number} for as long as it lives.",
            f"Reserve another name, or declare again when #{number} is merged or withdrawn. Nothing was declared.",
        )
