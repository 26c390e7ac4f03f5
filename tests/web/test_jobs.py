"""Jobs: one after the other, in processes that can be ended, and whatever becomes of them the page lives on."""

import asyncio
import errno
import json
import os
import signal
import stat
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.approved.sentences import Approved
from tests.web import stand_in
from tests.web.servers import Running, awaited, gone, in_thread, until
from tests.web.stand_in import MARKER, PROGRAM, REPORT
from unveil.web import RefusedError, worker
from unveil.web._private import write_private
from unveil.web._process import Worker, ending
from unveil.web.jobs import Jobs, JobView, Rules
from unveil.web.uploads import Upload


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with in_thread(tmp_path_factory.mktemp("server")) as running:
        yield running


@pytest.fixture
def client(server: Running) -> Iterator[httpx.Client]:
    with server.client() as browser:
        yield browser


def state(client: httpx.Client, job: str) -> Any:
    return client.get(f"/jobs/{job}/state").json()


def waiting(server: Running, client: httpx.Client, note: Path) -> tuple[str, list[int]]:
    """Return a job that would never end, and the processes that it is made of."""
    job = server.submit(client, f"wait {note}")
    until(note.exists)
    processes: list[int] = until(lambda: json.loads(note.read_text(encoding="utf-8") or "[]"))
    assert not any(gone(each) for each in processes)
    return job, processes


def test_an_answer_is_kept_as_the_library_gave_it(server: Running, client: httpx.Client) -> None:
    job = server.submit(client, "answer")
    done = server.ended(client, job)
    assert done["state"] == "finished"
    assert (done["headline"], done["tone"], done["error"], done["share"]) == ("It is <b>answer</b>.", "good", "", 1.0)
    assert 0 < done["seconds"] < 60
    assert client.get(f"/jobs/{job}/report").text == REPORT
    assert client.get(f"/jobs/{job}/answer.json").json() == {"fine": True}
    folder = server.folder / "jobs" / job
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(each.stat().st_mode) for each in folder.iterdir()} == {0o600}
    # Closing the browser loses nothing: the list of the server has it.
    assert job in client.get("/").text


def test_a_refusal_is_said_in_the_words_of_the_library(
    server: Running, client: httpx.Client, approved: Approved
) -> None:
    done = server.ended(client, server.submit(client, "refuse"))
    assert (done["state"], done["field"]) == ("failed", "folder")
    approved(done["error"])


def test_progress_is_seen_and_jobs_wait_in_line(server: Running, client: httpx.Client, tmp_path: Path) -> None:
    go, order = tmp_path / "go", tmp_path / "order"
    first = server.submit(client, f"until {go}")
    later = [server.submit(client, f"order {order}", metrics=str(number)) for number in range(3)]
    until(lambda: state(client, first)["step"])
    told = state(client, first)
    assert (told["state"], told["step"], told["share"]) == ("running", "doing until", 0.25)
    assert [(state(client, job)["state"], state(client, job)["place"]) for job in later] == [
        ("waiting", 1),
        ("waiting", 2),
        ("waiting", 3),
    ]
    # One that no longer wants to wait lets the others move up, and never runs.
    assert client.delete(f"/jobs/{later[1]}").json()["state"] == "cancelled"
    assert state(client, later[2])["place"] == 2
    go.touch()
    assert [server.ended(client, job)["state"] for job in (first, *later)] == [
        "finished",
        "finished",
        "cancelled",
        "finished",
    ]
    assert order.read_text(encoding="utf-8").split() == ["0", "2"]


def test_cancelling_ends_all_processes(server: Running, client: httpx.Client, tmp_path: Path) -> None:
    job, processes = waiting(server, client, tmp_path / "note")
    answer = client.delete(f"/jobs/{job}")
    # Gone when the answer comes, not some time later.
    assert [gone(each) for each in processes] == [True, True]
    assert answer.json()["state"] == "cancelled"
    assert client.get(f"/jobs/{job}/report").status_code == 404
    assert server.ended(client, server.submit(client, "answer"))["state"] == "finished", "the next one has its turn"


def test_cancelling_what_is_done_changes_nothing(server: Running, client: httpx.Client) -> None:
    job = server.submit(client, "answer")
    server.ended(client, job)
    assert client.delete(f"/jobs/{job}").json()["state"] == "finished"
    assert client.get(f"/jobs/{job}/report").status_code == 200


def test_a_job_that_is_removed_is_gone(server: Running, client: httpx.Client, tmp_path: Path) -> None:
    job, processes = waiting(server, client, tmp_path / "note")
    assert client.delete(f"/jobs/{job}", params={"forget": "1"}).json() == {}
    assert all(gone(each) for each in processes)
    assert client.get(f"/jobs/{job}/state").status_code == 404
    assert not (server.folder / "jobs" / job).exists()
    assert job not in client.get("/").text


def test_a_killed_worker_is_an_error_and_the_page_lives_on(
    server: Running, client: httpx.Client, tmp_path: Path, approved: Approved
) -> None:
    job, (first, child) = waiting(server, client, tmp_path / "note")
    os.kill(first, signal.SIGKILL)
    done = server.ended(client, job)
    assert done["state"] == "failed"
    approved(done["error"])
    assert gone(child), "what it started ends with it"
    assert client.get("/").status_code == 200
    assert "signal 9" in client.get(f"/jobs/{job}", headers={"accept": "text/html"}).text
    assert server.ended(client, server.submit(client, "answer"))["state"] == "finished"


@pytest.mark.parametrize(
    ("do", "said"),
    [
        ("crash", "unveil failed"),
        ("leave 3", "unveil failed"),
        ("die SIGSEGV", "signal 11"),
        ("leave 0", "No result"),
    ],
)
def test_a_mistake_of_ours_is_said_without_its_details(
    server: Running, client: httpx.Client, do: str, said: str, capfd: pytest.CaptureFixture[str]
) -> None:
    job = server.submit(client, do)
    done = server.ended(client, job)
    assert done["state"] == "failed"
    assert said in done["error"]
    shown = client.get(f"/jobs/{job}", headers={"accept": "text/html"}).text + json.dumps(done)
    assert MARKER not in shown
    assert "Traceback" not in shown
    assert str(server.folder) not in shown
    assert (MARKER in capfd.readouterr().err) == (do == "crash"), "the terminal says what it was"


def test_too_little_memory_is_said_so(tmp_path: Path) -> None:
    with in_thread(tmp_path, rules=Rules(program=PROGRAM, memory=300 * 2**20)) as server, server.client() as client:
        done = server.ended(client, server.submit(client, f"memory {2**30}"))
        assert (done["state"], "memory" in done["error"]) == ("failed", True)


def test_a_job_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    note = tmp_path / "note"
    program = ("/bin/sh", "-c", f"sleep 600 & echo $$ $! > {note}; wait")
    with in_thread(tmp_path, rules=Rules(program=program, seconds=1.0)) as server, server.client() as client:
        done = server.ended(client, server.submit(client, "answer"))
    assert (done["state"], "longer than 1 seconds" in done["error"]) == ("failed", True)
    processes = [int(each) for each in note.read_text(encoding="utf-8").split()]
    assert [gone(each) for each in processes] == [True, True]


@contextmanager
def no_runner(folder: Path, **rules: Any) -> Iterator[Jobs]:
    yield Jobs(folder, Rules(program=PROGRAM, **rules))


def test_no_more_than_so_many_wait(tmp_path: Path) -> None:
    with no_runner(tmp_path, waiting=2, kept=3) as jobs:
        identities = [jobs.submit("study", {}, {}) for _ in range(2)]
        with pytest.raises(RefusedError, match="jobs are waiting") as caught:
            jobs.submit("study", {}, {})
        assert caught.value.status == 503
        assert len(list(tmp_path.iterdir())) == 2
        awaited(jobs.cancel(identities[0]))
        jobs.submit("study", {}, {})
        awaited(jobs.cancel(identities[1]))
        with pytest.raises(RefusedError, match="are kept already"):
            jobs.submit("study", {}, {})


def test_files_of_jobs_that_are_not_done_are_in_use(tmp_path: Path) -> None:
    one, other = (Upload(id=name, path=tmp_path / name, name=name, size=1) for name in "ab")
    with no_runner(tmp_path) as jobs:
        job = jobs.submit("study", {"guess": [one]}, {})
        assert (jobs.uses(one), jobs.uses(other)) == (True, False)
        awaited(jobs.cancel(job))
        assert not jobs.uses(one)
        told = json.loads((tmp_path / job / "job.json").read_text(encoding="utf-8"))
        assert told["files"] == {"guess": [{"path": str(one.path), "name": "a"}]}


@pytest.mark.parametrize("identity", ["", ".", "..", "../x", "/etc", "\0", "a" * 5000])
def test_a_job_that_is_not_there(tmp_path: Path, identity: str) -> None:
    with no_runner(tmp_path) as jobs:
        for ask in (jobs.view, lambda name: jobs.result(name, "report.html")):
            with pytest.raises(RefusedError) as caught:
                ask(identity)
            assert caught.value.status == 404
        for end in (jobs.cancel, jobs.forget):
            with pytest.raises(RefusedError):
                awaited(end(identity))


def test_a_disk_that_is_gone_is_said_so(tmp_path: Path) -> None:
    with no_runner(tmp_path / "nowhere") as jobs, pytest.raises(RefusedError, match="Free some space") as caught:
        jobs.submit("study", {}, {})
    assert caught.value.status == 507


def test_a_worker_that_cannot_be_started_is_an_error(tmp_path: Path) -> None:
    async def tried() -> JobView:
        jobs = Jobs(tmp_path, Rules(program=(str(tmp_path / "no such program"),)))
        jobs.start()
        job = jobs.submit("study", {}, {})
        while jobs.view(job).state in ("waiting", "running"):
            await asyncio.sleep(0.01)
        await jobs.stop()
        return jobs.view(job)

    view = awaited(tried())
    assert (view.state, "could not be started" in view.error) == ("failed", True)


def test_a_mistake_of_ours_is_seen_in_the_terminal_and_stops_no_other_job(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def broken(_: object) -> int:
        raise ZeroDivisionError("ours")

    async def tried() -> list[JobView]:
        jobs = Jobs(tmp_path)
        jobs.start()
        for _ in range(2):
            jobs.submit("study", {}, {})
        while any(view.state in ("waiting", "running") for view in jobs.views()):
            await asyncio.sleep(0.01)
        await jobs.stop()
        return jobs.views()

    monkeypatch.setattr("unveil.web.jobs.Worker.run", broken)
    views = awaited(tried())
    assert [(view.state, "unveil failed" in view.error) for view in views] == [("failed", True)] * 2
    assert "ZeroDivisionError: ours" in caplog.text


def test_a_worker_that_has_ended_is_not_ended_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ended = []

    async def twice() -> None:
        done = Worker(folder=tmp_path, seconds=9.0, program=(sys.executable, "-c", ""))
        assert await done.run() == 0
        monkeypatch.setattr("os.killpg", lambda *_: ended.append(1))
        await done.stop()

    awaited(twice())
    assert ended == [], "its number may be that of another process by now"


def test_a_worker_that_is_stopped_before_it_began_never_begins(tmp_path: Path) -> None:
    async def stopped() -> int:
        never = Worker(folder=tmp_path, seconds=1.0, program=PROGRAM)
        await never.stop()
        return await never.run()

    assert awaited(stopped()) < 0


@pytest.mark.parametrize("content", ["", "{", "[]", "null", '"x"', "\ud800", "x" * 100])
def test_whatever_a_worker_wrote_is_survived(tmp_path: Path, content: str) -> None:
    with no_runner(tmp_path) as jobs:
        job = jobs.submit("study", {}, {})
        jobs._jobs[job].state = "running"
        write_private(tmp_path / job / "progress.json", content)
        assert (jobs.view(job).step, jobs.view(job).share) == ("", 0.0)
        write_private(tmp_path / job / "progress.json", '{"step": 5, "share": "x"}')
        assert (jobs.view(job).step, jobs.view(job).share) == ("5", 0.0)
        write_private(tmp_path / job / "progress.json", '{"step": "a", "share": 7}')
        assert jobs.view(job).share == 1.0


def test_files_appear_whole_and_private(tmp_path: Path) -> None:
    path = tmp_path / "done.json"
    old = os.umask(0)
    try:
        write_private(path, "{}")
        write_private(path, json.dumps({"a": "é"}))
    finally:
        os.umask(old)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [each.name for each in tmp_path.iterdir()] == ["done.json"]


def test_signals_are_named() -> None:
    assert "signal 11" in ending(-11)
    assert "code 4" in ending(4)


@pytest.fixture
def task(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., dict[str, Any]]:
    """Return what does a task in this process, which goes on afterwards."""
    monkeypatch.setattr(worker, "_guard_process", lambda: None)

    def done(do: str = "answer", **task: Any) -> dict[str, Any]:
        content = {"question": "study", "files": {}, "settings": {"folder": do}, **task}
        write_private(tmp_path / "job.json", json.dumps(content))
        with pytest.MonkeyPatch.context() as patch:
            if content["question"] == "study":
                patch.setitem(sys.modules, "unveil.web.questions", stand_in.questions())
            assert worker.main(tmp_path) == 0
        found: dict[str, Any] = json.loads((tmp_path / "done.json").read_text(encoding="utf-8"))
        return found

    return done


def test_a_worker_leaves_its_answer_in_its_folder(task: Callable[..., dict[str, Any]], tmp_path: Path) -> None:
    said = {"headline": "It is <b>answer</b>.", "tone": "good", "label": "Good"}
    assert task() == {**said, "outputs": []}
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == REPORT
    assert json.loads((tmp_path / "progress.json").read_text(encoding="utf-8")) == {
        "step": "doing answer",
        "share": 0.25,
    }
    assert task("refuse")["field"] == "folder"
    assert "memory" in task("no memory")["error"]
    with pytest.raises(RuntimeError):
        task("crash")


def test_a_worker_looks_at_a_file(task: Callable[..., dict[str, Any]], tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("a,b\n1,2\n", encoding="utf-8")
    one = {"path": str(path), "name": "people.csv"}
    assert task(question="look", files={"file": one})["look"]["rows"] == 1
    with pytest.raises(TypeError):
        task(question="look", files={"file": [one]})


def test_progress_is_not_written_more_often_than_anybody_looks(tmp_path: Path) -> None:
    report = worker.reporter(tmp_path)
    seen = []
    for step, share in [("a", 0.1), ("a", 0.2), ("a", 0.3), ("b", 0.0), ("b", 0.5), ("b", 1.0)]:
        report(step, share)
        seen.append(json.loads((tmp_path / "progress.json").read_text(encoding="utf-8"))["share"])
    assert seen == [0.1, 0.1, 0.1, 0.0, 0.0, 1.0]


def test_many_threads_may_look_at_the_same_job(server: Running, client: httpx.Client) -> None:
    job = server.submit(client, "answer")
    seen: list[int] = []
    threads = [
        threading.Thread(target=lambda: seen.append(client.get(f"/jobs/{job}/state").status_code)) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [200] * 8
    server.ended(client, job)


def test_a_full_disk_is_said_so_and_nothing_half_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    old = [tmp_path / name for name in ("done.json", "progress.json")]
    for path in old:
        write_private(path, "old")
    monkeypatch.setattr("pathlib.Path.replace", full)
    with pytest.raises(OSError, match="No space"):
        write_private(tmp_path / "done.json", "{}")
    worker.reporter(tmp_path)("how far it is is not worth a failure", 0.5)
    assert sorted(tmp_path.iterdir()) == old, "what was begun makes room for others"
    assert [path.read_text() for path in old] == ["old", "old"]


def test_an_answer_that_finds_no_room_is_no_mistake_of_ours(server: Running, client: httpx.Client) -> None:
    done = server.ended(client, server.submit(client, "full"))
    assert done["state"] == "failed"
    assert done["error"].startswith("The disk for temporary files is full")


def test_an_answer_that_somebody_removed_is_not_there(server: Running, client: httpx.Client) -> None:
    job = server.submit(client, "answer")
    server.ended(client, job)
    (server.folder / "jobs" / job / "report.html").unlink()
    answer = client.get(f"/jobs/{job}/report")
    assert (answer.status_code, "no longer on the disk" in answer.json()["error"]) == (404, True)
