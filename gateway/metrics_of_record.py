"""Gauges that are read from the record whenever somebody asks for the numbers."""

from prometheus_client import CollectorRegistry, Gauge

from gateway.watching import ReadNumbers
from protocol.refusals import Refused
from protocol.watch import WatchKind


class RecordNumbers:
    """Findings by kind, queues by line, running checks, and whether the record answered."""

    def __init__(self, registry: CollectorRegistry, read: ReadNumbers) -> None:
        self._read = read

        def gauge(name: str, what: str, *labels: str) -> Gauge:
            return Gauge(name, what, labels, registry=registry)

        self._findings = gauge("gitring_watch_findings", "What the watchdog finds now", "kind")
        self._looked = gauge("gitring_watch_age_seconds", "Since the watchdog last looked at everything")
        self._queued = gauge("gitring_queue_length", "Intents in a line's queue", "project", "line")
        self._oldest = gauge(
            "gitring_queue_oldest_seconds", "How long the longest waiting one waits", "project", "line"
        )
        self._running = gauge("gitring_checks_running", "Runs without a verdict", "project")
        self._up = gauge("gitring_record_up", "1 while the record answers these numbers")

    async def refresh(self) -> None:
        """Read them anew. A number that is not known now is not shown at all, never as it was."""
        for gauge in (self._queued, self._oldest, self._running, self._findings):
            gauge.clear()
        self._looked.set(float("nan"))
        try:
            found = await self._read()
        except Refused:
            self._up.set(0)
            return
        self._up.set(1)
        for kind in WatchKind:
            self._findings.labels(kind.value).set(found.findings.get(kind, 0))
        if found.looked_sec is not None:
            self._looked.set(found.looked_sec)
        for queue in found.queues:
            self._queued.labels(queue.slug, queue.line).set(queue.queued)
            self._oldest.labels(queue.slug, queue.line).set(queue.oldest_sec)
        for slug, count in found.checks_running.items():
            self._running.labels(slug).set(count)
