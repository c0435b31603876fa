"""The studio as a server: its port, its browser, and its end."""

from __future__ import annotations

import errno
import os
import socket
import threading
import webbrowser
from asyncio import get_running_loop
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from importlib import import_module, resources
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

import uvicorn

from distinguo.errors import DistinguoError
from distinguo.views.studio.connections import PING_SECONDS, GuardedPage, GuardedRequests, Socket, gives_way
from distinguo.views.studio.security import (
    ANYWHERE,
    LARGEST_MESSAGE,
    App,
    Door,
    Gate,
    Receive,
    Scope,
    Send,
    answer,
    token_for,
)

if TYPE_CHECKING:
    from distinguo.views.studio.sockets import Conversation, Shelf


PORT = 8421


def listening(host: str, port: int) -> socket.socket:
    """Return a listening socket; raise if there is none."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family, backlog=256)
    except socket.gaierror:
        raise DistinguoError(
            f"--host {host} is not an address of this machine; omit it for 127.0.0.1."
        ) from None
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise DistinguoError(
                f"Port {port} of {host} is in use, perhaps by another studio; open http://{host}:{port}/, or take "
                f"another with --port {port + 1 if port < 65535 else 0} (0 takes any that is free)."
            ) from None
        why = error.strerror or error
        raise DistinguoError(f"Cannot listen on {host}, port {port}: {why}; try another --port.") from None


@contextmanager
def open_door(host: str, port: int, token: str | None) -> Iterator[tuple[Door, socket.socket]]:
    """Listen, and decide by the address itself, not by how it is written, whether a token is required."""
    with listening(host, port) as taken:
        address, number = taken.getsockname()[:2]
        yield Door(address if address in ANYWHERE else host, number, token_for(address, token)), taken


def studio(
    base: Path,
    host: str = "127.0.0.1",
    port: int = PORT,
    token: str | None = None,
    say: Callable[[str], None] = lambda _: None,
    browser: bool = False,
) -> None:
    """Serve the runs of a folder until Ctrl-C."""
    with open_door(host, port, token) as (door, taken):
        say(door.address)
        server = make_server(base, door)
        if browser and not os.environ.get("CI"):
            threading.Timer(0.3, webbrowser.open, [door.address]).start()
        server.run(sockets=[taken])


def make_server(base: Path, door: Door) -> uvicorn.Server:
    """Return a quiet server with small limits."""
    return uvicorn.Server(
        uvicorn.Config(
            studio_app(base, door),
            log_config=None,
            access_log=False,
            log_level="critical",
            server_header=False,
            proxy_headers=False,
            http=GuardedRequests,
            h11_max_incomplete_event_size=LARGEST_MESSAGE,
            ws=GuardedPage,
            ws_max_size=LARGEST_MESSAGE,
            ws_max_queue=8,
            ws_per_message_deflate=False,
            ws_ping_interval=PING_SECONDS,
            ws_ping_timeout=PING_SECONDS,
            timeout_graceful_shutdown=1,
        )
    )


# The pages of the studio: a fixed table of files, and one socket.


MOST_PAGES = 64
GAVE_WAY = (
    4000  #: the code that closes a page which another one replaces; it waits until somebody looks at it again
)
THREADS = 4  #: for quick work, and as many for slow work
KINDS = {
    "html": "text/html; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "svg": "image/svg+xml",
}


def assets() -> dict[str, tuple[bytes, str]]:
    """Return every file of the page by its address, read once; no request names a file.

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
    """The shared state behind all pages, loaded in a thread while the browser draws the first page."""

    def __init__(self, base: Path) -> None:
        self.quick, self.slow = ThreadPoolExecutor(THREADS), ThreadPoolExecutor(THREADS)
        self._base, self._alone = base, Lock()
        self._shelf: Shelf | None = None
        self._pages: list[Conversation] = []

    def load(self) -> None:
        """Load the modules needed to answer, then those needed to draw and to learn."""
        self.shelf()
        import_module("distinguo.views.studio.panes")

    def shelf(self) -> Shelf:
        """Return the runs and sessions that all pages share."""
        with self._alone:
            if self._shelf is None:
                from distinguo.views.studio.library import Library
                from distinguo.views.studio.sockets import Shelf

                self._shelf = Shelf(Library(self._base), self.quick, self.slow)
            return self._shelf

    async def with_page(self, socket: Socket) -> None:
        """Talk to a page until it is gone; if there are too many, the one that is least in use gives way."""
        await socket.accept()
        shelf = self._shelf
        if shelf is None:  # not in a thread otherwise, where it would wait for the work of others
            shelf = await get_running_loop().run_in_executor(self.quick, self.shelf)
        from distinguo.views.studio.sockets import Conversation

        page = Conversation(socket, shelf)
        if len(self._pages) >= MOST_PAGES:
            last = gives_way(self._pages, lambda one: one.client, lambda one: one.use)
            assert last is not None
            self._pages.remove(last)
            last.end(GAVE_WAY, f"The studio talks to {MOST_PAGES} pages; click here to return to this one.")
        self._pages.append(page)
        try:
            await page.go_on()
        finally:
            if page in self._pages:
                self._pages.remove(page)

    def close(self) -> None:
        """End all work."""
        if self._shelf is not None:
            self._shelf.close()
        for threads in (self.quick, self.slow):
            threads.shutdown(wait=False, cancel_futures=True)


def studio_app(base: Path, door: Door) -> App:
    """Return the studio over a folder of runs, behind its gate."""
    table, talk = assets(), _Talk(base)

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await _live(talk, receive, send)
        elif scope["type"] == "http":
            found = table.get(scope["path"])
            content, kind = found or (b"There is nothing at this address.\n", "text/plain; charset=utf-8")
            await answer(send, 200 if found else 404, content, {"content-type": kind})
        elif scope["path"] == "/socket":
            await talk.with_page(Socket(scope, receive, send))
        else:
            await Socket(scope, receive, send).close()

    return Gate(app, door)


async def _live(talk: _Talk, receive: Receive, send: Send) -> None:
    """Load what is needed when the server begins, and end all work with it."""
    await receive()
    talk.quick.submit(talk.load)
    await send({"type": "lifespan.startup.complete"})
    await receive()
    talk.close()
    await send({"type": "lifespan.shutdown.complete"})
