"""Input that nobody means: too large, too deep, of the wrong kind, not text at all. A clear 4xx, never a failure of ours."""

import json
import random
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import httpx2
import pytest

from protocol.tools import TOOLS
from tests.security.house import House
from tests.security.routes import (
    IN_PATH,
    KINDS,
    READS,
    Call,
    is_stream,
    page_routes,
    rest_calls,
    tool_arguments,
)
from tests.web.visitor import Visitor

_SEED = 20261130
_TRIES = 10
DEEP: Any = "x"
for _ in range(150):
    DEEP = [DEEP]
VALUES: list[Any] = [
    None, "", " ", "\x00", "a\x00b", "\ud800", "a\udfffb", "\u202egnp.exe", 10**30, -1, -(10**30), 2**31, 2**63, 1.5,
    True, [], {}, ["\x00"], {"\x00": "\x00"}, {"a": ["\x00"]}, ["\ud800"], {"\ud800": ["x"]}, "x" * 200_000,
    ["x"] * 20_000, DEEP, "../../etc/passwd", "${jndi:x}", "'; DROP TABLE person; --", "%00", "\r\nX-Evil: 1",
]  # fmt: skip
# The ones that a record, a number or a text most easily breaks on: tried in every field.
SHARPEST = ["a\x00b", "\ud800", 10**30, {"a": ["\x00"]}, DEEP, ["x"] * 20_000]
WORDS = [
    "a%00b", "%ed%a0%80%ff", "9" * 40, "-1", "..%2f..%5c%0d%0aX-Evil:%201", "x" * 5000 + quote("\u202e🦊"),
]  # fmt: skip
PAGE_WORDS = 3  # a page is dear: the sharpest words alone
BODIES = [
    b"", b"{", b"null", b"[]", b'"x"', b"1e999", b"NaN", b'{"a": NaN}', b"\xff\xfe{}", b"[" * 100_000,
    b'{"a":' * 50_000, b'{"slug": "\\ud800"}', b'{"\\u0000": 1}', b'{"text": "\\u0000"}', b"9" * 5000,
    b'{"title": ' + b"9" * 5000 + b"}",
]  # fmt: skip


def clear(answer: httpx2.Response, what: str) -> None:
    """Either taken, or refused in the one shape with a next step; a failure of ours never."""
    assert answer.status_code < 500, f"{what}: {answer.status_code} {answer.text[:300]}"
    if answer.status_code >= 400 and "json" in answer.headers.get("content-type", ""):
        error = answer.json()["error"]
        assert error["message"] and error["next"] and error["code"] != "internal_error", what
    assert '"internal_error"' not in answer.text, what


def spoilt(body: Any, chance: random.Random) -> Iterator[Any]:
    """Copies of a body, each with one value that is not meant."""
    places = list(_places(body))
    for _ in range(_TRIES):
        place = chance.choice(places) if places else []
        yield _with(body, place, chance.choice(VALUES))


def _places(body: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    entries = body.items() if isinstance(body, dict) else enumerate(body) if isinstance(body, list) else ()
    for key, value in entries:
        yield (*above, key)
        yield from _places(value, (*above, key))


def _with(body: Any, place: Any, value: Any) -> Any:
    if not place:
        return value
    first, *rest = place
    changed = dict(body) if isinstance(body, dict) else list(body)
    changed[first] = _with(body[first], rest, value)
    return changed


def schema_fields(house: House, call: Call) -> dict[str, Any]:
    """Every field that the call's body may hold, also those its example leaves out."""
    described = house.pages.app.openapi()
    operation = described["paths"][call.path][call.method.lower()]
    schema = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
    if "$ref" in schema:
        schema = described["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    return dict.fromkeys(schema.get("properties", {}))


def ours(house: House, call: Call) -> dict[str, str]:
    return {name: house.ours.one(*KINDS[name]) for name in call.parameters}


def sent(value: Any) -> bytes:
    return json.dumps(value).encode()


QUERIES = (
    "before",
    "cursor",
    "has",
    "done",
    "next",
    "after",
    "v",
    "offset",
    "line",
    "state",
    "file",
    "page",
    "q",
)
JSON = {"Content-Type": "application/json"}


async def test_no_value_in_a_body_breaks_a_route(house: House) -> None:
    chance = random.Random(_SEED)
    async with house.http(house.ours.owner_token) as http:
        for call in rest_calls(house.pages.app):
            if call.body is None or call.method == "DELETE":
                continue
            base = {n: v for n, v in call.body.items() if n != "requestId"}
            if "projectId" in base:
                base["projectId"] = house.ours.project.slug
            fields = schema_fields(house, call) | base
            for body in spoilt(fields, chance):
                given = (
                    {n: v for n, v in body.items() if v is not None or n in base}
                    if isinstance(body, dict)
                    else body
                )
                answer = await http.request(
                    call.method, call.address(ours(house, call)), content=sent(given), headers=JSON
                )
                clear(answer, f"{call.name} {str(given)[:300]}")


async def test_the_sharpest_values_are_borne_by_each_field_of_the_largest_inputs(house: House) -> None:
    named = {
        "POST /api/v1/intents",
        "POST /api/v1/projects/{project_id}/asks",
        "PATCH /api/v1/projects/{project_id}",
    }
    async with house.http(house.ours.owner_token) as http:
        for call in rest_calls(house.pages.app):
            if call.name not in named:
                continue
            base = (
                {**call.body, "projectId": house.ours.project.slug}
                if "title" in call.body
                else dict(call.body)
            )
            base.pop("requestId", None)
            for field in schema_fields(house, call):
                for value in SHARPEST:
                    answer = await http.request(
                        call.method,
                        call.address(ours(house, call)),
                        content=sent({**base, field: value}),
                        headers=JSON,
                    )
                    clear(answer, f"{call.name} {field}={str(value)[:60]!r}")


async def test_no_body_that_is_no_input_breaks_a_route(house: House) -> None:
    async with house.http(house.ours.owner_token) as http:
        for call in rest_calls(house.pages.app):
            if call.body is None:
                continue
            for body in BODIES:
                answer = await http.request(
                    call.method, call.address(ours(house, call)), content=body, headers=JSON
                )
                clear(answer, f"{call.name} {body[:40]!r}")


async def test_no_word_in_an_address_or_a_query_breaks_a_route(house: House) -> None:
    described = house.pages.app.openapi()["paths"]
    async with house.http(house.ours.owner_token) as http:
        for call in rest_calls(house.pages.app):
            parameters = described[call.path][call.method.lower()].get("parameters", [])
            queries = [p["name"] for p in parameters if p["in"] == "query"]
            for word in WORDS:
                for name in call.parameters:
                    address = call.address({**ours(house, call), name: word})
                    answer = await http.request(call.method, address, json=call.body, params=call.query)
                    clear(answer, f"{call.method} {address[:200]}")
                for name in queries:
                    if name in ("seconds", "wait") and word.isdigit():
                        continue  # a wait that long is held, as it should be
                    others = "&".join(
                        f"{n}={v}" for n, v in call.query.items() if n != name and n != "intentIds"
                    )
                    address = f"{call.address(ours(house, call))}?{others}&{name}={word}"
                    if "/stream" in call.path and word.isdigit():
                        continue
                    clear(
                        await http.request(call.method, address, json=call.body),
                        f"{call.method} {address[:200]}",
                    )


async def test_no_word_breaks_a_page_or_a_form(house: House) -> None:
    numbers = {"first", "plan_version", "start_line", "end_line", "timeout_sec", "max_places"}
    texts = {
        "note",
        "reason",
        "text",
        "path",
        "conflict",
        "name",
        "id",
        "person",
        "slug",
        "source",
        "test",
        "people_only",
    }
    async with Visitor(house.pages.url) as visitor:
        await visitor.sign_in(await house.pages.link(house.ours.owner.person_id))
        known = {
            name: house.ours.one(*KINDS[name])
            for _, path in page_routes(house.pages.app)
            for name in IN_PATH.findall(path)
            if name in KINDS
        }
        ids = {"name": "x", "rest": "x"} | known
        for method, path in page_routes(house.pages.app):
            if path == "/sign-out" or is_stream(path):
                continue
            for word in WORDS[:PAGE_WORDS]:
                for name in IN_PATH.findall(path):
                    address = IN_PATH.sub(lambda f, n=name, w=word: w if f[1] == n else ids[f[1]], path)  # type: ignore[misc]
                    answer = await (visitor.get(address) if method in READS else visitor.post(address))
                    clear(answer, f"{method} {address[:200]}")
            address = IN_PATH.sub(lambda found: ids[found[1]], path)
            if method in READS:
                for word in WORDS[:PAGE_WORDS]:
                    query = "&".join(f"{name}={word}" for name in QUERIES)
                    clear(await visitor.get(f"{address}?{query}"), f"{address}?{query[:60]}")
                continue
            for number, text in (("999999999999999", "%00"), ("0", "%ed%a0%80"), ("1", "x" * 40_000)):
                fixed = f"key={visitor.key}&decision=approve&subject=plan&plan_review=high&role=viewer&line={text}"
                form = "&".join([fixed, *(f"{n}={number}" for n in numbers), *(f"{n}={text}" for n in texts)])
                headers = {"Origin": visitor.url, "Content-Type": "application/x-www-form-urlencoded"}
                answer = await visitor.http.post(address, content=form, headers=headers)
                clear(answer, f"{method} {address} {number} {text[:20]}")


async def test_no_argument_breaks_a_tool(house: House) -> None:
    chance = random.Random(_SEED)
    headers = {"Accept": "application/json, text/event-stream", **JSON}
    async with house.http(house.ours.agent_token) as http:
        for tool in TOOLS:
            given = {n: v for n, v in tool_arguments(tool.name).items() if n != "requestId"}
            known = dict.fromkeys(tool.input.model_json_schema(by_alias=True)["properties"])
            if "intentId" in known and tool.name != "gitring_wait":
                given["intentId"] = house.ours.ids["intent"][-1]
            for body in spoilt(known | given, chance):
                arguments = (
                    {n: v for n, v in body.items() if v is not None or n in given}
                    if isinstance(body, dict)
                    else body
                )
                for name in ("seconds", "wait"):
                    if isinstance(arguments, dict) and name in arguments and arguments[name] is True:
                        arguments[name] = 0
                call = {
                    "jsonrpc": "2.0",
                    "id": 1,
                    "method": "tools/call",
                    "params": {"name": tool.name, "arguments": arguments},
                }
                answer = await http.post("/mcp", content=sent(call), headers=headers)
                assert answer.status_code < 500, f"{tool.name} {str(arguments)[:300]}: {answer.text[:300]}"
                assert "internal_error" not in answer.text, (
                    f"{tool.name} {str(arguments)[:300]}: {answer.text[:300]}"
                )
                assert '"code":-32603' not in answer.text, (
                    f"{tool.name} {str(arguments)[:300]}: {answer.text[:300]}"
                )
        for body in BODIES:
            answer = await http.post("/mcp", content=body, headers=headers)
            assert answer.status_code < 500, (body[:40], answer.text[:300])


@pytest.mark.parametrize(
    "headers",
    [
        {f"X-{n}": "y" * 100 for n in range(300)},
        {"X-Long": "y" * 200_000},
        {"Cookie": "a=" + "b" * 100_000},
        {"Authorization": "Bearer gitring_agent_" + "a" * 100_000},
        {"Last-Event-Id": "9" * 100},
    ],
    ids=lambda headers: f"{len(headers)}-{next(iter(headers))}",
)
async def test_headers_without_measure_break_nothing(house: House, headers: dict[str, str]) -> None:
    async with httpx2.AsyncClient(base_url=house.pages.url, timeout=30, trust_env=False) as http:
        for path in ("/", "/api/v1/projects", "/git/x.git/info/refs?service=git-upload-pack"):
            try:
                answer = await http.get(path, headers=headers)
            except (httpx2.RemoteProtocolError, httpx2.ReadError, httpx2.WriteError):
                continue  # the server hung up
            assert answer.status_code < 500, path
        assert (await http.get("/healthz")).status_code == 200


async def test_a_body_over_the_limit_is_refused_at_every_route(house: House) -> None:
    large = b'{"text": "' + b"x" * (1024 * 1024) + b'"}'
    async with house.http(house.ours.owner_token) as http:
        for call in rest_calls(house.pages.app):
            if call.method in READS:
                continue
            answer = await http.request(
                call.method, call.address(ours(house, call)), content=large, headers=JSON
            )
            assert (answer.status_code, answer.json()["error"]["code"]) == (413, "too_large"), call.name
    async with Visitor(house.pages.url) as visitor:
        for method, path in page_routes(house.pages.app):
            if method not in READS:
                assert (await visitor.http.request(method, path, content=large)).status_code == 413, path
