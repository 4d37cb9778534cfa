"""Make a project: its repository on this host, then its rows."""

from pathlib import Path

from temporalio import activity

from activities.change import Change, change_project, utc_now
from activities.folders import Folders
from activities.store import Store
from protocol.commands import CreateLineCommand, CreateProjectCommand, LineMade, ProjectMade
from protocol.events import EventType
from protocol.ids import CommitId
from protocol.projects import ProjectSettings
from protocol.refusals import Refusal, Refused, invalid_input, refused
from storage.git.checkout import remove
from storage.git.commits import Signature
from storage.git.errors import BadName, EmptySource, ImportRefused, RepositoryExists, StaleRef
from storage.git.names import LINE_REFS, commit_id, line_ref
from storage.git.repository import Repository
from storage.git.sources import ImportRules
from storage.sql import people, projects
from storage.sql.pool import transaction

_FALLBACK_LINE = "main"


class Setup:
    """Imports into one host's data folder."""

    def __init__(self, store: Store, folders: Folders, import_private: bool = False) -> None:
        self._store = store
        self._pool = store.pool
        self._folders = folders
        self._rules = ImportRules(private=import_private, keep_out=folders.data_dir)

    @activity.defn(name="make_repository")
    async def make_repository(self, command: CreateProjectCommand) -> ProjectMade:
        """Import the source, or begin an empty line. An import cut short leaves nothing, so it can be repeated."""
        path = self._folders.repository_path(command.project_id)
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            repository = await self._import(command, path)
        except EmptySource as problem:
            return _refused(f"The source cannot be imported: {problem}", "Commit something there first.")
        except ImportRefused as problem:
            return _refused(
                f"The source cannot be imported: {problem}", "Correct `source` and send it again."
            )
        line = await repository.default_line()
        heads = await repository.list_refs(LINE_REFS)
        return ProjectMade(default_line=line, head=heads.get(f"{LINE_REFS}{line}"))

    async def _import(self, command: CreateProjectCommand, path: Path) -> Repository:
        try:
            if command.source is not None:
                return await Repository.import_from(path, command.source, command.default_line, self._rules)
            line = command.default_line or _FALLBACK_LINE
            repository = await Repository.create(path, line)
            author = Signature(
                name="gitring", email="gitring@gitring.invalid", at=int(command.at.timestamp())
            )
            await repository.begin_line(line, f"Begin {command.slug}\n", author)
            return repository
        except RepositoryExists:
            # An earlier try of this same import finished: the project id is new to each call.
            return self._folders.repository(command.project_id)

    @activity.defn(name="record_project")
    async def record_project(self, command: CreateProjectCommand, made: ProjectMade) -> ProjectMade:
        """Write the project's rows and its first event."""
        settings = ProjectSettings(**command.settings)
        async with transaction(self._pool) as connection:
            if await projects.find(connection, command.project_id):
                return made
            added = await projects.add(
                connection,
                project_id=command.project_id,
                slug=command.slug,
                owner_id=command.owner_id,
                host=command.host,
                default_line=str(made.default_line),
                settings=settings,
                lines={str(made.default_line): made.head},
                now=command.at,
            )
            if not added:
                await remove(self._folders.repository_path(command.project_id))
                taken = refused(
                    "exists", f"A project named {command.slug} exists already.", "Choose another slug."
                )
                return ProjectMade(refusal=taken.refusal)
            project = await projects.find(connection, command.project_id)
            assert project is not None
            change = Change(
                connection, project, utc_now(), await people.name_of(connection, command.owner_id)
            )
            change.emit(
                EventType.PROJECT_CREATED, "Project", project.id, None, slug=project.slug, head=made.head
            )
            await change.flush()
        return made


class Lines:
    """New lines in the repositories of one host."""

    def __init__(self, store: Store, folders: Folders) -> None:
        self._store = store
        self._pool = store.pool
        self._folders = folders

    @activity.defn(name="begin_line")
    async def begin(self, command: CreateLineCommand) -> LineMade:
        """Make the line's ref, then its row. A ref that stands there already was made by an earlier try."""
        repository = self._folders.repository(command.project_id)
        try:
            ref = line_ref(command.line)
            head = await _start_of(repository, command.start)
        except BadName as problem:
            return LineMade(refusal=invalid_input(str(problem)).refusal)
        if head is None:
            return LineMade(refusal=invalid_input(f"There is no line or commit {command.start}.").refusal)
        try:
            await repository.create_ref(ref, head)
        except StaleRef as stale:
            if stale.actual != head:
                taken = refused("exists", f"The line {command.line} exists already.", "Choose another name.")
                return LineMade(refusal=taken.refusal)
        async with change_project(self._store, command.project_id, command.actor) as change:
            if await projects.line(change.connection, command.project_id, command.line) is None:
                await projects.add_line(change.connection, command.project_id, command.line, head, change.now)
                change.emit(EventType.LINE_CREATED, "Line", command.line, None, head=head)
        return LineMade(head=head)


async def _start_of(repository: Repository, start: str) -> CommitId | None:
    if (found := await repository.head(line_ref(start))) is not None:
        return found
    commit = commit_id(start)
    return commit if await repository.commit_exists(commit) else None


def _refused(message: str, next_step: str) -> ProjectMade:
    problem: Refused = invalid_input(message, next_step)
    refusal: Refusal = problem.refusal
    return ProjectMade(refusal=refusal)
