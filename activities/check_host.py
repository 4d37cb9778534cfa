"""What of a host can change how a check ends, as one digest."""

import hashlib
import json
import os
import platform
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from activities.runner.environment import RunFolders, check_environment
from protocol.checks import RUNNER_VERSION, CheckDefinition

_OF_THE_RUN = ("HOME", "TMPDIR")


def environment_digest(
    definition: CheckDefinition, settings: Sequence[str], server: Mapping[str, str] | None = None
) -> str:
    """SHA-256 over the runner, the system, and all variables the check sees; their values stay in here.

    `settings` are the operator's word for the machine (`GITRING_CHECK_ENVIRONMENT`) and the account that checks run as:
    where they change, nothing of before is reused.
    """
    variables = check_environment(
        RunFolders(Path("/")), definition.environment, os.environ if server is None else server
    )
    seen = sorted((name, value) for name, value in variables.items() if name not in _OF_THE_RUN)
    text = json.dumps([RUNNER_VERSION, list(settings), _system(), seen])
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


@cache
def _system() -> list[str]:
    return [sys.platform, platform.machine(), platform.release(), str(os.geteuid()), *_distribution()]


def _distribution() -> list[str]:
    try:
        found = platform.freedesktop_os_release()
    except OSError:  # not Linux, or one without that file
        return [platform.version()]
    return [found.get(name, "") for name in ("ID", "VERSION_ID", "VERSION", "BUILD_ID")]
