"""Connections of the studio that cannot be held for nothing.

A request must arrive in time, and its answer must be read in time; uvicorn has no limits for either. If there are
too many connections, of one client or in all, the one that has been idle for longest gives way to the new one. A page
that neither reads nor answers pings is let go.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from typing import Any, TypeVar

from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import Frame

from distinguo.views.studio.security import Receive, Scope, Send

MOST_CONNECTIONS = 192  #: in all, those of pages included
MOST_OF_A_CLIENT = 128  #: of one address
REQUEST_SECONDS = 5.0  #: for all headers of a request, from the connection or the end of the last answer
ANSWER_SECONDS = 30.0  #: to read an answer
PING_SECONDS = 10.0  #: between two pings of a page, and for its answer
CLOSING_SECONDS = 2.0  #: for a page to agree that it is over
MOST_FRAGMENTS = 64  #: of one message

Held = TypeVar("Held")


def gives_way(
    held: Iterable[Held], client: Callable[[Held], Hashable], since: Callable[[Held], Any]
) -> Held | None:
    """The one to close when there is no room: the one with the least ``since`` of the client that holds most.

    >>> gives_way(["a2", "b3", "a1"], client=lambda one: one[0], since=lambda one: int(one[1]))
    'a1'
    """
    known = list(held)
    count = Counter(map(client, known))
    return min(known, key=lambda one: (-count[client(one)], since(one)), default=None)


class Socket:
    """The messages of one page, as ASGI passes them on."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._scope, self.receive, self._send = scope, receive, send

    @property
    def address(self) -> str:
        """The address of the client."""
        return self._scope["client"][0] if self._scope.get("client") else ""

    async def accept(self) -> None:
        """Shake hands."""
        await self.receive()
        await self._send({"type": "websocket.accept"})

    async def send_text(self, text: str) -> None:
        """Send a message; raise an OSError if the page is gone."""
        await self._send({"type": "websocket.send", "text": text})

    async def close(self, code: int = 1000, reason: str = "") -> None:
        """End the conversation, or refuse to shake hands."""
        await self._send({"type": "websocket.close", "code": code, "reason": reason})


class GuardedRequests(H11Protocol):
    """An HTTP connection with a deadline for what it waits for."""

    _deadline: asyncio.TimerHandle | None = None
    since = 0.0  #: when it became idle

    @property
    def address(self) -> str:
        """The address of the client."""
        return self.client[0] if self.client else ""

    @property
    def is_idle(self) -> bool:
        """Whether no request is being answered."""
        return self.cycle is None or self.cycle.response_complete

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for a request; make room if there are too many connections."""
        super().connection_made(transport)
        self._allow(REQUEST_SECONDS)
        others: list[Any] = [one for one in self.connections if one is not self]
        own = [one for one in others if one.client and one.client[0] == self.address]
        if len(own) >= MOST_OF_A_CLIENT:
            self._make_room(own)
        elif len(others) >= MOST_CONNECTIONS:
            self._make_room(others)

    def _make_room(self, others: list[Any]) -> None:
        idle = [one for one in others if isinstance(one, GuardedRequests) and one.is_idle]
        (gives_way(idle, lambda one: one.address, lambda one: one.since) or self).let_go()

    def data_received(self, data: bytes) -> None:
        """Read; once a request is complete, its answer has to be read in time."""
        was_idle = self.is_idle
        super().data_received(data)
        if was_idle and not self.is_idle:
            self._allow(ANSWER_SECONDS)

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        super().on_response_complete()
        self._allow(REQUEST_SECONDS)

    def handle_websocket_upgrade(self, event: Any) -> None:
        """Become the connection of a page, which has limits of its own."""
        self._disarm()
        super().handle_websocket_upgrade(event)

    def connection_lost(self, exc: Exception | None) -> None:
        """End."""
        self._disarm()
        super().connection_lost(exc)

    def let_go(self) -> None:
        """End at once, whatever is still unread."""
        self._disarm()
        self.connections.discard(self)
        self.transport.abort()

    def _allow(self, seconds: float) -> None:
        self._disarm()
        self.since = self.loop.time()
        self._deadline = self.loop.call_later(seconds, self.let_go)

    def _disarm(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


class GuardedPage(WebSocketsSansIOProtocol):
    """The connection of a page, which ends even if the page does not read."""

    def __init__(self, *args: Any, **options: Any) -> None:
        """Expect a page to agree soon that it is over."""
        super().__init__(*args, **options)
        self.close_timeout = CLOSING_SECONDS

    async def run_asgi(self) -> None:
        """Talk to the page; afterwards nothing is waited for."""
        await super().run_asgi()
        self.loop.call_later(CLOSING_SECONDS, self.transport.abort)

    def keepalive_timeout(self) -> None:
        """End: a ping was not answered."""
        super().keepalive_timeout()
        self.transport.abort()

    def handle_ping(self) -> None:
        """Answer a ping, unless the answers are not read."""
        if self.writable.is_set():
            super().handle_ping()
        else:
            self.transport.abort()

    def handle_cont(self, event: Frame) -> None:
        """Collect a message, unless it comes in crumbs."""
        if len(self.frames) < MOST_FRAGMENTS:
            super().handle_cont(event)
        else:
            self.conn.fail(1009, f"A message may have {MOST_FRAGMENTS} parts.")
            self.handle_parser_exception()
