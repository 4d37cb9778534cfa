"""Operations that a project lets only a person accept: what a ChangeSet asks of one, and what is told and kept of it."""

from collections.abc import Collection, Iterable, Sequence

from protocol.foremerge.scopes import ScopeClaim
from protocol.foremerge.words import Operation
from rules.foremerge.refusing import forbidden

_NAMED = 5


def asked_of_a_person(scopes: Iterable[ScopeClaim], chosen: Collection[Operation]) -> tuple[str, ...]:
    """What a person has to accept, such as `remove symbol:Cart`; an operation read from the summary counts too."""
    return tuple(f"{one.operation.value} {one.text}" for one in scopes if one.operation in chosen)


def require_person(changeset_id: str, asked: Sequence[str], person: str | None) -> None:
    """FORBIDDEN when something is asked and no person calls, naming it and what to do."""
    if asked and person is None:
        raise forbidden(
            f"ChangeSet {changeset_id} waits for a person to accept: {_few(asked)}.",
            f"Ask a person of the project to run `foremerge changeset accept {changeset_id} --as-person`.",
        )


def persons_word(asked: Sequence[str], person: str | None) -> str | None:
    """The sentence that is kept with the acceptance; None when nothing was asked."""
    return f"{person} accepted: {_few(asked)}." if asked and person is not None else None


def _few(asked: Sequence[str]) -> str:
    more = f" and {len(asked) - _NAMED} more" if len(asked) > _NAMED else ""
    return ", ".join(one[:200] for one in asked[:_NAMED]) + more
