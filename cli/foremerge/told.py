"""Makes a function into a command: its answer printed as people or programs want it, its failure with its exit code."""

import inspect
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import typer

from cli.clean import lines_of
from cli.foremerge.failing import Failure
from cli.foremerge.place import Place
from protocol.wire import visible_json

if TYPE_CHECKING:
    from cli.foremerge.server import Server


@dataclass(frozen=True)
class Text:
    """An answer that people read as lines and programs as `data`."""

    data: Any
    lines: Iterable[str]
    exit_code: int = 0


@dataclass(frozen=True)
class Stream:
    """Answers that come one by one, a line of JSON each."""

    answers: Iterator[Any]


class Call:
    """What a command is given: where it acts, and the server there (heavy, so only once it is asked for)."""

    def __init__(self, place: Place) -> None:
        self.place = place

    @cached_property
    def server(self) -> "Server":
        """The server, for ordinary calls."""
        return self.place.opened(self.place.target)

    def operator(self) -> "Server":
        """The server, for what only an operator may do."""
        return self.place.opened(self.place.operator())


def told(run: Callable[..., Any]) -> Callable[..., None]:
    """`run(call, …)` as a command; the global options come by the context."""

    def command(ctx: typer.Context, **given: Any) -> None:
        place = ctx.obj if isinstance(ctx.obj, Place) else Place()
        raise typer.Exit(ended(place, lambda: run(Call(place), **given)))

    own = list(inspect.signature(run, eval_str=True).parameters.values())[1:]
    context = inspect.Parameter("ctx", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context)
    parameters = [context, *(one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in own)]
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {one.name: one.annotation for one in parameters}
    command.__name__, command.__doc__ = run.__name__, run.__doc__
    return command


def ended(place: Place, work: Callable[[], Any]) -> int:
    """Do the work and print what it gives; the exit code. A reader that left ends it in silence."""
    try:
        try:
            with place.closing:
                return _show(work(), place.as_json)
        except Failure as problem:
            return _show_failure(problem, place.as_json)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _show(answer: Any, as_json: bool) -> int:
    if isinstance(answer, Stream):
        for one in answer.answers:
            print(compact(one), flush=True)
        return 0
    code = answer.exit_code if isinstance(answer, Text) else 0
    data = answer.data if isinstance(answer, Text) else answer
    if as_json:
        print(compact({"ok": True, "data": data}), flush=True)
    elif isinstance(answer, Text):
        for line in answer.lines:
            print(line)
    else:
        print("No results." if data == [] else pretty(data))
    sys.stdout.flush()
    return code


def _show_failure(problem: Failure, as_json: bool) -> int:
    if as_json:
        print(compact(problem.envelope), flush=True)
        return problem.exit_code
    if problem.data is not None:
        print(pretty(problem.data), flush=True)
    print("error: " + "\n".join(lines_of(str(problem))), file=sys.stderr)
    return problem.exit_code


def compact(answer: Any) -> str:
    """JSON on one line."""
    return visible_json(json.dumps(answer, separators=(",", ":"), ensure_ascii=False))


def pretty(answer: Any) -> str:
    """JSON for people."""
    return visible_json(json.dumps(answer, indent=2, ensure_ascii=False))
