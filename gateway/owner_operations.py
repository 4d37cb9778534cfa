"""What owners ask of the system: projects, lines, series, tokens, people and members."""

from gateway.administration import Administration
from gateway.lines import Lines
from gateway.members import Members
from gateway.people import People
from gateway.series import SeriesOfProjects
from protocol.people import InvitePerson, MakeLink, Member, MemberList, SetRole, SignInLink
from protocol.projects import (
    Caller,
    ChangeSettings,
    CreateLine,
    CreateProject,
    CreateSeries,
    CreateToken,
    LineList,
    NewToken,
    PauseLine,
    Project,
    SeriesList,
    TokenInfo,
)


class OwnerOperations:
    """The part of the operations that agents have no use for."""

    _administration: Administration
    _lines: Lines
    _members: Members
    _people: People
    _series: SeriesOfProjects

    async def create_project(self, caller: Caller, input: CreateProject) -> Project:
        """Import or begin a project."""
        return await self._administration.create_project(caller, input)

    async def change_settings(self, caller: Caller, project_ref: str, input: ChangeSettings) -> Project:
        """Change a project's rules."""
        return await self._administration.change_settings(caller, project_ref, input)

    async def lines(self, caller: Caller, project_ref: str) -> LineList:
        """The lines of a project."""
        return await self._lines.list(caller, project_ref)

    async def create_line(self, caller: Caller, project_ref: str, input: CreateLine) -> LineList:
        """Begin a line."""
        return await self._lines.create(caller, project_ref, input)

    async def pause_line(self, caller: Caller, project_ref: str, line: str, input: PauseLine) -> LineList:
        """Let a line's queue stand still."""
        return await self._lines.pause(caller, project_ref, line, input)

    async def drain_line(self, caller: Caller, project_ref: str, line: str, input: PauseLine) -> LineList:
        """Land what is queued by now, then stand still."""
        return await self._lines.drain(caller, project_ref, line, input)

    async def resume_line(self, caller: Caller, project_ref: str, line: str) -> LineList:
        """Let a line's queue move again."""
        return await self._lines.resume(caller, project_ref, line)

    async def series(self, caller: Caller, project_ref: str) -> SeriesList:
        """The series that intents reserve numbers from."""
        return await self._series.list(caller, project_ref)

    async def create_series(self, caller: Caller, project_ref: str, input: CreateSeries) -> SeriesList:
        """Begin a series of numbers."""
        return await self._series.create(caller, project_ref, input)

    async def create_token(self, caller: Caller, input: CreateToken) -> NewToken:
        """A token for an agent."""
        return await self._administration.create_token(caller, input)

    async def list_tokens(self, caller: Caller) -> list[TokenInfo]:
        """The person's tokens."""
        return await self._administration.list_tokens(caller)

    async def revoke_token(self, caller: Caller, token_id: str) -> TokenInfo:
        """End a token."""
        return await self._administration.revoke_token(caller, token_id)

    async def invite(self, caller: Caller, input: InvitePerson) -> SignInLink:
        """A new person, with a link to sign in."""
        return await self._people.invite(caller, input)

    async def make_link(self, caller: Caller, input: MakeLink) -> SignInLink:
        """Another link to sign in."""
        return await self._people.make_link(caller, input)

    async def members(self, caller: Caller, project_ref: str) -> MemberList:
        """The members of a project."""
        return await self._members.list(caller, project_ref)

    async def member(self, caller: Caller, project_ref: str, person_id: str) -> Member:
        """One member."""
        return await self._members.one(caller, project_ref, person_id)

    async def set_role(self, caller: Caller, project_ref: str, person_id: str, input: SetRole) -> Member:
        """What a person may do in a project."""
        return await self._members.set_role(caller, project_ref, person_id, input)

    async def remove_member(self, caller: Caller, project_ref: str, person_id: str) -> Member:
        """Take a person out of a project."""
        return await self._members.remove(caller, project_ref, person_id)
