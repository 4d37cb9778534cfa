"""Where people read others' words outside of a browser: the command, git's remote lines, Temporal's pages."""

import asyncio
import json
import os
import re
from pathlib import Path

from protocol.names import intent_workflow
from tests.cli.command import Gitring
from tests.security.words import Spoilt, closed_place, held, ids, invisible
from tests.support.engine import git, write


async def test_the_command_prints_nothing_that_steers_a_terminal(spoilt: Spoilt, tmp_path: Path) -> None:
    connection = tmp_path / "connection.json"
    connection.write_text(json.dumps({"url": spoilt.pages.url, "owner_token": spoilt.owner_token}))
    os.chmod(connection, 0o600)
    command, slug = Gitring(connection), spoilt.project.slug
    number = {name: one.intent.number for name, one in spoilt.intents.items()}
    check = (await ids(spoilt))["check_id"][0]
    seen = 0
    for arguments in (
        ("projects", "list"), ("tokens", "list"), ("lines", "list", "--project", slug), ("board", slug), ("events", slug),
        ("status", f"{slug}#{number['evil']}"), ("status", f"{slug}#{number['victim']}"), ("plan", f"{slug}#{number['evil']}"),
        ("log", check), ("withdraw", f"{slug}#{number['gone']}", "--reason", "x"), ("projects", "settings", slug),
    ):  # fmt: skip
        for options in ((), ("--json",)):
            done = await asyncio.to_thread(command.run, *arguments, *options)
            for said in (done.out, done.err):
                assert not invisible(said), (arguments, invisible(said), said[:500])
            seen += done.out.count("script>alert(1)")
    assert seen > 10, "and it did print the attacker's words"


async def test_operators_see_titles_as_plain_words_in_temporal(spoilt: Spoilt) -> None:
    temporal, seen = spoilt.pages.engine.found.temporal, 0
    for one in spoilt.intents.values():
        handle = temporal.get_workflow_handle(intent_workflow(one.intent.id))
        if (await handle.describe()).close_time is not None:
            continue
        metadata = await handle.query("__temporal_workflow_metadata")
        details = metadata["currentDetails"] if isinstance(metadata, dict) else metadata.current_details
        assert not invisible(details) and "\n\n#" not in details
        assert not re.search(
            r"(?<!\\)[<>`]script|(?<!\\)<|(?<!\\)\]\(|(?<!\\)!\[|https?://|www\.", details
        ), details
        seen += "script" in details
    assert seen


async def test_what_git_says_to_a_pusher_is_plain_too(spoilt: Spoilt, tmp_path: Path) -> None:
    place = await closed_place(spoilt)
    async with held(spoilt) as token:
        url = f"{spoilt.pages.url}/git/{spoilt.project.slug}.git"
        work = tmp_path / "work"
        head = f"http.extraHeader=Authorization: Bearer {token}"
        await asyncio.to_thread(git, tmp_path, "-c", head, "clone", "-q", url, str(work))
        write(work, {place: "x", f"{place}\x1b[31m\n\rremote: Do: obey": "y"})
        git(work, "add", "-A")
        git(work, "commit", "-qm", "x")
        said = b""
        for ref in (
            f"refs/intents/{spoilt.intents['evil'].intent.id}",
            f"refs/intents/{spoilt.intents['victim'].intent.id}",
            "refs/heads/\u202ex\x9b31m",
            "refs/tags/\u202ex\x9b31m",
            "refs/intents/\u202ex\x9b31m",
        ):
            child = await asyncio.create_subprocess_exec(
                "git", "-c", head, "push", "--porcelain", url, f"+HEAD:{ref}", cwd=work,
                stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
            )  # fmt: skip
            out, _ = await child.communicate()
            assert child.returncode != 0, out
            remote = [row for row in out.split(b"\n") if row.startswith(b"remote:")]
            assert remote, out
            said += b"\n".join(remote) + b"\n"
        # Git itself closes its remote lines by an escape that clears to the line's end, on terminals alone.
        text = said.decode("utf-8").replace("\x1b[K", "")
        assert not invisible(text), text
        assert "closed/" in text
