"""Turns a run's raw output into lines that are safe to read: bounded, decoded, without escapes or invisible characters."""

import re
from collections.abc import Iterable

WINDOW = 512 * 1024
MAX_LINE = 2_000
MAX_LINES = 20_000

# Each alternative starts at ESC and can never run over another ESC or a line end, so a scan is linear.
_ESCAPE = re.compile(
    r"\x1b\][^\x07\x1b\n]*(?:\x07|\x1b\\)?|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|\x1b[ -/]*[0-Z\\^-~]"
)
# Control, format (bidirectional overrides, zero-width, tags), line separator and surrogate characters; not tab and newline.
_INVISIBLE = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\u200b-\u200f"
    "\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff\U000110bd\U000110cd\U00013430-\U0001343f"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e007f]"
)
_SPACE = re.compile(r"\s+")


def cut(output: bytes, window: int = WINDOW) -> bytes:
    """The first and the last `window` bytes of `output`; the middle of a long output says nothing about its start or end."""
    if len(output) <= 2 * window:
        return output
    return output[:window] + b"\n" + output[-window:]


def clean_lines(output: bytes) -> list[str]:
    """The lines a person would see on a terminal, from the two ends of `output`."""
    return split_clean(cut(output).decode("utf-8", "replace"))


def split_clean(text: str) -> list[str]:
    """The same for text that is decoded already and bounded by its caller."""
    text = text.replace("\r\n", "\n")
    text = _INVISIBLE.sub("", _ESCAPE.sub("", text)).replace("\t", " ")
    lines = [_last_overwrite(line)[:MAX_LINE].rstrip() for line in text.split("\n")]
    if len(lines) > MAX_LINES:
        lines = lines[: MAX_LINES // 2] + lines[-MAX_LINES // 2 :]
    return lines


def one_line(text: str, limit: int) -> str:
    """`text` as one line of at most `limit` characters; `…` marks a cut."""
    flat = _SPACE.sub(" ", _INVISIBLE.sub("", text)).strip()
    return flat if len(flat) <= limit else flat[: limit - 1].rstrip() + "…"


def joined(lines: Iterable[str], limit: int) -> str:
    """Several lines as one, with a space between."""
    return one_line(" ".join(lines), limit)


def _last_overwrite(line: str) -> str:
    # A carriage return moves to the line's start: progress bars leave only what was written last.
    return line.rsplit("\r", 1)[-1] if "\r" in line else line
