"""Prepares the ground a command runs on: the namespaces it was promised, the folders it may write, and their removal."""

import errno
import os
from typing import Any

from activities.runner.launch.kernel import CLONE_NEWNET, LINUX, enter_user_namespace, raise_loopback, unshare

Spec = dict[str, Any]


def enter_namespaces(spec: Spec, told: dict[str, Any]) -> None:
    """Take the namespaces that were asked for; `told` says which are held and which the kernel refused, and why."""
    if not LINUX:
        spec["own_processes"] = False
        told["refused"] = {"namespaces": "only Linux has them"}
        return
    if not (spec["no_network"] or spec["own_processes"]):
        return
    if os.geteuid() != 0:
        refusal = _tried(spec["no_network"])
        if refusal:
            spec["own_processes"] = False
            told["refused"]["namespaces"] = os.strerror(refusal)
            return
        enter_user_namespace()
    if spec["no_network"]:
        try:
            unshare(CLONE_NEWNET)
        except OSError as error:
            told["refused"]["no_network"] = os.strerror(error.errno or 0)
            return
        raise_loopback()
        told["held"].append("no_network")


def _tried(no_network: bool) -> int:
    """Try a user namespace in a child, and answer its error or 0.

    Some systems let a user make one and then refuse to use it; a process that went in could not come back.
    """
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    refusal = errno.EPERM
    try:
        enter_user_namespace()
        if no_network:
            unshare(CLONE_NEWNET)
            raise_loopback()
        refusal = 0
    except OSError as error:
        refusal = error.errno or errno.EPERM
    finally:
        os._exit(refusal)


def give_to_user(spec: Spec) -> None:
    """Let the unprivileged user own the folders it works in. A file with a second name may live elsewhere too: left alone."""
    if spec["uid"] is None:
        return
    queue = list(spec["give"])
    for folder in queue:
        os.chown(folder, spec["uid"], spec["gid"], follow_symlinks=False)
    while queue:
        with os.scandir(queue.pop()) as entries:
            for entry in entries:
                folder = entry.is_dir(follow_symlinks=False)
                if folder or entry.stat(follow_symlinks=False).st_nlink == 1:
                    os.chown(entry.path, spec["uid"], spec["gid"], follow_symlinks=False)
                if folder:
                    queue.append(entry.path)


def remove(folders: list[str]) -> None:
    """Remove the run's own folders, also trees too deep or too closed for a simple walk."""
    for folder in folders:
        if _tool("/bin/rm", "-rf", "--", folder) != 0:
            _tool("/bin/chmod", "-R", "u+rwX", "--", folder)
            _tool("/bin/rm", "-rf", "--", folder)


def _tool(*argv: str) -> int:
    null = os.open(os.devnull, os.O_WRONLY)
    quiet = [(os.POSIX_SPAWN_DUP2, null, 1), (os.POSIX_SPAWN_DUP2, null, 2)]
    pid = os.posix_spawn(argv[0], list(argv), {}, file_actions=quiet)
    os.close(null)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
