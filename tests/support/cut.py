"""End a piece of work in the middle, at any of the places where it waits, as a worker that stops does."""

import asyncio
from collections.abc import Coroutine, Generator
from typing import Any, TypeVar

T = TypeVar("T")


class CutShort:
    """Awaits `work` and cancels it when it waits for the `at`-th time, counted from 0."""

    def __init__(self, work: Coroutine[Any, Any, T], at: int) -> None:
        self._work, self._at = work, at

    def __await__(self) -> Generator[Any, Any, Any]:
        inner = self._work.__await__()
        waits = 0
        error: BaseException | None = None
        while True:
            try:
                waited_for = inner.send(None) if error is None else inner.throw(error)
            except StopIteration as end:
                return end.value
            if waits == self._at:
                task = asyncio.current_task()
                assert task is not None
                task.cancel()
            waits += 1
            error = None
            try:
                yield waited_for
            except BaseException as raised:
                error = raised


async def ended_before(work: Coroutine[Any, Any, T], at: int) -> bool:
    """Run `work` up to its `at`-th wait; True when it was over before."""

    async def cut() -> None:
        await CutShort(work, at)

    task = asyncio.create_task(cut())
    await asyncio.wait({task})
    if task.cancelled():
        return False
    task.result()
    return True
