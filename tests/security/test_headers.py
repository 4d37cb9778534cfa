"""What a browser may do with our answers, and that nothing a caller says becomes a header or leads elsewhere."""

import re

import httpx2
import pytest

from gateway.rest.checks import download
from gateway.web.site import own_path
from tests.security.house import House, address, signed_in
from tests.security.markup import check_markup
from tests.security.routes import READS, is_stream, page_routes, rest_calls
from tests.web.visitor import Visitor


def directives(policy: str) -> dict[str, list[str]]:
    return {name: values for name, *values in (part.split() for part in policy.split(";") if part.strip())}


def check_headers(answer: httpx2.Response, what: str) -> None:
    """Framed by nobody, guessed at by nobody, kept by nobody."""
    headers = answer.headers
    policy = directives(headers["content-security-policy"])
    assert policy["default-src"] == ["'none'"] and policy["frame-ancestors"] == ["'none'"], what
    assert not re.search(r"unsafe|\*|http:|https:|data:|blob:", headers["content-security-policy"]), what
    assert headers["x-frame-options"] == "DENY" and headers["x-content-type-options"] == "nosniff", what
    assert headers["referrer-policy"] in ("no-referrer", "same-origin"), what
    if not what.startswith("/static/"):
        assert headers["cache-control"].startswith("no-store"), what
    if "html" in headers.get("content-type", ""):
        assert policy["script-src"] == ["'self'"] and policy["form-action"] == ["'self'"], what
        assert policy["base-uri"] == ["'none'"] and headers["cross-origin-opener-policy"] == "same-origin", (
            what
        )
        check_markup(answer.text, what)


async def test_every_answer_tells_browsers_to_neither_frame_guess_nor_keep_it(house: House) -> None:
    async with Visitor(house.pages.url) as visitor:
        await signed_in(house, visitor)
        for method, path in page_routes(house.pages.app):
            if is_stream(path):
                continue
            given = address(house, path)
            answer = await (visitor.get(given) if method in READS else visitor.http.post(given))
            check_headers(answer, path)
        for path in (
            "/nowhere",
            "/p/nowhere",
            "/p/x/y/z",
            "/static/../app.py",
            "/static/none",
            "/openapi.json",
        ):
            check_headers(await visitor.get(path), path)
        check_headers(await visitor.http.put("/projects"), "405")
        check_headers(await visitor.http.post("/projects", content=b"x" * (1024 * 1024 + 1)), "413")
    async with house.http(house.ours.owner_token) as http:
        for call in rest_calls(house.pages.app):
            if call.method in READS and "/stream" not in call.path:
                ids = dict.fromkeys(call.parameters, "nowhere")
                check_headers(await http.get(call.address(ids), params=call.query), call.name)


async def test_streams_carry_the_same_headers(house: House) -> None:
    async with Visitor(house.pages.url) as visitor:
        await signed_in(house, visitor)
        streams = [path for _, path in page_routes(house.pages.app) if is_stream(path)]
        assert len(streams) >= 2
        for path in streams:
            async with visitor.http.stream("GET", address(house, path)) as answer:
                assert answer.status_code == 200
                check_headers(answer, path)


ELSEWHERE = [
    "//evil.example", "///evil.example", "/\\evil.example", "\\\\evil.example", "/\t/evil.example", "/\n/evil.example",
    "https:evil.example", "https://evil.example", "http:/evil.example", "javascript:alert(1)", "evil.example",
    " //evil.example", "/\u2028/evil.example", "//evil.example/%2e%2e", "", "x" * 5000,
]  # fmt: skip


@pytest.mark.parametrize("wanted", ELSEWHERE, ids=lambda text: repr(text[:30]))
async def test_the_page_of_a_sign_in_leads_nowhere_else(house: House, wanted: str) -> None:
    assert own_path(wanted) == "/"
    async with Visitor(house.pages.url) as visitor:
        page = await visitor.http.get("/sign-in", params={"next": wanted, "return": wanted})
        assert 'name="next" value="/"' in page.text and "evil" not in page.text


async def test_nothing_in_an_address_becomes_a_header(house: House) -> None:
    evil = "%0d%0aX-Evil:%201%0d%0a%0d%0a<b>"
    async with Visitor(house.pages.url) as visitor:
        asked = [await visitor.get(f"/p/{evil}/i/1"), await visitor.get(f"/?{evil}")]
        asked.append(await visitor.get(f"/sign-in?next=/{evil}"))
        await signed_in(house, visitor)
        below = ("settings/rules", "i/1/decide", "pause", "checks/x", "live", f"i/{evil}/decide")
        asked.extend([await visitor.get(f"/p/{evil}/{path}") for path in below])
        asked.append(await visitor.get(f"/static/{evil}"))
    async with house.http(house.ours.owner_token) as http:
        asked.append(await http.get(f"/api/v1/projects/{evil}/board"))
        asked.append(await http.get(f"/api/v1/checks/{evil}/log"))
        asked.append(await http.get(f"/git/{evil}.git/info/refs?service=git-upload-pack"))
    for answer in asked:
        assert answer.status_code < 500 and "x-evil" not in answer.headers, answer.url
        assert not [v for v in answer.headers.values() if "\r" in v or "\n" in v]
        assert "location" not in answer.headers or answer.headers["location"].startswith("/"), answer.url


@pytest.mark.parametrize(
    "name",
    [
        'x"; filename="evil.html', "a\r\nX-Evil: 1", "../../etc/passwd", "..\\..\\boot.ini", "\u202egpj.exe", ".htaccess", "",
        "C:evil", "x" * 5000, "a/\x00b", "caf\u00e9.txt", "a;b=c", "\udcff\udcfe",
    ],
)  # fmt: skip
def test_a_files_name_is_one_word_of_its_download(name: str) -> None:
    """Runs name the files that they hand over."""
    answer = download(name, b"<script>alert(1)</script>")
    said = answer.headers["content-disposition"]
    assert re.fullmatch(
        r"""attachment; filename="[A-Za-z0-9_-][A-Za-z0-9._-]{0,149}"; filename\*=UTF-8''[A-Za-z0-9._~%-]*""",
        said,
    )
    assert answer.headers["content-type"] == "application/octet-stream"
    assert "sandbox" in answer.headers["content-security-policy"]
