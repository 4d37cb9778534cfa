"""A person with a browser that runs no scripts: follows links, fills forms, keeps cookies."""

import re
from html import unescape
from types import TracebackType
from typing import Self

import httpx2

_KEY = re.compile(r'name="key" value="([0-9a-f]{64})"')
_TAG = re.compile(r"<[^>]+>")


class Visitor:
    """One browser. `key` is that of the forms of the page seen last."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.http = httpx2.AsyncClient(base_url=url, timeout=30, trust_env=False)
        self.key = ""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.http.aclose()

    async def get(self, path: str, **headers: str) -> httpx2.Response:
        """A page."""
        return self._seen(await self.http.get(path, headers=headers))

    async def post(self, path: str, /, *, origin: str | None = None, **fields: str) -> httpx2.Response:
        """A form of the page seen last, as a browser sends it."""
        return self._seen(
            await self.http.post(
                path, data={"key": self.key, **fields}, headers={"Origin": origin or self.url}
            )
        )

    async def sign_in(self, secret: str, **fields: str) -> httpx2.Response:
        """Open the page of a sign-in link and press its button."""
        await self.get("/sign-in")
        response = await self.post("/sign-in", method="link", link=secret, **fields)
        if response.status_code == 303:
            await self.get("/account")
        return response

    def _seen(self, response: httpx2.Response) -> httpx2.Response:
        found = _KEY.search(response.text) if "html" in response.headers.get("content-type", "") else None
        self.key = found[1] if found else self.key
        return response


def words(response: httpx2.Response) -> str:
    """What a person reads on a page: no tags, one blank between words."""
    return " ".join(unescape(_TAG.sub(" ", response.text)).split())
