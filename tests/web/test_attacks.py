"""Hundreds of hostile requests against one real server: none gets anything private, none changes anything.

Whoever attacks here knows all numbers of jobs and files, and as many secrets as the attack supposes: the cookie alone,
the path alone, or both, where a browser is made to send them for somebody else. Requests are written byte by byte.
"""

import contextlib
import socket
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import pytest

from tests.web.servers import Running, in_process

#: What only the signed-in browser may ever see: in a report, in the name of a file, in the name of a column.
REPORT, FILE, COLUMN = "Quillaja", "Zwetschge", "Xylophon"
EVIL = "http://evil.example"


@dataclass(frozen=True, kw_only=True)
class Target:
    """A server with something to hide, and all that an attacker may have found out."""

    server: Running
    job: str
    file: str

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.server.port}"

    @property
    def private(self) -> list[tuple[str, str]]:
        """Every way to something private: a method, and a path without the secret part."""
        job, file = f"/jobs/{self.job}", f"/files/{self.file}"
        reads = ["/files", job, f"{job}/state", f"{job}/report", f"{job}/answer.json", f"/study?again={self.job}"]
        writes = [("POST", f"{file}/look"), ("POST", "/jobs"), ("PUT", "/files?name=a.csv")]
        return [*(("GET", path) for path in reads), *writes, ("DELETE", file), ("DELETE", f"{job}?forget=1")]

    def request(
        self,
        method: str = "GET",
        path: str | None = None,
        *more: str,
        root: str | None = None,
        host: str | None = None,
        cookie: str | None = None,
        origin: str | None = None,
        version: str = "HTTP/1.1",
        end: str = "\r\n",
        body: str = "",
    ) -> bytes:
        """Return a request with both secrets and everything right, except for what is given."""
        place = self.server.root if root is None else root
        lines = [f"{method} {place}{self.report if path is None else path} {version}"]
        named = {
            "host": self.host if host is None else host,
            "origin": self.server.base if origin is None else origin,
            "cookie": self.server.cookie if cookie is None else cookie,
        }
        lines += [f"{name}: {value}" for name, value in named.items() if value != "-"]
        return (end.join([*lines, *more, "connection: close", "", ""]) + body).encode("latin-1")

    @property
    def report(self) -> str:
        return f"/jobs/{self.job}/report"

    def answer(self, request: bytes) -> bytes:
        """Return all that comes back until the connection is closed; the attacker has nothing more to send."""
        with socket.create_connection(("127.0.0.1", self.server.port), timeout=30) as connection:
            with contextlib.suppress(ConnectionError):
                connection.sendall(request)
            answer = b""
            with contextlib.suppress(ConnectionError):
                while piece := connection.recv(65_536):
                    answer += piece
            return answer

    def told(self, client_answer: bytes) -> bool:
        """Return whether an answer holds anything that only the signed-in browser may see."""
        secrets = (REPORT, FILE, COLUMN, self.server.root[1:], self.server.cookie.partition("=")[2])
        return any(each.encode() in client_answer for each in secrets)


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    """One server, with a report and a file to hide."""
    with in_process(tmp_path_factory.mktemp("server")) as server, server.client() as client:
        job = server.submit(client, f"tell {REPORT}")
        server.ended(client, job)
        given = client.put("/files", params={"name": f"{FILE}.csv"}, content=f"{COLUMN}\n1\n2\n".encode()).json()["id"]
        client.post(f"/files/{given}/look")
        yield Target(server=server, job=job, file=given)


def hosts(target: Target) -> Iterator[bytes]:
    """Names that somebody makes point here (DNS rebinding), and other ways to write one."""
    port = target.server.port
    names = ["evil.example", "evil.example:80", "localhost", "127.0.0.1", "127.1", "0x7f000001", "2130706433", "[::1]"]
    names += [
        "localhost.",
        "127.0.0.1.",
        "127.0.0.1.nip.io",
        "0",
        "127.0.0.2",
        "[::ffff:127.0.0.1]",
        "evil@127.0.0.1",
    ]
    for name in names:
        for host in {name, f"{name}:{port}"} - {target.host}:
            yield target.request(host=host, origin=f"http://{host}")
    for host in ("", "-", f"127.0.0.1:{port + 1}", f"127.0.0.1:{port}@evil.example", f"{target.host},evil.example"):
        yield target.request(host=host)
    for more in ("evil.example", target.host):
        yield target.request("GET", None, f"host: {more}")
    for name in ("x-forwarded-host", "x-host", "forwarded", "x-original-host"):
        yield target.request("GET", None, f"{name}: {target.host}", host="evil.example")


def foreign_pages(target: Target) -> Iterator[bytes]:
    """What pages elsewhere can make the browser send, if it sent both secrets along (CSRF)."""
    port = target.server.port
    origins = [
        "-",
        "null",
        "",
        EVIL,
        f"https://{target.host}",
        f"http://localhost:{port}",
        f"http://127.0.0.1:{port + 1}",
    ]
    origins += [f"http://{target.host}/", f"http://{target.host}.evil.example", "file://", f"{EVIL}#{target.host}"]
    writes = [(method, path) for method, path in target.private if method != "GET"]
    for origin, (method, path) in product(origins, writes):
        yield target.request(
            method, path, "content-type: application/json", "content-length: 2", origin=origin, body="{}"
        )
    for site in ("cross-site", "same-site", "CROSS-SITE", "", "same-origin, cross-site"):
        for mode in ("navigate", "no-cors", "cors"):
            yield target.request("GET", None, f"sec-fetch-site: {site}", f"sec-fetch-mode: {mode}")
    for kind in (
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "text/plain;a=json",
    ):
        yield target.request("POST", "/jobs", f"content-type: {kind}", "content-length: 2", body="{}")
    for method in ("POST", "DELETE"):
        yield target.request(method, None, "sec-fetch-site: none", f"referer: {target.server.base}/", origin="-")


def one_secret(target: Target) -> Iterator[bytes]:
    """The cookie as a server on another port got it, the path as somebody read it, and guesses at the other one."""
    server, twice = target.server, "content-length: 0"
    name, _, value = server.cookie.partition("=")
    for method, path in target.private:
        for root in (
            "",
            "/x",
            f"/{value}",
            server.root[:-1],
            server.root.swapcase(),
            f"/{server.root}",
            f"/x/..{server.root}",
        ):
            yield target.request(method, path, twice, root=root)
        for cookie in ("-", f"{name}=", f"{name}={server.root[1:]}", f"{name}={server.token}", f"{name}={value[:-1]}"):
            yield target.request(method, path, twice, cookie=cookie)


def planted_cookies(target: Target) -> Iterator[bytes]:
    """What another server on this machine can make the browser keep for us, beside or instead of our own."""
    name, _, value = target.server.cookie.partition("=")
    wrong = [f"{name}=x; {name}=y", f'{name}="{value}"', f"{name.upper()}={value}", f"$Version=1; {name}x={value}"]
    wrong += [f"{name},{value}", f"{name}: {value}", f"x={name}={value}", f"{name}={value}x", f"{name}=={value}", value]
    wrong += [f"unveil-{target.server.port}={value}", f"{name}[]={value}", f"={value}", f"{name};{value}", "a" * 8000]
    for cookie in wrong:
        yield target.request(cookie=cookie)


def other_keys(target: Target) -> Iterator[bytes]:
    """Tokens that are spent, guessed, or sent in another way; headers that programs believe elsewhere."""
    token, root = target.server.token, target.server.root
    for sent in (token, "", "x", f"{token},{token}", token[:-1]):
        yield target.request("POST", "/enter", f"unveil-token: {sent}", "content-length: 0", root="", cookie="-")
        yield target.request("GET", f"/enter?token={sent}", root="", cookie="-")
        yield target.request("GET", None, f"authorization: Bearer {sent}", root="", cookie="-")
    for name in ("x-original-url", "x-rewrite-url", "x-forwarded-prefix", "x-forwarded-path", "x-http-method-override"):
        yield target.request("GET", "/files", f"{name}: {root}/files", root="")
    for name in ("x-forwarded-for", "x-real-ip", "client-ip", "via", "x-forwarded-user", "remote-user"):
        yield target.request("GET", None, f"{name}: 127.0.0.1", cookie="-")
    upgrade = ("upgrade: websocket", "connection: upgrade", "sec-websocket-version: 13", "sec-websocket-key: eA==")
    yield target.request("GET", "/", *upgrade, cookie="-")
    yield target.request("GET", "/files", "upgrade: h2c", "connection: upgrade, http2-settings", root="")


def ways_out(target: Target) -> Iterator[bytes]:
    """Paths that would lead to other files of this machine, or to another job's, from inside and from outside."""
    paths = [
        "/../../../../etc/passwd",
        "/assets/../../../pyproject.toml",
        "/assets/..%2f..%2f__init__.py",
        "/.%2e/.%2e/etc",
    ]
    paths += [
        "/assets/%2e%2e/%2e%2e/__init__.py",
        "/assets/%2e%2e%5c__init__.py",
        "/assets/web.js%00.css",
        "/assets//etc/passwd",
    ]
    paths += ["/%2fetc%2fpasswd", "/jobs/..%2f..%2f/report", "/jobs/%00/report", "/jobs/%ff%fe/state", "/jobs/../files"]
    paths += [
        "/files/%2e%2e%2frun.lock",
        "/file:%2f%2f%2fetc%2fpasswd",
        "/assets/....//web.js",
        "/assets/%252e%252e%252fx",
    ]
    paths += [
        f"/jobs/{target.job}/job.json",
        f"/jobs/{target.job}/../{target.job}/report",
    ]
    for path, root in product(paths, (None, "")):
        yield target.request("GET", path, root=root)
    for whole in (
        f"{EVIL}{target.server.root}/files",
        f"{target.server.base}{target.server.root}/files",
        "*",
        target.host,
    ):
        for method in ("GET", "OPTIONS", "CONNECT"):
            yield target.request(method, whole, root="")


def no_requests(target: Target) -> Iterator[bytes]:
    """What is not written as a request must be, although both secrets are in it."""
    whole = target.request()
    line, _, rest = whole.partition(b"\r\n")
    yield target.request(end="\n")
    yield target.request(end="\r")
    yield target.request(end="\n\r")
    yield from (whole.replace(b"\r\n", b"\n", number) for number in (1, 2, 3, 4))
    yield whole[:-2] + b"\n"
    yield whole[:-4] + b"\n\n"
    for fold in (b" ", b"\t", b"  \t"):
        yield whole.replace(b"cookie: ", b"cookie:\r\n" + fold)
        yield whole.replace(b"host: ", b"x: y\r\n" + fold + b"host: ")
        yield line + b"\r\n" + fold + b"x: y\r\n" + rest
        yield whole.replace(b"\r\nconnection", b"\r\n" + fold + b"\r\nconnection")
    for odd in (b"\x00", b"\x0b", b"\x0c", b"\r", b"\x85\r\n", b" \n"):
        yield whole.replace(b"cookie: ", b"x: a" + odd + b"b\r\ncookie: ")
    for header in (b"x y: z", b"x : z", b": z", b"x", b"x\x00: z", b"(x): z", b"\xff: z", b'"x": z'):
        yield whole.replace(b"\r\nconnection", b"\r\n" + header + b"\r\nconnection")
    for start in (b"\r\n", b"\n", b" ", b"\x00", b"\x16\x03\x01\x02\x00\x01", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"):
        yield start + whole
    for version in (
        "HTTP/0.9",
        "HTTP/1.2",
        "HTTP/2.0",
        "HTTP/9.9",
        "HTTP/1",
        "HTTP/1.10",
        "http/1.1",
        "HTTP/1.1 ",
        "",
        "X/1.1",
    ):
        yield target.request(version=version)
    yield whole.replace(b"GET ", b"GET  ")
    yield whole.replace(b"GET ", b"GET\t")
    yield line.replace(b" HTTP/1.1", b"\r\n\r\n")
    yield target.request("GET", f"{target.report}?x=a b")
    yield target.request("GET", f"{target.report}?x=\xe9")
    yield target.request("GET", f"{target.report}?{'a' * 70_000}")
    yield target.request("GET", None, f"x: {'a' * 70_000}")
    yield target.request("GET", None, *(f"x-{number}: {'a' * 100}" for number in range(700)))


def smuggled(target: Target) -> Iterator[bytes]:
    """A second request inside of one whose length can be read in two ways; inside is all that the report needs."""
    inner = target.request().decode("latin-1")
    chunked = f"{len(inner):x}\r\n{inner}\r\n0\r\n\r\n"
    ways = [
        (("content-length: 4", "transfer-encoding: chunked"), chunked),
        (("transfer-encoding: chunked", "content-length: 4"), f"0\r\n\r\n{inner}"),
        (("transfer-encoding: chunked", "content-length: 0"), f"0\r\n\r\n{inner}"),
        (("content-length: 0", f"content-length: {len(inner)}"), inner),
        ((f"content-length: 0, {len(inner)}",), inner),
        (("transfer-encoding: chunked, identity",), f"0\r\n\r\n{inner}"),
        (("transfer-encoding: identity",), inner),
        (("transfer-encoding: xchunked",), f"0\r\n\r\n{inner}"),
        (("transfer-encoding: gzip, chunked",), f"0\r\n\r\n{inner}"),
        (("transfer-encoding: chunked", "transfer-encoding: x"), f"0\r\n\r\n{inner}"),
        (("transfer-encoding : chunked",), f"0\r\n\r\n{inner}"),
        (("transfer-encoding:\r\n chunked",), f"0\r\n\r\n{inner}"),
        (("transfer-encoding:\x0bchunked",), f"0\r\n\r\n{inner}"),
        (("x: y\ntransfer-encoding: chunked",), f"0\r\n\r\n{inner}"),
    ]
    ways += [
        ((f"content-length: {odd}",), inner)
        for odd in ("-1", "+0", "0x0", "1e1", "0 0", "", "٣".encode().decode("latin-1"))
    ]
    sizes = ("-1", "+1", "0x1", " 1", "1 \n", "g", "", "1" * 21, "\n1", "1;\x00\n", "1\n")
    ways += [(("transfer-encoding: chunked",), f"{size}\r\na\r\n0\r\n\r\n{inner}") for size in sizes]
    for more, body in ways:
        # Neither of the two secrets opens the outer request, so that only an inner one could tell anything.
        yield target.request("POST", "/jobs", *more, cookie="-", body=body)


def far_too_much(target: Target) -> Iterator[bytes]:
    """Ten gigabytes that are announced, by the signed-in browser and by strangers, and forms that are bombs."""
    for cookie in (None, "-"):
        for length in ("10000000000", "9" * 19, "9" * 21):
            more = (f"content-length: {length}", "expect: 100-continue")
            yield target.request("PUT", "/files?name=a.csv", *more, cookie=cookie)
    for body in (
        "[" * 50_000,
        '{"question": ' * 5_000,
        '{"question": "audit", "files": {"original": "../../etc/passwd"}}',
    ):
        more = ("content-type: application/json", f"content-length: {len(body)}")
        yield target.request("POST", "/jobs", *more, body=body)


KINDS: tuple[Callable[[Target], Iterator[bytes]], ...] = (
    hosts,
    foreign_pages,
    one_secret,
    planted_cookies,
    other_keys,
    ways_out,
    no_requests,
    smuggled,
    far_too_much,
)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_nothing_private_comes_back(target: Target, kind: Callable[[Target], Iterator[bytes]]) -> None:
    with target.server.client() as client:
        before = (client.get("/").text, client.get("/files").json())
        for request in kind(target):
            answer = target.answer(request)
            shown = request[:200]
            assert answer == b"" or answer.startswith(b"HTTP/1.1 4"), (shown, answer[:200])
            assert b"HTTP/1.1 2" not in answer, shown
            assert not target.told(answer), shown
        assert (client.get("/").text, client.get("/files").json()) == before, "nothing was changed"
        assert REPORT in client.get(target.report).text


def test_the_attacks_are_many_and_what_they_look_for_is_there(target: Target) -> None:
    assert sum(1 for kind in KINDS for _ in kind(target)) >= 300
    # The same request without anything wrong gets it: attacks do not fail for another reason.
    assert target.answer(target.request()).startswith(b"HTTP/1.1 200")
    assert target.told(target.answer(target.request()))
    assert target.told(target.answer(target.request("GET", "/files")))
    looked = target.answer(target.request("POST", f"/files/{target.file}/look", "content-length: 0"))
    assert COLUMN.encode() in looked


def test_the_folder_of_the_server_is_closed(target: Target) -> None:
    for path in (target.server.folder, *target.server.folder.rglob("*")):
        assert path.stat().st_mode & 0o077 == 0, path.relative_to(target.server.folder)
    assert Path(f"/proc/{target.server.process.pid}/cmdline").read_bytes().find(target.server.token.encode()) < 0  # type: ignore[union-attr]
