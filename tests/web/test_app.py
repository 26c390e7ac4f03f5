"""Every page and every action, asked over a real connection: what is served, and what is refused in one sentence."""

import contextlib
import gzip
import json
import re
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
from uvicorn.protocols.http.h11_impl import H11Protocol

from tests.web.servers import Running, in_thread, until
from tests.web.stand_in import MARKER, PROGRAM, REPORT
from unveil.data import samples
from unveil.questions import QUESTIONS
from unveil.web import pages
from unveil.web._protocol import PromptProtocol
from unveil.web.app import State, make_app, report_policy
from unveil.web.guard import HEADERS, Keys
from unveil.web.jobs import Rules
from unveil.web.serve import settings_for
from unveil.web.uploads import Limits

LIMITS = Limits(file=4_000_000, total=20_000_000)
RULES = Rules(program=PROGRAM, look_memory=2**29)
PERSON = {"accept": "text/html"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with in_thread(tmp_path_factory.mktemp("server"), limits=LIMITS, rules=RULES) as running:
        yield running


@pytest.fixture
def client(server: Running) -> Iterator[httpx.Client]:
    with server.client() as browser:
        yield browser


def files(server: Running) -> list[Path]:
    return sorted((server.folder / "files").iterdir())


def give(client: httpx.Client, content: Any, name: str = "people.csv", **headers: str) -> httpx.Response:
    return client.put("/files", params={"name": name}, content=content, headers=headers)


def protected(answer: httpx.Response) -> None:
    for name, value in HEADERS.items():
        if name != "content-security-policy":
            assert answer.headers.get_list(name) == [value]
    assert answer.headers["content-security-policy"].startswith("default-src 'none'; ")
    assert not any(name.startswith("access-control-") for name in answer.headers)
    assert "server" not in answer.headers


@pytest.mark.parametrize("path", ["/", "/list", *(f"/{question}" for question in QUESTIONS)])
def test_every_page_is_served(client: httpx.Client, path: str) -> None:
    answer = client.get(path, headers=PERSON)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert answer.text.startswith("<!doctype html>")
    protected(answer)
    assert client.head(path).content == b""


def test_assets_are_those_of_the_package(client: httpx.Client) -> None:
    for name, kind in pages.ASSETS.items():
        answer = client.get(f"/assets/{name}")
        assert (answer.status_code, answer.headers["content-type"], answer.content) == (200, kind, pages.asset(name))
        protected(answer)
    for name in ("home.html.j2", "nothing.js", "page.css/", "PAGE.CSS", "web.js%00"):
        assert client.get(f"/assets/{name}").status_code == 404


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/nothing", 404),
        ("GET", "/jobs", 404),
        ("GET", "/jobs/", 404),
        ("GET", "/files/", 404),
        ("GET", "/jobs/nothing", 404),
        ("GET", "/jobs/nothing/state", 404),
        ("GET", "/jobs/nothing/report", 404),
        ("GET", "/jobs/nothing/answer.json", 404),
        ("DELETE", "/jobs/nothing", 404),
        ("DELETE", "/files/nothing", 404),
        ("POST", "/files/nothing/look", 404),
        ("DELETE", "/", 405),
        ("PUT", "/jobs", 405),
        ("POST", "/files", 405),
        ("PATCH", "/files", 405),
        ("OPTIONS", "/files", 405),
        ("TRACE", "/", 405),
        ("FOO", "/", 405),
        ("get", "/", 403),
    ],
)
def test_what_is_not_there_is_said_on_a_page_of_our_own(
    server: Running, client: httpx.Client, method: str, path: str, status: int
) -> None:
    if method == "get":  # a method is what it is, letter by letter
        request = f"get / HTTP/1.1\r\nhost: 127.0.0.1:{server.port}\r\nconnection: close\r\n\r\n"
        assert reply(server, request.encode()).startswith(b"HTTP/1.1 403")
        return
    for headers, kind in ((PERSON, "text/html; charset=utf-8"), ({}, "application/json")):
        answer = client.request(method, path, headers=headers)
        assert (answer.status_code, answer.headers["content-type"]) == (status, kind)
        protected(answer)
        assert "Traceback" not in answer.text
        assert "starlette" not in answer.text.lower()
    assert set(answer.json()) == {"error"}


def test_another_method_in_a_header_is_not_believed(client: httpx.Client) -> None:
    given = give(client, b"a\n1\n").json()
    client.get(f"/files/{given['id']}", headers={"x-http-method-override": "DELETE", "x-method-override": "DELETE"})
    client.get("/files", params={"_method": "DELETE"})
    assert given["id"] in [each["id"] for each in client.get("/files").json()["files"]]
    client.delete(f"/files/{given['id']}")


def reply(server: Running, request: bytes) -> bytes:
    """Return all that comes until the server closes the connection."""
    return rest_of(server.raw(request))


def rest_of(connection: socket.socket) -> bytes:
    """Return all that comes on a connection until it is closed."""
    with connection:
        return b"".join(iter(lambda: connection.recv(65_536), b""))


def early_reply(server: Running, request: bytes) -> bytes:
    """Return the answer to a request of which the rest is never sent."""
    with server.raw(request) as connection:
        answer = b""
        while not answer.endswith(b"}"):
            answer += connection.recv(65_536)
    return answer


@pytest.mark.parametrize(
    "target",
    [
        "/../../../../etc/passwd",
        "/assets/../../../pyproject.toml",
        "/assets/..%2f..%2f__init__.py",
        "/assets/%2e%2e/%2e%2e/__init__.py",
        "/assets/%2e%2e%5c__init__.py",
        "/assets/web.js%00.css",
        "/assets//etc/passwd",
        "//etc/passwd",
        "/%2fetc%2fpasswd",
        "/jobs/..%2f..%2f/report",
        "/jobs/%00/report",
        "/jobs/%ff%fe/state",
        "/jobs/../files",
        "/files/%2e%2e%2frun.lock",
        "/file:%2f%2f%2fetc%2fpasswd",
        "http://evil.example/files",
        "*",
    ],
)
def test_no_path_leads_out(server: Running, target: str) -> None:
    for place, refusals in (("", (b"403",)), (server.root, (b"404", b"405"))):
        # What does not begin as a path does not lie below ours, either.
        path = f"{place}{target}" if target.startswith("/") else target
        for method in ("GET", "DELETE"):
            answer = reply(server, head(server, "connection: close", method=method, path=path, place=""))
            assert answer.split()[1] in (refusals if target.startswith("/") else (b"403",))
            assert b"root:" not in answer


@pytest.mark.parametrize(
    "request_line",
    [
        b"\x00\xff\r\n\r\n",
        b"GET\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET / HTTP/9\r\n\r\n",
        b"GET /" + b"a" * 100_000,
    ],
)
def test_what_is_no_request_is_closed(server: Running, client: httpx.Client, request_line: bytes) -> None:
    # What was not read when the connection is closed may take the answer with it.
    with contextlib.suppress(ConnectionResetError):
        assert reply(server, request_line).startswith((b"HTTP/1.1 400", b"HTTP/1.1 421"))
    assert client.get("/files").status_code == 200


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        (b"\r\n", b"\n"),
        (b"\r\ncookie", b"\ncookie"),
        (b"\r\n\r\n", b"\r\n\n"),
        (b"cookie: ", b"cookie:\r\n "),
        (b"cookie: ", b"x: y\r\n\tz\r\ncookie: "),
        (b"cookie: ", b"x: y\rz\r\ncookie: "),
        (b"cookie: ", b"x: y\x00z\r\ncookie: "),
        (b"cookie: ", b"content-length: 0\r\ntransfer-encoding: chunked\r\ncookie: "),
        (b"HTTP/1.1", b"HTTP/2.0"),
    ],
)
def test_what_could_be_read_in_two_ways_is_no_request(server: Running, right: bytes, wrong: bytes) -> None:
    asked = head(server, "connection: close", method="GET", path="/files")
    assert reply(server, asked).startswith(b"HTTP/1.1 200")
    assert reply(server, asked.replace(right, wrong)).startswith(b"HTTP/1.1 400")
    # Behind another request on the same connection, too, whether that has a body or not.
    for first in (b"", b"content-length: 3"):
        before = head(server, first.decode(), method="GET", path="/files").replace(b"\r\n\r\n\r\n", b"\r\n\r\n")
        answers = reply(server, before + (b"abc" if first else b"") + asked.replace(right, wrong))
        assert [answers.count(each) for each in (b"HTTP/1.1 200", b"HTTP/1.1 400", b"HTTP/1.1 ")] == [1, 1, 2]


def test_uvicorn_does_not_choose_who_reads_requests() -> None:
    settings = settings_for(make_app(State(keys=Keys(), port=1, uploads=None, jobs=None)))  # type: ignore[arg-type]
    settings.load()
    assert settings.http_protocol_class is PromptProtocol
    assert issubclass(PromptProtocol, H11Protocol)


def test_a_mistake_of_ours_shows_nothing(
    client: httpx.Client, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object, **__: object) -> str:
        raise RuntimeError(MARKER)

    monkeypatch.setattr(pages, "home", broken)
    monkeypatch.setattr(pages, "error", broken)
    answer = client.get("/", headers=PERSON)
    assert (answer.status_code, answer.headers["content-type"]) == (500, "text/html; charset=utf-8")
    assert MARKER not in answer.text
    assert "Traceback" not in answer.text
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert set(client.get("/").json()) == {"error"}
    assert MARKER in until(lambda: caplog.text), "the terminal says what it was"


def test_a_file_is_given_shown_and_removed(server: Running, client: httpx.Client) -> None:
    before = files(server)
    answer = give(client, b"a,b\n1,2\n", "../../<b>people</b>.csv")
    assert answer.status_code == 201
    given = answer.json()
    assert (given["name"], given["size"]) == ("b>.csv", 8)
    told = client.get("/files").json()
    assert given in told["files"]
    assert told["limit"] == LIMITS.file
    assert str(server.folder) not in json.dumps(told)
    (path,) = set(files(server)) - set(before)
    assert (path.name, path.stat().st_mode & 0o777) == (f"{given['id']}.csv", 0o600)
    assert client.delete(f"/files/{given['id']}").json() == {}
    assert files(server) == before


@pytest.mark.parametrize(
    "headers",
    [
        {"content-encoding": "gzip"},
        {"content-type": "multipart/form-data; boundary=x"},
        {"content-type": "application/x-www-form-urlencoded"},
    ],
)
def test_a_file_is_sent_as_it_is(server: Running, client: httpx.Client, headers: dict[str, str]) -> None:
    before = files(server)
    assert give(client, b"a\n", **headers).status_code == 415
    assert files(server) == before


def head(
    server: Running, *headers: str, method: str = "PUT", path: str = "/files?name=a.csv", place: str | None = None
) -> bytes:
    lines = [
        f"{method} {server.root if place is None else place}{path} HTTP/1.1",
        f"host: 127.0.0.1:{server.port}",
        f"origin: {server.base}",
        f"cookie: {server.cookie}",
    ]
    return "\r\n".join([*lines, *headers, "", ""]).encode()


def test_too_large_a_file_is_refused_before_it_is_sent(server: Running) -> None:
    for more in ([], ["expect: 100-continue"]):
        answer = early_reply(server, head(server, f"content-length: {LIMITS.file + 1}", *more))
        assert answer.startswith(b"HTTP/1.1 413")
        assert b"larger size limit" in answer
    assert files(server) == []


@pytest.mark.parametrize("declared", [True, False])
def test_too_large_a_file_is_refused_while_it_is_sent(server: Running, client: httpx.Client, declared: bool) -> None:
    content = b"x" * 8_000_000
    answer = give(client, content if declared else iter([content[:1_000_000]] * 8))
    # All of it was taken from the line, so that the browser gets to read why.
    assert answer.status_code == 413
    assert "larger size limit" in answer.json()["error"]
    assert answer.headers["connection"] == "close"
    assert files(server) == []


def test_a_slow_file_is_given_up(tmp_path: Path) -> None:
    with in_thread(tmp_path, limits=Limits(idle=0.2)) as server:
        answer = early_reply(server, head(server, "content-length: 1000") + b"a,b\n")
        assert answer.startswith(b"HTTP/1.1 408")
        assert b"too slow" in answer
        assert files(server) == []


def test_a_file_that_is_broken_off_leaves_nothing(server: Running) -> None:
    for framing, start in (("content-length: 100000", b"a,b\n"), ("transfer-encoding: chunked", b"4\r\na,b\n\r\n")):
        with server.raw(head(server, framing) + start):
            until(lambda: len(files(server)) == 1)
        until(lambda: files(server) == [])


def test_a_file_of_a_stranger_is_not_kept(server: Running) -> None:
    with server.stranger() as stranger:
        assert give(stranger, b"a\n" * 100_000).status_code == 403
        assert give(stranger, b"a\n", origin="http://evil.example").status_code == 403
    assert files(server) == []


def test_a_file_that_a_job_needs_is_kept(server: Running, client: httpx.Client, tmp_path: Path) -> None:
    busy = server.submit(client, f"until {tmp_path / 'go'}")
    given = give(client, b"target,candidate,probability\na,b,1\n").json()
    asked = {"question": "attack_metrics", "files": {"guess": given["id"]}, "settings": {}}
    job = client.post("/jobs", json=asked).json()["id"]
    answer = client.delete(f"/files/{given['id']}")
    assert (answer.status_code, "needs this file" in answer.json()["error"]) == (409, True)
    assert given["name"] in client.get("/").text
    assert client.get("/attack_metrics", params={"again": job}).status_code == 200
    assert client.get("/audit", params={"again": job}).status_code == 404
    for each in (job, busy):
        client.delete(f"/jobs/{each}", params={"forget": "1"})
    assert client.delete(f"/files/{given['id']}").status_code == 200


def test_a_report_cannot_act_in_our_name(server: Running, client: httpx.Client) -> None:
    job = server.submit(client, "answer")
    server.ended(client, job)
    report = client.get(f"/jobs/{job}/report", headers=PERSON)
    assert (report.headers["content-type"], report.text) == ("text/html; charset=utf-8", REPORT)
    policy = report.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; style-src 'none'; frame-ancestors 'self'; sandbox allow-scripts")
    assert "allow-same-origin" not in policy
    assert report.headers["x-frame-options"] == "SAMEORIGIN"
    assert "content-disposition" not in report.headers
    for path, name in (("report", "unveil-study.html"), ("answer.json", "unveil-study.json")):
        saved = client.get(f"/jobs/{job}/{path}", params={"download": "1"})
        assert saved.headers["content-disposition"] == f'attachment; filename="{name}"'
        assert saved.headers["x-content-type-options"] == "nosniff"
    with server.stranger() as stranger:
        for path in ("report", "answer.json", "state"):
            assert stranger.get(f"/jobs/{job}/{path}").status_code == 403
            assert stranger.get(f"{server.root}/jobs/{job}/{path}").status_code == 403


def test_texts_of_answers_are_escaped(server: Running, client: httpx.Client) -> None:
    job = server.submit(client, "answer")
    server.ended(client, job)
    for page in ("/", f"/jobs/{job}"):
        text = client.get(page, headers=PERSON).text
        assert "It is &lt;b&gt;answer&lt;/b&gt;." in text
        assert "<b>answer" not in text


@pytest.mark.parametrize(
    ("content", "kind", "status"),
    [
        (b"", "application/json", 400),
        (b"{", "application/json", 400),
        (b"[]", "application/json", 400),
        (b"null", "application/json", 400),
        (b"\xff", "application/json", 400),
        (b'{"question": NaN}', "application/json", 400),
        (b"[" * 100_000, "application/json", 400),
        (b'{"question": "nothing"}', "application/json", 400),
        (b'{"question": ["audit"]}', "application/json", 400),
        (b'{"question": "audit", "files": []}', "application/json", 400),
        (b'{"question": "audit", "settings": []}', "application/json", 400),
        (b'{"question": "audit", "files": {"original": "../../etc/passwd"}}', "application/json", 404),
        (b'{"question": "audit", "files": {"original": {"path": "/etc/passwd"}}}', "application/json", 404),
        (b'{"question": "audit", "files": {"original": ["x", "y"]}}', "application/json", 404),
        (b'"' + b"x" * 1_100_000 + b'"', "application/json", 413),
        (b"question=audit", "application/x-www-form-urlencoded", 415),
        (b"{}", "text/plain", 415),
        (b"{}", "text/html", 415),
        (b"{}", "", 415),
    ],
)
def test_a_form_that_makes_no_sense_is_refused(client: httpx.Client, content: bytes, kind: str, status: int) -> None:
    answer = client.post("/jobs", content=content, headers={"content-type": kind} if kind else {})
    assert answer.status_code == status
    assert set(answer.json()) == {"error"}


def test_a_form_that_is_not_filled_in_is_answered_by_field(client: httpx.Client) -> None:
    answer = client.post("/jobs", json={"question": "attack_metrics"})
    assert answer.status_code == 400
    assert set(answer.json()) == {"error", "errors"}
    assert list(answer.json()["errors"]) == ["guess"]


def test_a_slow_form_is_given_up(server: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("unveil.web.app._FORM_SECONDS", 0.1)
    asked = head(server, "content-length: 100", "content-type: application/json", method="POST", path="/jobs")
    assert early_reply(server, asked + b"{").startswith(b"HTTP/1.1 408")


def test_who_connects_and_asks_nothing_is_sent_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with in_thread(tmp_path) as server:
        monkeypatch.setattr("unveil.web._protocol.PromptProtocol.patience", 0.5)
        starts = (b"", b"GET / HTTP/1.1\r\nhost: ", b"GET / HTTP/1.1\r\nhost: x\r\n\r\nGET /")
        connections = [server.raw(start) for start in starts]
        # A file that takes longer to come is not in a hurry.
        with server.client() as client:
            assert give(client, slowly()).status_code == 201
        assert [rest_of(each).count(b"HTTP/1.1") for each in connections] == [0, 0, 1]


def slowly() -> Iterator[bytes]:
    for _ in range(3):
        yield b"a,b\n"
        time.sleep(0.25)


def looked(client: httpx.Client, content: bytes, name: str = "people.csv") -> dict[str, Any]:
    given = give(client, content, name)
    assert given.status_code == 201, given.text
    answer = client.post(f"/files/{given.json()['id']}/look")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json")
    protected(answer)
    client.delete(f"/files/{given.json()['id']}")
    seen: dict[str, Any] = answer.json()
    return seen


def test_a_table_is_looked_at(server: Running, client: httpx.Client) -> None:
    seen = looked(client, samples.path("partition_truth.csv").read_bytes())
    assert [each["name"] for each in seen["columns"]] == ["item", "cluster"]
    assert list((server.folder / "jobs").glob("*/look.json")) == []


def test_a_malicious_file_is_an_error(server: Running, client: httpx.Client) -> None:
    malicious = {
        "wider.csv": b"a," * 1_000_000 + b"a\n1\n",
        "bomb.csv.gz": gzip.compress(b"a,b\n") + gzip.compress(b"1,2\n" * 2**21, 9) * 400,
    }
    with ThreadPoolExecutor(3) as pool:
        seen = dict(
            zip(malicious, pool.map(lambda each: looked(client, malicious[each], each), malicious), strict=True)
        )
    for name, told in seen.items():
        assert set(told) == {"error"}, name
        assert told["error"], name
        assert "inside unveil" not in told["error"], name
        assert "Traceback" not in told["error"]
        assert str(server.folder) not in told["error"]
    assert "memory" in seen["bomb.csv.gz"]["error"]
    assert "longer than 1 MB" in seen["wider.csv"]["error"]
    assert client.get("/files").status_code == 200


def test_scripts_and_formulas_are_only_text(client: httpx.Client) -> None:
    names = ["<script>alert(1)</script>", "=cmd|' /C calc'!A0", '"><img src=x onerror=alert(1)>']
    line = ",".join('"' + name.replace('"', '""') + '"' for name in names)
    seen = looked(client, f"{line}\n1,2,3\n4,5,6\n".encode(), '<img src=x onerror="alert(1)">.csv')
    assert [each["name"] for each in seen["columns"]] == names
    given = give(client, b"a\n", "<img src=x onerror=alert(1)>.csv").json()
    asked = {"question": "attack_metrics", "files": {"guess": given["id"]}, "settings": {}}
    job = client.post("/jobs", json=asked).json()["id"]
    for page in ("/", f"/jobs/{job}", f"/attack_metrics?again={job}"):
        text = client.get(page, headers=PERSON).text
        assert "<img src=x" not in text
        assert "onerror=alert(1)" in text, "it is shown, as text"
    client.delete(f"/jobs/{job}", params={"forget": "1"})


def test_a_look_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    rules = Rules(program=(*PROGRAM[:-2], "-c", "import time; time.sleep(60)"), look_seconds=0.2)
    with in_thread(tmp_path, rules=rules) as server, server.client() as client:
        assert "longer than 0.2 seconds" in looked(client, b"a\n1\n")["error"]
        assert list((server.folder / "jobs").iterdir()) == []


@pytest.mark.parametrize(
    ("text", "policy"),
    [
        ("<p>no policy", "default-src 'none'"),
        ('<meta http-equiv="Content-Security-Policy" content="default-src *">', "default-src 'none'"),
        (
            '<meta http-equiv="Content-Security-Policy" content="default-src &#39;none&#39;; img-src data:">',
            "default-src 'none'; img-src data:",
        ),
        ("x" * 5000 + '<meta http-equiv="Content-Security-Policy" content="default-src *">', "default-src 'none'"),
    ],
)
def test_a_report_gets_its_own_policy_or_none(tmp_path: Path, text: str, policy: str) -> None:
    path = tmp_path / "report.html"
    path.write_text(text, encoding="utf-8")
    assert report_policy(path).startswith(f"{policy}; frame-ancestors 'self'; sandbox ")


def test_the_server_listens_here_only(server: Running) -> None:
    for address in ("127.0.0.2", "::1"):
        with pytest.raises(OSError, match=r"refused|Cannot assign|not supported|unreachable"):
            socket.create_connection((address, server.port), timeout=5)


def test_asking_again_after_a_job_is_removed_is_an_empty_form(server: Running, client: httpx.Client) -> None:
    page = client.get("/audit?again=nothing", headers=PERSON)
    assert page.status_code == 200
    assert 'id="again"' not in page.text


def test_going_on_from_an_answer_takes_what_was_done_along(
    server: Running, client: httpx.Client, tmp_path: Path
) -> None:
    busy = server.submit(client, f"until {tmp_path / 'go'}")
    settings = {"sample": True, "first": "shuffle", "method": {"name": "rank-swapping", "settings": {"p": "10"}}}
    job = client.post("/jobs", json={"question": "protect", "files": {}, "settings": settings}).json()["id"]

    def filled(**more: str) -> dict[str, Any]:
        page = client.get("/protect", params={"again": job, **more}, headers=PERSON).text
        found = re.search(r'id="again">(.*?)</script>', page)
        assert found is not None
        again: dict[str, Any] = json.loads(found[1])["settings"]
        return again

    assert filled() == settings
    assert filled(next="1") == {"sample": True, "first": "shuffle\nrank-swapping:p=10"}
    for each in (job, busy):
        client.delete(f"/jobs/{each}", params={"forget": "1"})
