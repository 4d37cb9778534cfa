"""A running launcher and the three pipes to it: control, its report, and the command's output on its way to the log."""

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from activities.runner.log import CappedLog

LAUNCHER = Path(__file__).parent / "launch" / "__main__.py"

CHUNK = 256 * 1024
HEARTBEAT_SEC = 5.0
# The launcher gives up on processes stuck in the kernel after 10 s, and then still removes the run's folders.
LAUNCHER_PATIENCE_SEC = 30.0
DRAIN_SEC = 2.0


@dataclass(frozen=True)
class Watching:
    """Who hears of a run while it goes on. Each may be left out.

    `cancel` ends the run when set. `heartbeat` gets the number of bytes written so far, every `heartbeat_sec` seconds;
    `on_output` gets each piece of output after it is in the log. With `on_errors` the two streams are told apart: it
    gets what the command wrote to its standard error. What they raise ends the run and is raised on.
    """

    cancel: asyncio.Event | None = None
    heartbeat: Callable[[int], None] | None = None
    heartbeat_sec: float = HEARTBEAT_SEC
    on_output: Callable[[bytes], None] | None = None
    on_errors: Callable[[bytes], None] | None = None


NOBODY = Watching()


class Launched:
    """One launcher and the three pipes to it: control, its report, and the command's output."""

    def __init__(
        self, spec: dict[str, Any], environment: Mapping[str, str], log: CappedLog, watching: Watching
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._log = log
        self._watching = watching
        self._report = bytearray()
        self._reported = self._loop.create_future()
        self._drained = self._loop.create_future()
        self._outputs: dict[int, Callable[[bytes], None] | None] = {}
        self._started = time.monotonic()
        self._process = self._start(spec, environment)
        self._loop.add_reader(self._report_end, self._read_report)
        self._open = set(self._outputs)
        for end in self._outputs:
            self._loop.add_reader(end, self._read_output, end)

    def _start(self, spec: dict[str, Any], environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
        control, self._control = os.pipe()
        self._report_end, report = os.pipe()
        output = self._pipe_of_output(self._watching.on_output)
        apart = self._watching.on_errors is not None
        errors = self._pipe_of_output(self._watching.on_errors) if apart else output
        try:
            # Not asyncio's subprocess: its watcher is a thread for each child, and the report's end tells as much.
            return subprocess.Popen(
                [
                    sys.executable,
                    "-I",
                    "-S",
                    LAUNCHER,
                    json.dumps({**spec, "control": control, "report": report}),
                ],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=errors,
                env=dict(environment),
                cwd="/",
                pass_fds=(control, report),
                start_new_session=True,
            )
        except BaseException:
            for fd in (self._control, self._report_end, *self._outputs):
                os.close(fd)
            self._log.close()
            raise
        finally:
            for fd in {control, report, output, errors}:
                os.close(fd)

    def _pipe_of_output(self, listener: Callable[[bytes], None] | None) -> int:
        end, output = os.pipe()
        self._outputs[end] = listener
        return output

    def _read_report(self) -> None:
        data = os.read(self._report_end, CHUNK)
        self._report += data
        if not data:
            self._loop.remove_reader(self._report_end)
            self._reported.set_result(None)

    def _read_output(self, end: int) -> None:
        try:
            data = os.read(end, CHUNK)
            if data:
                self._log.append(data)
                listener = self._outputs[end]
                if listener is not None:
                    listener(data)
        except Exception as error:
            self._loop.remove_reader(end)
            if not self._drained.done():
                self._drained.set_exception(error)
            return
        if not data:
            self._loop.remove_reader(end)
            self._open.discard(end)
            if not self._open and not self._drained.done():
                self._drained.set_result(None)

    async def watched(self, timeout_sec: float) -> str:
        """Wait for the command's end; `timeout` or `cancel` when that comes first, and "" otherwise."""
        cancel = self._watching.cancel
        cancelled = None if cancel is None else asyncio.ensure_future(cancel.wait())
        try:
            return await self._watch(self._loop.time() + timeout_sec, cancelled)
        finally:
            if cancelled is not None:
                cancelled.cancel()

    async def _watch(self, deadline: float, cancelled: "asyncio.Future[Any] | None") -> str:
        while not self._reported.done():
            if self._drained.done():
                self._drained.result()  # raises what the log or a listener raised
            left = deadline - self._loop.time()
            if left <= 0:
                return "timeout"
            if cancelled is not None and cancelled.done():
                return "cancel"
            waits = {self._reported, *([] if self._drained.done() else [self._drained])}
            await asyncio.wait(
                waits | ({cancelled} if cancelled else set()),
                timeout=min(left, self._watching.heartbeat_sec),
                return_when=asyncio.FIRST_COMPLETED,
            )
            if self._watching.heartbeat is not None:
                self._watching.heartbeat(self._log.written)
        return ""

    async def end(self, grace_sec: float) -> None:
        """Stop what still runs, take the last output, and let go of everything. Bounded in time."""
        os.close(self._control)
        await asyncio.wait({self._reported}, timeout=grace_sec + LAUNCHER_PATIENCE_SEC)
        if not self._reported.done():
            self._process.kill()  # its keeper dies with it, and a process namespace with the keeper
            await asyncio.wait({self._reported}, timeout=DRAIN_SEC)
        await asyncio.wait({self._drained}, timeout=DRAIN_SEC)
        for fd in (self._report_end, *self._outputs):
            self._loop.remove_reader(fd)
            os.close(fd)
        if self._reported.done():
            self._process.wait()  # its report ends when it does
        self._log.close()

    def report(self) -> dict[str, Any]:
        """What the launcher said, once all is ended; raises what the log or a listener raised over the last output."""
        if self._drained.done():
            self._drained.result()
        return json.loads(self._report) if self._report.endswith(b"\n") else {}

    def seconds(self) -> float:
        """Since the start, to the millisecond."""
        return round(time.monotonic() - self._started, 3)
