"""A studio in a thread of the test, and pages that talk to it without a browser."""

from __future__ import annotations

import http.client
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from websockets.sync.client import ClientConnection, connect

from distinguo.views.studio.security import Door
from distinguo.views.studio.server import listening, make_server

PATIENCE = 120.0  #: seconds; the first learner on a busy machine is compiled for a while


class Served(NamedTuple):
    """A studio that runs."""

    port: int
    token: str = ""

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def ask(
        self,
        path: str = "/",
        method: str = "GET",
        headers: dict[str, str] | None = None,
        body: bytes | None = None,
    ) -> tuple[int, dict[str, str], bytes]:
        """Send a request with exactly these headers; ``Host`` is the right one unless another is given."""
        link = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            link.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            for name, value in {"Host": f"127.0.0.1:{self.port}", **(headers or {})}.items():
                if value:
                    link.putheader(name, value)
            if body is not None:
                link.putheader("Content-Length", str(len(body)))
            link.endheaders(body)
            answer = link.getresponse()
            return answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read()
        finally:
            link.close()

    @contextmanager
    def page(self, **options: Any) -> Iterator[Page]:
        options = {"origin": self.origin, "open_timeout": 30, "max_size": 2**24, **options}
        with connect(f"ws://127.0.0.1:{self.port}/socket", **options) as socket:
            yield Page(socket)


class Page:
    """A page: it sends messages, and waits for those it is interested in."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket

    def send(self, **message: Any) -> None:
        self.socket.send(json.dumps(message))

    def wait(
        self, about: str, when: Callable[[Any], bool] = lambda _: True, seconds: float = PATIENCE
    ) -> Any:
        """Return the next message of a kind that is so."""
        end = time.monotonic() + seconds
        while True:
            message = json.loads(self.socket.recv(timeout=max(0.01, end - time.monotonic())))
            if message["about"] == about and when(message):
                return message

    def sentence(self) -> str:
        return str(self.wait("trouble")["text"])


@contextmanager
def serving(base: Path, token: str = "") -> Iterator[Served]:
    """Run a studio over a folder."""
    with listening("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        server = make_server(base, Door("127.0.0.1", port, token))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [taken]}, daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.01)
        try:
            yield Served(port, token)
        finally:
            server.should_exit = True
            thread.join(20)
            assert not thread.is_alive()
