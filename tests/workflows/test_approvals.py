"""An approval is bound to what a person saw, and the queue lets nobody undo others' work in passing."""

from protocol.answers import DeclareResult
from protocol.commands import Pushed
from protocol.intents import AckInput
from protocol.names import intent_workflow
from protocol.projects import ChangeSettings, PauseLine
from protocol.states import State, When
from tests.support.engine import Engine, ProjectUnderTest, git

LONG = "".join(f"line {n}\n" for n in range(30))


async def always_asking(engine: Engine, test: str | None = "true") -> ProjectUnderTest:
    """A project in which a person decides about every merge."""
    project = await engine.project(test=test, files={f"app/f{n}.py": LONG for n in range(15)})
    settings = ChangeSettings(merge_approval=When.ALWAYS)
    await engine.operations.change_settings(engine.owner, project.slug, settings)
    return project


async def landed(project: ProjectUnderTest, path: str, text: str) -> DeclareResult:
    """Another's work that lands meanwhile."""
    other = await project.declare(path)
    await project.push(other, {path: text})
    await project.submit(other)
    await project.until(other, State.AWAITING_APPROVAL)
    await project.decide(other, "approve", "merge")
    await project.until(other, State.MERGED)
    return other


async def rebased(project: ProjectUnderTest, intent: DeclareResult, head: str) -> str:
    """Push the work again, rebased onto the line; its new head."""
    work = project.engine.folder / f"rebase-{head[:12]}"
    git(project.engine.folder, "clone", "-q", str(project.repository_path), str(work))
    git(work, "fetch", "-q", "origin", "+refs/*:refs/all/*")
    git(work, "checkout", "-q", "--detach", head)
    git(work, "rebase", "-q", "origin/main")
    git(work, "push", "-q", "--force", "origin", f"HEAD:refs/intents/{intent.intent.id}")
    now = git(work, "rev-parse", "HEAD")
    push = Pushed(
        project_id=project.id, intent_id=intent.intent.id, token_id=project.agent.token_id, old=head, new=now
    )
    handle = project.engine.found.temporal.get_workflow_handle(intent_workflow(intent.intent.id))
    await handle.execute_update("pushed", push)
    return now


async def test_an_approval_stands_through_a_clean_rebase_and_falls_with_a_change(engine: Engine) -> None:
    project = await always_asking(engine, "! (grep -q mine app/f1.py && grep -q theirs app/f2.py)")
    intent = await project.declare("app/f1.py")
    head = await project.push(intent, {"app/f1.py": LONG + "mine\n"})
    await project.submit(intent)
    await project.until(intent, State.AWAITING_APPROVAL)
    await landed(project, "app/f2.py", LONG + "theirs\n")
    await project.decide(intent, "approve", "merge")
    assert [r.kind for r in (await project.returned(intent)).change_requests] == ["check"]
    await landed(project, "app/f2.py", LONG + "mended\n")

    again = await rebased(project, intent, head)
    told = await project.submit(intent)
    assert f"The approval of {head[:7]} stands: {again[:7]} is the same patch on a newer base." in told.said
    done = await project.until(intent, State.MERGED)
    assert [d.kind for d in done.decisions] == ["merge_approved"]


async def test_a_changed_push_after_an_approval_asks_again_and_says_so(engine: Engine) -> None:
    project = await always_asking(engine, "! (grep -q mine app/f1.py && grep -q theirs app/f2.py)")
    intent = await project.declare("app/f1.py")
    head = await project.push(intent, {"app/f1.py": LONG + "mine\n"})
    await project.submit(intent)
    await project.until(intent, State.AWAITING_APPROVAL)
    await landed(project, "app/f2.py", LONG + "theirs\n")
    await project.decide(intent, "approve", "merge")
    await project.returned(intent)
    now = await project.push(intent, {"app/f1.py": LONG + "something else\n"}, onto=head)
    told = await project.submit(intent)
    assert f"The approval was for {head[:7]}; {now[:7]} changes something else." in told.said
    await project.until(intent, State.AWAITING_APPROVAL)


async def test_what_was_sent_back_is_not_approved_any_more(engine: Engine) -> None:
    project = await always_asking(engine)
    intent = await project.declare("app/f1.py")
    await project.push(intent, {"app/f1.py": LONG + "mine\n"})
    await project.submit(intent)
    await project.until(intent, State.AWAITING_APPROVAL)
    pause = PauseLine(reason="a release")
    await engine.operations.pause_line(engine.owner, project.slug, "main", pause)
    await project.decide(intent, "approve", "merge")
    back = await project.decide(intent, "send_back", "merge", "Not this way.")
    await project.push(intent, {"app/f1.py": LONG + "mine\n", "app/f3.py": LONG + "more\n"})
    ack = AckInput(intent_id=intent.intent.id, change_request_id=back.change_requests[0].id)
    await engine.operations.ack(project.agent, ack)
    await project.submit(intent)
    await project.until(intent, State.AWAITING_APPROVAL)


async def test_work_that_would_undo_what_landed_meanwhile_is_returned_and_names_it(engine: Engine) -> None:
    project = await engine.project(test="true", files={"app/f1.py": LONG, "app/tax.py": "rate = 1\n"})
    intent = await project.declare("app/f1.py")
    other = await project.declare("app/tax.py")
    await project.push(other, {"app/tax.py": "rate = 7\n"})
    await project.submit(other)
    merged = await project.until(other, State.MERGED)
    # The branch takes the line in, and keeps its own old copy of a file that it never spoke of.
    onto = str(merged.intent.merged_commit)
    await project.push(intent, {"app/f1.py": LONG + "mine\n", "app/tax.py": "rate = 1\n"}, onto=onto)
    await project.submit(intent)
    back = await project.returned(intent)
    assert back.change_requests[0].kind == "merge"
    assert "would undo what #2 landed on main, in files outside your plan: app/tax.py" in (
        back.change_requests[0].reason
    )


async def test_a_mass_deletion_outside_the_plan_asks_a_person_whatever_the_rules_say(engine: Engine) -> None:
    project = await engine.project(test="true", files={f"app/f{n}.py": LONG for n in range(15)})
    never = ChangeSettings(merge_approval=When.NEVER)
    await engine.operations.change_settings(engine.owner, project.slug, never)
    intent = await project.declare("app/f1.py")
    work = engine.folder / "deleting"
    git(engine.folder, "clone", "-q", str(project.repository_path), str(work))
    git(work, "rm", "-q", *(f"app/f{n}.py" for n in range(2, 15)))
    git(work, "commit", "-qm", "clean up")
    git(work, "push", "-q", "origin", "HEAD:refs/heads/elsewhere")
    head = git(work, "rev-parse", "HEAD")
    await project.push(intent, {"app/f1.py": LONG + "mine\n"}, onto=head)
    await project.submit(intent)
    waiting = await project.until(intent, State.AWAITING_APPROVAL)
    assert waiting.intent.risk_reasons[0].startswith("deletes 13 files outside its plan")


async def test_work_that_fails_its_checks_goes_back_before_any_person_is_asked(engine: Engine) -> None:
    project = await always_asking(engine, "! grep -rq broken app")
    intent = await project.declare("app/f1.py")
    await project.push(intent, {"app/f1.py": "broken\n"})
    await project.submit(intent)
    back = await project.returned(intent)
    assert (back.intent.state, [r.kind for r in back.change_requests]) == (State.ACTIVE, ["check"])
