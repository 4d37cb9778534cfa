"""Folder rules of a project: people-only paths, folders only named people write, folders whose merge an owner approves."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from protocol.projects import ProjectSettings
from protocol.refusals import Refused, refused
from rules.places import Place, covers, meet


@dataclass(frozen=True)
class Writer:
    """On whose behalf a place is changed, and whom to ask instead."""

    person_id: str
    by_agent: bool
    project: str
    owner: str
    names: Mapping[str, str]


def _refusal(what: str, next_step: str) -> Refused:
    return refused("folder_write_refused", f"Refused: {what}", f"What to do: {next_step}", 403)


def folder_refusal(places: Iterable[Place], settings: ProjectSettings, writer: Writer) -> Refused | None:
    """Why one of `places` may not be changed by this intent, or None."""
    for place in sorted(set(places)):
        for path in settings.people_only if writer.by_agent else ():
            if meet(place.file, Place(path)):
                return _refusal(
                    f"{_shown(place, path)} is a people-only path in {writer.project}. An agent's intent cannot change it.",
                    f"leave it out of this intent, or ask {writer.owner} to declare the change.",
                )
        for folder, people in settings.folder_writers.items():
            if meet(place.file, Place(folder)) and writer.person_id not in people:
                named = _named(people, writer)
                return _refusal(
                    f"{folder} is written only by intents of {named} in {writer.project}.",
                    f"leave {place.text} out of this intent, or ask {named} to declare the change.",
                )
    return None


def _shown(place: Place, path: str) -> str:
    return path if covers(place.file, Place(path)) else place.text


def _named(people: Sequence[str], writer: Writer) -> str:
    names = [writer.names.get(person, "somebody") for person in people]
    return " or ".join(names) if names else f"nobody but {writer.owner}"


def writers_of(settings: ProjectSettings) -> list[str]:
    """Everybody that a folder rule names."""
    return sorted({person for people in settings.folder_writers.values() for person in people})


def closed_places(settings: ProjectSettings, writer: Writer) -> list[tuple[str, str]]:
    """(place, why) of everything these rules refuse this writer, for `doNotChange`."""
    closed = [
        (path, "A people-only path: an agent's intent may not change it.") for path in settings.people_only
    ]
    found = closed if writer.by_agent else []
    for folder, people in settings.folder_writers.items():
        if writer.person_id not in people:
            found.append((folder, f"Written only by intents of {_named(people, writer)}."))
    return found


def owner_approves(places: Iterable[Place], settings: ProjectSettings) -> str | None:
    """The folder among `places` whose merge an owner approves, or None."""
    places = list(places)
    return next(
        (folder for folder in settings.owner_approves if any(meet(p.file, Place(folder)) for p in places)),
        None,
    )
