"""`python -m cli`: the same as `gitring`, for whoever has a Python and not its scripts' folder."""

from cli.main import main

main()
