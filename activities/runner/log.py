"""The log of a run: written while the run goes on, and never longer than its limit."""

import os
from collections import deque
from pathlib import Path

DEFAULT_LIMIT = 8 * 1024 * 1024
_MIN_LIMIT = 1024


class CappedLog:
    """Appends to a file that a reader may follow, and keeps memory and disk bounded whatever is written.

    Up to `limit` bytes stand in the file as they come. When there are more, `close` leaves the first half of the limit, one
    line saying how many bytes are left out, and the last half; until then a follower sees the first `limit` bytes.
    """

    def __init__(self, path: Path, limit: int = DEFAULT_LIMIT) -> None:
        if limit < _MIN_LIMIT:
            raise ValueError(
                f"a log limit of {limit} bytes keeps nothing readable; give at least {_MIN_LIMIT}"
            )
        self._half = limit // 2
        self._limit = 2 * self._half
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        self._tail: deque[bytes] = deque()
        self._tail_bytes = 0
        self.written = 0

    @property
    def truncated(self) -> bool:
        """Whether more was written than the log keeps."""
        return self.written > self._limit

    def append(self, data: bytes) -> None:
        """Add output. OSError when the disk is full."""
        room = self._limit - self.written
        if room > 0:
            _write(self._file, data[:room])
        self.written += len(data)
        self._tail.append(data)
        self._tail_bytes += len(data)
        while self._tail_bytes - len(self._tail[0]) >= self._half:
            self._tail_bytes -= len(self._tail.popleft())

    def close(self) -> None:
        """Bring the file into its final form and let go of it."""
        try:
            if self.truncated:
                os.ftruncate(self._file, self._half)
                os.lseek(self._file, self._half, os.SEEK_SET)
                left_out = self.written - self._limit
                _write(self._file, b"\n[%d bytes of output are left out here]\n" % left_out)
                _write(self._file, b"".join(self._tail)[-self._half :])
        finally:
            os.close(self._file)
            self._tail.clear()


def read_ends(path: Path, window: int) -> bytes:
    """The first and the last `window` bytes of a closed log, or all of it when it is not longer."""
    with path.open("rb") as file:
        head = file.read(2 * window)
        size = os.fstat(file.fileno()).st_size
        if size <= 2 * window:
            return head
        file.seek(size - window)
        return head[:window] + b"\n" + file.read(window)


def _write(file: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(file, view) :]
