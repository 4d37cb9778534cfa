"""`gitring demo`: two agents change the same file at once, and both of them land. Read `tell` for the story."""

import asyncio
import contextlib
import shutil
import signal
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import nats
from nats.aio.msg import Msg

from cli.demo_agent import Agent, StepFailed, agent
from cli.demo_repository import CHECK, CannotMake, MadeRepository, make_repository
from cli.demo_stack import DemoStack, StackFailed, running
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

SLUG = "toolbox"
_NEWS_SEC = 15.0


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

            teller.begin("Ann pushes and submits; Ben writes too, is held, and waits without polling")
            await asyncio.gather(lands_first(ann, first), waits_then_lands(ben, second, teller))

        teller.begin("both are on main")
        log = await main_log(stack, project)
        teller.block(log)
        verdict = await get(rest, f"/projects/{SLUG}/audit")
        await heard.until(verdict["lastSeq"])
        ledger = "whole" if verdict["valid"] else f"BROKEN at event {verdict['firstBadSeq']}"
        teller.summary(
            [
                ("intents", "2 declared, 1 held for the other, 2 merged"),
                ("main", f"{sum('Merge #' in line for line in log)} merges by the queue, at {log[0].split()[1]}"),
                ("events", f"{verdict['eventsVerified']} in the ledger, {len(heard.seqs)} heard from NATS"),
                ("hash chain", ledger),
            ]
        )
        if not verdict["valid"]:
            raise StepFailed("the ledger's hash chain does not hold")


async def declare(who: Agent, title: str, summary: str, test: str) -> dict[str, Any]:
    """Say what one will do; tell whom it meets."""
    scope = {"change": [{"path": MODULE}, {"path": test}]}
    plan = {"summary": summary, "steps": ["Write the code", "Test it"], "scope": scope}
    answer = await who.call("gitring_declare", title=title, goal=title, plan=plan, requestId=f"{who.name}-1")
    intent = answer["intent"]
    who.says(f'gitring_declare: #{intent["number"]} "{title}" in {MODULE} is {intent["state"]}')
    for conflict in answer["conflicts"]:
        who.says(f"overlap: {conflict['text']}")
    return answer


async def lands_first(ann: Agent, answer: dict[str, Any]) -> None:
    """Ann meets nobody in her way: write, push, submit, merged."""
    await ann.clone(answer["intent"]["id"])
    write_binary_sizes(ann.checkout)
    await ann.commit("Write sizes in binary units")
    await push_and_land(ann, answer)


async def waits_then_lands(ben: Agent, answer: dict[str, Any], teller: Teller) -> None:
    """Ben writes while he is held, is refused, waits, takes Ann's work into his own, and lands on top of it."""
    await ben.clone(answer["intent"]["id"])
    write_negative_sizes(ben.checkout)
    await ben.commit("Keep the sign of a negative size")
    if answer["intent"]["state"] != "held":
        raise StepFailed(f"#{answer['intent']['number']} meets another intent and is not held")
    try:
        await ben.line(answer["push"]["command"])
    except StepFailed as refusal:
        ben.says(f"git push is refused: {said_by_server(str(refusal))}")
    else:
        raise StepFailed("a push of held work was let through")
    answer = await ben.wait(answer, lambda now: now["intent"]["state"] != "held")
    teller.begin("Ben is released: he takes main into his work and lands on top of it")
    ben.says(f"gitring_wait: released, #{answer['intent']['number']} is {answer['intent']['state']}")
    await ben.git("fetch", "--quiet", "origin", "main")
    await ben.git("merge", "--quiet", "--no-edit", "FETCH_HEAD")
    adapt_to_binary_sizes(ben.checkout)
    await ben.commit("Test the sign of binary sizes too")
    ben.says("git merge: Ann's function is in my tree now; added a test that uses it")
    await push_and_land(ben, answer)


async def push_and_land(who: Agent, answer: dict[str, Any]) -> None:
    """Push with the printed command, submit, and wait until merged."""
    intent_id = answer["intent"]["id"]
    push = answer.get("push") or {"command": (await who.call("gitring_clone", intentId=intent_id))["push"]}
    await who.line(push["command"])
    head = (await who.git("rev-parse", "--short=7", "HEAD")).strip()
    who.says(f"git push: {head} is on refs/intents/{intent_id}")
    answer = await who.call("gitring_submit", intentId=intent_id, requestId=f"{who.name}-2")
    who.says(f"gitring_submit: {answer['intent']['state']} on main plus my work")
    answer = await who.wait(answer, lambda now: now["intent"]["state"] == "merged")
    check = answer["checks"][-1]
    who.says(f"gitring_wait: checks {check['state']}, merged as {answer['intent']['mergedCommit'][:7]}")


def said_by_server(text: str) -> str:
    """The server's own words in what git printed."""
    lines = [line.partition("remote:")[2].strip() for line in text.splitlines() if "remote:" in line]
    return " ".join(line for line in lines if line) or text


@asynccontextmanager
async def owner(connection: dict[str, Any]) -> AsyncIterator[httpx2.AsyncClient]:
    """REST as the owner."""
    async with httpx2.AsyncClient(
        base_url=f"{connection['url']}/api/v1",
        headers={"Authorization": f"Bearer {connection['owner_token']}"},
        timeout=60,
        trust_env=False,
    ) as client:
        yield client


async def set_up(rest: httpx2.AsyncClient, repository: MadeRepository) -> str:
    """Import the repository; the project's id."""
    checks = {"test": CHECK, "timeoutSec": 120}
    body = {"slug": SLUG, "source": str(repository.path), "checks": checks}
    return str((await post(rest, "/projects", body))["id"])


async def new_token(rest: httpx2.AsyncClient, name: str) -> str:
    """A token for one agent."""
    return str((await post(rest, "/tokens", {"name": name, "projects": [SLUG]}))["token"])


async def post(rest: httpx2.AsyncClient, path: str, body: dict[str, Any]) -> Any:
    """A REST call that must succeed."""
    return _answer(await rest.post(path, json=body))


async def get(rest: httpx2.AsyncClient, path: str) -> Any:
    """A REST read that must succeed."""
    return _answer(await rest.get(path))


def _answer(response: httpx2.Response) -> Any:
    if not response.is_success:
        raise StepFailed(f"{response.request.url.path} answered {response.status_code}: {response.text}")
    return response.json()


class Heard:
    """The events of the ledger that NATS brought."""

    def __init__(self) -> None:
        self.seqs: set[int] = set()
        self._news = asyncio.Condition()

    async def hear(self, message: Msg) -> None:
        """One message: its seq is in a header."""
        async with self._news:
            self.seqs.add(int((message.headers or {})["Gitring-Seq"]))
            self._news.notify_all()

    async def until(self, seq: int) -> None:
        """Return when every event up to `seq` was heard."""
        try:
            async with asyncio.timeout(_NEWS_SEC), self._news:
                await self._news.wait_for(lambda: self.seqs >= set(range(1, seq + 1)))
        except TimeoutError:
            missing = sorted(set(range(1, seq + 1)) - self.seqs)
            raise StepFailed(f"NATS never brought the events {missing}") from None


@asynccontextmanager
async def listening(connection: dict[str, Any]) -> AsyncIterator[Heard]:
    """Hear every event from now on, as any service would."""
    heard = Heard()
    client = await nats.connect(connection["nats"], name="gitring-demo")
    try:
        await client.subscribe("gitring.v1.>", cb=heard.hear)
        await client.flush()
        yield heard
    finally:
        await client.close()


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
            except* FAILURES as problems:
                failed = True
                _explain(teller, stack, _first(problems))
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


def _explain(teller: Teller, stack: DemoStack, problem: BaseException) -> None:
    """Say which step failed and show what the processes logged last."""
    step = teller.step
    teller.begin(f"FAILED while: {step}")
    teller.block(str(problem).splitlines() or [type(problem).__name__])
    for log in ("up",) if isinstance(problem, StackFailed) else ("gateway", "worker"):
        teller.begin(f"the end of what {log} logged:")
        teller.block(stack.tail(log))


def _first(problems: BaseExceptionGroup[Any]) -> BaseException:
    inner = problems.exceptions[0]
    return _first(inner) if isinstance(inner, BaseExceptionGroup) else inner


def _stop_on_signals() -> None:
    """End as after Ctrl-C, so that nothing is left, also when asked by another signal."""
    task = asyncio.current_task()
    assert task
    for number in (signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, task.cancel)


def main(keep: bool) -> int:
    """Run the demo; 0 when every step held, 1 otherwise, 130 when it was interrupted."""
    with contextlib.suppress(KeyboardInterrupt, asyncio.CancelledError):
        return asyncio.run(run(keep))
    return 130
