"""The pages' own files: one style sheet, four scripts, one picture. Read once; their address holds their digest."""

import hashlib
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

FOLDER = Path(__file__).parent / "static"
_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
}
_NAMES = ("app.css", "htmx.min.js", "htmx.LICENSE.txt", "live.js", "lines.js", "sign-in.js", "icon.svg")


class Static:
    """The files, by name."""

    def __init__(self) -> None:
        self._files = {name: (FOLDER / name).read_bytes() for name in _NAMES}
        self._digests = {name: hashlib.sha256(body).hexdigest()[:12] for name, body in self._files.items()}

    def address(self, name: str) -> str:
        """Where a file is; the address changes with its content, so that browsers may keep it."""
        return f"/static/{name}?v={self._digests[name]}"

    async def serve(self, request: Request) -> Response:
        """`GET /static/{name}`."""
        name = request.path_params["name"]
        body = self._files.get(name)
        if body is None:
            return Response("There is no such file.\n", 404, media_type="text/plain")
        fresh = request.query_params.get("v") == self._digests[name]
        keep = "public, max-age=31536000, immutable" if fresh else "no-cache"
        return Response(body, headers={"Content-Type": _TYPES[Path(name).suffix], "Cache-Control": keep})
