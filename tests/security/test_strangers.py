"""Ids of another project at every door: answered as if there were no such thing, and nothing of it is changed."""

import json
from collections.abc import Mapping
from itertools import product
from typing import Any

import pytest

from protocol.tools import TOOLS
from tests.security.house import House
from tests.security.routes import (
    ABSENT,
    IN_PATH,
    KINDS,
    READS,
    Call,
    api_routes,
    page_routes,
    rest_calls,
    tool_arguments,
)
from tests.web.visitor import Visitor

# Words that only the other project's people may read.
SECRETS = ("secret-output", "nightly", "Boleslav")


def ids_of(house: House, kind: str) -> list[str]:
    """The other project's ids of one kind; never none, since a test of nothing would pass."""
    found = house.theirs.ids[kind]
    assert found, f"the house has no {kind} to attack"
    return found[:2]


def kinds_of(name: str) -> tuple[str, ...]:
    assert name in KINDS, f"say in KINDS what ids {name} takes"
    return KINDS[name]


def attacks(house: House, names: list[str]) -> list[tuple[dict[str, str], dict[str, str]]]:
    """For the ids in an address: the other project's, and beside them such as do not exist."""
    choices = [[(kind, value) for kind in kinds_of(n) for value in ids_of(house, kind)] for n in names]
    return [
        (
            dict(zip(names, (value for _, value in picked), strict=True)),
            dict(zip(names, (ABSENT[kind] for kind, _ in picked), strict=True)),
        )
        for picked in product(*choices)
    ]


def with_ids(body: Any, house: House, absent: bool) -> Any:
    """A body whose ids are the other project's, or none's."""
    if not isinstance(body, Mapping):
        return body
    changed: dict[str, Any] = {}
    for name, value in body.items():
        if name in KINDS and value is not None:
            kind = KINDS[name][0]
            one = ABSENT[kind] if absent else ids_of(house, kind)[0]
            changed[name] = [one] if isinstance(value, list) else one
        else:
            changed[name] = value
    return {name: value for name, value in changed.items() if name != "requestId"}


def plain(text: str, ids: Mapping[str, str]) -> str:
    """An answer without the ids that the caller itself named."""
    for value in sorted((value for name, value in ids.items() if name != "number"), key=len, reverse=True):
        text = text.replace(value, "<id>")
    return text


def same_as_absent(status: int, text: str, there: str, absent: str, what: str) -> None:
    """Refused in words that tell nothing, alike for what is there and for what is not."""
    assert status in (400, 403, 404), f"{what}: {status} {text[:300]}"
    assert not [secret for secret in SECRETS if secret in text], f"{what}: {text[:300]}"
    assert there == absent, f"{what} tells that it is there"


def test_every_route_of_the_api_is_in_its_description(house: House) -> None:
    described = {call.name for call in rest_calls(house.pages.app)}
    assert api_routes(house.pages.app) == described
    assert len(described) > 40


def with_an_id(house: House) -> list[Call]:
    return [call for call in rest_calls(house.pages.app) if call.parameters]


@pytest.mark.parametrize("who", ["agent", "person"])
async def test_no_route_tells_or_changes_anything_of_another_project(house: House, who: str) -> None:
    before = await house.prints(house.theirs)
    token = house.ours.agent_token if who == "agent" else house.ours.owner_token
    tried = 0
    async with house.http(token) as http:
        for call in with_an_id(house):
            for there, absent in attacks(house, call.parameters):
                answers = []
                for ids, missing in ((there, False), (absent, True)):
                    sent = with_ids(call.body, house, missing)
                    answer = await http.request(call.method, call.address(ids), json=sent, params=call.query)
                    named = {**ids, "body": json.dumps(sent)}
                    answers.append((answer.status_code, plain(answer.text.strip(), named)))
                (status, text), other = answers
                if "/wait" in call.path or "/stream" in call.path:
                    # Their failure may come after the response was opened.
                    assert '"error"' in text, call.name
                    status = max(status, 400)
                same_as_absent(status, text, text, other[1], f"{call.name} {there}")
                tried += 1
    assert tried > 60
    assert await house.prints(house.theirs) == before


@pytest.mark.parametrize("who", ["agent", "person"])
async def test_no_body_names_what_is_another_projects(house: House, who: str) -> None:
    """Our own address, their ids in the body or in the query."""
    before = await house.prints(house.theirs)
    token = house.ours.agent_token if who == "agent" else house.ours.owner_token
    tried = []
    async with house.http(token) as http:
        for call in rest_calls(house.pages.app):
            names = [n for n in (call.body or {}) if n in KINDS and n not in ("target", "projects")]
            queried = [n for n in call.query if n in KINDS]
            if "projectId" in (call.body or {}) or "projects" in (call.body or {}):
                names.append("project")
            if not names and not queried:
                continue
            ours = {name: house.ours.one(*kinds_of(name)) for name in call.parameters}
            body = with_ids(call.body, house, absent=False)
            query = {**call.query, **{n: ids_of(house, KINDS[n][0]) for n in queried}}
            answer = await http.request(call.method, call.address(ours), json=body, params=query)
            assert '"error"' in answer.text, f"{call.name}: {answer.status_code} {answer.text[:300]}"
            assert not [s for s in SECRETS if s in answer.text], f"{call.name}: {answer.text[:300]}"
            tried.append(call.name)
    assert len(tried) >= 6, tried
    assert await house.prints(house.theirs) == before


async def test_no_intent_is_declared_onto_another_projects_ids(house: House) -> None:
    call = next(call for call in rest_calls(house.pages.app) if call.name == "POST /api/v1/intents")
    theirs = house.theirs.ids
    async with house.http(house.ours.agent_token) as http:
        for name, value in (("dependsOn", theirs["intent"][:1]), ("askId", theirs["ask"][0])):
            answers = []
            for given in (value, [ABSENT["intent"]] if isinstance(value, list) else ABSENT["ask"]):
                body = {k: v for k, v in call.body.items() if k != "requestId"}
                sent = {**body, "projectId": house.ours.project.slug, name: given}
                answer = await http.post(call.path, json=sent)
                one = given[0] if isinstance(given, list) else given
                answers.append((answer.status_code, answer.text.replace(one, "<id>")))
            assert answers[0] == answers[1] and answers[0][0] in (400, 404), answers


async def test_no_tool_tells_or_changes_anything_of_another_project(house: House) -> None:
    before = await house.prints(house.theirs)
    tried = 0
    async with house.http(house.ours.agent_token) as http:
        for tool in TOOLS:
            names = [n for n in tool.input.model_json_schema(by_alias=True)["properties"] if n in KINDS]
            for name in names:
                if name == "target":
                    continue
                told = []
                for absent in (False, True):
                    given = tool_arguments(tool.name)
                    given.pop("requestId", None)
                    kind = KINDS[name][0]
                    one = ABSENT[kind] if absent else ids_of(house, kind)[0]
                    if name != "projectId" and "projectId" in given:
                        given["projectId"] = house.ours.project.slug
                    if name == "changeRequestId":
                        given["intentId"] = house.ours.one("intent")
                    if name == "intentIds":
                        given.pop("intentId", None)
                    given[name] = [one] if name in ("intentIds", "dependsOn") else one
                    if tool.name == "gitring_update_plan" and name == "dependsOn":
                        given["intentId"] = house.ours.one("intent")
                    call = {"name": tool.name, "arguments": given}
                    answer = await http.post(
                        "/mcp",
                        json={"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call},
                        headers={"Accept": "application/json, text/event-stream"},
                    )
                    result = answer.json()["result"]
                    assert result.get("isError"), f"{tool.name} {name}: {answer.text[:400]}"
                    told.append(answer.text.strip().replace(one, "<id>"))
                assert told[0] == told[1], f"{tool.name} {name}"
                assert not [s for s in SECRETS if s in told[0]], told[0]
                tried += 1
    assert tried > 15
    assert await house.prints(house.theirs) == before


async def test_no_page_shows_or_changes_anything_of_another_project(house: House) -> None:
    before = await house.prints(house.theirs)
    tried = 0
    async with Visitor(house.pages.url) as visitor:
        await visitor.sign_in(await house.pages.link(house.ours.owner.person_id))
        for method, path in page_routes(house.pages.app):
            if "{slug}" not in path:
                continue
            for there, absent in attacks(house, IN_PATH.findall(path)):
                told = []
                for ids in (there, absent):
                    address = IN_PATH.sub(lambda found, ids=ids: ids[found[1]], path)  # type: ignore[misc]
                    fields = {"id": house.theirs.ids["token"][0], "person": house.theirs.owner.person_id}
                    answer = (
                        await visitor.get(address)
                        if method in READS
                        else await visitor.post(address, line="release/1", **fields)
                    )
                    told.append((answer.status_code, plain(answer.text, ids)))
                # A form's address asked for by GET may lead to the page it belongs to, whatever is there.
                leads_back = method in READS and ("POST", path) in page_routes(house.pages.app)
                assert told[0][0] == 404 or (leads_back and told[0][0] == 303), (method, path, told[0])
                assert told[0] == told[1], f"{method} {path}"
                assert not [s for s in SECRETS if s in told[0][1]], path
                tried += 1
    assert tried > 30
    assert await house.prints(house.theirs) == before


async def test_what_a_form_names_by_id_is_looked_up_in_its_own_project(house: House) -> None:
    """Each form of our own project, with their ids in every field that a form has."""
    before = await house.prints(house.theirs)
    theirs = house.theirs.ids
    fields = {
        "person": theirs["person"][0], "conflict": theirs["conflict"][0], "ask": theirs["ask"][0], "first": "1",
        "line": "release/1", "intent": theirs["intent"][0], "check": theirs["check_run"][0],
    }  # fmt: skip
    tried = 0
    async with Visitor(house.pages.url) as visitor:
        for method, path in page_routes(house.pages.app):
            if method in READS or path in ("/sign-in", "/sign-out", "/projects", "/account/link"):
                continue
            await visitor.sign_in(await house.pages.link(house.ours.owner.person_id))
            for one in (theirs["token"][0], theirs["session"][0], theirs["ask"][0], theirs["person"][0]):
                address = IN_PATH.sub(lambda found: house.ours.one(*KINDS[found[1]]), path)
                answer = await visitor.post(address, id=one, **fields)
                assert answer.status_code != 500 and "did not come from" not in answer.text, path
                assert not [s for s in SECRETS if s in answer.text], path
                tried += 1
    assert tried > 40
    assert await house.prints(house.theirs) == before


async def test_a_git_token_opens_its_own_project_alone(house: House) -> None:
    async with house.http(house.ours.git_token) as http:
        query = "info/refs?service=git-upload-pack"
        assert (await http.get(f"/git/{house.ours.project.slug}.git/{query}")).status_code == 200
        told = []
        for ref in (house.theirs.project.slug, house.theirs.project.id, "nowhere", ABSENT["project"]):
            for service in ("git-upload-pack", "git-receive-pack"):
                answer = await http.get(f"/git/{ref}.git/info/refs?service={service}")
                told.append((answer.status_code, answer.text.replace(ref, "<id>")))
        assert len(set(told)) == 1 and told[0][0] == 403, told
    for other in (house.ours.agent_token, house.ours.owner_token):
        async with house.http(other) as http:
            assert (await http.get(f"/git/{house.ours.project.slug}.git/{query}")).status_code == 403
