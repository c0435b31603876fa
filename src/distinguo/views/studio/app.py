"""The pages of the studio: a fixed table of files, and one socket."""

from __future__ import annotations

from asyncio import get_running_loop
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from importlib import import_module, resources
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket

from distinguo.views.studio.security import App, Door, Gate

if TYPE_CHECKING:
    from distinguo.views.studio.sockets import Shelf

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


class _Talk:
    """What pages talk to, loaded while the first of them is being drawn: that takes longer than to serve it."""

    def __init__(self, base: Path) -> None:
        self.threads = ThreadPoolExecutor(THREADS)
        self._base, self._alone = base, Lock()
        self._shelf: Shelf | None = None
        self._open = 0

    def load(self) -> None:
        """Load what is needed to answer, then what is needed to draw and to learn."""
        self.shelf()
        import_module("distinguo.views.studio.panes")

    def shelf(self) -> Shelf:
        """Return the runs and sessions that all pages share."""
        with self._alone:
            if self._shelf is None:
                from distinguo.views.studio.library import Library
                from distinguo.views.studio.sockets import Shelf

                self._shelf = Shelf(Library(self._base), self.threads)
            return self._shelf

    async def with_page(self, socket: WebSocket) -> None:
        """Talk to a page until it is gone, unless there are too many of them."""
        await socket.accept()
        if self._open >= MOST_SOCKETS:
            await socket.close(1013, f"The studio talks to {MOST_SOCKETS} pages at most; close one.")
            return
        self._open += 1
        try:
            shelf = await get_running_loop().run_in_executor(self.threads, self.shelf)
            from distinguo.views.studio.sockets import Conversation

            await Conversation(socket, shelf).go_on()
        finally:
            self._open -= 1

    def close(self) -> None:
        """End what is under way."""
        if self._shelf is not None:
            self._shelf.close()
        self.threads.shutdown(wait=False, cancel_futures=True)


def studio_app(base: Path, door: Door) -> App:
    """Return the studio over a folder of runs, behind its gate."""
    table, talk = assets(), _Talk(base)

    async def page(request: Request) -> Response:
        found = table.get(request.url.path)
        if found is None:
            return PlainTextResponse("There is nothing at this address.\n", 404)
        return Response(found[0], media_type=found[1])

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        talk.threads.submit(talk.load)
        yield
        talk.close()

    routes: list[Any] = [WebSocketRoute("/socket", talk.with_page), Route("/{path:path}", page)]
    return Gate(Starlette(routes=routes, lifespan=lifespan), door)
