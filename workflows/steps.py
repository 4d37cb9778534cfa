"""One table of activity options, so that no workflow line carries numbers.

Local record steps are one short transaction. Git steps run on the host that owns the repository; checks have
a queue of their own. A slow world is retried without end; a step that fails for good says so by a value.
"""

from datetime import timedelta
from typing import Any, TypedDict

from temporalio.common import RetryPolicy

from protocol.names import checks_queue, git_queue

_RECORD_RETRY = RetryPolicy(
    initial_interval=timedelta(milliseconds=200), maximum_interval=timedelta(seconds=5)
)
_GIT_RETRY = RetryPolicy(initial_interval=timedelta(milliseconds=500), maximum_interval=timedelta(seconds=15))
# A worker that was killed is noticed after this long, and its step goes to another; the worker beats by itself.
STEP_HEARTBEAT = timedelta(seconds=8)
CHECK_HEARTBEAT = timedelta(seconds=15)


class LocalStep(TypedDict):
    """Options of a local activity."""

    start_to_close_timeout: timedelta
    retry_policy: RetryPolicy


RECORD = LocalStep(start_to_close_timeout=timedelta(seconds=20), retry_policy=_RECORD_RETRY)


# A signal is sent in milliseconds; it is sent again when the engine did not take it.
LOCAL_WAKE = LocalStep(start_to_close_timeout=timedelta(seconds=20), retry_policy=_RECORD_RETRY)


def wake_step(summary: str) -> dict[str, Any]:
    """A signal to other workflows."""
    return {
        "start_to_close_timeout": timedelta(seconds=30),
        "heartbeat_timeout": STEP_HEARTBEAT,
        "retry_policy": _RECORD_RETRY,
        "summary": summary,
    }


def git_step(host: str, summary: str) -> dict[str, Any]:
    """A step on a repository's own host."""
    return {
        "task_queue": git_queue(host),
        "start_to_close_timeout": timedelta(minutes=10),
        "heartbeat_timeout": STEP_HEARTBEAT,
        "retry_policy": _GIT_RETRY,
        "summary": summary,
    }


def index_step(host: str, summary: str) -> dict[str, Any]:
    """An indexing of a line: minutes for a large repository, resumed where it was after a loss."""
    return {
        "task_queue": git_queue(host),
        "start_to_close_timeout": timedelta(hours=2),
        "heartbeat_timeout": timedelta(seconds=60),
        "retry_policy": _GIT_RETRY,
        "summary": summary,
    }


def import_step(host: str, summary: str) -> dict[str, Any]:
    """An import: git itself gives up after an hour, and a worker lost in the middle costs one more try."""
    return {
        "task_queue": git_queue(host),
        "start_to_close_timeout": timedelta(minutes=65),
        "schedule_to_close_timeout": timedelta(hours=3),
        "retry_policy": _GIT_RETRY,
        "summary": summary,
    }


def check_step(host: str, summary: str) -> dict[str, Any]:
    """A check run; its own timeout is the project's, this one only bounds a lost worker."""
    return {
        "task_queue": checks_queue(host),
        "start_to_close_timeout": timedelta(hours=25),
        "heartbeat_timeout": CHECK_HEARTBEAT,
        "retry_policy": _GIT_RETRY,
        "summary": summary,
    }
