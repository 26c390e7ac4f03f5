"""Servers for tests: a real one on a free port, in a thread of this process or in a process of its own."""

import asyncio
import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Coroutine, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

import httpx

from tests.web.stand_in import PROGRAM
from unveil.web._protocol import PatientServer
from unveil.web.app import State, make_app
from unveil.web.guard import Keys
from unveil.web.jobs import Jobs, Rules
from unveil.web.serve import ServeOptions, listen, make_folder, serve, settings_for
from unveil.web.uploads import Limits, Uploads

Outcome = TypeVar("Outcome")

#: How long a test waits for what must happen, in seconds; it never takes so long.
PATIENCE = 30.0


def awaited(work: Coroutine[Any, Any, Outcome]) -> Outcome:
    """Return what the work comes to, in a thread: browser tests leave an event loop running in that of the tests."""
    with ThreadPoolExecutor(1) as other:
        return other.submit(asyncio.run, work).result()


@dataclass(kw_only=True)
class Running:
    """A server that answers, and how to ask it."""

    port: int
    folder: Path
    token: str
    cookies: httpx.Cookies
    root: str = ""
    state: State | None = None
    process: "subprocess.Popen[str] | None" = None

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def client(self, **settings: Any) -> httpx.Client:
        """Return the browser that opened the link, which says where its requests come from."""
        place = settings.pop("place", self.root)
        given: dict[str, Any] = {"headers": {"origin": self.base}, "cookies": self.cookies, **settings}
        return httpx.Client(base_url=f"{self.base}{place}", timeout=PATIENCE, trust_env=False, **given)

    @property
    def cookie(self) -> str:
        """What the browser that opened the link sends as its cookie."""
        return "; ".join(f"{name}={value}" for name, value in self.cookies.items())

    def stranger(self, **settings: Any) -> httpx.Client:
        """Return a browser that did not open the link."""
        return self.client(**{"cookies": None, "headers": {}, **settings})

    def submit(self, client: httpx.Client, do: str, **settings: str) -> str:
        """Return the id of a job that does what the stand-in is told."""
        asked = client.post("/jobs", json={"question": "study", "settings": {"folder": f"/{do}", **settings}})
        assert asked.status_code == 201, asked.text
        return str(asked.json()["id"])

    def ended(self, client: httpx.Client, job: str) -> dict[str, Any]:
        """Return the last state of a job."""

        def done() -> Any:
            state = client.get(f"/jobs/{job}/state").json()
            return state if state["state"] not in ("waiting", "running") else None

        found: dict[str, Any] = until(done)
        return found

    def raw(self, request: bytes, *, address: str = "127.0.0.1") -> socket.socket:
        """Return a connection on which these bytes were sent."""
        connection = socket.create_connection((address, self.port), timeout=PATIENCE)
        connection.sendall(request)
        return connection


@contextmanager
def in_thread(parent: Path, *, limits: Limits | None = None, rules: Rules | None = None) -> Iterator[Running]:
    """Yield a server that runs beside the test, whose browser has opened the link."""
    listening = listen(0)
    port = listening.getsockname()[1]
    folder = make_folder(parent)
    keys = Keys()
    uploads, jobs = Uploads(folder.files, limits), Jobs(folder.jobs, rules or Rules(program=PROGRAM))
    state = State(keys=keys, port=port, uploads=uploads, jobs=jobs)
    server = PatientServer(settings_for(make_app(state)))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        token = keys.new_token()
        yield _entered(Running(port=port, folder=folder.path, token=token, cookies=httpx.Cookies(), state=state))
    finally:
        server.should_exit = True
        thread.join(PATIENCE)
        folder.remove()
    assert not thread.is_alive()


@contextmanager
def in_process(parent: Path, *, limits: Limits | None = None, path: str = "") -> Iterator[Running]:
    """Yield a server as ``unveil serve`` starts it, in a process of its own that is ended with the test."""
    environment = {
        **os.environ,
        "TMPDIR": str(parent),
        "PYTHONPATH": os.pathsep.join(filter(None, [path, str(Path.cwd())])),
    }
    told = json.dumps(asdict(limits or Limits()))
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.web.servers", told],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
        text=True,
    )
    try:
        assert process.stdout is not None
        found = next((match for line in process.stdout if (match := _ADDRESS.search(line))), None)
        assert found is not None, process.communicate()
        folder = next(each for each in parent.iterdir() if f"-{process.pid}-" in each.name)
        port, token = int(found[1]), found[2]
        yield _entered(Running(port=port, folder=folder, token=token, cookies=httpx.Cookies(), process=process))
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(signal.SIGTERM)
        process.communicate(timeout=PATIENCE)


_ADDRESS = re.compile(r"http://127\.0\.0\.1:(\d+)/\?\w+#(\S+)")


def _entered(running: Running) -> Running:
    with running.stranger() as client:
        answer = client.post("/enter", headers={"unveil-token": running.token, "origin": running.base})
        assert answer.status_code == 200, answer.text
        running.cookies = httpx.Cookies(answer.cookies)
        running.root = answer.json()["root"]
    return running


def until(happens: Callable[[], Any]) -> Any:
    """Return the first true value; a test fails that waits in vain."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if value := happens():
            return value
        time.sleep(0.01)
    raise AssertionError("it did not happen")


def gone(process: int) -> bool:
    """Return whether a process is no longer there, or only still has to be buried."""
    try:
        status = Path(f"/proc/{process}/stat").read_text(encoding="utf-8")
    except OSError:
        return True
    return status.rpartition(")")[2].split()[0] in "ZX"


def main(limits: Mapping[str, Any]) -> None:
    """Serve as the command does, with workers that do what they are told."""
    wishes = ServeOptions(port=0, open_browser=False, limits=Limits(**limits), rules=Rules(program=PROGRAM))
    serve(wishes, tell=lambda line: print(line, flush=True))  # noqa: T201


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
