"""Logging of every process: structlog for ours, the standard library's for those we use, one format for both."""

import logging
import sys
from typing import TextIO

import structlog
from structlog.typing import EventDict, Processor

from runtime.settings import Settings

# Libraries that would say one line for each request or query.
QUIET = ("httpx2", "httpcore", "nats", "asyncio", "uvicorn.access")


def set_up_logs(settings: Settings, process: str, stream: TextIO | None = None) -> None:
    """Send all messages to `stream` (standard error) as the settings ask, each with the name of its process.

    Bind what a request is about with `structlog.contextvars.bound_contextvars(project=…, intent=…)`.
    """
    stream = stream or sys.stderr
    shared = _shared_steps(process)
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *shared,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(stream)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared, processors=_last_steps(settings, stream)
        )
    )
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(settings.log_level.upper())
    for name in QUIET:
        logging.getLogger(name).setLevel(logging.WARNING)


def _shared_steps(process: str) -> list[Processor]:
    def name_process(_: object, __: str, event: EventDict) -> EventDict:
        event["process"] = process
        return event

    return [
        structlog.contextvars.merge_contextvars,
        name_process,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.PositionalArgumentsFormatter(),
        structlog.stdlib.ExtraAdder(),
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]


def _one_line(_: object, __: str, event: EventDict) -> EventDict:
    """Escape the message as the values are: no text of others may forge a line or colour one."""
    event["event"] = "".join(
        letter if letter.isprintable() else repr(letter)[1:-1] for letter in str(event["event"])
    )
    return event


def _last_steps(settings: Settings, stream: TextIO) -> list[Processor]:
    """Trace-backs are plain text: the richer kind prints local variables, and those hold tokens."""
    if settings.log_format == "json":
        last: list[Processor] = [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
    else:
        plain = structlog.dev.plain_traceback
        last = [_one_line, structlog.dev.ConsoleRenderer(colors=stream.isatty(), exception_formatter=plain)]
    return [structlog.stdlib.ProcessorFormatter.remove_processors_meta, *last]
