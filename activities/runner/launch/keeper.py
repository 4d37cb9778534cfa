"""The keeper: starts the command, waits for it, and is process 1 of the command's namespace where there is one."""

import json
import os
import resource
import signal
from typing import Any, NoReturn

from activities.runner.launch.kernel import (
    CLONE_NEWNS,
    CLONE_NEWPID,
    LINUX,
    MS_NOSUID_NODEV_NOEXEC,
    MS_PRIVATE,
    MS_REC,
    PR_SET_NO_NEW_PRIVS,
    die_with_parent,
    mount,
    prctl,
    unshare,
)

Spec = dict[str, Any]


def keep(spec: Spec, status: int, own_processes: bool) -> NoReturn:
    """The keeper: never returns, so that the forked copy of this program never runs on as a second launcher."""
    code = 1
    try:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        os.close(spec["control"])
        os.close(spec["report"])
        die_with_parent()
        if own_processes:
            _enter_own_processes(status)
        _keep_command(spec, status)
        code = 0
    except OSError as error:
        tell(status, {"errno": error.errno, "at": "starting"})
    finally:
        os._exit(code)


def _enter_own_processes(status: int) -> None:
    """Become process 1 of a new namespace with a /proc that shows only it; say so when the kernel does not allow it."""
    try:
        unshare(CLONE_NEWPID)
    except OSError as error:
        tell(status, {"no_proc": os.strerror(error.errno or 0)})
        os._exit(0)
    first = os.fork()
    if first:
        os.waitpid(first, 0)
        os._exit(0)
    die_with_parent()
    try:
        unshare(CLONE_NEWNS)
        mount(b"none", b"/", None, MS_REC | MS_PRIVATE)
        mount(b"proc", b"/proc", b"proc", MS_NOSUID_NODEV_NOEXEC)
    except OSError as error:
        tell(status, {"no_proc": os.strerror(error.errno or 0)})
        os._exit(0)
    tell(status, {"processes": True})


def _keep_command(spec: Spec, status: int) -> None:
    command = os.fork()
    if command == 0:
        _become_command(spec, status)
    tell(status, {"pid": command})
    while True:
        pid, code = os.wait()
        if pid == command:
            break
    tell(status, {"status": code})


def _become_command(spec: Spec, status: int) -> NoReturn:
    at = "starting"
    try:
        os.setsid()
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)
        for name, value in spec["limits"].items():
            _limit(getattr(resource, name), value)
        if spec["uid"] is not None:
            os.setgroups([])
            os.setgid(spec["gid"])
            os.setuid(spec["uid"])
        if LINUX:
            prctl(PR_SET_NO_NEW_PRIVS, 1)
        at = "entering the checkout"
        os.chdir(spec["cwd"])
        at = "exec"
        os.execvpe(spec["argv"][0], spec["argv"], dict(os.environ))
    except (OSError, ValueError) as error:
        tell(status, {"errno": getattr(error, "errno", None) or 0, "at": at})
    finally:
        os._exit(127)


def _limit(which: int, value: int) -> None:
    hard = resource.getrlimit(which)[1]
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(which, (value, value))


def tell(fd: int, message: dict[str, Any]) -> None:
    """Write one JSON line; short enough that no other process writes into its middle."""
    os.write(fd, json.dumps(message).encode() + b"\n")
