"""How the demo speaks: plain lines with seconds in a pipe, the same in colour on a terminal."""

import sys
import time
from collections.abc import Iterable

from cli.clean import one_line

_COLOURS = ("cyan", "magenta", "green", "yellow")


class Teller:
    """Says each step as it happens; `step` is the one under way."""

    def __init__(self) -> None:
        self.step = "beginning"
        self._began = time.monotonic()
        self._speakers: list[str] = []
        self._console = None
        if sys.stdout.isatty():
            from rich.console import Console

            self._console = Console(highlight=False, soft_wrap=True)

    @property
    def seconds(self) -> float:
        """Since the beginning."""
        return time.monotonic() - self._began

    def begin(self, step: str) -> None:
        """A new step of the whole story."""
        self.step = step
        self._say("", step, "bold")

    def says(self, speaker: str, text: str) -> None:
        """What one of those who take part did or heard."""
        if speaker not in self._speakers:
            self._speakers.append(speaker)
        colour = _COLOURS[self._speakers.index(speaker) % len(_COLOURS)]
        self._say(f"{speaker:>7}  ", text, colour)

    def block(self, lines: Iterable[str]) -> None:
        """Lines as they are, set in."""
        for line in lines:
            self._print(f"           {one_line(line, 200)}", "")

    def summary(self, rows: Iterable[tuple[str, str]]) -> None:
        """The end, in two columns."""
        for name, value in rows:
            self._print(f"  {name:<14} {one_line(value, 200)}", "bold")

    def _say(self, before: str, text: str, style: str) -> None:
        self._print(f"[{self.seconds:5.1f} s] {before}{one_line(text, 300)}", style)

    def _print(self, line: str, style: str) -> None:
        if self._console:
            from rich.text import Text

            self._console.print(Text(line, style=style))
        else:
            print(line, flush=True)
