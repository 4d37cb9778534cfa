"""Make a project: an import may take minutes and must survive a restart, so it is a workflow of its own."""

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from activities.setup import Lines, Setup
    from activities.wakes import Wakes
    from protocol.commands import (
        CreateLineCommand,
        CreateProjectCommand,
        LineMade,
        LineStart,
        ProjectMade,
    )
    from workflows.details import LINE, PROJECT, plain
    from workflows.steps import git_step, import_step, wake_step


@workflow.defn
class ProjectSetupWorkflow:
    """One import, id `setup-<prj_…>`."""

    @workflow.run
    async def run(self, command: CreateProjectCommand) -> ProjectMade:
        """Import, then record. A refusal is a value: the caller reads it from the result."""
        workflow.upsert_search_attributes([PROJECT.value_set(command.project_id)])
        made: ProjectMade = await workflow.execute_activity_method(
            Setup.make_repository, command, **import_step(command.host, f"import {command.slug}")
        )
        if made.refusal is not None:
            return made
        recorded: ProjectMade = await workflow.execute_activity_method(
            Setup.record_project,
            args=[command, made],
            **git_step(command.host, f"record {command.slug}"),
        )
        if recorded.refusal is None and recorded.default_line is not None:
            line = LineStart(project_id=command.project_id, line=recorded.default_line, host=command.host)
            await workflow.execute_activity_method(
                Wakes.wake_index, line, **wake_step("have the line indexed")
            )
        return recorded


@workflow.defn
class LineSetupWorkflow:
    """One new line, id `setup-<prj_…>-<line>`."""

    @workflow.run
    async def run(self, command: CreateLineCommand) -> LineMade:
        """Make the ref and its row. A refusal is a value."""
        workflow.upsert_search_attributes(
            [PROJECT.value_set(command.project_id), LINE.value_set(command.line)]
        )
        made: LineMade = await workflow.execute_activity_method(
            Lines.begin, command, **git_step(command.host, f"begin line {plain(command.line, 60)}")
        )
        return made
