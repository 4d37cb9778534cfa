"""Turns the way people name an intent (`storefront#12`, `12`, `int_…`) into its id."""

import re

from cli.clean import one_line
from cli.session import USAGE, Failed, Session

_ID = re.compile(r"int_[0-9A-HJKMNP-TV-Z]{26}")
_NUMBER = re.compile(r"(?:([A-Za-z0-9][A-Za-z0-9_-]{0,99})?#)?([0-9]{1,9})")
_NEWEST = 500


def intent_id(session: Session, reference: str, project: str | None = None) -> str:
    """The id of the intent named by `reference`; a bare number needs `project`, or a token of one project.

    Refuses a number that is not among the project's newest 500 intents.
    """
    if _ID.fullmatch(reference):
        return reference
    named = _NUMBER.fullmatch(reference)
    if named is None:
        raise Failed(
            f"{one_line(reference, 80)} names no intent. Give its id (int_…), or its number as PROJECT#N.",
            USAGE,
        )
    project, number = named[1] or project or only_project(session), int(named[2])
    listed = session.get(f"/projects/{project}/intents", limit=_NEWEST)["intents"]
    for intent in listed:
        if intent["number"] == number:
            return str(intent["id"])
    more = (
        f" among its newest {_NEWEST}; an older one is named by its id (int_…)"
        if len(listed) == _NEWEST
        else ""
    )
    raise Failed(
        f"not_found: There is no intent #{number} in {project}{more}. `gitring board` shows the live ones."
    )


def only_project(session: Session) -> str:
    """The one project the token names; refuses when there are none or several."""
    slugs = [str(project["slug"]) for project in session.get("/projects")["projects"]]
    if len(slugs) == 1:
        return slugs[0]
    if not slugs:
        raise Failed("not_found: There is no project yet. Make one with `gitring projects create SLUG`.")
    raise Failed(f"Say which project with --project: {', '.join(slugs[:20])}.", USAGE)
