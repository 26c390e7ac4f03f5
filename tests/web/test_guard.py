"""Who is let in, and what every answer carries; asked of the guard itself, in front of an application that says yes."""

import asyncio
import json
import re
from base64 import b64encode
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

import httpx
import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import Receive, Scope, Send

from tests.approved.sentences import Approved
from tests.web.servers import awaited
from unveil.web import guard
from unveil.web.guard import HEADERS, ClosingResponse, Guard, Keys, plain_page

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

    def spend(self, token: str, headers: Mapping[str, str] | None = None) -> httpx.Response:
        """Return the answer to the script of the first page, which sends the token of the link."""
        return self.ask("POST", "/enter", {"origin": BASE, "unveil-token": token, **(headers or {})})

    def enter(self) -> "Inside":
        """Return a browser that opened the link."""
        answer = self.spend(self.keys.new_token())
        assert answer.status_code == 200
        return Inside(self, answer.json()["root"], answer.headers["set-cookie"].partition(";")[0])


class Inside:
    """A browser that opened the link: where its pages lie, and what it sends with each request."""

    def __init__(self, door: Door, root: str, cookie: str) -> None:
        self.door = door
        self.root = root
        self.headers = {"cookie": cookie, "origin": BASE}

    def ask(self, method: str, path: str, headers: Any = None, **more: Any) -> httpx.Response:
        sent: Any = headers if isinstance(headers, list) else {**self.headers, **(headers or {})}
        return self.door.ask(method, f"{self.root}{path}", sent, **more)


@pytest.fixture
def door() -> Door:
    return Door()


def test_the_link_lets_in_once(door: Door) -> None:
    token = door.keys.new_token()
    assert len(token) >= 40
    first = door.spend(token)
    root = first.json()["root"]
    assert re.fullmatch("/[-_0-9A-Za-z]{40,}", root)
    assert token not in f"{first.headers}{first.text}"
    cookie = first.headers["set-cookie"]
    secret = cookie.partition(";")[0]
    assert secret.partition("=")[2] not in (root[1:], token)
    parts = {part.strip().lower() for part in cookie.split(";")[1:]}
    # Below its path alone: what a browser sends to a server on another port has none that begins so.
    assert {"httponly", "samesite=strict", f"path={root.lower()}"} <= parts
    assert any(part.startswith("max-age=") for part in parts), "closing the browser must not lose the results"
    assert not any(part.startswith("domain") for part in parts)
    assert door.ask("GET", f"{root}/", {"cookie": secret}).json() == {"yes": 0}
    assert door.spend(token).status_code == 403
    assert door.ask("GET", f"{root}/", {"cookie": secret}).status_code == 200, "who is in stays in"


def test_each_of_the_two_secrets_is_worth_nothing_alone(door: Door) -> None:
    former = door.enter()
    inside = door.enter()
    cookie = inside.headers["cookie"]
    name, _, secret = cookie.partition("=")
    assert inside.ask("GET", "/files").status_code == 200
    for path in ("/files", "/x/files", f"/{secret}/files", f"{former.root}/files", f"/x{inside.root}/files"):
        assert door.ask("GET", path, {"cookie": cookie}).status_code == 403, "the cookie without the path"
    for wrong in ("", f"{name}=", former.headers["cookie"], f"{name}={inside.root[1:]}", f"{name}={inside.root}"):
        assert inside.ask("GET", "/files", {"cookie": wrong}).status_code == 403, "the path without the cookie"
    for path in (inside.root[:-1], f"{inside.root}x", inside.root.swapcase()):
        assert door.ask("GET", f"{path}/files", {"cookie": cookie}).status_code == 403


def test_a_cookie_that_another_server_plants_neither_lets_in_nor_locks_out(door: Door) -> None:
    inside = door.enter()
    name, _, secret = inside.headers["cookie"].partition("=")
    for sent in (f"{name}=evil; {name}={secret}", f"{name}={secret}; {name}=evil", f"a=b;{name}={secret};;=;c"):
        assert inside.ask("GET", "/", {"cookie": sent}).status_code == 200
    assert inside.ask("GET", "/", {"cookie": f'{name}=evil; {name}="{secret}"'}).status_code == 403
    assert Guard(says_yes, keys=Keys(), port=PORT).cookie != name, "each server has a name of its own"


def test_without_a_link_the_answer_is_one_sentence_that_helps(door: Door, approved: Approved) -> None:
    door.keys.new_token()
    for path in ("/audit", "/assets/web.js", "/jobs/1/report", "/enter", "/enter.js", "/x/?token=a"):
        answer = door.ask("GET", path, {"accept": "text/html"})
        assert answer.status_code == 403
        assert answer.headers["content-type"] == "text/html; charset=utf-8"
        approved(answer.text)
        assert "<h1>This page is private</h1>" in answer.text
        assert "<script" not in answer.text
    assert set(door.ask("GET", "/files").json()) == {"error"}


def test_the_first_page_is_for_everybody_and_tells_nothing(door: Door) -> None:
    answers = {door.ask("GET", path).text for path in ("/", "/?token=a", "/?x=<b>")}
    door.keys.new_token()
    inside = door.enter()
    answers |= {door.ask("GET", "/", headers).text for headers in (inside.headers, {"sec-fetch-site": "cross-site"})}
    (page,) = answers
    assert inside.root not in page
    policy = door.ask("GET", "/").headers["content-security-policy"]
    script = re.search("<script>(.*)</script>", page, re.DOTALL)
    assert script is not None
    digest = b64encode(sha256(script[1].encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in policy
    assert "</script" not in script[1]
    assert door.ask("POST", "/", inside.headers).status_code == 403


def test_nothing_but_the_link_is_a_key(door: Door) -> None:
    token = door.keys.new_token()
    assert door.ask("GET", "/enter", {"unveil-token": token}).status_code == 403
    assert door.ask("POST", f"/enter?token={token}", {"origin": BASE}).status_code == 403
    assert door.ask("POST", "/", {"origin": BASE, "unveil-token": token}).status_code == 403
    assert door.ask("POST", "/enter", {"origin": BASE, "authorization": f"Bearer {token}"}).status_code == 403
    assert door.ask("POST", "/enter", {"origin": BASE, "cookie": f"{door.guard.cookie}={token}"}).status_code == 403
    twice: Any = [("origin", BASE), ("unveil-token", token), ("unveil-token", token)]
    assert door.ask("POST", "/enter", twice).status_code == 403
    for wrong in ("", "x", token[:-1], f"{token}x", token.swapcase()):
        assert door.spend(wrong).status_code == 403
    ahead = door.ask("GET", "/", {"sec-purpose": "prefetch;prerender"})
    assert ahead.status_code == 503
    # None of this has spent it.
    assert door.spend(token).status_code == 200


def test_who_keeps_the_link_elsewhere_hears_that_it_is_spent() -> None:
    heard: list[bool] = []
    keys = Keys(spent=lambda: heard.append(True))
    token = keys.new_token()
    assert keys.spend("wrong") is None
    assert heard == []
    assert keys.spend(token) is not None
    assert keys.spend(token) is None
    assert heard == [True]


def test_a_new_link_replaces_the_old_one_and_ends_the_session_when_used(door: Door) -> None:
    old = door.keys.new_token()
    assert door.spend(door.keys.new_token()).status_code == 200
    assert door.spend(old).status_code == 403
    mine = door.enter()
    token = door.keys.new_token()
    assert mine.ask("GET", "/").status_code == 200, "a link that was printed and not used changes nothing"
    theirs = door.spend(token)
    assert mine.ask("GET", "/").status_code == 403
    there = Inside(door, theirs.json()["root"], theirs.headers["set-cookie"].partition(";")[0])
    assert there.ask("GET", "/").status_code == 200


@pytest.mark.parametrize("wrong", ["", "x", "{0}", "{0}=", "{0}=é", "unveil-4711={1}", "unveil={1}", "x=1; y={1}"])
def test_a_wrong_cookie_does_not_let_in(door: Door, wrong: str) -> None:
    inside = door.enter()
    name, _, secret = inside.headers["cookie"].partition("=")
    sent: Any = {"cookie": wrong.format(name, secret).encode()}
    assert inside.ask("GET", "/", sent).status_code == 403
    assert inside.ask("GET", "/", {"cookie": f"a=b; {name}={secret}; c=d"}).status_code == 200


def test_keys_are_compared_in_constant_time(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def compare(one: bytes, other: bytes) -> bool:
        seen.append(one)
        return one == other

    monkeypatch.setattr("hmac.compare_digest", compare)
    keys = Keys()
    session = keys.spend(keys.new_token())
    assert session is not None
    assert keys.session(session.place, [session.cookie]) == session
    assert len(seen) == 3


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
        f"localhost:{PORT}",
        "",
    ],
)
def test_another_host_is_refused_even_with_the_cookie(door: Door, host: str) -> None:
    # A name that somebody makes point here (DNS rebinding) arrives as that name.
    inside = door.enter()
    token = door.keys.new_token()
    for method in ("GET", "POST"):
        answer = inside.ask(method, "/", {"host": host, "origin": f"http://{host}"})
        assert answer.status_code == 421
    assert door.ask("GET", "/", {"host": host}).status_code == 421
    assert door.spend(token, {"host": host, "origin": f"http://{host}"}).status_code == 421
    assert door.spend(token).status_code == 200, "a foreign page has not spent the link"


def test_two_hosts_are_none(door: Door) -> None:
    inside = door.enter()
    headers: Any = [("host", HOST), ("host", "evil.example"), *inside.headers.items()]
    assert inside.ask("GET", "/", headers).status_code == 421


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
    inside = door.enter()
    del inside.headers["origin"]
    sent = {} if origin is None else {"origin": origin}
    assert inside.ask(method, "/jobs", sent).status_code == 403
    token = door.keys.new_token()
    assert door.ask("POST", "/enter", {"unveil-token": token, **sent}).status_code == 403
    assert door.spend(token).status_code == 200


@pytest.mark.parametrize("method", WRITES)
def test_writing_with_our_own_origin_is_let_through(door: Door, method: str) -> None:
    assert door.enter().ask(method, "/jobs", json={}).json() == {"yes": 2}


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
    assert door.enter().ask(method, "/", {"sec-fetch-site": site}).status_code == status


def test_a_foreign_page_cannot_spend_the_link(door: Door) -> None:
    token = door.keys.new_token()
    for site in ("cross-site", "same-site", "none"):
        assert door.spend(token, {"sec-fetch-site": site}).status_code == 403
    assert door.spend(token, {"sec-fetch-site": "same-origin"}).status_code == 200


@pytest.mark.parametrize(
    "kind",
    ["application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/plain", "Text/Plain;charset=utf-8"],
)
def test_what_a_form_could_send_is_refused(door: Door, kind: str) -> None:
    inside = door.enter()
    sent = '{"question": "study"}'
    assert inside.ask("POST", "/jobs", {"content-type": kind}, content=sent).status_code == 415
    foreign = {"content-type": kind, "origin": "http://evil.example", "sec-fetch-site": "cross-site"}
    assert inside.ask("POST", "/jobs", foreign, content=sent).status_code == 403


@pytest.mark.parametrize("case", ["fine", "entrance", "entered", "no cookie", "host", "origin", "form"])
def test_every_answer_is_protected(door: Door, case: str) -> None:
    inside = door.enter()
    answer = {
        "fine": lambda: inside.ask("GET", "/"),
        "entrance": lambda: door.ask("GET", "/"),
        "entered": lambda: door.spend(door.keys.new_token()),
        "no cookie": lambda: door.ask("GET", "/files"),
        "host": lambda: inside.ask("GET", "/", {"host": "evil.example"}),
        "origin": lambda: inside.ask("POST", "/", {"origin": "http://evil.example"}),
        "form": lambda: inside.ask("POST", "/", {"content-type": "text/plain"}, content="x"),
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
    answer = door.enter().ask("GET", "/")
    assert answer.headers.get_list("content-security-policy") == ["default-src 'self'"]


def test_too_many_requests_at_once_are_asked_to_come_back(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "MOST_REQUESTS", 0)
    inside = door.enter()
    assert inside.ask("GET", "/").status_code == 503
    assert "Try again" in inside.ask("GET", "/").json()["error"]


def test_sockets_that_stay_open_are_not_spoken() -> None:
    sent: list[Any] = []

    async def collect(message: Any) -> None:
        sent.append(message)

    async def nothing() -> Any:
        return {"type": "websocket.connect"}

    awaited(Guard(says_yes, keys=Keys(), port=PORT)({"type": "websocket", "headers": []}, nothing, collect))
    assert sent == []


def answered(pieces: list[Any], headers: list[tuple[bytes, bytes]], closing: ClosingResponse) -> tuple[list[Any], int]:
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
    sent, read = answered([piece] * 5 + [last], [], ClosingResponse("no", 413))
    assert read == 6
    assert (sent[0]["status"], sent[1]["body"], sent[-1]["more_body"]) == (413, b"no", False)
    assert (b"connection", b"close") in sent[0]["headers"]
    assert answered([{"type": "http.disconnect"}], [], ClosingResponse("no", 413))[1] == 1


def test_an_early_answer_does_not_wait_for_who_sends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ClosingResponse, "patience", 0.01)
    assert answered([], [], ClosingResponse("no", 413))[0][-1]["more_body"] is False
    monkeypatch.setattr(ClosingResponse, "patience", 60)
    assert answered([], [(b"expect", b"100-continue")], ClosingResponse("no", 413))[0][-1]["more_body"] is False


def test_the_plain_page_needs_nothing_else() -> None:
    page = plain_page(403, "<script>alert(1)</script>")
    assert "<script" not in page
    assert "src=" not in page
    assert 'lang="en"' in page
    assert json.dumps(page)
