"""One served gitring with two projects whose people know nothing of each other, and all ids of the second one."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime

import asyncpg
import httpx2

from gateway.git_http import GitHttp
from gateway.git_rules import GitRules
from gateway.repositories import Repositories
from protocol.asks import CreateAsk
from protocol.intents import CloneInput, CommentInput, ProjectsInput
from protocol.people import InvitePerson
from protocol.projects import (
    Caller,
    CreateLine,
    CreateProject,
    CreateSeries,
    CreateToken,
    PauseLine,
    TokenKind,
)
from protocol.states import State
from storage.sql import sessions, tokens
from storage.sql.pool import transaction
from tests.security.routes import IN_PATH, KINDS
from tests.support.engine import Engine, ProjectUnderTest, make_repository
from tests.web.served import Pages, serve_pages
from tests.web.visitor import Visitor

# Rows that move by themselves: the outbox empties, a session notes when it was seen, imports are indexed.
_RESTLESS = {"outbox", "session", "request", "command", "line_index", "import_edge", "blob_symbols"}


@dataclass
class Home:
    """A project with its owner's token, its agent's token, a git token, and ids of everything that belongs to it."""

    project: ProjectUnderTest
    owner: Caller
    owner_token: str
    agent_token: str
    git_token: str
    ids: Mapping[str, list[str]] = field(default_factory=dict)

    def one(self, kind: str, *_: str) -> str:
        """One of its ids: the newest intent, which is open, and else the first."""
        return self.ids[kind][-1 if kind == "intent" else 0]


@dataclass
class House:
    """`ours` is where the callers of a test belong, `theirs` is none of their business."""

    pages: Pages
    ours: Home
    theirs: Home

    @property
    def engine(self) -> Engine:
        """The engine behind the pages."""
        return self.pages.engine

    def http(self, token: str | None = None) -> httpx2.AsyncClient:
        """A client, with a bearer token where one is given."""
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        return httpx2.AsyncClient(base_url=self.pages.url, headers=headers, timeout=30, trust_env=False)

    async def prints(self, home: Home) -> dict[str, str]:
        """A digest of each table's rows that belong to a project or its owner: equal as long as nothing was changed."""
        async with transaction(self.engine.found.pool) as connection:
            return {
                table: await connection.fetchval(
                    f"SELECT md5(coalesce(string_agg(t::text, chr(10) ORDER BY t::text), '')) FROM {table} t WHERE {where}",
                    *values,
                )
                for table, where, values in await _belonging(connection, home)
            }


async def _belonging(connection: asyncpg.Connection, home: Home) -> list[tuple[str, str, list[str]]]:
    columns = await connection.fetch(
        "SELECT table_name, array_agg(column_name::text) AS names FROM information_schema.columns "
        "WHERE table_schema = 'public' GROUP BY table_name ORDER BY table_name"
    )
    found = []
    for row in columns:
        if row["table_name"] in _RESTLESS:
            continue
        if "project_id" in row["names"]:
            found.append((row["table_name"], "project_id = $1", [home.project.id]))
        elif row["table_name"] == "project":
            found.append(("project", "id = $1", [home.project.id]))
        elif "person_id" in row["names"]:
            found.append((row["table_name"], "person_id = $1", [home.owner.person_id]))
    return found


@asynccontextmanager
async def open_house(engine: Engine) -> AsyncIterator[House]:
    """Serve the pages, REST, MCP and real git, with both projects filled."""
    data = engine.settings.data_dir
    rules = GitRules(engine.found.pool, engine.found.temporal, engine.operations.accepted, Repositories(data))
    git = GitHttp(rules.authorize, rules.decide, rules.record, hooks=data / "hooks")
    async with serve_pages(engine, git) as pages:
        ours = await engine.project(test="true")
        other = await _stranger(pages, ours)
        theirs = await _project_of(engine, other)
        house = House(pages, await _home(pages, ours, engine.owner), await _home(pages, theirs, other))
        await _fill(house.ours)
        await _fill(house.theirs)
        for home in (house.ours, house.theirs):
            home.ids = await _ids(engine, home)
        yield house


async def _stranger(pages: Pages, ours: ProjectUnderTest) -> Caller:
    """A person who may make projects, and is in none of the others' any more."""
    operations, owner = pages.engine.operations, pages.engine.owner
    made = await operations.invite(owner, InvitePerson(name="Boleslav", projects=[ours.slug], role="owner"))
    return await operations.authenticate(await pages.token(made.person_id))


async def _project_of(engine: Engine, owner: Caller) -> ProjectUnderTest:
    source = engine.folder / "strange"
    make_repository(source, {f"app/f{n}.py": f"# file {n}\n" for n in range(8)})
    await engine.operations.create_project(
        owner,
        CreateProject(
            slug="strange",
            source=str(source),
            checks={"test": "echo secret-output; ! grep changed app/f1.py"},
        ),
    )
    made = await engine.operations.projects(owner, ProjectsInput())
    (shared,) = [p for p in made.projects if p.slug != "strange"]
    await engine.operations.remove_member(engine.owner, shared.slug, owner.person_id)
    token = await engine.operations.create_token(owner, CreateToken(name="nightly", projects=["strange"]))
    agent = await engine.operations.authenticate(token.token)
    (strange,) = [p for p in made.projects if p.slug == "strange"]
    return ProjectUnderTest(engine, strange.id, "strange", source, agent)


async def _home(pages: Pages, project: ProjectUnderTest, owner: Caller) -> Home:
    engine = pages.engine
    made = await engine.operations.create_token(owner, CreateToken(name="for tests", projects=[project.slug]))
    agent = await engine.operations.authenticate(made.token)
    git = await engine.operations.clone(agent, CloneInput(project_id=project.id))
    assert git.token is not None
    return Home(project, owner, await pages.token(owner.person_id), made.token, git.token)


async def _fill(home: Home) -> None:
    """One of each thing that has an id: two intents in conflict, a failed check, a change request, an ask, …"""
    operations, project = home.project.engine.operations, home.project
    whose = home.owner.person_name
    first = await project.declare("app/f1.py", title=f"First work of {whose}")
    await project.declare("app/f1.py", title=f"Held work of {whose}")
    await project.push(first, {"app/f1.py": "# changed\n"})
    await project.submit(first)
    await operations.open_ask(home.owner, project.slug, CreateAsk(text=f"An ask of {whose}"))
    await operations.create_line(
        home.owner, project.slug, CreateLine.model_validate({"name": "release/1", "from": "main"})
    )
    await operations.pause_line(home.owner, project.slug, "release/1", PauseLine(reason="rest"))
    await operations.create_series(home.owner, project.slug, CreateSeries(prefix="D"))
    await operations.invite(home.owner, InvitePerson(name="Vic", projects=[project.slug], role="viewer"))
    await project.until(first, State.MERGED if project.slug != "strange" else State.ACTIVE)
    late = await project.declare("app/f3.py", title="Open work")
    await operations.comment(home.owner, late.intent.id, CommentInput(text=f"A word of {whose}"))
    async with transaction(home.project.engine.found.pool) as connection:
        await sessions.start(connection, home.owner.person_id, "link", "a browser", datetime.now(UTC))
        await tokens.create(
            connection,
            kind=TokenKind.AGENT,
            name="spare",
            person_id=home.owner.person_id,
            project_ids=[project.id],
            now=datetime.now(UTC),
        )


async def _ids(engine: Engine, home: Home) -> dict[str, list[str]]:
    """By table, the ids of its rows that belong to the home."""
    async with transaction(engine.found.pool) as connection:
        found: dict[str, list[str]] = {}
        for table, where, values in [
            *await _belonging(connection, home),
            ("session", "person_id = $1", [home.owner.person_id]),
        ]:
            has_id = await connection.fetchval(
                "SELECT count(*) FROM information_schema.columns WHERE table_name = $1 AND column_name = 'id'",
                table,
            )
            if has_id:
                rows = await connection.fetch(f"SELECT id FROM {table} WHERE {where} ORDER BY 1", *values)
                found[table] = [str(row["id"]) for row in rows]
        found["slug"] = [home.project.slug]
        found["person"] = [home.owner.person_id]
        found["line"] = ["release/1", "main"]
        found["number"] = ["3", "1"]
        return found


def address(house: House, path: str) -> str:
    """A page of our project."""
    files = {"name": "app.css", "rest": "x/y"}
    return IN_PATH.sub(lambda found: files.get(found[1]) or house.ours.one(*KINDS[found[1]]), path)


async def signed_in(house: House, visitor: Visitor) -> Visitor:
    """The visitor, signed in as the owner of our project."""
    await visitor.sign_in(await house.pages.link(house.ours.owner.person_id))
    return visitor
