"""Fetch a repository from a folder or URL as the start of a project: branches and tags, nothing that could run."""

import os
import re
from pathlib import Path

from storage.git.command import run
from storage.git.creation import complete_or_absent, lay_out
from storage.git.errors import EmptySource, GitFailed, NoSuchLine, NotARepository
from storage.git.names import LINE_REFS, line_ref
from storage.git.sources import PUBLIC, ImportRules, Source, admitted, shown, without_password

IMPORT_TIMEOUT = 3_600.0
_ASK_TIMEOUT = 60.0
_REDIRECT = re.compile(r"returned error: 30\d|redirect")
# An answer of the other side sends git nowhere else, and nobody's stored password is offered to it.
_BOUND = ("-c", "http.followRedirects=false", "-c", "credential.helper=")
_USUAL_LINES = ("main", "master", "trunk")
# A server may reach the outside only through a proxy, with an agent's key or with its own certificates.
_PASSED_ON = (
    *("http_proxy", "https_proxy", "no_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"),
    *("ALL_PROXY", "SSH_AUTH_SOCK", "SSL_CERT_FILE", "SSL_CERT_DIR"),
)


async def import_repository(folder: Path, source: str, line: str | None, rules: ImportRules = PUBLIC) -> str:
    """Make `folder` a bare repository with the branches and tags of `source`; returns its default line.

    The default line is `line`, or the branch that the source's HEAD names. Raises an ImportRefused, or
    RepositoryExists. `folder` appears only when everything is there.
    """
    found = await admitted(source, rules)
    async with complete_or_absent(folder) as draft:
        await lay_out(draft, "main")
        chosen, detached = await _choose_line(draft, found, line)
        refs = ["+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*"]
        if detached:
            refs.append(f"+HEAD:{line_ref(chosen)}")
        await _fetch(draft, found, refs)
        await _refuse_incomplete(draft, found, chosen)
        await _git(draft, found, "symbolic-ref", "HEAD", line_ref(chosen))
    return chosen


async def _choose_line(draft: Path, source: Source, line: str | None) -> tuple[str, bool]:
    head, branches = await _advertised(draft, source)
    if not branches and head is None:
        raise EmptySource(
            f"{shown(source.address)} has no commit: commit once there, or create the project without it"
        )
    if line is not None and (line in branches or not branches):
        return line, not branches
    if line is not None:
        known = ", ".join(sorted(branches)[:10])
        raise NoSuchLine(f"{shown(source.address)} has no branch {shown(line)}: name one of {known}")
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
        f"{shown(source.address)} has a detached HEAD and {len(branches)} branches: name the default line"
    )


async def _advertised(draft: Path, source: Source) -> tuple[str | None, set[str]]:
    """The branch that HEAD names ("" for a detached HEAD, None without HEAD), and all branches."""
    try:
        answer = await _git(
            draft, source, "ls-remote", "--symref", "--", source.address, "HEAD", "refs/heads/*"
        )
    except GitFailed as failure:
        raise _unreadable(source, failure) from None
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


async def _fetch(draft: Path, source: Source, refs: list[str]) -> None:
    keep = ("-c", "fetch.unpackLimit=1", "-c", "fetch.writeCommitGraph=true")
    quiet = (
        "--quiet",
        "--no-tags",
        "--no-write-fetch-head",
        "--no-recurse-submodules",
        "--no-auto-maintenance",
    )
    try:
        await _git(draft, source, *keep, "fetch", *quiet, "--", source.address, *refs, timeout=IMPORT_TIMEOUT)
    except GitFailed as failure:
        raise _unreadable(source, failure) from None


async def _refuse_incomplete(draft: Path, source: Source, chosen: str) -> None:
    """git leaves out, with a mere warning, each branch whose history the source does not hold to its root."""
    ref = line_ref(chosen)
    if not await _git(draft, source, "for-each-ref", "--count=1", ref):
        raise NotARepository(
            f"{shown(source.address)} does not hold the whole history of {shown(chosen)}, as a shallow clone does not: "
            "run git fetch --unshallow there, then import it again"
        )


async def _git(draft: Path, source: Source, *args: str, timeout: float = _ASK_TIMEOUT) -> bytes:
    env = {
        "GIT_DIR": str(draft),
        "GIT_ALLOW_PROTOCOL": source.scheme,
        "GIT_SSH_COMMAND": "ssh -o BatchMode=yes",
        **{name: os.environ[name] for name in _PASSED_ON if name in os.environ},
        **source.env,
    }
    return (await run(*_BOUND, *source.options, *args, env=env, timeout=timeout)).stdout


def _unreadable(source: Source, failure: GitFailed) -> NotARepository:
    reason = next((row for row in failure.stderr.splitlines() if row.startswith("fatal:")), failure.stderr)
    reason = without_password(reason.removeprefix("fatal: "))[:300]
    advice = "check the address and that the server may read it"
    if _REDIRECT.search(reason):
        advice = "it leads on to another address: give that one"
    return NotARepository(f"git reads no repository at {shown(source.address)} ({reason}): {advice}")
