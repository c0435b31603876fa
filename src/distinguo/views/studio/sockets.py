"""The conversation with one page: its messages and our answers.

Only the newest answer of each kind waits to be sent: a slow page gets fewer frames, and never an outdated one.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import Executor
from contextlib import suppress
from typing import Any

from distinguo.errors import DistinguoError, one_line, reason_of
from distinguo.views.studio.connections import CLOSING_SECONDS, Socket
from distinguo.views.studio.library import Library
from distinguo.views.studio.messages import (
    Asked,
    Close,
    Control,
    Delete,
    Drive,
    Explain,
    Fetch,
    Join,
    Learn,
    Look,
    Open,
    Pace,
    to_text,
    understood,
)

TICK = 1 / 60  #: seconds between two checks for news
LIST_SECONDS = 2.0  #: between two updates of the list of runs
PATIENCE = 20.0  #: seconds that a page may take to read a message
MOST_WAITING = 32  #: kinds of answers that may wait


class Shelf:
    """What all conversations share: runs, sessions, and threads for long work."""

    def __init__(self, library: Library, quick: Executor, slow: Executor) -> None:
        self.library, self.quick, self.slow = library, quick, slow
        self._sessions: Any = None

    @property
    def sessions(self) -> Any:
        """The sessions; the learner is loaded at the first use."""
        if self._sessions is None:
            from distinguo.views.studio.panes import LearningSessions

            self._sessions = LearningSessions()
        return self._sessions

    def lists(self) -> dict[str, Any]:
        """Return the runs and sessions to choose from."""
        learning = [] if self._sessions is None else self._sessions.entries()
        return {"runs": self.library.entries(), "sessions": learning, "folder": str(self.library.base)}

    def close(self) -> None:
        """End all work."""
        if self._sessions is not None:
            self._sessions.close()


class Conversation:
    """One page."""

    def __init__(self, socket: Socket, shelf: Shelf) -> None:
        self.socket, self.shelf = socket, shelf
        self._views: dict[int, Any] = {}
        self._waiting: dict[tuple[Any, ...], str] = {}
        self._wanted: dict[tuple[Any, ...], tuple[Callable[[], Any], Executor]] = {}
        self._jobs: dict[tuple[Any, ...], asyncio.Task[None]] = {}
        self._listed = ""
        self._heard = time.monotonic()
        self._to_send, self._to_watch, self._over = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self._goodbye: tuple[int, str] = (1000, "")

    @property
    def client(self) -> str:
        """The address of the page."""
        return self.socket.address

    @property
    def use(self) -> tuple[bool, float]:
        """How much the page is in use: whether it shows something, and when it was last heard."""
        return bool(self._views), self._heard

    def end(self, code: int, reason: str) -> None:
        """End the conversation."""
        self._goodbye = (code, reason)
        self._over.set()

    async def go_on(self) -> None:
        """Listen and answer until the page is gone."""
        duties = (self._listen, self._send, self._watch, self._list, self._over.wait)
        tasks: list[asyncio.Task[Any]] = [asyncio.create_task(one()) for one in duties]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            everything = [*tasks, *self._jobs.values()]
            for task in everything:
                task.cancel()
            await asyncio.gather(*everything, return_exceptions=True)
            for pane in list(self._views):
                self._leave(pane)
        with suppress(Exception):  # a page that does not read does not hear it either
            async with asyncio.timeout(CLOSING_SECONDS):
                await self.socket.close(*self._goodbye)

    # ---- what the page asks for -----------------------------------------------------------------------------------

    async def _listen(self) -> None:
        while True:
            message = await self.socket.receive()
            if message["type"] == "websocket.disconnect":
                return
            self._heard = time.monotonic()
            text = message.get("text")
            if text is None:
                self._tell("The studio takes text only, got bytes.")
                continue
            try:
                self._heed(understood(text))
            except DistinguoError as error:
                self._tell(str(error))

    def _heed(self, asked: Asked) -> None:
        """Do quick work at once, and start longer work in a thread."""
        if isinstance(asked, Close):
            self._leave(asked.pane)
        elif isinstance(asked, Open | Join | Learn):
            self._do(("view", asked.pane), lambda: self._source(asked), is_slow=isinstance(asked, Open))
        elif isinstance(asked, Look):
            self._view(asked.pane).look(asked.moment)
        elif isinstance(asked, Drive):
            view = self._view(asked.pane)
            self._do(("trail", asked.pane), lambda: view.trail(asked), is_slow=True)
        elif isinstance(asked, Explain):
            view = self._view(asked.pane)
            self._do(("reason", asked.pane), lambda: view.reason(asked), is_slow=True)
        elif isinstance(asked, Fetch):
            self._do(("file", asked.run), lambda: self._file(asked), is_slow=True)
        elif isinstance(asked, Delete):
            self._do(("delete", asked.run), lambda: self._delete(asked.run))
        else:
            self._do(("control", asked.session), lambda: self._control(asked))

    def _view(self, pane: int) -> Any:
        if pane not in self._views:
            raise DistinguoError("There is nothing in this pane yet; open a run or start to learn.")
        return self._views[pane]

    def _source(self, asked: Open | Join | Learn) -> Any:
        sessions = self.shelf.sessions
        if isinstance(asked, Open):
            return self.shelf.library.source(asked.run)
        return sessions.begin(asked) if isinstance(asked, Learn) else sessions.source(asked.session)

    def _file(self, asked: Fetch) -> dict[str, Any]:
        from distinguo.views.studio.documents import file_document

        sessions, run = self.shelf.sessions, asked.run
        source = sessions.source(run) if sessions.has(run) else self.shelf.library.source(run)
        return file_document(source, asked.what)

    def _delete(self, run: str) -> dict[str, Any]:
        name = self.shelf.library.delete(run)
        return {"about": "deleted", "run": run, "text": f"Deleted {name}."}

    def _show(self, pane: int, source: Any) -> None:
        """Show a source; never in the thread that found it, which may outlive the page."""
        from distinguo.views.studio.panes import Pane

        self._leave(pane)
        self._views[pane] = Pane(pane, source)
        self._to_watch.set()

    def _leave(self, pane: int) -> None:
        if pane in self._views:
            self._views.pop(pane).source.watchers -= 1

    def _control(self, asked: Control | Pace) -> dict[str, Any] | None:
        session = self.shelf.sessions.source(asked.session)
        if isinstance(asked, Pace):
            session.speed = asked.speed
        elif asked.what == "keep":
            return {"about": "word", "text": f"Kept as {session.keep(self.shelf.library.base)}."}
        else:
            session.control(asked.what)
        return None

    # ---- work that takes a while ----------------------------------------------------------------------------------

    def _do(self, key: tuple[Any, ...], work: Callable[[], Any], is_slow: bool = False) -> None:
        """Do some work in a thread; if several requests wait, only the last is done."""
        if len(self._jobs) >= MOST_WAITING and key not in self._jobs:
            raise DistinguoError("The studio is still busy with an earlier request; try again in a moment.")
        self._wanted[key] = work, self.shelf.slow if is_slow else self.shelf.quick
        if key not in self._jobs:
            self._jobs[key] = asyncio.create_task(self._done(key))

    async def _done(self, key: tuple[Any, ...]) -> None:
        try:
            while key in self._wanted:
                answer = await self._in_thread(*self._wanted.pop(key))
                if isinstance(answer, str):
                    self._tell(answer, key[-1] if key[0] in ("view", "trail", "reason") else None)
                elif key[0] == "view":
                    self._show(key[-1], answer)
                elif answer is not None:
                    self._post(key, answer)
        finally:
            self._jobs.pop(key, None)

    async def _in_thread(self, work: Callable[[], Any], threads: Executor | None = None) -> Any:
        """Return the result of work in a thread, or the sentence of its error."""
        try:
            return await asyncio.get_running_loop().run_in_executor(threads or self.shelf.quick, work)
        except DistinguoError as error:
            return str(error)
        except (OSError, RuntimeError, ArithmeticError, LookupError, TypeError, ValueError) as error:
            return f"That did not work: {one_line(reason_of(error))}."

    # ---- what the page is shown -----------------------------------------------------------------------------------

    async def _watch(self) -> None:
        """Send the news of every pane, at most as fast as the page reads them."""
        while True:
            if not self._views:
                self._to_watch.clear()
                await self._to_watch.wait()
            for pane, view in list(self._views.items()):
                if ("show", pane) in self._waiting or not view.may_have_news:
                    continue
                news = await self._in_thread(view.news)
                if self._views.get(pane) is view and isinstance(news, dict):
                    self._post(("show", pane), news)
                elif isinstance(news, str):
                    self._leave(pane)
                    self._tell(news, pane)
            await asyncio.sleep(TICK)

    async def _list(self) -> None:
        while True:
            lists = await self._in_thread(self.shelf.lists)
            if isinstance(lists, dict):
                text = to_text({"about": "lists", **lists})
                if text != self._listed:
                    self._listed = text
                    self._queue(("lists",), text)
            await asyncio.sleep(LIST_SECONDS)

    def _post(self, key: tuple[Any, ...], document: dict[str, Any]) -> None:
        self._queue(key, to_text(document))

    def _queue(self, key: tuple[Any, ...], text: str) -> None:
        self._waiting[key] = text
        self._to_send.set()

    def _tell(self, sentence: str, pane: int | None = None) -> None:
        """Send a sentence to the reader."""
        self._post(("trouble", pane), {"about": "trouble", "text": one_line(sentence, 600), "pane": pane})

    async def _send(self) -> None:
        while True:
            await self._to_send.wait()
            self._to_send.clear()
            while self._waiting:
                key = next(iter(self._waiting))
                async with asyncio.timeout(
                    PATIENCE
                ):  # wait_for loses a cancellation that comes with an error
                    await self.socket.send_text(self._waiting.pop(key))
