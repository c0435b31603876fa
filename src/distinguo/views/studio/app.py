"""The pages of the studio: a fixed table of files, and one socket."""

from __future__ import annotations

from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from importlib import import_module, resources
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket

from distinguo.views.studio.library import Library
from distinguo.views.studio.security import App, Door, Gate
from distinguo.views.studio.sockets import Conversation, Shelf

MOST_SOCKETS = 64
THREADS = 4
KINDS = {
    "html": "text/html; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "svg": "image/svg+xml",
}


def assets() -> dict[str, tuple[bytes, str]]:
    """Return every file of the page by the address it is served at, read once; no request names a file.

    >>> sorted(assets())[0], assets()["/"][1]
    ('/', 'text/html; charset=utf-8')
    """
    page = resources.files("distinguo.views.studio") / "page"
    table = {}
    for folder, prefix in ((page, "/"), (page / "view", "/view/")):
        for file in folder.iterdir():
            suffix = file.name.rpartition(".")[2]
            if file.is_file() and suffix in KINDS:
                table[prefix + file.name] = (file.read_bytes(), KINDS[suffix])
    table["/"] = table.pop("/index.html")
    return table


def studio_app(base: Path, door: Door) -> App:
    """Return the studio over a folder of runs, behind its guard."""
    shelf = Shelf(Library(base), ThreadPoolExecutor(THREADS))
    table, open_sockets = assets(), set[WebSocket]()

    async def page(request: Request) -> Response:
        found = table.get(request.url.path)
        if found is None:
            return PlainTextResponse("There is nothing at this address.\n", 404)
        return Response(found[0], media_type=found[1])

    async def talk(socket: WebSocket) -> None:
        await socket.accept()
        if len(open_sockets) >= MOST_SOCKETS:
            await socket.close(1013, f"The studio talks to {MOST_SOCKETS} pages at most; close one.")
            return
        open_sockets.add(socket)
        try:
            await Conversation(socket, shelf).go_on()
        finally:
            open_sockets.discard(socket)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        shelf.threads.submit(import_module, "distinguo.views.studio.panes")  # while the page is loading
        yield
        shelf.close()
        shelf.threads.shutdown(wait=False, cancel_futures=True)

    routes: list[Any] = [WebSocketRoute("/socket", talk), Route("/{path:path}", page)]
    return Gate(Starlette(routes=routes, lifespan=lifespan), door)
