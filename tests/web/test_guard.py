"""Who is let in, and what every answer carries; asked of the guard itself, in front of an application that says yes."""

import asyncio
import json
from collections.abc import Mapping
from typing import Any

import httpx
import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import Receive, Scope, Send

from tests.web.servers import awaited
from unveil.web import guard
from unveil.web.guard import HEADERS, Closing, Guard, Keys, plain_page

PORT = 4711
HOST = f"127.0.0.1:{PORT}"
BASE = f"http://{HOST}"
WRITES = ("POST", "PUT", "DELETE", "PATCH", "OPTIONS", "FOO")


async def says_yes(scope: Scope, receive: Receive, send: Send) -> None:
    body = await Request(scope, receive).body()
    await JSONResponse({"yes": len(body)})(scope, receive, send)


class Door:
    """A guard and its keys, asked as a browser would."""

    def __init__(self) -> None:
        self.keys = Keys()
        self.guard = Guard(says_yes, keys=self.keys, port=PORT)

    def ask(self, method: str, path: str, headers: Mapping[str, str] | None = None, **more: Any) -> httpx.Response:
        async def asked() -> httpx.Response:
            transport = httpx.ASGITransport(app=self.guard)
            async with httpx.AsyncClient(transport=transport, base_url=BASE) as client:
                return await client.request(method, path, headers=headers, **more)

        return awaited(asked())

    def enter(self) -> dict[str, str]:
        """Return the headers of a browser that opened the link."""
        answer = self.ask("GET", f"/?token={self.keys.new_token()}")
        assert answer.status_code == 303
        return {"cookie": answer.headers["set-cookie"].partition(";")[0], "origin": BASE}


@pytest.fixture
def door() -> Door:
    return Door()


def test_the_link_lets_in_once(door: Door) -> None:
    token = door.keys.new_token()
    assert len(token) >= 40
    first = door.ask("GET", f"/?token={token}")
    assert (first.status_code, first.headers["location"], first.content) == (303, "/", b"")
    assert token not in str(first.headers)
    cookie = first.headers["set-cookie"]
    secret = cookie.partition(";")[0]
    parts = {part.strip().lower() for part in cookie.split(";")[1:]}
    assert {"httponly", "samesite=strict", "path=/"} <= parts
    assert any(part.startswith("max-age=") for part in parts), "closing the browser must not lose the results"
    assert not any(part.startswith("domain") for part in parts)
    assert door.ask("GET", "/", {"cookie": secret}).json() == {"yes": 0}
    assert door.ask("GET", f"/?token={token}").status_code == 403
    # Who is in may press the link in the terminal once more.
    again = door.ask("GET", f"/?token={token}", {"cookie": secret})
    assert (again.status_code, "set-cookie" in again.headers) == (303, False)


def test_without_a_link_the_answer_is_one_sentence_that_helps(door: Door) -> None:
    door.keys.new_token()
    for path in ("/", "/audit", "/assets/web.js", "/jobs/1/report", "/?token=", "/?token=wrong", "/?token=a&token=b"):
        answer = door.ask("GET", path, {"accept": "text/html"})
        assert answer.status_code == 403
        assert answer.headers["content-type"] == "text/html; charset=utf-8"
        assert "the terminal where unveil serve was started" in answer.text
        assert "<h1>This page is private</h1>" in answer.text
        assert "<script" not in answer.text
    assert set(door.ask("GET", "/").json()) == {"error"}


def test_nothing_but_the_link_is_a_key(door: Door) -> None:
    token = door.keys.new_token()
    assert door.ask("GET", f"/audit?token={token}").status_code == 403
    assert door.ask("HEAD", f"/?token={token}").status_code == 403
    assert door.ask("POST", f"/?token={token}", {"origin": BASE}).status_code == 403
    assert door.ask("GET", "/", {"cookie": f"unveil-{PORT}={token}"}).status_code == 403
    assert door.ask("GET", "/", {"authorization": f"Bearer {token}"}).status_code == 403
    ahead = door.ask("GET", f"/?token={token}", {"sec-purpose": "prefetch;prerender"})
    assert ahead.status_code == 503
    # None of this has spent it.
    assert door.ask("GET", f"/?token={token}").status_code == 303


def test_a_new_link_replaces_the_old_one_and_ends_the_session_when_used(door: Door) -> None:
    old = door.keys.new_token()
    assert door.ask("GET", f"/?token={door.keys.new_token()}").status_code == 303
    assert door.ask("GET", f"/?token={old}").status_code == 403
    mine = door.enter()
    token = door.keys.new_token()
    assert door.ask("GET", "/", mine).status_code == 200, "a link that was printed and not used changes nothing"
    theirs = door.ask("GET", f"/?token={token}").headers["set-cookie"].partition(";")[0]
    assert door.ask("GET", "/", mine).status_code == 403
    assert door.ask("GET", "/", {"cookie": theirs}).status_code == 200


@pytest.mark.parametrize(
    "wrong", ["", "x", "unveil-4711", "unveil-4711=", "unveil-4711=é", "unveil-4712={0}", "unveil={0}", "x=1; y={0}"]
)
def test_a_wrong_cookie_does_not_let_in(door: Door, wrong: str) -> None:
    secret = door.enter()["cookie"].partition("=")[2]
    sent: Any = {"cookie": wrong.format(secret).encode()}
    assert door.ask("GET", "/", sent).status_code == 403
    assert door.ask("GET", "/", {"cookie": f"a=b; unveil-{PORT}={secret}; c=d"}).status_code == 200


def test_keys_are_compared_in_constant_time(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def compare(one: bytes, other: bytes) -> bool:
        seen.append(one)
        return one == other

    monkeypatch.setattr("hmac.compare_digest", compare)
    keys = Keys()
    secret = keys.spend(keys.new_token())
    assert secret is not None
    assert keys.knows(secret)
    assert len(seen) == 2


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        f"evil.example:{PORT}",
        "127.0.0.1",
        "127.0.0.1:80",
        f"127.0.0.1:{PORT + 1}",
        f"127.0.0.1.evil.example:{PORT}",
        f"localhost.evil.example:{PORT}",
        f"evil@127.0.0.1:{PORT}",
        f"[::1]:{PORT}",
        f"0.0.0.0:{PORT}",
        f"127.0.0.2:{PORT}",
        f"2130706433:{PORT}",
        "",
    ],
)
def test_another_host_is_refused_even_with_the_cookie(door: Door, host: str) -> None:
    # A name that somebody makes point here (DNS rebinding) arrives as that name.
    inside = door.enter()
    token = door.keys.new_token()
    for method in ("GET", "POST"):
        answer = door.ask(method, "/", {**inside, "host": host, "origin": f"http://{host}"})
        assert answer.status_code == 421
    assert door.ask("GET", f"/?token={token}", {"host": host}).status_code == 421
    assert door.ask("GET", f"/?token={token}").status_code == 303, "a foreign page has not spent the link"


def test_localhost_is_this_machine_too(door: Door) -> None:
    inside = door.enter()
    assert door.ask("GET", "/", {**inside, "host": f"LocalHost:{PORT}"}).status_code == 200
    local = {**inside, "host": f"localhost:{PORT}"}
    assert door.ask("POST", "/", {**local, "origin": f"http://localhost:{PORT}"}).status_code == 200
    assert door.ask("POST", "/", local).status_code == 403, "the page was opened under the other name"


def test_two_hosts_are_none(door: Door) -> None:
    inside = door.enter()
    headers: Any = [("host", HOST), ("host", "evil.example"), *inside.items()]
    assert door.ask("GET", "/", headers).status_code == 421


@pytest.mark.parametrize("method", WRITES)
@pytest.mark.parametrize(
    "origin",
    [
        None,
        "null",
        "",
        "http://evil.example",
        f"https://{HOST}",
        f"http://localhost:{PORT}",
        f"http://127.0.0.1:{PORT + 1}",
        f"http://{HOST}/",
        f"http://{HOST}.evil.example",
    ],
)
def test_writing_needs_our_own_origin(door: Door, method: str, origin: str | None) -> None:
    headers = door.enter()
    del headers["origin"]
    if origin is not None:
        headers["origin"] = origin
    assert door.ask(method, "/jobs", headers).status_code == 403


@pytest.mark.parametrize("method", WRITES)
def test_writing_with_our_own_origin_is_let_through(door: Door, method: str) -> None:
    assert door.ask(method, "/jobs", door.enter(), json={}).json() == {"yes": 2}


@pytest.mark.parametrize(
    ("method", "site", "status"),
    [
        ("GET", "cross-site", 403),
        ("GET", "same-site", 403),
        ("GET", "none", 200),
        ("GET", "same-origin", 200),
        ("POST", "cross-site", 403),
        ("POST", "same-site", 403),
        ("POST", "none", 403),
        ("POST", "same-origin", 200),
    ],
)
def test_what_the_browser_says_about_the_page_behind_a_request_is_believed(
    door: Door, method: str, site: str, status: int
) -> None:
    # Another port of this machine is the same site to a browser, which sends the cookie there and back.
    assert door.ask(method, "/", {**door.enter(), "sec-fetch-site": site}).status_code == status


def test_a_foreign_page_cannot_spend_the_link(door: Door) -> None:
    token = door.keys.new_token()
    assert door.ask("GET", f"/?token={token}", {"sec-fetch-site": "cross-site"}).status_code == 403
    assert door.ask("GET", f"/?token={token}", {"sec-fetch-site": "none"}).status_code == 303


@pytest.mark.parametrize(
    "kind",
    ["application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/plain", "Text/Plain;charset=utf-8"],
)
def test_what_a_form_could_send_is_refused(door: Door, kind: str) -> None:
    inside = door.enter()
    sent = '{"question": "study"}'
    assert door.ask("POST", "/jobs", {**inside, "content-type": kind}, content=sent).status_code == 415
    foreign = {**inside, "content-type": kind, "origin": "http://evil.example", "sec-fetch-site": "cross-site"}
    assert door.ask("POST", "/jobs", foreign, content=sent).status_code == 403


@pytest.mark.parametrize("case", ["fine", "redirect", "no cookie", "host", "origin", "form"])
def test_every_answer_is_protected(door: Door, case: str) -> None:
    inside = door.enter()
    answer = {
        "fine": lambda: door.ask("GET", "/", inside),
        "redirect": lambda: door.ask("GET", f"/?token={door.keys.new_token()}"),
        "no cookie": lambda: door.ask("GET", "/"),
        "host": lambda: door.ask("GET", "/", {**inside, "host": "evil.example"}),
        "origin": lambda: door.ask("POST", "/", {**inside, "origin": "http://evil.example"}),
        "form": lambda: door.ask("POST", "/", {**inside, "content-type": "text/plain"}, content="x"),
    }[case]()
    for name, value in HEADERS.items():
        if name != "content-security-policy":
            assert answer.headers.get_list(name) == [value]
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; ")
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert not any(name.startswith("access-control-") for name in answer.headers)


def test_headers_of_the_application_win() -> None:
    async def framed(scope: Scope, receive: Receive, send: Send) -> None:
        await JSONResponse({}, headers={"content-security-policy": "default-src 'self'"})(scope, receive, send)

    door = Door()
    door.guard.app = framed
    answer = door.ask("GET", "/", door.enter())
    assert answer.headers.get_list("content-security-policy") == ["default-src 'self'"]


def test_too_many_requests_at_once_are_asked_to_come_back(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "MOST_REQUESTS", 0)
    inside = door.enter()
    assert door.ask("GET", "/", inside).status_code == 503
    assert "Try again" in door.ask("GET", "/", inside).json()["error"]


def test_sockets_that_stay_open_are_not_spoken() -> None:
    sent: list[Any] = []

    async def collect(message: Any) -> None:
        sent.append(message)

    async def nothing() -> Any:
        return {"type": "websocket.connect"}

    awaited(Guard(says_yes, keys=Keys(), port=PORT)({"type": "websocket", "headers": []}, nothing, collect))
    assert sent == []


def answered(pieces: list[Any], headers: list[tuple[bytes, bytes]], closing: Closing) -> tuple[list[Any], int]:
    """Return what was sent, and how many of the pieces were read."""
    sent: list[Any] = []
    left = list(pieces)

    async def receive() -> Any:
        if not left:
            await asyncio.sleep(60)
        return left.pop(0)

    async def send(message: Any) -> None:
        sent.append(message)

    awaited(closing({"type": "http", "method": "PUT", "headers": headers}, receive, send))
    return sent, len(pieces) - len(left)


def test_an_early_answer_reads_the_rest_and_keeps_nothing() -> None:
    piece = {"type": "http.request", "body": b"x" * 1000, "more_body": True}
    last = {"type": "http.request", "body": b"", "more_body": False}
    sent, read = answered([piece] * 5 + [last], [], Closing("no", 413))
    assert read == 6
    assert (sent[0]["status"], sent[1]["body"], sent[-1]["more_body"]) == (413, b"no", False)
    assert (b"connection", b"close") in sent[0]["headers"]
    assert answered([{"type": "http.disconnect"}], [], Closing("no", 413))[1] == 1


def test_an_early_answer_does_not_wait_for_who_sends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Closing, "patience", 0.01)
    assert answered([], [], Closing("no", 413))[0][-1]["more_body"] is False
    monkeypatch.setattr(Closing, "patience", 60)
    assert answered([], [(b"expect", b"100-continue")], Closing("no", 413))[0][-1]["more_body"] is False


def test_the_plain_page_needs_nothing_else() -> None:
    page = plain_page(403, "<script>alert(1)</script>")
    assert "<script" not in page
    assert "src=" not in page
    assert 'lang="en"' in page
    assert json.dumps(page)
