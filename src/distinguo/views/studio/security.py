"""Who may talk to the studio: this machine, or a client with the token, and never another page of a browser.

Every request and every socket passes :class:`Gate`. A request made by a foreign page is recognised by its
``Origin``, and DNS rebinding (a foreign name that points to us) by its ``Host``.
"""

from __future__ import annotations

import hmac
import ipaddress
import secrets
import socket
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, NamedTuple

from distinguo.errors import DistinguoError, shown

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

LOOPBACK = ("127.0.0.1", "localhost", "::1")
ANYWHERE = ("0.0.0.0", "::")  # noqa: S104 - named to be refused without a token
LEAST_TOKEN, MOST_TOKEN = 16, 200  #: letters
LARGEST_MESSAGE = 16 * 1024  #: bytes of one message of a page
LARGEST_HEADERS = 16 * 1024  #: bytes of all headers of a request
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


class Door(NamedTuple):
    """Where the studio listens, and the token it requires."""

    host: str
    port: int
    token: str = ""  #: empty: anyone on this machine may connect

    @property
    def address(self) -> str:
        """The address to open in a browser, with the token.

        >>> Door("127.0.0.1", 8421).address
        'http://127.0.0.1:8421/'
        """
        host = socket.gethostname() if self.host in ANYWHERE else self.host
        named = f"[{host}]" if ":" in host else host
        return f"http://{named}:{self.port}/" + (f"?token={self.token}" if self.token else "")

    @property
    def cookie(self) -> str:
        """The name of the cookie that keeps the token; it contains the port, which cookies ignore."""
        return f"distinguo-{self.port}"

    def knows(self, host: str) -> bool:
        """Whether a ``Host`` header means us: a name of loopback, or the given host, with our port.

        >>> door = Door("127.0.0.1", 8421)
        >>> [door.knows(host) for host in ("localhost:8421", "127.0.0.1:8422", "evil.example:8421", "localhost")]
        [True, False, False, False]
        """
        name, _, port = host.rpartition(":")
        if port != str(self.port):
            return False
        name = name.lower().removeprefix("[").removesuffix("]")
        if self.host in ANYWHERE:  # an address cannot be made to point elsewhere, only a name can
            return name in LOOPBACK or name == socket.gethostname().lower() or _is_address(name)
        return name in LOOPBACK or name == self.host.lower()

    def knows_origin(self, origin: str) -> bool:
        """Whether the page that asks is one of ours."""
        scheme, _, host = origin.partition("://")
        return scheme == "http" and self.knows(host)

    def has_token(self, given: str) -> bool:
        """Whether this is the token, compared in constant time."""
        return hmac.compare_digest(self.token.encode(), given.encode("utf-8", "replace"))


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def token_for(host: str, given: str | None) -> str:
    """Return the token of a studio on this host: the given one or, beyond loopback, a fresh one.

    >>> token_for("127.0.0.1", None), len(token_for("192.168.1.5", None))
    ('', 43)
    """
    if given is None:
        return "" if host in LOOPBACK else secrets.token_urlsafe(32)
    plain = given.isascii() and given.replace("-", "").replace("_", "").isalnum()
    if not plain or not LEAST_TOKEN <= len(given) <= MOST_TOKEN:
        raise DistinguoError(
            f"--token should be {LEAST_TOKEN} to {MOST_TOKEN} letters, digits, - or _, got {len(given)} characters: "
            f"{shown(given[:4])} …; omit it to have one generated."
        )
    return given


class Gate:
    """Refuse requests that do not come from the studio's own page, and add privacy headers to every answer."""

    def __init__(self, app: App, door: Door) -> None:
        self.app, self.door = app, door

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or answer with a sentence why not."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        headers = _single(scope["headers"])
        refusal = _refusal(self.door, scope, headers)
        if refusal is None and self.door.token and not self._is_known(headers):
            if scope["type"] == "http" and self._brings_token(scope):
                cookie = f"{self.door.cookie}={self.door.token}; HttpOnly; SameSite=Strict; Path=/"
                await self.app(scope, receive, _with_headers(send, {**HEADERS, "set-cookie": cookie}))
                return
            refusal = (
                403,
                "This studio requires a token: open the address that it printed when it was started.",
            )
        if refusal is not None:
            await _refuse(scope, receive, send, *refusal)
        else:
            await self.app(scope, receive, _with_headers(send, HEADERS))

    def _is_known(self, headers: dict[str, str]) -> bool:
        """Whether a cookie has the token; those of other servers on this host may have any form."""
        kept = [pair.strip().partition("=") for pair in headers.get("cookie", "").split(";")]
        return any(name == self.door.cookie and self.door.has_token(value) for name, _, value in kept)

    def _brings_token(self, scope: Scope) -> bool:
        pairs = (pair.partition("=") for pair in scope["query_string"].decode("latin-1").split("&"))
        given = next((value for name, _, value in pairs if name == "token"), "")
        return scope["path"] == "/" and self.door.has_token(given)


def _single(raw: list[tuple[bytes, bytes]]) -> dict[str, str]:
    """Return headers by name; a repeated header is left out, so that it cannot be read in two ways."""
    found: dict[str, str] = {}
    for key, value in raw:
        name = key.decode("latin-1").lower()
        found[name] = "\0" if name in found else value.decode("latin-1")
    return found


def _refusal(door: Door, scope: Scope, headers: dict[str, str]) -> tuple[int, str] | None:
    is_socket = scope["type"] == "websocket"
    if sum(len(name) + len(value) for name, value in headers.items()) > LARGEST_HEADERS:
        return 431, "The headers of that request are too long."
    if not door.knows(headers.get("host", "")):
        return 421, "This is not the host that you asked for; open the address that the studio printed."
    origin = headers.get("origin")
    if (origin is None and is_socket) or (origin is not None and not door.knows_origin(origin)):
        return 403, "Another page may not talk to the studio."
    if is_socket:
        return None
    if scope["method"] not in ("GET", "HEAD"):
        return 405, "The studio only answers GET and HEAD."
    if headers.get("content-length", "0") != "0" or "transfer-encoding" in headers:
        return 413, "The studio takes no body with a request."
    return None


async def _refuse(scope: Scope, receive: Receive, send: Send, status: int, words: str) -> None:
    body = f"{words}\n".encode()
    kind = "websocket.http.response" if scope["type"] == "websocket" else "http.response"
    if scope["type"] == "websocket":
        await receive()
        if "websocket.http.response" not in scope.get("extensions", {}):
            await send({"type": "websocket.close", "code": 1008, "reason": words})
            return
    plain = {**HEADERS, "content-type": "text/plain; charset=utf-8"}
    if scope["type"] == "http":
        plain["connection"] = "close"
    await answer(send, status, body, plain, kind)


async def answer(
    send: Send, status: int, body: bytes, headers: dict[str, str], kind: str = "http.response"
) -> None:
    """Send a whole answer."""
    whole = _raw({**headers, "content-length": str(len(body))})
    await send({"type": f"{kind}.start", "status": status, "headers": whole})
    await send({"type": f"{kind}.body", "body": body})


def _raw(headers: dict[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.encode(), value.encode("latin-1")) for name, value in headers.items()]


def _with_headers(send: Send, headers: dict[str, str]) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message.get("headers", []), *_raw(headers)]
        await send(message)

    return sending
