"""The few system calls the launcher needs and Python 3.11 does not offer."""

import ctypes
import os
import signal
import sys

LINUX = sys.platform == "linux"

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 1, 36, 38
CLONE_NEWNS, CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET = 0x0002_0000, 0x1000_0000, 0x2000_0000, 0x4000_0000
MS_NOSUID_NODEV_NOEXEC, MS_REC, MS_PRIVATE = 0x2 | 0x4 | 0x8, 0x4000, 0x4_0000
SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 0x1

_libc = ctypes.CDLL(None, use_errno=True)


def die_with_parent() -> None:
    """Be killed when the process that forked this one dies."""
    if LINUX:
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def prctl(option: int, value: int) -> None:
    """`prctl(2)` with one argument; OSError when the kernel refuses."""
    if _libc.prctl(option, value, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), f"prctl({option})")


def unshare(flags: int) -> None:
    """`unshare(2)`; OSError when the kernel refuses."""
    if _libc.unshare(flags) != 0:
        raise OSError(ctypes.get_errno(), f"unshare({flags:#x})")


def mount(source: bytes, target: bytes, kind: bytes | None, flags: int) -> None:
    """`mount(2)`; OSError when the kernel refuses."""
    if _libc.mount(source, target, kind, ctypes.c_ulong(flags), None) != 0:
        raise OSError(ctypes.get_errno(), f"mount({target!r})")


def enter_user_namespace() -> None:
    """One in which this user is itself: it may then make the other namespaces, and gains nothing outside."""
    uid, gid = os.geteuid(), os.getegid()
    unshare(CLONE_NEWUSER)
    for name, text in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"), ("gid_map", f"{gid} {gid} 1")):
        with open(f"/proc/self/{name}", "w") as file:
            file.write(text)


def raise_loopback() -> None:
    """Bring `lo` up, which is down in a new network namespace: tests talk to localhost."""
    import _socket  # the C module alone: `socket` takes longer to import than all the rest
    import fcntl

    with_flags = bytearray(b"lo".ljust(16, b"\0") + bytes(24))
    loopback = _socket.socket(_socket.AF_INET, _socket.SOCK_DGRAM)
    fcntl.ioctl(loopback.fileno(), SIOCGIFFLAGS, with_flags)
    with_flags[16] |= IFF_UP
    fcntl.ioctl(loopback.fileno(), SIOCSIFFLAGS, with_flags)
    loopback.close()
