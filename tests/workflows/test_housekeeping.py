"""Housekeeping: what killed checks left goes, what runs stays, and a packed repository still serves."""

from activities.folders import Folders
from protocol.ids import CommitId
from protocol.states import State
from runtime.housekeeping import Housekeeping
from tests.support.engine import Engine, write


async def test_scratch_of_runs_that_ended_or_never_were_is_removed(engine: Engine) -> None:
    folders = Folders(engine.settings.data_dir)
    project = await engine.project(test="true")
    intent = await project.declare("app/f1.py")
    await project.push(intent, {"app/f1.py": "new\n"})
    await project.submit(intent)
    merged = await project.until(intent, State.MERGED)
    ended = merged.checks[0].id
    for name in (ended, "chk_never_was"):
        write(folders.scratch(name), {"tree/left.txt": "left\n"})
    removed = await Housekeeping(engine.found.pool, folders, engine.settings.host_name).once()
    assert sorted(removed) == sorted([ended, "chk_never_was"])
    assert not folders.scratch(ended).exists()
    repository = folders.repository(project.id)
    assert (
        await repository.read_file(CommitId(str(merged.intent.merged_commit)), "app/f1.py", 100) == b"new\n"
    )
