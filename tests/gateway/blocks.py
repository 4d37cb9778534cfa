"""A reader of answers written from the protocol's description alone: it knows nothing of how they are made."""

import re
from dataclasses import dataclass

ULID = "[0-9A-HJKMNP-TV-Z]{26}"
HEADER = re.compile(rf"GITRING CHANGE REQUEST (chq_{ULID}) \(from (.*)\)")
SENDER = re.compile(rf"(?P<sender>[^,]*)(?:, conflict (?P<conflict>cnf_{ULID}))?(?:, (?P<place>.*))?")


@dataclass(frozen=True)
class Read:
    """One block, read back."""

    id: str
    sender: str
    conflict: str | None
    place: str | None
    quoted: bool
    untrusted: bool
    reason: str
    do: str


def read_blocks(text: str) -> list[Read]:
    """Every change request of an answer's first text block, in the order printed."""
    _, _, after = text.partition("\nafterSeq: ")
    _, *blocks = after.split("\n\n")
    return [_read(block.split("\n")) for block in blocks]


def _read(lines: list[str]) -> Read:
    header, *between, do = lines
    head = HEADER.fullmatch(header)
    assert head, header
    who = SENDER.fullmatch(head[2])
    assert who, head[2]
    assert do.startswith("Do: "), do
    untrusted = bool(between) and between[0].startswith("  Untrusted: ") and between[1].startswith("> ")
    said = between[1:] if untrusted else between
    marks = {line[:2] for line in said}
    assert marks <= {"> "} or marks <= {"  "}, between
    return Read(
        id=head[1],
        sender=who["sender"],
        conflict=who["conflict"],
        place=who["place"],
        quoted=marks == {"> "},
        untrusted=untrusted,
        reason="\n".join(line[2:] for line in said),
        do=do.removeprefix("Do: "),
    )
