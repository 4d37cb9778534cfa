"""ChangeSets on real git and the real engine: published, validated, accepted, landed."""

import hashlib
import shutil
import subprocess

import pytest

from protocol.foremerge.words import ChangeSetStatus, IntentStatus, Verification
from protocol.refusals import Refused
from tests.foremerge.work import Bench, Work, other_repository
from tests.support.engine import Engine, git


async def test_a_changeset_goes_from_its_worktree_to_the_line(engine: Engine) -> None:
    bench = await Bench.of(engine)
    work = await bench.work()
    head = work.commit(work.edited())
    branch = git(bench.repository, "rev-parse", "one")
    changeset = await work.publish()
    assert changeset.status is ChangeSetStatus.PROVISIONAL
    assert changeset.files == ["app/cart.py"]
    validation = await bench.verify(changeset)
    assert (validation.passed, validation.exit_code, validation.command) == (True, 0, ["true"])
    assert validation.fingerprint == changeset.fingerprint
    accepted = await bench.accept(changeset)
    assert (accepted.status, accepted.accepted_commit) == (ChangeSetStatus.ACCEPTED, head)
    assert accepted.acceptance_verification is Verification.VERIFIED
    ref = f"refs/foremerge/accepted/{changeset.id}"
    for repository in (bench.repository, bench.bare):
        assert git(repository, "rev-parse", ref) == head
    assert git(bench.repository, "rev-parse", "one") == branch
    git(bench.repository, "merge", "-q", "--no-ff", "one", "-m", "land")
    landed = await bench.land(changeset, "main")
    assert (landed.status, landed.provenance["integration"]["method"]) == (
        ChangeSetStatus.COMMITTED,
        "ancestor",
    )
    assert landed.accepted_commit == head
    assert landed.integration_commit == git(bench.repository, "rev-parse", "main")
    assert (await bench.face.shown(work.intent)).intent.status is IntentStatus.COMMITTED
    (item,) = await bench.face.query()
    assert {claim.status.value for claim in item.claims} == {"RELEASED"}


async def test_a_pushed_candidate_takes_the_same_way_without_a_folder(engine: Engine) -> None:
    bench = await Bench.of(engine, bound=False)
    work = await bench.work()
    with pytest.raises(Refused, match=r"INVALID_INPUT.*git push"):
        await work.publish()
    head = work.commit(work.edited())
    await work.push()
    changeset = await work.publish()
    assert changeset.provenance["git"]["form"] == "pushed"
    assert (changeset.files, changeset.base_ref) == (["app/cart.py"], git(bench.bare, "rev-parse", "main"))
    failed = await bench.verify(changeset, "no")
    assert (failed.passed, failed.exit_code, failed.stdout, failed.stderr) == (False, 3, "out\n", "err\n")
    await bench.verify(changeset)
    assert (await bench.accept(changeset)).accepted_commit == head
    assert git(bench.bare, "rev-parse", f"refs/foremerge/accepted/{changeset.id}") == head
    work.git("push", "-q", str(bench.bare), "HEAD:refs/heads/release")
    assert (await bench.land(changeset, "release")).provenance["integration"]["method"] == "ancestor"


async def test_one_clean_commit_has_one_fingerprint_in_every_worktree_and_when_it_was_pushed(
    engine: Engine,
) -> None:
    bench = await Bench.of(engine)
    one = await bench.work("one")
    head = one.commit(one.edited())
    two = await bench.work("two", start=head)
    first, second = await one.publish(), await two.publish()
    assert first.fingerprint == second.fingerprint
    assert str(bench.repository.parent) not in first.fingerprint
    async with engine.found.pool.acquire() as connection:
        await connection.execute("DELETE FROM fm_binding WHERE project_id = $1", bench.face.project.id)
    three = await bench.work("three", start=head)
    await three.push()
    assert (await three.publish()).fingerprint == first.fingerprint
    (two.root / "README.md").write_text("open edit\n")
    await bench.bind(bench.repository / ".git")
    assert (await two.publish()).fingerprint != first.fingerprint


async def test_the_base_is_the_first_parent_unless_the_caller_names_another(engine: Engine) -> None:
    bench = await Bench.of(engine)
    work = await bench.work()
    work.commit(work.edited(5, "five\n"))
    head = work.commit(work.edited(6, "six\n"))
    first = await work.publish()
    said = first.provenance["git"]
    assert (said["base_resolution"], first.base_ref) == ("first_parent", work.git("rev-parse", "HEAD~1"))
    second = await work.publish(base_ref="main")
    said = second.provenance["git"]
    assert (said["base_resolution"], said["candidate"]) == ("caller_supplied", head)
    assert said["diff_hash"] == _diff_hash(work, "main", "HEAD")
    with pytest.raises(Refused, match=r"INVALID_INPUT.*candidate itself"):
        await work.publish(base_ref="HEAD")
    with pytest.raises(Refused, match=r"INVALID_INPUT.*no commit"):
        await work.publish(base_ref="nothing-of-that-name")
    with pytest.raises(Refused, match="INVALID_INPUT"):
        await work.publish(git_ref="--upload-pack=touch /tmp/x")


def _diff_hash(work: Work, base: str, head: str) -> str:
    patch = subprocess.run(
        ["git", "diff", "--binary", base, head], cwd=work.root, check=True, capture_output=True
    )
    return hashlib.sha256(patch.stdout).hexdigest()


async def test_a_root_commit_a_shallow_clone_and_an_unborn_branch_are_told_apart(engine: Engine) -> None:
    bench = await Bench.of(engine)
    work = await bench.work()
    work.git("checkout", "-q", "--orphan", "fresh")
    unborn = await work.publish(files=["README.md"])
    assert unborn.provenance["git"]["base_resolution"] == "unborn_worktree"
    with pytest.raises(Refused, match="INVALID_INPUT"):
        await work.publish(base_ref="main")
    work.commit()
    root = await work.publish()
    said = root.provenance["git"]
    assert (said["base_resolution"], root.base_ref) == ("root_commit", None)
    assert said["diff_hash"] == _diff_hash(work, "4b825dc642cb6eb9a060e54bf8d69288fbee4904", "HEAD")
    work.git("checkout", "-q", "one")
    work.commit(work.edited())
    shallow = bench.repository.parent / f"{bench.repository.name}-shallow"
    git(bench.repository, "clone", "-q", "--depth=1", "-b", "one", f"file://{bench.repository}", str(shallow))
    await bench.bind(shallow / ".git")
    there = await bench.work("two", folder=shallow)
    cut = await there.publish()
    assert (cut.provenance["git"]["base_resolution"], cut.base_ref) == ("shallow_boundary", None)
    await bench.verify(cut)
    accepted = await bench.accept(cut)
    assert git(shallow, "rev-parse", f"refs/foremerge/accepted/{cut.id}") == accepted.accepted_commit


async def test_what_was_changed_outside_of_the_declared_scopes_is_told(engine: Engine) -> None:
    bench = await Bench.of(engine)
    work = await bench.work("one", "file:app/=modify", "symbol:Cart::total=extend", "contract:cart-api=add")
    work.commit(
        {
            "app/cart.py": "class Cart:\n    def total(self):\n        return 1\n",
            "docs/x.md": "x\n",
            "lib/y.py": "def helper():\n    pass\n",
        }
    )
    changeset = await work.publish(contracts=["cart-api", "Tax-API"])
    assert changeset.symbols == ["Cart", "helper", "total"]
    drift = changeset.provenance["scope_drift"]
    assert drift["files"] == ["docs/x.md", "lib/y.py"]
    assert (drift["symbols"], drift["contracts"]) == (["helper"], ["Tax-API"])
    assert drift["total"] == 4
    plain = await bench.work("two", "component:Docs=modify")
    plain.commit({"docs/y.md": "y\n"})
    assert (await plain.publish()).provenance["scope_drift"]["compared"] == []


async def test_a_worktree_of_another_repository_is_refused(engine: Engine) -> None:
    bench = await Bench.of(engine)
    one, two = await bench.work("one"), await bench.work("two")
    for work in (one, two):
        await work.published()
    assert len(await bench.face.query()) == 2
    stranger = other_repository(bench)
    for folder in (str(stranger), str(bench.repository.parent), "relative"):
        with pytest.raises(Refused, match="INVALID_INPUT"):
            await bench.face.register("lost", worktree=folder)
    seen = (await bench.face.query(agent_id=one.agent))[0].agent
    assert (seen.worktree, seen.git_branch) == (str(one.root), "one")
    assert seen.git_head == git(bench.repository, "rev-parse", "main")
    with pytest.raises(Refused, match=r"INVALID_INPUT.*another repository"):
        await one.publish(worktree=str(stranger))
    for folder in (str(stranger.parent), "relative/path", "/nonexistent/folder"):
        with pytest.raises(Refused, match="INVALID_INPUT"):
            await one.publish(worktree=folder)
    below = await one.publish(worktree=str(one.root / "app"))
    assert below.provenance["git"]["worktree"] == str(one.root)


async def test_a_project_may_have_declared_symbols_looked_for(engine: Engine) -> None:
    bench = await Bench.of(engine, verify_symbols=True)
    work = await bench.work()
    scopes = ("symbol:App::line=modify", "symbol:Cart::nowhere=add", "config:nowhere=add")
    published = await bench.face.publish(work.agent, "Look for them", *scopes)
    assert len(published.warnings) == 1
    assert "symbol:Cart::nowhere appears nowhere" in published.warnings[0]
    shutil.rmtree(work.root)
    assert (await bench.face.publish(work.agent, "Search fails", *scopes)).warnings == []


async def test_a_check_that_puts_another_repository_in_its_place_counts_for_nothing(engine: Engine) -> None:
    bench = await Bench.of(engine, bound=False)
    work = await bench.work()
    work.commit(work.edited())
    await work.push()
    changeset = await work.publish()
    with pytest.raises(Refused, match="STALE_CHANGESET"):
        await bench.verify(changeset, "swap")
    (attempt,) = await bench.attempts(changeset)
    assert (attempt.passed, attempt.observed_fingerprint) == (True, "unavailable")


async def test_a_revision_takes_the_place_of_the_one_before(engine: Engine) -> None:
    bench = await Bench.of(engine)
    work = await bench.work()
    first = await work.published()
    await bench.verify(first)
    assert (await bench.face.shown(work.intent)).intent.status is IntentStatus.VALIDATED
    work.commit(work.edited(20, "twenty\n"))
    second = await work.publish()
    assert second.supersedes_changeset_id == first.id
    assert (await bench.now(first)).status is ChangeSetStatus.SUPERSEDED
    assert (await bench.face.shown(work.intent)).intent.status is IntentStatus.PROVISIONAL
    types = await bench.types()
    assert types[-2:] == ["changeset.revised", "changeset.published"]
    with pytest.raises(Refused, match="INVALID_TRANSITION"):
        await bench.verify(first)
    assert types.count("lifecycle.transitioned") == 4  # claimed, in progress, provisional, validated


async def test_settings_of_a_bound_repository_run_nothing(engine: Engine) -> None:
    bench = await Bench.of(engine)
    work = await bench.work()
    trap = bench.repository.parent / f"{bench.repository.name}-trap"
    program = bench.repository.parent / f"{bench.repository.name}-program"
    program.write_text(f"#!/bin/sh\ntouch {trap}\ncat\n")
    program.chmod(0o755)
    work.commit({**work.edited(), ".gitattributes": "*.py filter=evil diff=evil\n"})
    for key in (
        "filter.evil.clean",
        "filter.evil.process",
        "diff.evil.textconv",
        "diff.evil.command",
        "diff.external",
        "core.fsmonitor",
    ):
        git(bench.repository, "config", key, str(program))
    git(bench.repository, "config", "core.hooksPath", str(bench.repository.parent))
    hook = bench.repository.parent / "reference-transaction"
    hook.write_text(f"#!/bin/sh\ntouch {trap}\n")
    hook.chmod(0o755)
    (work.root / "app/cart.py").write_text("open\n")
    (work.root / "new.py").write_text("new\n")
    changeset = await work.publish()
    assert changeset.provenance["git"]["changed_files"] == ["app/cart.py", "new.py"]
    for name in ("app/cart.py", "new.py"):
        (work.root / name).unlink()
    (work.root / "app/cart.py").write_text(work.edited()["app/cart.py"])
    clean = await work.publish()
    await bench.verify(clean)
    await bench.accept(clean)
    hook.unlink()
    assert not trap.exists()
    work.git("status")  # the trap is one
    assert trap.exists()
