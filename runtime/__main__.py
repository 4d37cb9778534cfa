"""`python -m runtime gateway|worker|relay|migrate`: one process of a deployment."""

import sys
from importlib import import_module

PROCESSES = ("gateway", "worker", "relay", "migrate")


def run_process(name: str) -> None:
    """Run one of PROCESSES until it ends; only its own modules are imported."""
    import_module(f"runtime.{name}_process").main()


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1] not in PROCESSES:
        sys.exit(f"usage: python -m runtime {'|'.join(PROCESSES)}")
    run_process(sys.argv[1])
