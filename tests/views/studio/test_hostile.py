"""Whoever is not the studio's own page is turned away, and the studio goes on."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

from distinguo.errors import DistinguoError
from distinguo.views.studio.security import LARGEST_MESSAGE, POLICY, Door, token_for
from distinguo.views.studio.server import assets, open_door
from tests.views.studio.served import Served, serving

TOKEN = "a-token-that-is-long-enough"
SECRET = "not for the world"


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    outer = tmp_path_factory.mktemp("outer")
    (outer / "secret.txt").write_text(SECRET)
    (outer / "runs").mkdir()
    (outer / "runs" / "secret.txt").write_text(SECRET)
    return outer / "runs"


@pytest.fixture(scope="module")
def studio(base: Path) -> Iterator[Served]:
    with serving(base) as served:
        yield served


def is_alive(studio: Served) -> bool:
    with studio.page() as page:
        page.send(do="look", pane=0)
        return studio.ask()[0] == 200 and "nothing in this pane" in page.sentence()


def refused(studio: Served, **options: Any) -> int:
    with pytest.raises(InvalidStatus) as error, studio.page(**options):
        pass
    return error.value.response.status_code


HOSTS = [
    "evil.example",
    "evil.example:{port}",
    "127.0.0.1",
    "127.0.0.1:1",
    "localhost.evil.example:{port}",
    "",
    "x y",
]


@pytest.mark.parametrize("host", HOSTS)
def test_a_foreign_host_is_refused(studio: Served, host: str) -> None:
    status, headers, body = studio.ask(headers={"Host": host.format(port=studio.port)})
    assert status in (400, 421)
    assert b"<html" not in body
    assert "location" not in headers


def test_loopback_has_three_names(studio: Served) -> None:
    for host in ("127.0.0.1", "localhost", "LOCALHOST", "[::1]"):
        assert studio.ask(headers={"Host": f"{host}:{studio.port}"})[0] == 200


def test_a_socket_with_a_foreign_host_is_refused(studio: Served) -> None:
    # a second Host header beside the right one
    assert refused(studio, additional_headers={"Host": "evil.example"}) in (400, 421)


ORIGINS = [
    "http://evil.example",
    "null",
    "https://127.0.0.1:{port}",
    "http://127.0.0.1:1",
    "http://127.0.0.1:{port}.evil.example",
]


@pytest.mark.parametrize("origin", ORIGINS)
def test_a_foreign_origin_is_refused(studio: Served, origin: str) -> None:
    named = origin.format(port=studio.port)
    assert studio.ask(headers={"Origin": named})[0] == 403
    assert refused(studio, origin=named) == 403


def test_a_socket_without_an_origin_is_refused(studio: Served) -> None:
    assert refused(studio, origin=None) == 403


def test_only_reading_is_asked_for(studio: Served) -> None:
    for method in ("POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"):
        assert studio.ask(method=method)[0] == 405
    assert studio.ask(body=b"x" * 100)[0] == 413
    assert studio.ask(headers={"Transfer-Encoding": "chunked"})[0] == 413
    assert studio.ask(headers={"X-Long": "x" * 100_000})[0] in (400, 431)
    assert is_alive(studio)


WAYS = [
    "/../secret.txt",
    "/..%2fsecret.txt",
    "/%2e%2e/secret.txt",
    "/%2e%2e%2fsecret.txt",
    "/%252e%252e%252fsecret.txt",
    "/..%5csecret.txt",
    "/..\\secret.txt",
    "/..%c0%afsecret.txt",
    "/..%00/secret.txt",
    "/....//secret.txt",
    "/secret.txt",
    "//secret.txt",
    "/view/../../server.py",
    "/view/%2e%2e/%2e%2e/server.py",
    "/view/../index.html",
    "/index.html",
    "/server.py",
    "/page/index.html",
    "/static/main.js",
    "/main.js/",
    "/main.js%00",
    "/etc/passwd",
    "/%2fetc%2fpasswd",
    "/file:///etc/passwd",
    "/socket",
    "/?path=../secret.txt&run=/etc/passwd",
]


@pytest.mark.parametrize("way", WAYS)
def test_no_path_leads_to_a_file(studio: Served, base: Path, way: str) -> None:
    for path in (way, way.replace("secret.txt", f"{base}/secret.txt")):
        status, _, body = studio.ask(path)
        assert SECRET.encode() not in body
        assert b"root:" not in body
        assert status in (400, 404, 426) or (path.startswith("/?") and body == assets()["/"][0])


def test_every_answer_is_private(studio: Served) -> None:
    for path, headers in (
        ("/", {}),
        ("/nothing", {}),
        ("/", {"Origin": "http://evil.example"}),
        ("/main.js", {}),
    ):
        answer = studio.ask(path, headers=headers)[1]
        assert answer["content-security-policy"] == POLICY
        assert (answer["x-content-type-options"], answer["referrer-policy"]) == ("nosniff", "no-referrer")
        assert not [name for name in answer if name.startswith("access-control")]
        assert "server" not in answer


def test_every_asset_is_what_it_says(studio: Served) -> None:
    for path, (content, kind) in assets().items():
        status, headers, body = studio.ask(path)
        assert (status, headers["content-type"], body) == (200, kind, content)


def test_without_the_token_nobody_comes_in(base: Path) -> None:
    with serving(base, TOKEN) as studio:
        for path in ("/", "/main.js", "/?token=wrong", f"/main.js?token={TOKEN}", f"/?token={TOKEN}x"):
            assert studio.ask(path)[0] == 403
        assert studio.ask(headers={"Cookie": f"distinguo-{studio.port}=wrong"})[0] == 403
        assert studio.ask(headers={"Cookie": f"distinguo={TOKEN}"})[0] == 403
        assert refused(studio) == 403
        status, headers, _ = studio.ask(f"/?token={TOKEN}")
        cookie = headers["set-cookie"]
        assert status == 200
        assert "HttpOnly" in cookie
        assert "SameSite=Strict" in cookie
        pair = {"Cookie": cookie.partition(";")[0]}
        assert studio.ask("/main.js", headers=pair)[0] == 200
        assert "set-cookie" not in studio.ask("/main.js", headers=pair)[1]
        assert studio.ask(headers={**pair, "Origin": "http://evil.example"})[0] == 403
        with studio.page(additional_headers=pair) as page:
            assert page.wait("lists")["runs"] == []


def test_a_token_among_other_things_is_found_or_refused(base: Path) -> None:
    """Cookies of other servers of this host come with every request, and not all of them are tidy."""
    with serving(base, TOKEN) as studio:
        right = f"distinguo-{studio.port}={TOKEN}"
        for others in ('theme={"dark": true}; ', "a b; ", "=; ;;", "x=é; ", f"distinguo-1={TOKEN[::-1]}; "):
            assert studio.ask(headers={"Cookie": f"{others}{right}"})[0] == 200, others
        for wrong in (
            f"a={right}",
            f'{right}"',
            f"distinguo-{studio.port}",
            f"{right}x; {right}x",
            "=" * 9000,
        ):
            assert studio.ask(headers={"Cookie": wrong})[0] == 403, wrong
        assert studio.ask(f"/?{'a=b&' * 100}token={TOKEN}&more")[0] == 200
        for path in ("/?" + "&" * 100, "/?" + "a=b&" * 100, "/?token=%ff%00", f"/?token=x&token={TOKEN}"):
            status, headers, body = studio.ask(path)
            assert (status, headers["content-security-policy"]) == (403, POLICY)
            assert b"requires a token" in body
            assert TOKEN.encode() not in body
        for referer in (f"{studio.origin}/?token={TOKEN}", f"http://evil.example/?token={TOKEN}"):
            assert studio.ask(headers={"Referer": referer})[0] == 403
            assert refused(studio, additional_headers={"Referer": referer}) == 403


def test_a_token_is_made_for_other_addresses() -> None:
    made = {token_for("0.0.0.0", None) for _ in range(5)}
    assert len(made) == 5
    assert min(map(len, made)) >= 40
    assert token_for("0.0.0.0", TOKEN) == token_for("127.0.0.1", TOKEN) == TOKEN
    for bad in ("", "short", "with spaces in it, and long", "x" * 1000, "ünïcödé-is-not-for-urls"):
        with pytest.raises(DistinguoError, match="--token should be"):
            token_for("127.0.0.1", bad)


@pytest.mark.parametrize(
    ("host", "name"), [("0.0.0.0", ""), ("0", ""), ("127.0.0.2", "127.0.0.2"), ("127.2", "127.2")]
)
def test_another_address_requires_a_token_however_it_is_written(host: str, name: str) -> None:
    with open_door(host, 0, None) as (door, _):
        assert len(door.token) == 43
        shown = door.address.partition("?token=")[0]
        assert shown == f"http://{name or socket.gethostname()}:{door.port}/"
        assert door.knows(f"{name or '192.168.1.5'}:{door.port}")
        assert not door.knows(f"evil.example:{door.port}")
    with open_door("localhost", 0, None) as (door, _):
        assert door.token == ""


def test_names_are_not_known_at_any_address() -> None:
    anywhere = Door("0.0.0.0", 80, TOKEN)
    assert anywhere.knows("192.168.1.5:80")
    assert anywhere.knows("[fe80::1]:80")
    assert not anywhere.knows("evil.example:80")
    assert not Door("192.168.1.5", 80, TOKEN).knows("192.168.1.6:80")


BAD = [
    "",
    "null",
    "[]",
    "{}",
    "not json",
    '{"do": "open"}',
    '{"do": "erase", "pane": 0}',
    '{"do": "open", "pane": 0, "run": "../../etc/passwd"}',
    '{"do": "open", "pane": 0, "run": "0000000000000000"}',
    '{"do": "join", "pane": 0, "session": "0000000000000000"}',
    '{"do": "control", "session": "0000000000000000", "what": "close"}',
    '{"do": "look", "pane": 0, "more": 1}',
    '{"do": "look", "pane": "0"}',
    '{"do": "look", "pane": 0, "moment": -1}',
    '{"do": "drive", "pane": 0, "number": 1, "steps": 100000000}',
    '{"do": "drive", "pane": 0, "number": 1, "observation": [NaN, 1]}',
    '{"do": "drive", "pane": 0, "number": 1, "observation": [1e999, 1]}',
    '{"do": "explain", "pane": 0, "observations": []}',
    '{"do": "explain", "pane": 0, "observations": [[0], [0], [0]]}',
    '{"do": "learn", "pane": 0, "task": "/tmp/own.py:Task"}',
    '{"do": "learn", "pane": 0, "task": "os:system-v0"}',
    '{"do": "learn", "pane": 0, "task": "no_such_package/Task-v0"}',
    '{"do": "learn", "pane": 0, "task": "nothing-v0"}',
    '{"do": "learn", "pane": 0, "task": "puck", "epsilon": -1}',
    '{"do": "learn", "pane": 0, "task": "puck", "seed": -1}',
    '{"do": "learn", "pane": 0, "task": "puck", "regions": 1000}',
    '{"do": "look", "pane": 0, "moment": ' + "9" * 5000 + "}",
    "[" * 5000,
]


#: These are well formed, but ask for what there is not.
ANSWERED = [
    text for text in BAD if "0000000000000000" in text or "nothing-v0" in text or "no_such_package" in text
] + [
    '{"do": "learn", "pane": 0, "task": "puck", "epsilon": -1}',
    '{"do": "learn", "pane": 0, "task": "puck", "regions": 1000}',
]


def test_what_is_not_understood_is_answered_with_a_sentence(studio: Served) -> None:
    with studio.page() as page:
        page.wait("lists")
        for text in BAD:
            page.socket.send(text)
            sentence = page.sentence()
            assert sentence.endswith((".", "?")), text
            assert "\n" not in sentence
            assert len(sentence) <= 600
            assert "Traceback" not in sentence
            assert ("does not understand" in sentence) == (text not in ANSWERED), sentence
        page.socket.send(b"\x00\x01bytes")
        assert page.sentence() == "The studio takes text only, got bytes."
        page.send(do="look", pane=0)
        assert "nothing in this pane" in page.sentence()


def test_a_message_that_is_too_long_ends_its_page_alone(studio: Served) -> None:
    with studio.page() as good:
        with studio.page() as bad:
            bad.wait("lists")
            bad.socket.send("x" * (LARGEST_MESSAGE + 1))
            with pytest.raises(ConnectionClosed) as error:
                bad.socket.recv(timeout=30)
        assert error.value.rcvd is not None
        assert error.value.rcvd.code == 1009
        good.send(do="look", pane=0)
        assert "nothing in this pane" in good.sentence()


def test_a_flood_is_answered_by_its_end(studio: Served) -> None:
    with studio.page() as page:
        for number in range(3000):
            page.send(do="look", pane=0, moment=number)
        assert "nothing in this pane" in page.sentence()
    assert is_alive(studio)
