"""Puts the pages into the app: every address of theirs, in one place."""

import asyncpg
from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import Response

from gateway.reads import Reads
from gateway.repositories import Repositories
from gateway.surface import Surface
from gateway.web.account import add_account
from gateway.web.asks import add_asks
from gateway.web.audit import add_audit
from gateway.web.board import add_board
from gateway.web.checks import add_checks
from gateway.web.finished import add_finished
from gateway.web.home import add_home
from gateway.web.intent import add_intent
from gateway.web.landing import add_landing
from gateway.web.live import add_live
from gateway.web.members import add_members
from gateway.web.router import NOT_HERE, PageRoutes, refusal_page
from gateway.web.sessions import Sessions
from gateway.web.settings import add_settings
from gateway.web.shown import environment
from gateway.web.sign_in import add_sign_in
from gateway.web.site import Site
from gateway.web.static import Static
from gateway.web.visit import Web

_OF_A_PROJECT = (add_checks, add_asks, add_finished, add_members, add_settings, add_audit)


def add_pages(
    app: FastAPI,
    operations: Surface,
    sessions: Sessions,
    *,
    pool: asyncpg.Pool,
    site: Site,
    repositories: Repositories,
) -> None:
    """Serve the pages from `app`: sign-in, inbox, projects, account, and all pages of each project."""
    web = Web(
        surface=operations,
        reads=Reads(pool, site.public_url),
        sessions=sessions,
        site=site,
        static=Static(),
        templates=environment(),
        repositories=repositories,
    )
    routes = PageRoutes(web)
    for add in (
        add_sign_in,
        add_home,
        add_account,
        add_live,
        add_board,
        add_intent,
        add_landing,
        *_OF_A_PROJECT,
    ):
        add(routes)
    routes.open("/static/{name}", web.static.serve, "GET")

    async def nothing(_: Request) -> Response:
        return refusal_page(web, NOT_HERE)

    # Last, for what stands below a project and is none of its pages.
    routes.open("/p/{rest:path}", nothing, "GET")
    app.router.routes.extend(routes.routes)
