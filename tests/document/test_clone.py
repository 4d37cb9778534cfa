"""gitring_clone: the lines to the letter, and that they work as they stand."""

from collections.abc import Sequence
from pathlib import Path

from tests.document import commands
from tests.document.shop import CURRENCY, TYPED, Shop, ask, work
from tests.support.agent import Answer, answered, git, run


async def test_without_an_intent_the_lines_name_a_place_for_its_id(shop: Shop, tmp_path: Path) -> None:
    url, project_id = shop.owner.url, shop.project["id"]
    told = await ask(shop.ana, "gitring_clone", projectId=shop.slug)
    data, where = told.data, "<your intent id>"
    assert told.lines[0] == f"Remote: {commands.remote(url, project_id)}"
    assert told.lines[1].startswith("Token (send it as a header, never in the URL; expires ")
    assert told.lines[1].endswith(f"): {data['token']}") and data["token"].startswith("gitring_git_")
    assert told.lines[2] == f"Clone: {commands.clone(url, project_id)}"
    assert told.lines[3] == f"Push: {commands.push(url, project_id, where)}"
    assert told.lines[4] == f"Push from PowerShell: {commands.powershell_push(url, project_id, where)}"
    assert (data["remote"], data["clone"], data["push"], data["pushPowerShell"]) == (
        commands.remote(url, project_id),
        commands.clone(url, project_id),
        commands.push(url, project_id, where),
        commands.powershell_push(url, project_id, where),
    )
    for word in ("export GITRING_GIT_TOKEN=", "no remote to add", "could not read a username"):
        assert word in told.text
    assert data["sparse"] is None
    cloned = await run("sh", "-c", data["clone"], at=tmp_path, GITRING_GIT_TOKEN=data["token"])
    assert cloned.code == 0, cloned.err
    assert (
        await git(tmp_path / f"{project_id}.git".removesuffix(".git"), "rev-parse", "HEAD")
        == (shop.project["head"])
    )


async def test_the_printed_push_line_works_and_the_token_is_on_no_command_line(shop: Shop) -> None:
    told = await ask(shop.ana, "gitring_declare", **CURRENCY)
    clone = await ask(shop.ana, "gitring_clone", intentId=told.id)
    assert clone.data["push"] == told.data["push"]["command"]
    assert clone.data["token"] not in clone.data["push"]
    work = await shop.work(shop.ana, told)
    head = await work.commit(TYPED)
    unset = await run("sh", "-c", clone.data["push"], at=work.at)
    assert unset.code != 0
    assert (
        "GITRING_GIT_TOKEN is not set: export the token gitring_clone returned, on its own line, then run this line"
        in unset.err
    )
    pushed = await run("sh", "-c", clone.data["push"], at=work.at, GITRING_GIT_TOKEN=clone.data["token"])
    assert pushed.code == 0, pushed.err
    assert (await ask(shop.ana, "gitring_status", intentId=told.id)).data["intent"]["head"] == head


async def _steps(at: Path, steps: Sequence[Sequence[str]], clone: Answer) -> None:
    """Run each step with the token in git's environment, as the last line of the answer says."""
    prefix = clone["clone"].split(" git ")[0]
    for step in steps:
        ran = await run("sh", "-c", f'{prefix} "$@"', "sh", *step, at=at, GITRING_GIT_TOKEN=clone["token"])
        assert ran.code == 0, (step, ran)


async def test_the_narrow_clone_holds_the_folders_of_the_scope_at_the_base_then_at_the_latest_push(
    shop: Shop, tmp_path: Path
) -> None:
    url, project_id = shop.owner.url, shop.project["id"]
    told = await ask(
        shop.ana, "gitring_declare", **work("Price", "src/format/price.ts", use=("src/cart/cart.ts",))
    )
    first = await ask(shop.ana, "gitring_clone", projectId=project_id, intentId=told.id)
    assert first.data["sparse"]["commit"] == told.data["intent"]["base"]
    # Once the line is indexed, the files one import away widen it to src/: src/money.ts lies there.
    assert first.data["sparse"]["folders"] in (["src"], ["src/cart", "src/format"])
    head = await shop.pushed(shop.ana, told, {"src/format/price.ts": "export const price = 1;\n"})
    clone = await ask(shop.ana, "gitring_clone", projectId=project_id, intentId=told.id)
    sparse = clone.data["sparse"]
    at, folders = f"intent-{told.data['intent']['number']}", sparse["folders"]
    where, ref = commands.remote(url, project_id), f"refs/intents/{told.id}"
    assert sparse["args"] == [
        ["git", "clone", "--filter=blob:none", "--no-checkout", "--sparse", "--", where, at],
        ["git", "-C", at, "sparse-checkout", "set", "--cone", "--", *folders],
        ["git", "-C", at, "fetch", "origin", f"+{ref}:{ref}"],
        ["git", "-C", at, "checkout", "--detach", head],
    ]
    begins = clone.lines.index(clone.line("Narrow clone "))
    assert f"at {head[:7]}: " in clone.lines[begins] and "the files at the root." in clone.lines[begins]
    assert clone.lines[begins + 1 : begins + 5] == sparse["commands"] == [" ".join(s) for s in sparse["args"]]
    assert clone.lines[begins + 5] == (
        "Run each step with the git token in git's environment, never on its command line: "
        f"{commands.environment(url)} …"
    )
    assert not any(clone.data["token"] in word for step in sparse["args"] for word in step)
    await _steps(tmp_path, sparse["args"], clone.data)
    assert await git(tmp_path / at, "rev-parse", "HEAD") == head
    assert (tmp_path / at / "src/cart/cart.ts").exists() and (tmp_path / at / "README.md").exists()
    assert not (tmp_path / at / "docs").exists()


async def test_an_agent_with_the_credential_helper_gets_no_token_unless_it_asks(shop: Shop) -> None:
    url, project_id = shop.owner.url, shop.project["id"]
    body = {"name": "connected", "projects": [project_id], "credentialHelper": True}
    made = answered(await shop.owner.http.post("/api/v1/tokens", json=body))
    agent = await shop.owner.agent_with(shop.project, made["token"])
    async with agent.over_mcp():
        told = await ask(agent, "gitring_declare", **CURRENCY)
        line = commands.helper_push(url, project_id, told.id)
        assert told.data["push"]["command"] == line and "GITRING_GIT_TOKEN" not in told.text
        clone = await ask(agent, "gitring_clone", intentId=told.id)
        assert (clone.data["token"], clone.data["push"]) == (None, line)
        asked = await ask(agent, "gitring_clone", intentId=told.id, withToken=True)
        assert asked.data["token"].startswith("gitring_git_")
        assert asked.data["push"] == commands.push(url, project_id, told.id)
