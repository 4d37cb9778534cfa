"""Files that hold secrets or must never be seen half-written."""

import os
from pathlib import Path


def write_private(path: Path, text: str) -> None:
    """Replace `path` by `text` in one step, readable by its owner only (0600) from its first moment."""
    partial = path.with_name(path.name + ".partial")
    descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        os.fchmod(file.fileno(), 0o600)
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)
