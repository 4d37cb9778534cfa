"""The message of a merge commit: subject, goal, issue line, and the trailer that names the intent."""

import re

_CLOSING = re.compile(
    r"\b(close[sd]?|fix(?:e[sd])?|resolve[sd]?)(\s*:?\s+)((?:[\w.-]+/[\w.-]+)?#\d+|https?://\S+/issues/\d+)",
    re.I,
)


def disarmed(text: str) -> str:
    """`text` with the word `issue` before each reference that a closing word would close."""
    return _CLOSING.sub(r"\1\2issue \3", text)


def _plain(text: str) -> str:
    """`text` without control characters; a line that looks like a trailer of ours is quoted."""
    lines = ["".join(c for c in line if c.isprintable() or c == "\t") for line in text.splitlines()]
    return "\n".join(f"> {line}" if re.match(r"\s*gitring-", line, re.I) else line for line in lines).strip()


def merge_message(number: int, title: str, goal: str, intent_id: str, issue: str | None) -> str:
    """What gitring's merge commit of intent `number` says. The title and goal are others' words, made plain."""
    subject = " ".join(disarmed(_plain(title)).split())
    parts = [f"Merge #{number}: {subject}"[:200], disarmed(_plain(goal))[:4000]]
    if issue:
        parts.append(f"Issue: {issue}")
    return "\n\n".join(part for part in parts if part) + f"\n\nGitring-Intent: {intent_id}\n"
