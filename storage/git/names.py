"""Names that go on git's command line, and paths that come from it: both checked here, once."""

import re

from protocol.ids import CommitId
from storage.git.errors import BadName

ZERO = CommitId("0" * 40)
EMPTY_TREE = CommitId("4b825dc642cb6eb9a060e54bf8d69288fbee4904")
INTENT_REFS = "refs/intents/"
LINE_REFS = "refs/heads/"
TAG_REFS = "refs/tags/"

_COMMIT = re.compile(r"[0-9a-f]{40}")
# git check-ref-format in one pattern: no empty, dotted or .lock component, no "..", "@{", blanks or wildcards.
_COMPONENT = r"(?!\.)(?:(?!\.\.|@\{)[^\x00-\x20\x7f~^:?*\[\\/])+(?<!\.lock)(?<!\.)"
_REF = re.compile(rf"refs(?:/{_COMPONENT})+")
_LONGEST_REF = 250


def commit_id(text: str) -> CommitId:
    """`text` when it is a full object id in lower-case hex. Raises BadName."""
    if not _COMMIT.fullmatch(text):
        raise BadName(f"{text[:60]!r} is not a full commit id: give all 40 lower-case hex digits")
    return CommitId(text)


def full_ref(text: str) -> str:
    """`text` when it is a well-formed ref below `refs/`. Raises BadName."""
    if len(text) > _LONGEST_REF or not _REF.fullmatch(text):
        raise BadName(f"{text[:60]!r} is not a ref: give a full name such as refs/heads/main")
    return text


def line_ref(line: str) -> str:
    """The ref of a line: `main` → `refs/heads/main`. Raises BadName for a name git would misread."""
    if line.startswith("-") or line == "HEAD":
        raise BadName(f"{line[:60]!r} cannot name a line: use letters, digits, '.', '_', '-' and '/'")
    return full_ref(LINE_REFS + line)


def shown_path(raw: bytes) -> str:
    """A path as text: UTF-8 as it stands; in a path that is not UTF-8, each stray byte becomes `%XX`.

    Text, JSON and Postgres all refuse lone surrogates, so the percent form is the one that travels. It is for
    showing and comparing; to read such a file use its blob id.
    """
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return re.sub("[\udc80-\udcff]", _percent, raw.decode("utf-8", "surrogateescape"))


def _percent(stray: re.Match[str]) -> str:
    return f"%{ord(stray[0]) - 0xDC00:02X}"
