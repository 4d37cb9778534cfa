"""The child: reads one file after another from its standard input until that ends, which is when its parent is gone."""

import contextlib
import os
import resource
import signal
import sys

from activities.parsing.frames import ANSWER, READY, REQUEST
from rules.symbols.extract import extract_as

MEMORY = 2 * 1024**3


def main(niceness: int, seconds: float) -> None:
    """Answer requests. A file that takes more than `seconds` of processor time ends the process by SIGPROF."""
    os.nice(niceness)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with contextlib.suppress(ValueError, OSError):  # not every system has this limit
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    requests, answers = sys.stdin.buffer, sys.stdout.buffer
    answers.write(READY)
    answers.flush()
    while head := requests.read(REQUEST.size):
        name, size = REQUEST.unpack(head)
        language, content = requests.read(name).decode(), requests.read(size)
        signal.setitimer(signal.ITIMER_PROF, seconds)
        found = extract_as(language, content).model_dump_json().encode()
        signal.setitimer(signal.ITIMER_PROF, 0)
        answers.write(ANSWER.pack(len(found)) + found)
        answers.flush()
