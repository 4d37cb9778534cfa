"""Fetch a repository from a folder or URL as the start of a project: branches and tags, nothing that could run."""

import os
import re
from pathlib import Path

from storage.git.command import run
from storage.git.creation import complete_or_absent, lay_out
from storage.git.errors import EmptySource, GitFailed, NoSuchLine, NotARepository, SourceRefused
from storage.git.names import LINE_REFS, line_ref

IMPORT_TIMEOUT = 3_600.0
_ASK_TIMEOUT = 60.0
_URL = re.compile(r"(?:https?|ssh|git|file)://[^\s\x00-\x1f\x7f-]\S*", re.ASCII)
_USUAL_LINES = ("main", "master", "trunk")
# A server may reach the outside only through a proxy, with an agent's key or with its own certificates.
_PASSED_ON = (
    *("http_proxy", "https_proxy", "no_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"),
    *("ALL_PROXY", "SSH_AUTH_SOCK", "SSL_CERT_FILE", "SSL_CERT_DIR"),
)


async def import_repository(folder: Path, source: str, line: str | None) -> str:
    """Make `folder` a bare repository with the branches and tags of `source`; returns its default line.

    The default line is `line`, or the branch that the source's HEAD names. Raises an ImportRefused, or
    RepositoryExists. `folder` appears only when everything is there.
    """
    address = checked_source(source)
    async with complete_or_absent(folder) as draft:
        await lay_out(draft, "main")
        chosen, detached = await _choose_line(draft, address, line)
        refs = ["+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*"]
        if detached:
            refs.append(f"+HEAD:{line_ref(chosen)}")
        await _fetch(draft, address, refs)
        await _refuse_incomplete(draft, address, chosen)
        await _git(draft, "symbolic-ref", "HEAD", line_ref(chosen))
    return chosen


def checked_source(source: str) -> str:
    """`source` as git may see it: an absolute folder, or an http, https, ssh, git or file URL.

    Raises SourceRefused for anything else (option-like text, `ext::` and other transport helpers).
    """
    if _URL.fullmatch(source):
        return source
    if source and "://" not in source and "::" not in source and not source.startswith("-"):
        if "\0" not in source and Path(source).is_dir():
            return str(Path(source).resolve())
        if "\0" not in source and ":" not in source.split("/")[0]:
            raise NotARepository(
                f"{_shown(source)} is not a folder on the server: give a path or URL it can read"
            )
    raise SourceRefused(
        f"{_shown(source)} cannot be imported: give a folder, or an https://, http://, ssh://, git:// or file:// URL"
    )


async def _choose_line(draft: Path, address: str, line: str | None) -> tuple[str, bool]:
    head, branches = await _advertised(draft, address)
    if not branches and head is None:
        raise EmptySource(
            f"{_shown(address)} has no commit: commit once there, or create the project without it"
        )
    if line is not None and (line in branches or not branches):
        return line, not branches
    if line is not None:
        known = ", ".join(sorted(branches)[:10])
        raise NoSuchLine(f"{_shown(address)} has no branch {_shown(line)}: name one of {known}")
    if head in branches:
        return str(head), False
    usual = [name for name in _USUAL_LINES if name in branches] or (
        list(branches) if len(branches) == 1 else []
    )
    if usual:
        return usual[0], False
    if not branches:
        return "main", True
    raise NoSuchLine(
        f"{_shown(address)} has a detached HEAD and {len(branches)} branches: name the default line"
    )


async def _advertised(draft: Path, address: str) -> tuple[str | None, set[str]]:
    """The branch that HEAD names ("" for a detached HEAD, None without HEAD), and all branches."""
    try:
        answer = await _git(
            draft, "ls-remote", "--symref", "--", address, "HEAD", "refs/heads/*", timeout=_ASK_TIMEOUT
        )
    except GitFailed as failure:
        raise _unreadable(address, failure) from None
    head: str | None = None
    branches = set()
    for row in answer.decode("utf-8", "replace").splitlines():
        value, _, name = row.partition("\t")
        if name == "HEAD":
            symbolic = value.removeprefix("ref: " + LINE_REFS)
            head = symbolic if value.startswith("ref: ") else (head or "")
        elif name.startswith(LINE_REFS):
            branches.add(name.removeprefix(LINE_REFS))
    return head, branches


async def _fetch(draft: Path, address: str, refs: list[str]) -> None:
    keep = ("-c", "fetch.unpackLimit=1", "-c", "fetch.writeCommitGraph=true")
    quiet = (
        "--quiet",
        "--no-tags",
        "--no-write-fetch-head",
        "--no-recurse-submodules",
        "--no-auto-maintenance",
    )
    try:
        await _git(draft, *keep, "fetch", *quiet, "--", address, *refs, timeout=IMPORT_TIMEOUT)
    except GitFailed as failure:
        raise _unreadable(address, failure) from None


async def _refuse_incomplete(draft: Path, address: str, chosen: str) -> None:
    """git leaves out, with a mere warning, each branch whose history the source does not hold to its root."""
    ref = line_ref(chosen)
    if not await _git(draft, "for-each-ref", "--count=1", ref):
        raise NotARepository(
            f"{_shown(address)} does not hold the whole history of {_shown(chosen)}, as a shallow clone does not: "
            "run git fetch --unshallow there, then import it again"
        )


async def _git(draft: Path, *args: str, timeout: float = _ASK_TIMEOUT) -> bytes:
    env = {
        "GIT_DIR": str(draft),
        "GIT_ALLOW_PROTOCOL": "file:git:http:https:ssh",
        "GIT_SSH_COMMAND": "ssh -o BatchMode=yes",
        **{name: os.environ[name] for name in _PASSED_ON if name in os.environ},
    }
    return (await run(*args, env=env, timeout=timeout)).stdout


def _unreadable(address: str, failure: GitFailed) -> NotARepository:
    reason = next((row for row in failure.stderr.splitlines() if row.startswith("fatal:")), failure.stderr)
    reason = _without_password(reason.removeprefix("fatal: "))[:300]
    return NotARepository(
        f"git reads no repository at {_shown(address)} ({reason}): check the address and that the server may read it"
    )


def _shown(text: str) -> str:
    return repr(_without_password(text)[:200])


def _without_password(text: str) -> str:
    return re.sub(r"://[^/@\s]*@", "://", text)
