"""Where somebody who followed a log while it grew goes on in the log that was kept."""

import re

from protocol.checks import MAX_RETRIES
from protocol.live import LOG_LIMIT

_LEFT_OUT = re.compile(rb"\n\[\d+ bytes of output are left out here\]\n")


def rest_of(kept: bytes, seen: int) -> int:
    """The byte of the kept log from which on it is new to whoever saw the first `seen` bytes of the output.

    A kept log that was cut holds the first half of the limit as it came, and then other bytes than the output had there.
    """
    # The tries of a check share the limit.
    for tries in range(1, MAX_RETRIES + 2):
        half = LOG_LIMIT // tries // 2
        if seen > half and _LEFT_OUT.match(kept, half):
            return half
    return min(seen, len(kept))


def whole_characters(piece: bytes) -> bytes:
    """`piece` without the beginning of a character that its end cut through."""
    for back in range(1, min(4, len(piece) + 1)):
        byte = piece[-back]
        if byte & 0xC0 == 0x80:
            continue  # inside a character: its first byte stands before
        length = 2 if byte >> 5 == 0b110 else 3 if byte >> 4 == 0b1110 else 4 if byte >> 3 == 0b11110 else 1
        return piece if back >= length else piece[:-back]
    return piece
