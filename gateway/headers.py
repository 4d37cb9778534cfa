"""Headers every answer carries unless it says otherwise, so that a browser never guesses, frames or keeps it."""

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gateway.limits import is_git

_DEFAULTS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Cache-Control": "no-store",
}


class SecurityHeaders:
    """ASGI layer; Git's own headers are left alone."""

    def __init__(self, app: ASGIApp, https: bool) -> None:
        self._app = app
        self._defaults = dict(_DEFAULTS)
        if https:
            self._defaults["Strict-Transport-Security"] = "max-age=31536000"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or is_git(scope):
            await self._app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message.setdefault("headers", [])
                headers = MutableHeaders(scope=message)
                for name, value in self._defaults.items():
                    headers.setdefault(name, value)
            await send(message)

        await self._app(scope, receive, with_headers)
