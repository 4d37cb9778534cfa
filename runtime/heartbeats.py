"""Every activity with a heartbeat timeout beats by itself, so that a killed worker is noticed within seconds.

Without it the engine waits out the whole time of a step before it gives the step to the next worker.
"""

import asyncio
from typing import Any

from temporalio import activity
from temporalio.worker import ActivityInboundInterceptor, ExecuteActivityInput, Interceptor

_BEATS_IN_TIMEOUT = 3


class Heartbeats(Interceptor):
    """Beats for the activities of the workers that it is given to."""

    def intercept_activity(self, next: ActivityInboundInterceptor) -> ActivityInboundInterceptor:
        """Put the beating around each activity."""
        return _Beating(super().intercept_activity(next))


class _Beating(ActivityInboundInterceptor):
    async def execute_activity(self, input: ExecuteActivityInput) -> Any:
        timeout = activity.info().heartbeat_timeout
        if timeout is None:
            return await self.next.execute_activity(input)
        beating = asyncio.create_task(_beat(timeout.total_seconds() / _BEATS_IN_TIMEOUT))
        try:
            return await self.next.execute_activity(input)
        finally:
            beating.cancel()


async def _beat(every: float) -> None:
    while True:
        activity.heartbeat()
        await asyncio.sleep(every)
