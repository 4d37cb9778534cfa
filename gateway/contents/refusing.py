"""Whether a push may come in with what it holds, and the words its pusher reads when it may not."""

import asyncio
from collections.abc import Sequence

from gateway.contents.scanning import Found, Scanner
from protocol.ids import CommitId
from protocol.refusals import Refused, refused
from rules.planted import Planted, TreeFile, has_core, planted_in
from storage.git.repository import Repository

_LONGEST_PATH = 200
# A config beside a HEAD is read this far; a longer one is taken for a repository's.
_LARGEST_CONFIG = 64 * 1024
_CONFIGS_AT_ONCE = 64
_TOO_MUCH = (
    "This push brings more new files than gitring reads in one piece, so nothing was stored. Push its commits in "
    "several steps, oldest first: git push <the same address> <commit>:<the same ref>."
)


class Contents:
    """Judges what pushes hold."""

    def __init__(self) -> None:
        self._scanner = Scanner()

    async def refusal(self, repository: Repository, head: str) -> str | None:
        """None when `head` may come in, else why not. `repository` sees the quarantine of the push.

        Raises GitFailed, ScanFailed; both refuse the push.
        """
        tip = CommitId(head)
        planted = await planted_refusal(repository, tip)
        if planted is not None:
            return planted.refusal.text
        scan = await self._scanner.scan(repository, tip)
        if scan.blobs is None:
            return _TOO_MUCH
        return secret_refusal(scan.found) if scan.found else None


async def planted_refusal(repository: Repository, head: CommitId) -> Refused | None:
    """Why the tree of `head` may not be checked out anywhere, or None."""
    entries = await repository.list_tree(head)
    files = (TreeFile(entry.path, entry.mode, entry.id) for entry in entries)
    look = await asyncio.to_thread(planted_in, files)
    if look.dot_git is not None:
        return refused(
            "bare_repository_refused",
            f"{_shown(look.dot_git)} in {head[:12]} has a name that some systems read as .git, git's own folder.",
            "Rename it in every commit you push, and push again.",
            403,
        )
    bare = look.bare if look.bare is not None else await _with_core(repository, look)
    if bare is None:
        return None
    where = f"{_shown(bare)}/" if bare else "the top folder"
    return refused(
        "bare_repository_refused",
        f"{where} in {head[:12]} is shaped like a bare git repository (a HEAD with objects/ and refs/, or with a config "
        "that has a [core] section). Git in that folder would obey its config, and run what that names.",
        "Keep a fixture repository as an archive and unpack it in the test, remove the folder from every commit you "
        "push, and push again.",
        403,
    )


async def _with_core(repository: Repository, look: Planted) -> str | None:
    """The first folder whose config beside its HEAD has a [core] section, or is too large to tell."""
    for at in range(0, len(look.configs), _CONFIGS_AT_ONCE):
        some = look.configs[at : at + _CONFIGS_AT_ONCE]
        contents = await repository.read_blobs([blob for _, blob in some], _LARGEST_CONFIG)
        for folder, blob in some:
            content = contents.get(blob)
            if content is None or has_core(content):
                return folder
    return None


def secret_refusal(found: Sequence[Found]) -> str:
    """Names each file and line, the commit that brought it, and what to do. The secrets themselves are not here."""
    places = "; ".join(
        f"{_shown(one.path)} line {one.line} holds what looks like {one.what}" for one in found
    )
    them, secrets = ("it", "secret") if len(found) == 1 else ("them", "secrets")
    commits = dict.fromkeys(one.commit[:12] for one in found if one.commit)
    came = f"{' and '.join(commits)} brought {them}; " if commits else ""
    return (
        f"{places}. Remove {them} from every commit you push ({came}git commit --amend or git rebase rewrites a commit), "
        f"rotate the {secrets}, and push again."
    )


def _shown(path: str) -> str:
    """A path as one bounded line without characters that a terminal would act on."""
    cut = path if len(path) <= _LONGEST_PATH else f"…{path[-_LONGEST_PATH:]}"
    return "".join(c if c.isprintable() else "?" for c in cut)
