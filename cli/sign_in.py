"""`gitring sign-in-link`: a link that signs one person in to the pages, once."""

from typing import Annotated

import typer

from cli.served import served
from cli.session import Session
from cli.shown import Shown


@served
def sign_in_link(
    session: Session,
    person: Annotated[
        str | None,
        typer.Option(help="per_…, somebody all of whose projects you own; you yourself when left out."),
    ] = None,
) -> Shown:
    """Make a link that signs one person in, once; for you, or for somebody whose projects you own."""
    made = session.post("/sign-in-links", {"personId": person} if person else {})
    said = f"for {made['name']}, until {made['expiresAt']}; it works once and is not shown again."
    return Shown(made, [made["link"], said])


def add_sign_in(app: typer.Typer) -> None:
    """The one command."""
    app.command("sign-in-link", rich_help_panel="Set-up")(sign_in_link)
