"""Numbers that are read from the record: shown as they are now, and not at all while nobody knows them."""

from prometheus_client import CollectorRegistry, generate_latest

from gateway.metrics_of_record import RecordNumbers
from protocol.refusals import busy
from storage.sql.watch import QueueLength, WatchNumbers


async def test_what_is_over_is_not_shown_any_more_and_a_silent_record_shows_nothing_old() -> None:
    registry = CollectorRegistry()
    now = [WatchNumbers({"nobody_moves": 2}, [QueueLength("shop", "main", 3, 61.5)], {"shop": 1}, 4.0)]

    async def read() -> WatchNumbers:
        if not now:
            raise busy("The record")
        return now[0]

    numbers = RecordNumbers(registry, read)

    async def shown() -> list[str]:
        await numbers.refresh()
        return [line for line in generate_latest(registry).decode().splitlines() if not line.startswith("#")]

    assert {
        'gitring_watch_findings{kind="nobody_moves"} 2.0',
        'gitring_watch_findings{kind="not_tested"} 0.0',
        'gitring_queue_oldest_seconds{line="main",project="shop"} 61.5',
        'gitring_checks_running{project="shop"} 1.0',
        "gitring_watch_age_seconds 4.0",
        "gitring_record_up 1.0",
    } <= set(await shown())
    now[0] = WatchNumbers({}, [], {}, None)
    assert not [line for line in await shown() if line.startswith("gitring_queue")]
    now.clear()
    assert await shown() == ["gitring_watch_age_seconds NaN", "gitring_record_up 0.0"]
