"""`gitring demo`: two agents change the same file at once, and both of them land. Read `tell` for the story."""

import asyncio
import shutil
import signal
import tempfile
import traceback
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import httpx2

from cli.demo_agent import Agent, agent
from cli.demo_events import listening
from cli.demo_owner import SLUG, get, new_token, owner, set_up
from cli.demo_repository import CannotMake, make_repository
from cli.demo_stack import DemoStack, StackFailed, StepFailed, running
from cli.demo_teller import Teller
from cli.demo_work import (
    BINARY_TEST,
    MODULE,
    NEGATIVE_TEST,
    UnknownCode,
    adapt_to_binary_sizes,
    write_binary_sizes,
    write_negative_sizes,
)


async def tell(teller: Teller, stack: DemoStack, folder: Path) -> None:
    """The story, from an empty folder to two merges."""
    teller.begin("making a repository from the sources of installed packages")
    repository = await asyncio.to_thread(make_repository, folder / "repository")
    teller.says("git", f"{repository.files} files on main, at {repository.head[:7]}")

    teller.begin("starting Postgres, NATS, Temporal, the gateway and a worker")
    await stack.ready()
    teller.says("up", f"ready at {stack.connection['url']}")

    async with listening(stack.connection) as heard, owner(stack.connection) as rest:
        teller.begin("the owner imports the repository and makes a token for each agent")
        project = await set_up(rest, repository)
        teller.says("owner", f"project {SLUG}: compile every file and run the tests before each merge")
        async with (
            agent("Ann", stack.connection, await new_token(rest, "Ann"), folder / "ann", teller) as ann,
            agent("Ben", stack.connection, await new_token(rest, "Ben"), folder / "ben", teller) as ben,
        ):
            teller.begin("both agents say what they will change, before they change it")
            first = await declare(
                ann, "Write sizes in binary units", "Add filesize.binary for KiB and MiB.", BINARY_TEST
            )
            second = await declare(
                ben, "Keep the sign of a negative size", "Let _to_str write the sign.", NEGATIVE_TEST
            )
            if (first["intent"]["state"], second["intent"]["state"]) != ("active", "held"):
                raise StepFailed("two intents in one file: the first must be active and the second held")

            teller.begin("both clone and write at the same time")
            await together(writes(ann, first, write_binary_sizes), writes(ben, second, write_negative_sizes))

            teller.begin("Ben is quicker, but Ann goes first")
            await is_refused(ben, second)

            teller.begin("Ann pushes and submits; Ben waits, and an event will wake him")
            await together(lands(ann, first), waits_then_lands(ben, second, teller))

        teller.begin("both are on main")
        log = await main_log(stack, project)
        teller.block(log)
        verdict = await get(rest, f"/projects/{SLUG}/audit")
        await heard.until(verdict["lastSeq"])
        intents = (await get(rest, f"/projects/{SLUG}/intents"))["intents"]
        teller.summary(ending(intents, log, verdict, len(heard.seqs)))
        if not verdict["valid"]:
            raise StepFailed("the ledger's hash chain does not hold")


def ending(
    intents: list[dict[str, Any]], log: list[str], verdict: dict[str, Any], heard: int
) -> list[tuple[str, str]]:
    """What there is to show for it, counted in the server's own records."""
    merged = sum(intent["state"] == "merged" for intent in intents)
    merges = sum("Merge #" in line for line in log)
    chain = "whole" if verdict["valid"] else f"BROKEN at event {verdict['firstBadSeq']}"
    return [
        ("intents", f"{len(intents)} declared, {merged} merged"),
        ("main", f"{merges} merges by the queue, now at {log[0].split()[1]}"),
        ("events", f"{verdict['eventsVerified']} in the ledger, {heard} heard from NATS"),
        ("hash chain", chain),
    ]


async def declare(who: Agent, title: str, summary: str, test: str) -> dict[str, Any]:
    """Say what one will do; tell whom it meets."""
    scope = {"change": [{"path": MODULE}, {"path": test}]}
    plan = {"summary": summary, "steps": ["Write the code", "Test it"], "scope": scope}
    answer = await who.call(
        "gitring_declare", title=title, goal=title, plan=plan, requestId=f"{who.name}-declares-once"
    )
    intent = answer["intent"]
    who.says(f'gitring_declare: #{intent["number"]} "{title}" in {MODULE} is {intent["state"]}')
    for conflict in answer["conflicts"]:
        who.says(f"overlap: {conflict['text']}")
    return answer


async def writes(who: Agent, answer: dict[str, Any], work: Callable[[Path], None]) -> None:
    """Clone with the printed command and commit the work."""
    await who.clone(answer["intent"]["id"])
    work(who.checkout)
    await who.commit(answer["intent"]["title"])
    who.says("git clone, write, git commit")


async def is_refused(ben: Agent, answer: dict[str, Any]) -> None:
    """A push of held work is refused with the reason, and loses nothing."""
    try:
        await ben.line(answer["push"]["command"])
    except StepFailed as refusal:
        ben.says(f"git push is refused: {said_by_server(str(refusal))}")
    else:
        raise StepFailed("a push of held work was let through")


async def lands(who: Agent, answer: dict[str, Any]) -> None:
    """Push with the printed command, submit, and wait until merged."""
    await who.line(answer["push"]["command"])
    head = (await who.git("rev-parse", "--short=7", "HEAD")).strip()
    who.says(f"git push: {head} is on refs/intents/{answer['intent']['id']}")
    now = await who.call(
        "gitring_submit", intentId=answer["intent"]["id"], requestId=f"{who.name}-submits-once"
    )
    who.says(f"gitring_submit: {now['intent']['state']} on main plus my work")
    now = await who.wait(now, lambda found: found["intent"]["state"] == "merged")
    who.says(
        f"gitring_wait: checks {now['checks'][-1]['state']}, merged as {now['intent']['mergedCommit'][:7]}"
    )


async def waits_then_lands(ben: Agent, answer: dict[str, Any], teller: Teller) -> None:
    """Ben waits, takes Ann's work into his own, adapts, and lands on top of it."""
    now = await ben.wait(answer, lambda found: found["intent"]["state"] != "held")
    teller.begin("Ben is released: he takes main into his work and lands on top of it")
    ben.says(f"gitring_wait: #{now['intent']['number']} is {now['intent']['state']}")
    await ben.git("fetch", "--quiet", "origin", "main")
    await ben.git("merge", "--quiet", "-m", "Merge main with binary sizes", "FETCH_HEAD")
    adapt_to_binary_sizes(ben.checkout)
    await ben.commit("Test the sign of binary sizes too")
    ben.says("git merge: Ann's function is in my tree; added a test that uses it")
    await lands(ben, answer)


async def together(*steps: Coroutine[Any, Any, None]) -> None:
    """Both at once; the first that fails ends the other."""
    async with asyncio.TaskGroup() as group:
        for step in steps:
            group.create_task(step)


def said_by_server(text: str) -> str:
    """The server's own words in what git printed."""
    lines = [line.partition("remote:")[2].strip() for line in text.splitlines() if "remote:" in line]
    return " ".join(line for line in lines if line) or text


async def main_log(stack: DemoStack, project_id: str) -> list[str]:
    """The end of main's history, straight from the server's bare repository."""
    repository = stack.folder / "repositories" / f"{project_id}.git"
    process = await asyncio.create_subprocess_exec(
        *("git", "-C", str(repository), "log", "--graph", "--oneline", "--no-decorate", "-n", "6", "main"),
        stdout=asyncio.subprocess.PIPE,
    )
    out, _ = await process.communicate()
    if process.returncode:
        raise StepFailed(f"git log ended with {process.returncode}")
    return out.decode(errors="replace").splitlines()


FAILURES = (StepFailed, StackFailed, CannotMake, UnknownCode, OSError, TimeoutError, httpx2.HTTPError)


async def run(keep: bool) -> int:
    """Tell the story in a temporary folder; the exit code."""
    teller = Teller()
    folder = Path(tempfile.mkdtemp(prefix="gitring-demo-"))
    _stop_on_signals()
    failed = False
    try:
        async with running(folder / "data") as stack:
            try:
                await tell(teller, stack, folder)
            except* Exception as problems:
                failed = True
                explain(teller, stack, _first(problems))
            teller.begin("stopping everything")
        code = stack.process.returncode
        failed = failed or code != 0
        end = "failed" if failed else "done"
        teller.summary([("ended", f"{end} after {teller.seconds:.1f} s; gitring up ended with {code}")])
    finally:
        if keep:
            teller.summary([("kept", str(folder))])
        else:
            await asyncio.to_thread(shutil.rmtree, folder)
    return 1 if failed else 0


def explain(teller: Teller, stack: DemoStack, problem: BaseException) -> None:
    """Say which step failed and why, and show what the processes logged last."""
    teller.begin(f"FAILED while: {teller.step}")
    expected = isinstance(problem, FAILURES)
    teller.block(str(problem).splitlines() if expected else traceback.format_exception(problem))
    came_up = bool(stack.connection)
    for log in ("gateway", "worker") if came_up else ("up",):
        teller.begin(f"the end of what {log} logged:")
        teller.block(stack.tail(log))


def _first(problems: BaseExceptionGroup[Any]) -> BaseException:
    inner = problems.exceptions[0]
    return _first(inner) if isinstance(inner, BaseExceptionGroup) else inner


def _stop_on_signals() -> None:
    """Any of the usual signals ends the story and then everything it started, in order."""
    task = asyncio.current_task()
    assert task
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, task.cancel)


def main(keep: bool) -> int:
    """Run the demo; 0 when every step held, 1 otherwise, 130 when it was interrupted."""
    try:
        return asyncio.run(run(keep))
    except asyncio.CancelledError:
        return 130
