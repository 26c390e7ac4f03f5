"""The server as a person starts it: for this machine only, under load, without a network, leaving nothing behind."""

import json
import os
import signal
import socket
import sys
import webbrowser
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import CliRunner

from tests.web.servers import PATIENCE, Running, gone, in_process, in_thread, until
from unveil.errors import InputError, MissingExtraError
from unveil.web import _peer
from unveil.web import serve as module
from unveil.web._peer import is_ours, owner_of
from unveil.web.serve import HOST, Wishes, has_screen, limits_of, listen, serve
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
    with server.raw(b"") as connection:
        port = connection.getsockname()[1]
        assert owner_of(port, server.port) == os.getuid()
        assert is_ours(port, server.port)
        assert owner_of(port, server.port + 1) is None


@pytest.mark.parametrize(
    ("user", "file", "ours"), [(os.getuid(), 77, True), (0, 77, True), (os.getuid() + 1, 77, False), (0, 0, False)]
)
@pytest.mark.parametrize("address", ["0100007F", "0000000000000000FFFF00000100007F"])
def test_another_user_of_this_machine_is_not_ours(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, user: int, file: int, ours: bool, address: str
) -> None:
    rest = "01 00000000:00000000 00:00000000 00000000"
    rows = [
        "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode",
        f"   0: 0100007F:0050 0100007F:1F90 {rest}  {os.getuid()}  0 5",
        f"   1: {address}:1F90 {address}:0050 {rest}  {user}  0 {file} 2 0000000000000000 20 0 0 10 -1",
        "   2: cut short",
    ]
    table = tmp_path / "tcp"
    table.write_text("\n".join(rows), encoding="ascii")
    monkeypatch.setattr(_peer, "TABLES", (tmp_path / "nothing", table))
    assert is_ours(0x1F90, 0x50) is ours
    assert is_ours(0x1F91, 0x50) is True, "where it is not told, the token and the cookie have to do"


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
        job = client.post("/jobs", json={"question": "partition", "settings": {"sample": True}}).json()["id"]
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


def test_a_port_that_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    with listen(0) as taken:
        port = taken.getsockname()[1]
        assert taken.getsockname()[0] == "127.0.0.1"
        with pytest.raises(InputError, match=f"port {port} of 127.0.0.1 must be free.*--port"):
            listen(port)
        monkeypatch.setattr(module, "PORT", port)
        with listen(None) as other:
            assert other.getsockname()[1] != port
    with listen(None) as usual:
        assert usual.getsockname()[1] == port


class Quiet:
    """Serves in this process without serving, and remembers what was said."""

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
        serve(Wishes(port=0, parent=self.parent, **wishes), tell=self.said.append)


@pytest.mark.parametrize(("screen", "wanted"), [(True, True), (True, False), (False, True)])
def test_the_address_is_printed_and_opened_where_there_is_a_screen(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, screen: bool, wanted: bool
) -> None:
    quiet = Quiet(monkeypatch, tmp_path)
    monkeypatch.setattr(module, "has_screen", lambda: screen)
    quiet.serve(open_browser=wanted)
    said = "\n".join(quiet.said)
    assert "http://127.0.0.1:" in said
    assert "?token=" in said
    if screen and wanted:
        until(lambda: quiet.opened)
        assert quiet.opened[0] in said
    else:
        assert quiet.opened == []
    assert list(tmp_path.iterdir()) == []


def test_enter_prints_a_new_address(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    quiet = Quiet(monkeypatch, tmp_path)
    reading, writing = os.pipe()
    monkeypatch.setattr(module, "_INPUT", reading)
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)

    def run(*_: object, **__: object) -> None:
        os.write(writing, b"\n")
        until(lambda: sum("?token=" in line for line in quiet.said) == 2)

    monkeypatch.setattr("uvicorn.Server.run", run)
    try:
        quiet.serve(open_browser=False)
    finally:
        os.close(writing)
    one, other = (line.split("token=")[1].split()[0] for line in quiet.said if "?token=" in line)
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
        serve(Wishes(), tell=print)


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

    seen: list[Wishes] = []
    monkeypatch.setattr(module, "serve", lambda wishes, **_: seen.append(wishes))
    run = CliRunner().invoke(command, ["--port", "9000", "--no-open", "--limit-mb", "10"])
    assert (run.exit_code, run.output) == (0, "")
    assert seen == [Wishes(port=9000, open_browser=False, limits=limits_of(10))]
    assert CliRunner().invoke(command, []).exit_code == 0
    assert seen[1] == Wishes()
    assert CliRunner().invoke(command, ["--port", "70000"]).exit_code == 2
    assert CliRunner().invoke(command, ["--host", "x"]).exit_code == 2, "there is no way to serve others"
