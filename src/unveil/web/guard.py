"""Access control: this machine, the signed-in browser, and own pages only.

A browser that is in shows two secrets with each request: a cookie, and the first part of the path, which all our pages
lie below. Neither is worth anything without the other, because each can get lost in its own way:

* Cookies do not know ports: a browser sends those of 127.0.0.1 to every server there, also to one that somebody else
  has started on another port. Ours is kept for its path alone, though, and no other server has pages below a path that
  it cannot know. Should the cookie get out nevertheless, the path is missing. What another server makes the browser
  keep under the same name lies beside our cookie, and not in its place.
* A path stands in the address bar and in the history of the browser, and may be read over somebody's shoulder: there
  the cookie is missing. Other servers are not told the path, because our pages send no referrer.

Both come from the link in the terminal. Its token is behind the ``#``, which browsers keep to themselves: no server,
log or referrer sees it. The page at ``/``, which anybody may see, sends it once and clears the address bar.
"""

import asyncio
import contextlib
import hmac
import json
import secrets
from base64 import b64encode
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from html import escape

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from unveil.report.templates import text_of
from unveil.web import title_of

#: What a form of another page could send without asking first.
_FORM_TYPES = frozenset({"application/x-www-form-urlencoded", "multipart/form-data", "text/plain"})
#: Where a request remembers that all of it has been read.
_READ = "unveil.read"
#: Where a request remembers that it is one of the browser that is in: its connection is kept when there are too many.
INSIDE = "unveil.inside"
#: Where a token is sent, and in which header: a page elsewhere could not send that without asking first.
ENTRANCE = "/enter"
TOKEN = b"unveil-token"

READS = frozenset({"GET", "HEAD"})
#: The cookie outlives the browser, so that closing it loses nothing; the server forgets it when it stops.
_COOKIE_SECONDS = 30 * 24 * 3600
#: So many requests are answered at a time; more are asked to try again.
MOST_REQUESTS = 100

PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": PAGE_POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}

_STYLE = "body{font:1.1rem/1.5 system-ui,sans-serif;max-width:40rem;margin:15vh auto;padding:0 1rem}"
_ALL_CLOSED = "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

WHAT_TO_DO = (
    "Open the address that stands in the terminal where unveil serve was started. It works once; press Enter there "
    "for a new one."
)


@dataclass(frozen=True, kw_only=True)
class Session:
    """Session of the browser: its cookie value and path prefix."""

    cookie: str
    place: str

    @property
    def root(self) -> str:
        """Path prefix of every page."""
        return f"/{self.place}"


class Keys:
    """Sign-in link, valid once, and the session of the browser.

    There is one of each: whoever reads a link over somebody's shoulder and is faster is out again as soon as its owner
    has used the next one.

    Parameters
    ----------
    spent
        Called when a link has let a browser in: where else it was kept, it can be removed.
    """

    def __init__(self, spent: Callable[[], None] = lambda: None) -> None:
        self._token: str | None = None
        self._session: Session | None = None
        self._spent = spent

    def new_token(self) -> str:
        """Return a new sign-in token, and revoke the previous one."""
        self._token = secrets.token_urlsafe(32)
        return self._token

    def spend(self, token: str) -> Session | None:
        """Return a new session for a valid token; end the old."""
        if self._token is None or not _same(token, self._token):
            return None
        self._token = None
        self._session = Session(cookie=secrets.token_urlsafe(32), place=secrets.token_urlsafe(32))
        self._spent()
        return self._session

    def session(self, place: str, cookies: list[str]) -> Session | None:
        """Return the session for a matching path and cookie, or None.

        It takes a time that does not tell how much of either is right.
        """
        here = self._session
        if here is None or not _same(place, here.place) or not any(_same(each, here.cookie) for each in cookies):
            return None
        return here


class Guard:
    """Middleware that refuses foreign requests and adds protective headers.

    Parameters
    ----------
    app
        What is protected.
    keys
        Who is let in.
    port
        Where the server listens: other ports are other servers.
    """

    def __init__(self, app: ASGIApp, *, keys: Keys, port: int) -> None:
        self.app = app
        self.keys = keys
        # Not localhost: it may mean ::1 as well, where somebody else may listen on the same port.
        self.hosts = {f"127.0.0.1:{port}"} | ({"127.0.0.1"} if port == 80 else set())
        # Cookies do not know ports, so that no two servers must use the same name.
        self.cookie = f"unveil-{secrets.token_hex(8)}"
        self._answering = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return  # and whatever else there may be, such as a socket that stays open, is not spoken here
        answer = self._refusal(scope) or self._entry(scope)
        if answer is None and self._answering >= MOST_REQUESTS:
            answer = plain_answer(scope, 503, "Busy: too many requests at once. Try again in a moment.")
        if answer is not None:
            await answer(scope, receive, send)
            return
        self._answering += 1
        try:
            await self.app(scope, _noticed(scope, receive), _protected(send))
        finally:
            self._answering -= 1

    def _refusal(self, scope: Scope) -> Response | None:
        """Return the refusal of a request from a foreign page, or None."""
        hosts = _values(scope, b"host")
        if len(hosts) != 1 or hosts[0].lower() not in self.hosts:
            return plain_answer(scope, 421, f"This server does not answer to that name. {WHAT_TO_DO}")
        site = _values(scope, b"sec-fetch-site")
        reads = scope["method"] in READS
        # The entrance is for those who come from elsewhere, such as the file that the browser is started with.
        entrance = reads and scope["path"] == "/"
        if not entrance and any(each not in ("same-origin", *(["none"] if reads else [])) for each in site):
            return plain_answer(scope, 403, f"This request came from another page. {WHAT_TO_DO}")
        if not reads:
            if _values(scope, b"origin") != [f"http://{hosts[0].lower()}"]:
                return plain_answer(scope, 403, f"This request did not come from a page of this server. {WHAT_TO_DO}")
            kinds = [each.partition(";")[0].strip().lower() for each in _values(scope, b"content-type")]
            if any(each in _FORM_TYPES for each in kinds) and scope["method"] != "PUT":
                return plain_answer(scope, 415, "Forms are sent as JSON here. Use the pages of this server.")
        return None

    def _entry(self, scope: Scope) -> Response | None:
        """Return the answer to a browser that is signing in."""
        if scope["path"] == "/" and scope["method"] in READS:
            if any("prefetch" in each for each in _values(scope, b"sec-purpose")):
                return plain_answer(scope, 503, "A link that works once is not fetched in advance.")
            return _entrance()
        if scope["path"] == ENTRANCE and scope["method"] == "POST":
            tokens = _values(scope, TOKEN)
            opened = self.keys.spend(tokens[0]) if len(tokens) == 1 else None
            if opened is not None:
                return self._opened(opened)
        cookies = [part.strip().partition("=") for text in _values(scope, b"cookie") for part in text.split(";")]
        values = [value for name, _, value in cookies if name == self.cookie]
        session = self.keys.session(scope["path"][1:].partition("/")[0], values)
        if session is None:
            return plain_answer(scope, 403, f"Only the browser that opened it gets in. {WHAT_TO_DO}")
        scope["root_path"] = session.root
        scope[INSIDE] = True
        return None

    def _opened(self, session: Session) -> Response:
        cookie = f"{self.cookie}={session.cookie}; Path={session.root}; HttpOnly; SameSite=Strict"
        headers = {**HEADERS, "set-cookie": f"{cookie}; Max-Age={_COOKIE_SECONDS}", "content-type": "application/json"}
        return ClosingResponse(json.dumps({"root": session.root}), 200, headers)


def wants_page(scope: Scope) -> bool:
    """Return whether a person opened the page by navigation."""
    return any("text/html" in each for each in _values(scope, b"accept"))


def plain_page(status: int, sentence: str) -> str:
    """Return a page that says one sentence.

    >>> "&lt;b&gt;" in plain_page(404, "There is no <b>")
    True
    """
    return _page(title_of(status), f"<p>{escape(sentence)}</p>")


def _page(title: str, body: str) -> str:
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n<link rel="icon" href="data:,">\n'
        f"<title>unveil: {escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n"
        f"<body>\n<main>\n<h1>{escape(title)}</h1>\n{body}\n</main>\n</body>\n</html>\n"
    )


def _plain_policy() -> str:
    return f"default-src 'none'; style-src '{_digest(_STYLE)}'; img-src data:; {_ALL_CLOSED}"


def _digest(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


class ClosingResponse(Response):
    """Response that is sent at once, then closes the connection.

    A browser that sends a large file reads the answer only once all is sent; if the connection were closed at once, it
    would say that the server is gone instead of why the file was refused.
    """

    #: So long is listened to what is thrown away, in seconds.
    patience = 10.0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the answer."""
        headers = [*self.raw_headers, (b"connection", b"close")]
        await send({"type": "http.response.start", "status": self.status_code, "headers": headers})
        body = b"" if scope["method"] == "HEAD" else bytes(self.body)
        await send({"type": "http.response.body", "body": body, "more_body": True})
        # Who waits to be told to go on has not sent anything, and reading would tell them.
        if not scope.get(_READ) and not any("100-continue" in each.lower() for each in _values(scope, b"expect")):
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self.patience):
                    while (await receive()).get("more_body", False):
                        pass
        await send({"type": "http.response.body", "body": b"", "more_body": False})


def plain_answer(scope: Scope, status: int, sentence: str) -> ClosingResponse:
    """Return a one-sentence answer, as page or JSON."""
    if wants_page(scope):
        body, kind = plain_page(status, sentence), "text/html; charset=utf-8"
    else:
        body, kind = json.dumps({"error": sentence}), "application/json"
    headers = {**HEADERS, "content-security-policy": _plain_policy(), "content-type": kind}
    return ClosingResponse(body, status, headers)


def _entrance() -> ClosingResponse:
    """Return the public entry page, which sends the sign-in token."""
    script = text_of("unveil.web", "enter.js")
    body = (
        f'<p id="wait" hidden>Opening …</p>\n<p id="refused" hidden>Only the browser that opened it gets in. '
        f"{escape(WHAT_TO_DO)}</p>\n<noscript><p>This page needs JavaScript. It is switched off in this browser; "
        f"switch it on for this address.</p></noscript>\n<script>{script}</script>"
    )
    policy = f"{_plain_policy()}; script-src '{_digest(script)}'; connect-src 'self'"
    headers = {**HEADERS, "content-security-policy": policy, "content-type": "text/html; charset=utf-8"}
    return ClosingResponse(_page("unveil", body), 200, headers)


def _noticed(scope: Scope, receive: Receive) -> Receive:
    """Return a receiver that notes the end of the request."""

    async def noticed() -> Message:
        message = await receive()
        scope[_READ] = not message.get("more_body", False)
        return message

    return noticed


def _protected(send: Send) -> Send:
    """Return a sender that adds missing protective headers."""

    async def protected(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = list(message.get("headers", []))
            there = {name.lower() for name, _ in headers}
            more = [(name.encode(), value.encode()) for name, value in HEADERS.items() if name.encode() not in there]
            message = {**message, "headers": [*headers, *more]}
        await send(message)

    return protected


def _values(scope: Scope, name: bytes) -> list[str]:
    return [value.decode("latin-1") for key, value in scope["headers"] if key.lower() == name]


def _same(one: str, other: str) -> bool:
    return hmac.compare_digest(one.encode("utf-8", "replace"), other.encode())
