"""The console script `gitring`: git's helper by the short way, everything else by the command tree."""

import sys


def main() -> None:
    """Run one command and end with its exit code: 0 done, 1 refused, 2 wrong usage, 3 no server reached."""
    if sys.argv[1:2] == ["git-credential"]:
        # git starts this at every fetch, so it must not wait for the command tree to load.
        from cli.git_credential import main as git_credential

        sys.exit(git_credential(sys.argv[2:]))
    from cli.app import app

    app()
