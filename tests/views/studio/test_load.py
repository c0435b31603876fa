"""Many connections, slow ones and silent ones: the studio lets them go, and the user's own page gets in.

All of it is on loopback, bounded in number and time.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import struct
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from itertools import repeat
from pathlib import Path
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed

from distinguo.views.studio import connections, server, sources
from distinguo.views.studio.connections import MOST_CONNECTIONS, MOST_OF_A_CLIENT, gives_way
from distinguo.views.studio.library import Library
from distinguo.views.studio.panes import MOST_SESSIONS
from distinguo.views.studio.server import GAVE_WAY, MOST_PAGES
from distinguo.views.studio.sockets import Conversation, Shelf
from tests.views.studio.served import Page, Served, serving

SOON = 2.0  #: seconds in which a user's page is answered, whatever others do
SHORT = 0.3  #: seconds, in place of the usual limits
TEXT, CONTINUED, PING = 1, 0, 9  #: kinds of frames


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limits that a test can wait for."""
    for name in ("REQUEST_SECONDS", "CLOSING_SECONDS"):
        monkeypatch.setattr(connections, name, SHORT)
    monkeypatch.setattr(server, "PING_SECONDS", SHORT)


@pytest.fixture
def studio(tmp_path: Path) -> Iterator[Served]:
    with serving(tmp_path) as served:
        with served.page() as page:
            page.wait("lists")  # everything is loaded
        yield served


@pytest.fixture
def hasty_studio(hasty: None, tmp_path: Path) -> Iterator[Served]:
    with serving(tmp_path) as served:
        yield served


def plug(studio: Served, *options: tuple[int, int]) -> socket.socket:
    """A connection that says nothing."""
    link = socket.socket()
    for option, value in options:
        link.setsockopt(socket.SOL_SOCKET, option, value)
    link.settimeout(10)
    link.connect(("127.0.0.1", studio.port))
    return link


def raw_page(studio: Served, *options: tuple[int, int]) -> socket.socket:
    """A page that has shaken hands and does nothing by itself: it neither reads nor answers pings."""
    link = plug(studio, *options)
    link.sendall(
        f"GET /socket HTTP/1.1\r\nHost: 127.0.0.1:{studio.port}\r\nOrigin: {studio.origin}\r\n"
        "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
        "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n".encode()
    )
    assert link.recv(12) == b"HTTP/1.1 101"
    return link


def frame(kind: int, content: bytes = b"", final: bool = True) -> bytes:
    return struct.pack("!BB4x", kind | 128 * final, 128 | len(content)) + content  # masked by zeros


def is_over(link: socket.socket, seconds: float = 5.0) -> bool:
    """Whether the other side ends a connection in time; what it still sends is read."""
    link.settimeout(seconds)
    try:
        while link.recv(65536):
            pass
    except TimeoutError:
        return False
    except ConnectionError:
        pass
    return True


def is_cut(link: socket.socket, pieces: Iterable[bytes], pause: float = 0.0) -> bool:
    """Whether the other side ends a connection while pieces are sent."""
    try:
        for piece in pieces:
            link.sendall(piece)
            time.sleep(pause)
    except ConnectionError:
        return True
    return False


def answers_soon(studio: Served) -> None:
    """The page of a user, and its socket, come in and are answered."""
    began = time.monotonic()
    assert studio.ask()[0] == 200
    with studio.page(open_timeout=SOON) as page:
        page.wait("lists", seconds=SOON)
        page.send(do="look", pane=0)
        assert "nothing in this pane" in page.wait("trouble", seconds=SOON)["text"]
    assert time.monotonic() - began < SOON


def test_idle_connections_give_way_to_the_page(studio: Served) -> None:
    with ExitStack() as stack:
        idle = [stack.enter_context(plug(studio)) for _ in range(MOST_OF_A_CLIENT)]
        answers_soon(studio)
        assert is_over(idle[0], seconds=SOON)  # of one client; other clients would have room
        idle += [stack.enter_context(plug(studio)) for _ in range(410 - MOST_OF_A_CLIENT)]
        answers_soon(studio)
        idle[-1].sendall(f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{studio.port}\r\n\r\n".encode())
        assert idle[-1].recv(12) == b"HTTP/1.1 200"  # the newest are still there
        assert is_over(idle[-MOST_OF_A_CLIENT - 1])  # and older ones are not
        answers_soon(studio)
    assert MOST_OF_A_CLIENT < MOST_CONNECTIONS < 410


def test_connections_that_say_nothing_are_closed(hasty_studio: Served) -> None:
    with plug(hasty_studio) as idle:
        assert is_over(idle)


def test_slow_headers_are_not_waited_for(hasty_studio: Served) -> None:
    """A byte now and then does not extend the time, in a first or a second request."""
    whole = f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{hasty_studio.port}\r\n".encode()
    for first in (b"", whole + b"\r\n"):
        with plug(hasty_studio) as slow:
            slow.sendall(first)
            assert is_cut(slow, (whole[n : n + 1] or b"x" for n in range(100)), pause=0.05)
    answers_soon(hasty_studio)


def test_an_answer_that_nobody_reads_is_dropped(
    hasty_studio: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Requests without end on one connection, and no answer read: it ends."""
    monkeypatch.setattr(connections, "ANSWER_SECONDS", SHORT)
    asked = f"GET /main.js HTTP/1.1\r\nHost: 127.0.0.1:{hasty_studio.port}\r\n\r\n".encode() * 100
    small = (socket.SO_RCVBUF, 4096)
    with plug(hasty_studio, small) as deaf:
        deaf.settimeout(5)
        assert is_cut(deaf, repeat(asked, 2_000))
    answers_soon(hasty_studio)


def test_a_page_that_does_not_answer_pings_is_let_go(hasty_studio: Served) -> None:
    with raw_page(hasty_studio) as half_open:
        began = time.monotonic()
        assert is_over(half_open)
        assert time.monotonic() - began < 10 * SHORT
    with hasty_studio.page() as page:  # one that does stays
        time.sleep(4 * SHORT)
        page.send(do="look", pane=0)
        assert "nothing in this pane" in page.sentence()


def test_pings_that_nobody_reads_the_answers_of_end_the_page(studio: Served) -> None:
    flood = frame(PING, b"x" * 100) * 1000
    with raw_page(studio, (socket.SO_RCVBUF, 4096)) as deaf:
        assert is_cut(deaf, repeat(flood, 1000))  # 100 MB at most
    answers_soon(studio)


def test_a_message_in_crumbs_ends_its_page(studio: Served) -> None:
    with raw_page(studio) as crumbs:
        crumbs.sendall(frame(TEXT, b"[", final=False))
        crumbs.sendall(frame(CONTINUED, final=False) * 1000)
        assert is_over(crumbs, seconds=SOON)
    answers_soon(studio)


def test_frames_that_are_too_big_end_their_page(studio: Served) -> None:
    for size in (65_536, 2**40):  # announced, and never sent
        with raw_page(studio) as big:
            big.sendall(struct.pack("!BBQ4x", 128 | TEXT, 255, size))
            assert is_over(big, seconds=SOON)
    answers_soon(studio)


def last_word(page: Page) -> int:
    """Read a page to its end, and return the code that closed it."""
    try:
        while True:
            page.socket.recv(timeout=SOON)
    except ConnectionClosed as closed:
        return closed.rcvd.code if closed.rcvd else 0


def test_of_many_tabs_the_least_used_gives_way(studio: Served) -> None:
    with ExitStack() as stack:
        working = stack.enter_context(studio.page())
        working.send(do="learn", pane=0, task="puck", seed=1, speed=1.0)
        working.wait("show")
        tabs = [stack.enter_context(studio.page()) for _ in range(80)]
        for tab in tabs[-(MOST_PAGES - 1) :]:
            tab.wait("lists", seconds=SOON)
        answers_soon(studio)  # one more
        assert {last_word(tab) for tab in tabs[: 80 - MOST_PAGES + 1]} == {GAVE_WAY}
        working.send(do="close", pane=1)
        working.send(do="look", pane=1)
        assert "nothing in this pane" in working.sentence()  # the oldest of all, but in use


def test_sockets_that_come_and_go_leave_room_for_a_session(studio: Served) -> None:
    """A session whose page is gone is shown by nobody, and gives way."""
    with ExitStack() as stack:
        watched = stack.enter_context(studio.page())
        watched.send(do="learn", pane=0, task="puck", seed=1, speed=500.0)
        watched.wait("show", _learns)
        for seed in range(2 * MOST_SESSIONS):
            with studio.page() as page:
                page.send(do="learn", pane=0, task="puck", seed=seed, speed=500.0)
                page.wait("show", seconds=SOON)
        began = time.monotonic()
        with studio.page() as page:
            page.send(do="learn", pane=0, task="puck", seed=3, speed=500.0)
            page.wait("show", _learns, seconds=SOON)
        assert time.monotonic() - began < SOON
        watched.wait("show", _learns, seconds=SOON)  # it was in use all the time


class Gone:
    """A page that disconnects while something is being sent to it."""

    address = ""

    def __init__(self) -> None:
        self.gone = asyncio.Event()

    async def receive(self) -> dict[str, str]:
        await self.gone.wait()
        return {"type": "websocket.disconnect"}

    async def send_text(self, text: str) -> None:
        asyncio.get_running_loop().call_later(0.05, self.gone.set)
        await self.gone.wait()
        raise OSError

    async def close(self, *_: Any) -> None:
        raise RuntimeError


def test_a_page_that_goes_while_it_is_sent_something_is_gone(tmp_path: Path) -> None:
    async def talk() -> None:
        with ThreadPoolExecutor(2) as threads:
            page: Any = Gone()
            await asyncio.wait_for(Conversation(page, Shelf(Library(tmp_path), threads, threads)).go_on(), 5)

    asyncio.run(talk())


def test_clients_share_the_room() -> None:
    """The client that holds most gives way, and of its connections the one that was idle for longest."""
    held = [("far", 1), ("near", 2), ("near", 3), ("far", 4), ("near", 5)]
    assert gives_way(held, client=lambda one: one[0], since=lambda one: one[1]) == ("near", 2)
    assert gives_way([], client=str, since=str) is None


def _learns(news: Any) -> bool:
    return bool(news["head"]["state"] == "learning")


def test_a_session_without_a_page_rests_until_one_returns(studio: Served) -> None:
    with studio.page() as page:
        page.send(do="learn", pane=0, task="puck", seed=1, speed=500.0)
        session = page.wait("show", _learns)["head"]["session"]
    with studio.page() as other:
        other.wait(
            "lists",
            lambda lists: [one["state"] for one in lists["sessions"]] == ["paused"],
            seconds=sources.UNWATCHED + 2 * SOON,  # the list is sent every two seconds
        )
        other.send(do="join", pane=0, session=session)
        other.wait("show", _learns, seconds=SOON)


def test_many_rounds_take_no_more_memory(studio: Served) -> None:
    def resident() -> int:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    if not Path("/proc/self/statm").exists():
        pytest.skip("needs /proc")
    sizes = []
    for _ in range(4):
        with ExitStack() as stack:
            for _ in range(150):
                stack.enter_context(plug(studio)).sendall(b"GET / HTTP/1.1\r\nX: " + b"x" * 8000)
        for _ in range(30):
            with raw_page(studio) as page:
                page.sendall(frame(TEXT, json.dumps({"do": "look", "pane": 0}).encode()) * 50)
        answers_soon(studio)
        sizes.append(resident())
    assert sizes[-1] - sizes[0] < 8 * 2**20, sizes
