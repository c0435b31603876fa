"""The studio as a server: its port, its browser, and its end."""

from __future__ import annotations

import errno
import os
import socket
import threading
import webbrowser
from collections.abc import Callable
from pathlib import Path

import uvicorn

from distinguo.errors import DistinguoError
from distinguo.views.studio.app import studio_app
from distinguo.views.studio.security import LARGEST_MESSAGE, Door, token_for

PORT = 8421
MOST_CONNECTIONS = 400  #: beyond these the answer is 503


def listening(host: str, port: int) -> socket.socket:
    """Return a socket that listens, or say why there is none."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family, backlog=256)
    except socket.gaierror:
        raise DistinguoError(
            f"--host {host} is no address of this machine; leave it out for 127.0.0.1."
        ) from None
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise DistinguoError(
                f"Port {port} of {host} is in use, perhaps by another studio; open http://{host}:{port}/, or take "
                f"another with --port {port + 1 if port < 65535 else 0} (0 takes any that is free)."
            ) from None
        why = error.strerror or error
        raise DistinguoError(f"Cannot listen on {host}, port {port}: {why}; try another --port.") from None


def studio(
    base: Path,
    host: str = "127.0.0.1",
    port: int = PORT,
    token: str | None = None,
    say: Callable[[str], None] = lambda _: None,
    browser: bool = False,
) -> None:
    """Serve the runs of a folder until Ctrl-C."""
    secret = token_for(host, token)
    with listening(host, port) as taken:
        door = Door(host, taken.getsockname()[1], secret)
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
            http="h11",
            h11_max_incomplete_event_size=LARGEST_MESSAGE,
            ws="websockets-sansio",
            ws_max_size=LARGEST_MESSAGE,
            ws_max_queue=8,
            ws_per_message_deflate=False,
            limit_concurrency=MOST_CONNECTIONS,
            timeout_keep_alive=5,
            timeout_graceful_shutdown=1,
        )
    )
