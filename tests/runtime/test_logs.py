"""What a log line shows, and what it never shows."""

import io
import json
import logging
from collections.abc import Iterator

import pytest
import structlog

from runtime.logs import set_up_logs
from runtime.settings import Settings

FORGED = "hello\n2026-01-01 [error] all is lost\x1b[31m"


@pytest.fixture(autouse=True)
def logs_as_before() -> Iterator[None]:
    """Leave logging as pytest had set it up."""
    root = logging.getLogger()
    handlers, level = root.handlers, root.level
    yield
    root.handlers = handlers
    root.setLevel(level)
    structlog.reset_defaults()


def written(log_format: str, level: str = "info") -> io.StringIO:
    stream = io.StringIO()
    set_up_logs(Settings(log_format=log_format, log_level=level), "gateway", stream)
    return stream


def test_json_has_one_object_a_line_with_process_and_bound_values() -> None:
    stream = written("json")
    with structlog.contextvars.bound_contextvars(project="prj_1"):
        structlog.get_logger("room").info("pushed", title=FORGED)
    logging.getLogger("library").warning("lost %s", "it")
    first, second = map(json.loads, stream.getvalue().splitlines())
    assert first["event"] == "pushed" and first["title"] == FORGED
    assert (first["process"], first["project"], first["level"]) == ("gateway", "prj_1", "info")
    assert (second["event"], second["logger"], second["process"]) == ("lost it", "library", "gateway")


def test_no_text_forges_a_line_or_colours_one() -> None:
    stream = written("console")
    structlog.get_logger("room").info(FORGED, title=FORGED)
    logging.getLogger("library").warning("%s", FORGED)
    assert len(stream.getvalue().splitlines()) == 2
    assert "\x1b" not in stream.getvalue()


@pytest.mark.parametrize("log_format", ["console", "json"])
def test_a_trace_back_has_no_local_variables(log_format: str) -> None:
    stream = written(log_format)
    hidden = "gitring_person_" + "secret"
    try:
        raise ValueError(len(hidden))
    except ValueError:
        structlog.get_logger("room").exception("failed")
    assert "ValueError" in stream.getvalue()
    assert hidden not in stream.getvalue()


def test_messages_below_the_level_are_left_out() -> None:
    stream = written("json", "warning")
    structlog.get_logger("room").info("quiet")
    logging.getLogger("library").info("quiet")
    assert stream.getvalue() == ""
