"""The server as a person starts it: for this machine only, under load, without a network, leaving nothing behind."""

import contextlib
import json
import os
import re
import signal
import socket
import stat
import subprocess
import sys
import webbrowser
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import httpx
import pytest
from click.testing import CliRunner

from tests.web.servers import PATIENCE, Running, gone, in_process, in_thread, until
from unveil.errors import InputError, MissingExtraError
from unveil.web import _peer
from unveil.web import serve as module
from unveil.web._peer import NOBODY, asked, is_ours, listed, owner_of, system_tells
from unveil.web._protocol import MOST_WAITING, PromptProtocol
from unveil.web.guard import Guard, Keys
from unveil.web.serve import HOST, ServeOptions, has_screen, limits_of, listen, serve
from unveil.web.uploads import Limits

# Refuses every connection and every name that is not of this machine, in every process that finds it, and notes it.
DENIAL = """
import os, sys
NOTES = os.environ["UNVEIL_TEST_NOTES"]
def note(line):
    with open(NOTES, "a") as stream:
        stream.write(line + "\\n")
def deny(event, arguments):
    if event in ("socket.connect", "socket.sendto", "socket.sendmsg"):
        address = arguments[1]
        if isinstance(address, tuple) and address[0] not in ("127.0.0.1", "::1"):
            note(f"{event} {address[0]}")
            raise OSError("no network in this test")
    elif event in ("socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"):
        if arguments[0] not in (None, "127.0.0.1", "::1", "localhost", b"127.0.0.1"):
            note(f"{event} {arguments[0]}")
            raise OSError("no network in this test")
sys.addaudithook(deny)
note("process " + " ".join(sys.argv[:1]))
"""


@pytest.fixture(scope="module")
def notes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Where processes without a network note that they exist, and what they tried."""
    folder = tmp_path_factory.mktemp("denial")
    (folder / "sitecustomize.py").write_text(DENIAL, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("UNVEIL_TEST_NOTES", str(folder / "notes"))
        yield folder / "notes"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, notes: Path) -> Iterator[Running]:
    limits = Limits(file=20_000_000, total=2_000_000_000)
    with in_process(tmp_path_factory.mktemp("server"), limits=limits, path=str(notes.parent)) as running:
        yield running


def memory(process: int) -> int:
    """Return the most bytes of memory that a process has taken so far."""
    status = Path(f"/proc/{process}/status").read_text(encoding="utf-8")
    return next(int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmHWM"))


def own_addresses() -> list[str]:
    """Return addresses of this machine at which others could reach it."""
    addresses = ["127.0.0.2", "::1"]
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # sends nothing: it only finds out where it would leave from
        except OSError:
            return addresses
        return [*addresses, probe.getsockname()[0]]


def test_other_machines_cannot_reach_it(server: Running) -> None:
    for address in own_addresses():
        with pytest.raises(OSError, match=r"refused|Cannot assign|not supported|unreachable"):
            socket.create_connection((address, server.port), timeout=5)
    with socket.create_connection((HOST, server.port), timeout=5):
        pass


def test_the_system_tells_whose_program_connects(server: Running) -> None:
    assert system_tells()
    with server.raw(b"") as connection:
        client, here = connection.getsockname(), (HOST, server.port)
        assert is_ours(client, here)
        for owner in (asked, listed):
            assert owner(client, here) == os.getuid()
            for other in (("127.0.0.2", client[1]), ("127.0.0.1", client[1] ^ 1)):
                assert owner(other, here) is None
            assert owner(client, (HOST, server.port ^ 1)) is None
            assert owner(here, ("127.0.0.1", 9)) is None, "who listens is not connected"
        assert not is_ours(("127.0.0.2", client[1]), here), "who is not listed is a stranger"
    until(lambda: asked(client, here) in (NOBODY, None))
    assert not is_ours(client, here), "nobody has it any more"


@pytest.mark.parametrize(
    ("family", "source", "target"),
    [
        (socket.AF_INET, "127.0.0.1", "127.0.0.1"),
        (socket.AF_INET, "127.9.8.7", "127.0.0.1"),
        (socket.AF_INET6, "::ffff:127.0.0.2", "::ffff:127.0.0.1"),
        (socket.AF_INET6, "::1", "::1"),
    ],
)
def test_every_address_of_this_machine_has_an_owner(family: int, source: str, target: str) -> None:
    here = socket.AF_INET if "127" in target else socket.AF_INET6
    with (
        socket.create_server((target.rpartition("f:")[2], 0), family=here) as there,
        socket.socket(family) as connection,
    ):
        connection.bind((source, 0))
        connection.connect((target, there.getsockname()[1]))
        taken, client = there.accept()
        with taken:
            for owner in (asked, listed, owner_of):
                assert owner(client[:2], taken.getsockname()[:2]) == os.getuid()
            assert is_ours(client[:2], taken.getsockname()[:2])


def test_a_system_that_answers_no_questions_is_read(monkeypatch: pytest.MonkeyPatch, server: Running) -> None:
    with server.raw(b"") as connection:
        ends = connection.getsockname(), (HOST, server.port)
        # A question of a kind that is not known is an error, and not an answer.
        monkeypatch.setattr(_peer, "_BY_FAMILY", 99)
        with pytest.raises(OSError, match=r"\w"):
            asked(*ends)
        assert owner_of(*ends) == os.getuid()
        monkeypatch.delattr(socket, "AF_NETLINK")
        assert owner_of(*ends) == os.getuid()


def row(client: str, server: str, user: int, file: int) -> str:
    """Return a line of the table of connections: two ends as Linux writes them, an owner and an open file."""
    rest = "01 00000000:00000000 00:00000000 00000000"
    return f"   1: {client}:1F90 {server}:0050 {rest}  {user}  0 {file} 2 0000000000000000 20 0 0 10 -1"


@pytest.mark.parametrize(
    ("user", "file", "ours"), [(os.getuid(), 77, True), (0, 77, True), (os.getuid() + 1, 77, False), (0, 0, False)]
)
@pytest.mark.parametrize(
    ("address", "client", "server"),
    [
        ("127.0.0.1", "0100007F", "0100007F"),
        ("127.0.0.2", "0200007F", "0100007F"),
        ("127.255.255.254", "FEFFFF7F", "0100007F"),
        ("127.0.0.1", "0000000000000000FFFF00000100007F", "0000000000000000FFFF00000100007F"),
        ("127.0.0.2", "0000000000000000FFFF00000200007F", "0000000000000000FFFF00000100007F"),
        ("::1", "00000000000000000000000001000000", "00000000000000000000000001000000"),
    ],
)
def test_another_user_of_this_machine_is_not_ours(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    user: int,
    file: int,
    ours: bool,
    address: str,
    client: str,
    server: str,
) -> None:
    rows = [
        "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode",
        # The same connection as the server sees it, and one that only looks like it.
        row(server, client, os.getuid(), 5).replace("1F90", "x").replace("0050", "1F90").replace("x", "0050"),
        row(client, "0100000A", os.getuid(), 6),
        row(client, server, user, file),
        "   2: cut short",
    ]
    table = tmp_path / "tcp"
    table.write_text("\n".join(rows), encoding="ascii")
    assert system_tells()  # asked before, of the real tables
    monkeypatch.setattr(_peer, "TABLES", (tmp_path / "nothing", table))
    monkeypatch.setattr(_peer, "asked", listed)
    here = ("::1" if address == "::1" else HOST, 0x50)
    assert is_ours((address, 0x1F90), here) is ours
    assert is_ours((address, 0x1F91), here) is False, "where one is told, who is not told of is a stranger"


def test_who_comes_from_elsewhere_is_a_stranger_whatever_the_system_tells(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_peer, "system_tells", lambda: False)
    assert is_ours((HOST, 4711), (HOST, 80)), "where it is never told, the other locks have to do"
    for address in ("192.0.2.1", "10.0.0.1", "::", "2001:db8::1", "::ffff:192.0.2.1"):
        assert not is_ours((address, 4711), (HOST, 80))


@pytest.mark.parametrize("tables", [(), (Path("/proc/version"),)])
def test_a_system_that_tells_nothing_is_found_out(monkeypatch: pytest.MonkeyPatch, tables: tuple[Path, ...]) -> None:
    monkeypatch.setattr(_peer, "TABLES", tables)
    monkeypatch.setattr(_peer, "asked", listed)
    assert not system_tells.__wrapped__()


# Becomes another user, connects from several addresses of this machine with all secrets that there are, and tells.
STRANGER = """
import os, socket, sys
port, request = int(sys.argv[1]), sys.argv[2].encode()
os.setgroups([])
os.setgid(65534)
os.setuid(65534)
for family, source, address in (
    (socket.AF_INET, "127.0.0.1", "127.0.0.1"),
    (socket.AF_INET, "127.0.0.2", "127.0.0.1"),
    (socket.AF_INET, "127.9.8.7", "127.0.0.1"),
    (socket.AF_INET6, None, "::ffff:127.0.0.1"),
):
    with socket.socket(family) as connection:
        connection.settimeout(30)
        if source is not None:
            connection.bind((source, 0))
        try:
            connection.connect((address, port))
            connection.sendall(request)
            answer = b"".join(iter(lambda: connection.recv(65536), b""))
        except ConnectionError:
            answer = b""
        print(len(answer))
"""


def test_another_user_gets_nothing_from_whichever_address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with in_thread(tmp_path) as server:
        head = f"GET {server.root}/files HTTP/1.1\r\nhost: 127.0.0.1:{server.port}\r\ncookie: {server.cookie}"
        program = STRANGER
        if os.getuid() != 0:
            # Nobody can become another user here, so the server takes itself for one.
            program = "\n".join(line for line in STRANGER.splitlines() if not line.startswith("os.set"))
            other = os.getuid() + 1
            monkeypatch.setattr(os, "getuid", lambda: other)
        request = f"{head}\r\nconnection: close\r\n\r\n"
        told = subprocess.run(
            [sys.executable, "-I", "-S", "-c", program, str(server.port), request],
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=True,
        )
        assert told.stdout.split() == ["0"] * 4, told.stderr
        monkeypatch.undo()
        with server.client() as client:
            assert client.get("/files").status_code == 200
        # Its own user is let in from each of them.
        with socket.socket() as connection:
            connection.bind(("127.0.0.2", 0))
            connection.connect((HOST, server.port))
            connection.sendall(request.encode())
            assert connection.recv(12) == b"HTTP/1.1 200"


def is_open(connection: socket.socket) -> bool:
    connection.setblocking(False)
    try:
        return connection.recv(1) != b""
    except BlockingIOError:
        return True
    except ConnectionError:
        return False


def test_slow_connections_do_not_keep_the_signed_in_browser_out(server: Running) -> None:
    with contextlib.ExitStack() as stack, server.client() as client:
        uploading = stack.enter_context(server.raw(endless_upload(server)))
        until(lambda: list((server.folder / "files").iterdir()))
        crowd = []
        for number in range(450):
            crowd.append(stack.enter_context(server.raw(b"GET / HTTP/1.1\r\nhost: ")))
            if number % 50 == 49:
                assert client.get("/files").status_code == 200
        with server.client() as another:
            assert another.get("/files").status_code == 200, "on a new connection, too"
        assert client.post("/jobs", json={"question": "nothing"}).status_code == 400
        left = until(lambda: number if (number := sum(map(is_open, crowd))) <= MOST_WAITING else 0)
        assert left >= MOST_WAITING // 2, "who waits is sent away for those who come later, not at once"
        # What the signed-in browser has begun goes on.
        uploading.sendall(b"," * 97)
        assert uploading.recv(65_536).startswith(b"HTTP/1.1 201")
        given = client.get("/files").json()["files"][0]["id"]
        client.delete(f"/files/{given}")


def test_a_connection_of_the_signed_in_browser_is_kept_before_its_next_request_was_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept: list[bool] = []
    look = Guard.__call__

    async def looked(self: Guard, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            kept.extend(each.is_inside for each in connections)
        await look(self, scope, receive, send)

    with in_thread(tmp_path) as server, server.client() as client:
        connections: list[PromptProtocol] = []
        made = PromptProtocol.connection_made

        def noted(self: PromptProtocol, transport: Any) -> None:
            made(self, transport)
            connections.append(self)

        monkeypatch.setattr(PromptProtocol, "connection_made", noted)
        monkeypatch.setattr(Guard, "__call__", looked)
        for _ in range(2):
            assert client.get("/files").status_code == 200
        assert kept == [False, True]


def test_the_connection_of_another_user_is_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with in_thread(tmp_path) as server, server.client() as client:
        monkeypatch.setattr("unveil.web._protocol.is_ours", lambda *_: False)
        with pytest.raises(httpx.TransportError):
            client.get("/files")


def test_many_pages_at_once(server: Running) -> None:
    assert server.process is not None
    with server.client(limits=httpx.Limits(max_connections=50)) as client, ThreadPoolExecutor(50) as pool:
        client.get("/list")
        before = memory(server.process.pid)
        pages = list(pool.map(lambda number: client.get(("/", "/audit", "/list")[number % 3]), range(50)))
    assert {page.status_code for page in pages} <= {200, 503}
    assert sum(page.status_code == 200 for page in pages) >= 45
    assert memory(server.process.pid) - before < 150_000_000  # about 15 MB


def test_many_files_at_once(server: Running) -> None:
    assert server.process is not None
    before = memory(server.process.pid)
    content = os.urandom(1_000_000) * 19

    def give(number: int) -> Any:
        with server.client() as client:
            return client.put("/files", params={"name": f"{number}.csv"}, content=content)

    with ThreadPoolExecutor(10) as pool:
        answers = list(pool.map(give, range(10)))
    # 190 MB came in; each is either kept in full, or its owner is told to try again.
    assert {answer.status_code for answer in answers} <= {201, 503}
    kept = [answer.json()["id"] for answer in answers if answer.status_code == 201]
    assert len(kept) >= 4
    assert all("Try again" in answer.json()["error"] for answer in answers if answer.status_code == 503)
    assert memory(server.process.pid) - before < 60_000_000
    with server.client() as client:
        assert sorted(each["id"] for each in client.get("/files").json()["files"]) == sorted(kept)
        assert {each.stat().st_size for each in (server.folder / "files").iterdir()} == {len(content)}
        for each in kept:
            client.delete(f"/files/{each}")


def test_nothing_is_sent_out(server: Running, notes: Path) -> None:
    with server.client() as client:
        refused = server.ended(client, server.submit(client, "connect 192.0.2.1"))
        assert refused["state"] == "failed"
        assert "socket.connect 192.0.2.1" in notes.read_text(encoding="utf-8"), "the denial does its work"
        before = notes.read_text(encoding="utf-8")
        given = client.put("/files?name=a.csv", content=b"a,b\n1,2\n").json()["id"]
        assert client.post(f"/files/{given}/look").json()["rows"] == 1
        job = client.post("/jobs", json={"question": "unlinkability", "settings": {"sample": True}}).json()["id"]
        assert server.ended(client, job)["state"] == "finished"
        assert client.get(f"/jobs/{job}/report").text.startswith("<!doctype html>")
        assert client.get("/list").status_code == 200
    since = notes.read_text(encoding="utf-8").removeprefix(before).splitlines()
    assert len(since) == 2, "two workers, and nothing that they or the server tried"
    assert all(line.startswith("process ") for line in since)


def started(server: Running, note: Path) -> list[int]:
    """Return the processes of a job that would never end."""
    with server.client() as client:
        server.submit(client, f"wait {note}")
        client.put("/files?name=a.csv", content=b"a,b\n1,2\n")
    until(note.exists)
    processes: list[int] = until(lambda: json.loads(note.read_text(encoding="utf-8") or "[]"))
    return processes


def endless_upload(server: Running) -> bytes:
    lines = [f"PUT {server.root}/files?name=b.csv HTTP/1.1", f"host: 127.0.0.1:{server.port}", f"origin: {server.base}"]
    return "\r\n".join([*lines, f"cookie: {server.cookie}", "content-length: 100", "", "a,b"]).encode()


def stopped(server: Running, number: int) -> str:
    """Return what a server says that is told to stop, after checking that it does so without a complaint."""
    assert server.process is not None
    server.process.send_signal(number)
    out, err = server.process.communicate(timeout=PATIENCE)
    assert err == ""
    assert not server.folder.exists()
    return out


def test_a_server_that_is_told_to_end_ends_its_workers_and_removes_its_folder(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    with in_process(home) as server:
        assert server.process is not None
        processes = started(server, tmp_path / "note")
        # An upload that never ends does not keep it alive.
        with server.raw(endless_upload(server)):
            stopped(server, signal.SIGTERM)
    assert server.process.returncode == 128 + signal.SIGTERM
    assert list(home.iterdir()) == []
    assert all(gone(each) for each in processes)


def test_a_terminal_that_is_closed_stops_it(tmp_path: Path) -> None:
    with in_process(tmp_path) as server:
        stopped(server, signal.SIGHUP)
    assert list(tmp_path.iterdir()) == []


def test_after_a_crash_workers_end_and_the_next_start_cleans_up(tmp_path: Path) -> None:
    home, outside = tmp_path / "home", tmp_path / "outside"
    for folder in (home, outside):
        folder.mkdir()
    (outside / "kept.csv").write_text("a", encoding="utf-8")
    with in_process(home) as server:
        assert server.process is not None
        processes = started(server, tmp_path / "note")
        (server.folder / "files" / "link").symlink_to(outside)
        server.process.kill()
        server.process.wait(PATIENCE)
    assert server.folder.exists()
    until(lambda: all(gone(each) for each in processes))
    with in_process(home) as following:
        assert following.process is not None
        assert [each.name for each in home.iterdir()] == [following.folder.name]
        processes = started(following, tmp_path / "other")
        assert "Stopped." in stopped(following, signal.SIGINT)  # Ctrl-C
    assert following.process.returncode == 0
    assert all(gone(each) for each in processes)
    assert list(home.iterdir()) == []
    assert (outside / "kept.csv").exists()


def test_a_port_that_is_taken() -> None:
    with listen(0) as taken:
        port = taken.getsockname()[1]
        assert taken.getsockname()[0] == "127.0.0.1"
        with pytest.raises(InputError, match=f"port {port} of 127.0.0.1 is in use.*another port"):
            listen(port)
        with listen(None) as other:
            assert other.getsockname()[1] != port


def test_no_port_is_the_usual_one() -> None:
    """What somebody else served at a port that can be foreseen may be kept by the browser, and shown for ours."""
    ports = set()
    for _ in range(8):
        with listen(None) as listening:
            ports.add(listening.getsockname()[1])
    assert len(ports) > 1


class Quiet:
    """Serves in this process without serving, and remembers what was said and what the browser was started with."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, parent: Path) -> None:
        self.parent = parent
        self.said: list[str] = []
        self.opened: list[str] = []
        monkeypatch.setattr(module, "_prepare", lambda _: None)
        monkeypatch.setattr("uvicorn.Server.run", self.run)
        monkeypatch.setattr(webbrowser, "open", self.opened.append)

    def run(self, *_: object, **__: object) -> None:
        assert len(list(self.parent.iterdir())) == 1
        raise KeyboardInterrupt

    def serve(self, **wishes: Any) -> None:
        serve(ServeOptions(port=0, parent=self.parent, **wishes), tell=self.said.append)

    @property
    def addresses(self) -> list[str]:
        return [found[0] for line in self.said for found in re.finditer(r"http://127\.0\.0\.1:\d+/\?\w+#(\S+)", line)]


@pytest.mark.parametrize(("screen", "wanted"), [(True, False), (False, True), (False, False)])
def test_the_address_is_printed_and_not_opened_where_nobody_would_see_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, screen: bool, wanted: bool
) -> None:
    quiet = Quiet(monkeypatch, tmp_path)
    monkeypatch.setattr(module, "has_screen", lambda: screen)
    quiet.serve(open_browser=wanted)
    assert len(quiet.addresses) == 1
    assert quiet.opened == []
    assert list(tmp_path.iterdir()) == []


def test_the_browser_is_started_with_a_file_that_only_this_user_can_read(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    quiet = Quiet(monkeypatch, tmp_path)
    monkeypatch.setattr(module, "has_screen", lambda: True)
    kept: list[Keys] = []

    def keep(**settings: Any) -> Keys:
        kept.append(Keys(**settings))
        return kept[0]

    monkeypatch.setattr("unveil.web.guard.Keys", keep)

    def run(*_: object, **__: object) -> None:
        until(lambda: quiet.opened)
        (address,) = quiet.addresses
        token = address.partition("#")[2]
        # What a program is started with stands in the list of processes, which everybody on the machine can read.
        assert token not in quiet.opened[0]
        redirect = Path(unquote(urlsplit(quiet.opened[0]).path))
        assert redirect.is_relative_to(tmp_path)
        assert stat.S_IMODE(redirect.stat().st_mode) == 0o600
        assert stat.S_IMODE(redirect.parent.stat().st_mode) == 0o700
        assert f"url={address}" in redirect.read_text(encoding="utf-8")
        assert kept[0].spend(token) is not None
        assert not redirect.exists(), "the link is spent, so that nobody needs the file"

    monkeypatch.setattr("uvicorn.Server.run", run)
    quiet.serve()
    assert any("open the address in it yourself" in line for line in quiet.said)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("tells", [True, False])
def test_a_system_that_does_not_tell_who_connects_is_said(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, tells: bool
) -> None:
    quiet = Quiet(monkeypatch, tmp_path)
    monkeypatch.setattr(_peer, "system_tells", lambda: tells)
    quiet.serve(open_browser=False)
    assert any("does not identify connecting users" in line for line in quiet.said) is not tells


def test_enter_prints_a_new_address(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    quiet = Quiet(monkeypatch, tmp_path)
    reading, writing = os.pipe()
    monkeypatch.setattr(module, "_INPUT", reading)
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)

    def run(*_: object, **__: object) -> None:
        os.write(writing, b"\n")
        until(lambda: len(quiet.addresses) == 2)
        pages = {address.partition("#")[0] for address in quiet.addresses}
        assert len(pages) == 2, "a page that the browser has kept for one address is not shown for the next"

    monkeypatch.setattr("uvicorn.Server.run", run)
    try:
        quiet.serve(open_browser=False)
    finally:
        os.close(writing)
    one, other = quiet.addresses
    assert one != other
    assert any("Press Enter" in line for line in quiet.said)


def test_a_failure_leaves_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    quiet = Quiet(monkeypatch, tmp_path)

    def broken(*_: object, **__: object) -> None:
        raise RuntimeError

    monkeypatch.setattr("uvicorn.Server.run", broken)
    with pytest.raises(RuntimeError):
        quiet.serve(open_browser=False)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("library", ["starlette", "uvicorn"])
def test_a_missing_library_names_the_extra(monkeypatch: pytest.MonkeyPatch, library: str) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(MissingExtraError, match=r"unveil\[web\]"):
        serve(ServeOptions(), tell=print)


@pytest.mark.parametrize(
    ("platform", "environment", "screen"),
    [
        ("linux", {}, False),
        ("linux", {"DISPLAY": ":0"}, True),
        ("linux", {"WAYLAND_DISPLAY": "wayland-0"}, True),
        ("darwin", {}, True),
        ("win32", {}, True),
    ],
)
def test_where_there_is_a_screen(
    monkeypatch: pytest.MonkeyPatch, platform: str, environment: dict[str, str], screen: bool
) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert has_screen() is screen


def test_the_command_passes_its_options_on(monkeypatch: pytest.MonkeyPatch) -> None:
    from unveil.cli.serve import serve as command

    seen: list[ServeOptions] = []
    monkeypatch.setattr(module, "serve", lambda wishes, **_: seen.append(wishes))
    run = CliRunner().invoke(command, ["--port", "9000", "--no-open", "--limit-mb", "10"])
    assert (run.exit_code, run.output) == (0, "")
    assert seen == [ServeOptions(port=9000, open_browser=False, limits=limits_of(10))]
    assert CliRunner().invoke(command, []).exit_code == 0
    assert seen[1] == ServeOptions()
    assert CliRunner().invoke(command, ["--port", "70000"]).exit_code == 2
    assert CliRunner().invoke(command, ["--host", "x"]).exit_code == 2, "there is no way to serve others"
