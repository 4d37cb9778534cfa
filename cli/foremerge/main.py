"""The console script `foremerge`."""

import sys
from collections.abc import Sequence

_VALUES = ("--database", "--cwd")


def main() -> None:
    """Run one command and end with its exit code: 0 done, 1 refused or failed, 2 wrong usage."""
    from cli.foremerge.app import app

    app(hoisted(sys.argv[1:]), prog_name="foremerge")


def hoisted(arguments: Sequence[str]) -> list[str]:
    """The global options first, wherever they stood; what follows `--` is somebody else's."""
    own, rest = list[str](), list(arguments)
    found: list[str] = []
    while rest:
        word = rest.pop(0)
        if word == "--":
            return [*found, *own, word, *rest]
        if word == "--json" or word.startswith(tuple(f"{name}=" for name in _VALUES)):
            found.append(word)
        elif word in _VALUES and rest:
            found += [word, rest.pop(0)]
        else:
            own.append(word)
    return [*found, *own]
