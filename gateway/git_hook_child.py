"""The hook that git runs in a push: ask gitring, on the descriptor it left open, and do what it answers.

Run as `python -I -S git_hook_child.py pre-receive|post-receive`, once or twice a push, so it imports nothing that is
not loaded anyway. The descriptor is one end of a socket pair that only this push and the gateway that serves it hold:
when that gateway dies, the read below ends at once and the push is refused.
"""

import os
import sys

LOST = {
    "pre-receive": b"gitring stopped while it looked at this push. Nothing was stored: push again.",
    "post-receive": b"gitring stopped before it recorded this push. Your commits are stored and recorded when it is back.",
}
QUARANTINE = (b"GIT_OBJECT_DIRECTORY", b"GIT_ALTERNATE_OBJECT_DIRECTORIES", b"GIT_QUARANTINE_PATH")


def ask(channel: int, hook: str, updates: bytes) -> bytes:
    """Send one question and return the answer, empty when gitring is gone."""
    fields = [hook.encode(), *(os.environb.get(name, b"") for name in QUARANTINE), updates]
    body = b"\0".join(fields)
    message = b"%d\n%s" % (len(body), body)
    while message:
        message = message[os.write(channel, message) :]
    answer = b""
    while not answer.endswith(b"\0"):
        chunk = os.read(channel, 65536)
        if not chunk:
            return b""
        answer += chunk
    return answer[:-1]


def main(hook: str) -> int:
    """The hook's exit code; what gitring says goes to stderr, which git shows as `remote:` lines."""
    try:
        answer = ask(int(os.environ["GITRING_HOOK_FD"]), hook, sys.stdin.buffer.read())
    except (OSError, KeyError, ValueError):
        answer = b""
    verdict, _, text = answer.partition(b"\n") if answer else (b"refuse", b"", LOST[hook])
    if text:
        os.write(2, text + b"\n")
    return 0 if verdict == b"allow" else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
