"""Job queue: one runs, the rest wait, and results stay until removed."""

import asyncio
import contextlib
import json
import logging
import re
import secrets
import shutil
import time
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field as made
from pathlib import Path
from typing import Any, Literal

from unveil.web import NamedFile, RefusedError
from unveil.web._private import DISK_FULL, write_private
from unveil.web._process import PROGRAM, Worker, ending
from unveil.web.uploads import Upload

State = Literal["waiting", "running", "finished", "failed", "cancelled"]
#: What a job is given: for each field a file, or several.
Files = Mapping[str, Upload | list[Upload]]

#: Texts that a worker wrote are cut there, and larger files are not read.
_LONGEST = 2_000
_LARGEST = 8_000_000
_OUR_MISTAKE = "unveil failed. The terminal where it was started shows the error; please report it"
#: So many files are looked at or wait for it.
_MOST_LOOKS = 10


@dataclass(frozen=True, kw_only=True)
class Rules:
    """Limits of jobs: time, memory, and number."""

    seconds: float = 3600.0
    waiting: int = 20
    kept: int = 200
    look_seconds: float = 60.0
    looks_at_once: int = 2
    #: Bytes; None leaves it to the system.
    memory: int | None = None
    look_memory: int | None = None
    program: tuple[str, ...] = PROGRAM


@dataclass(frozen=True, kw_only=True)
class JobView:
    """Public state of a job."""

    id: str
    question: str
    state: State
    #: What was asked: for each field a file or several, and the settings as the page sent them.
    files: Files = made(default_factory=dict)
    settings: Mapping[str, Any] = made(default_factory=dict)
    #: What the worker does now, and which share of that is done.
    step: str = ""
    share: float = 0.0
    #: How long it has been running, or ran.
    seconds: float = 0.0
    #: How many jobs come before it, where it waits.
    place: int = 0
    headline: str = ""
    tone: str = ""
    label: str = ""
    #: Why there is no answer, and which field of the form that is about.
    error: str = ""
    field: str = ""
    #: What the files are called that it made, such as a release.
    outputs: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the job state for a script, without file paths."""
        told = ("id", "question", "state", "step", "share", "seconds", "place", "headline", "tone", "error", "field")
        return {name: getattr(self, name) for name in told}


@dataclass(kw_only=True)
class _Job:
    id: str
    question: str
    folder: Path
    files: Files
    settings: Mapping[str, Any]
    worker: Worker
    state: State = "waiting"
    done: dict[str, Any] = made(default_factory=dict)
    began: float = 0.0
    seconds: float = 0.0
    cancelled: bool = False
    ended: asyncio.Event = made(default_factory=asyncio.Event)

    @property
    def given(self) -> list[Upload]:
        """All its files."""
        return [each for value in self.files.values() for each in (value if isinstance(value, list) else [value])]

    @property
    def outputs(self) -> tuple[str, ...]:
        """Files made in addition to the report; only these are served."""
        told = self.done.get("outputs")
        return tuple(each for each in told or () if isinstance(each, str) and _OUTPUT.fullmatch(each))


#: What a file is called that an answer makes beside its report.
_OUTPUT = re.compile(r"[a-z]+\.csv")


class Jobs:
    """Every job since the server started; used from one event loop."""

    def __init__(self, folder: Path, rules: Rules | None = None) -> None:
        self.folder = folder
        self.rules = rules or Rules()
        self._jobs: dict[str, _Job] = {}
        self._news = asyncio.Event()
        self._runner: asyncio.Task[None] | None = None
        self._looks: set[Worker] = set()
        self._may_look = asyncio.Semaphore(self.rules.looks_at_once)

    def start(self) -> None:
        """Begin to run what waits."""
        self._runner = asyncio.get_running_loop().create_task(self._run())

    async def stop(self) -> None:
        """End all workers, and run nothing more."""
        if self._runner is not None:
            self._runner.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._runner
        for worker in [*self._looks, *(job.worker for job in self._jobs.values())]:
            await worker.stop()

    def submit(self, question: str, files: Files, settings: Mapping[str, Any]) -> str:
        """Add a job to the queue and return its id."""
        if sum(job.state == "waiting" for job in self._jobs.values()) >= self.rules.waiting:
            raise RefusedError(
                503, f"Busy: {self.rules.waiting} jobs are waiting. Wait until one has finished, or cancel one"
            )
        if len(self._jobs) >= self.rules.kept:
            raise RefusedError(503, f"{self.rules.kept} results are kept already. Remove those that are not needed")
        identity = secrets.token_hex(16)
        task = {"question": question, "settings": settings, "memory": self.rules.memory}
        folder = self._new_folder(identity, task, files)
        worker = Worker(folder=folder, seconds=self.rules.seconds, program=self.rules.program)
        self._jobs[identity] = _Job(
            id=identity, question=question, folder=folder, files=files, settings=settings, worker=worker
        )
        self._news.set()
        return identity

    async def look(self, upload: Upload) -> dict[str, Any]:
        """Return a worker's summary of a file, or why it is unreadable."""
        if len(self._looks) >= _MOST_LOOKS:
            raise RefusedError(503, "Busy: other files are being read. Try again in a moment")
        task: dict[str, Any] = {"question": "look", "settings": {}, "memory": self.rules.look_memory}
        folder = self._new_folder(secrets.token_hex(16), task, {"file": upload})
        worker = Worker(folder=folder, seconds=self.rules.look_seconds, program=self.rules.program)
        self._looks.add(worker)
        try:
            async with self._may_look:
                done = _outcome(worker, await worker.run())
        finally:
            self._looks.discard(worker)
            shutil.rmtree(folder, ignore_errors=True)
        seen: dict[str, Any] = done["look"] if "look" in done else {"error": done["error"]}
        return seen

    def __contains__(self, identity: str) -> bool:
        """Return whether there is such a job."""
        return identity in self._jobs

    def view(self, identity: str) -> JobView:
        """Return what there is to say of a job now."""
        job = self._find(identity)
        shared: dict[str, Any] = {
            "id": job.id,
            "question": job.question,
            "state": job.state,
            "files": job.files,
            "settings": job.settings,
        }
        if job.state == "waiting":
            before = [each for each in self._jobs.values() if each.state in ("waiting", "running")]
            return JobView(**shared, place=before.index(job))
        if job.state == "running":
            told = _read(job.folder / "progress.json")
            step, share = _short(told.get("step", "")), told.get("share", 0.0)
            return JobView(**shared, step=step, share=_share(share), seconds=time.monotonic() - job.began)
        said: dict[str, Any] = {
            name: _short(job.done.get(name) or "") for name in ("headline", "tone", "label", "error", "field")
        }
        finished = job.state == "finished"
        return JobView(**shared, share=float(finished), seconds=job.seconds, outputs=job.outputs, **said)

    def views(self) -> list[JobView]:
        """Return the state of every job, in order of submission."""
        return [self.view(identity) for identity in self._jobs]

    def result(self, identity: str, name: str) -> tuple[str, Path]:
        """Return a finished job's question, and one file of its answer."""
        job = self._find(identity)
        if name not in ("report.html", "answer.json", *job.outputs):
            raise RefusedError(404, "This job has no such file. See its page")
        if job.state != "finished":
            raise RefusedError(404, f"This job has no result: it is {job.state}. See its page")
        path = job.folder / name
        if not path.is_file():
            raise RefusedError(404, "The result is no longer on the disk. Run it again")
        return job.question, path

    def uses(self, upload: Upload) -> bool:
        """Return whether a job that is not done needs the file."""
        return any(upload in job.given for job in self._jobs.values() if job.state in ("waiting", "running"))

    async def cancel(self, identity: str) -> None:
        """End a running job with its processes, and wait for them."""
        job = self._find(identity)
        if job.state == "waiting":
            job.state = "cancelled"
        elif job.state == "running":
            job.cancelled = True
            await job.worker.stop()
            await job.ended.wait()

    async def forget(self, identity: str) -> None:
        """Remove a job and its results, canceling it first."""
        await self.cancel(identity)
        job = self._jobs.pop(identity, None)
        if job is not None:
            shutil.rmtree(job.folder, ignore_errors=True)

    def _find(self, identity: str) -> "_Job":
        try:
            return self._jobs[identity]
        except KeyError:
            raise RefusedError(404, "Unknown job. See the list of results") from None

    def _new_folder(self, identity: str, task: Mapping[str, Any], files: Files) -> Path:
        folder = self.folder / identity
        told = {
            name: [_plain(each) for each in value] if isinstance(value, list) else _plain(value)
            for name, value in files.items()
        }
        try:
            folder.mkdir(mode=0o700)
            write_private(folder / "job.json", json.dumps({**task, "files": told}))
        except OSError:
            shutil.rmtree(folder, ignore_errors=True)
            raise RefusedError(507, "The disk for temporary files is full or gone. Free some space") from None
        return folder

    async def _run(self) -> None:
        while True:
            job = next((each for each in self._jobs.values() if each.state == "waiting"), None)
            if job is None:
                self._news.clear()
                await self._news.wait()
            else:
                await self._run_one(job)

    async def _run_one(self, job: "_Job") -> None:
        job.state, job.began = "running", time.monotonic()
        try:
            job.done = _outcome(job.worker, await job.worker.run())
        except OSError:
            job.done = {"error": "The worker could not be started. Check the free memory of this computer"}
        except Exception:  # a mistake of ours, which must be seen; but those who wait must have their turn
            logging.getLogger("uvicorn.error").exception("a job could not be run")
            job.done = {"error": _OUR_MISTAKE}
        finally:
            job.seconds = time.monotonic() - job.began
            failed: State = "failed" if "error" in job.done else "finished"
            job.state = "cancelled" if job.cancelled or not job.done else failed
            if job.cancelled:
                job.done = {}
            job.ended.set()


def _outcome(worker: Worker, code: int) -> dict[str, Any]:
    """Return the worker's result, or a sentence on its failure."""
    done = _read(worker.folder / "done.json")
    if code == 0 and done:
        return done
    if worker.late:
        return {"error": f"The job took longer than {worker.seconds:g} seconds and was stopped. Use a smaller file"}
    if code == DISK_FULL:
        return {"error": "The disk for temporary files is full, so the result could not be stored. Free some space"}
    if code > 0:
        return {"error": _OUR_MISTAKE}
    return {"error": f"No result: {ending(code)}. Try again, or use a smaller file"}


def _read(path: Path) -> dict[str, Any]:
    """Return the valid part of a worker's result, as untrusted input."""
    try:
        if path.stat().st_size > _LARGEST:
            return {}
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def _plain(given: NamedFile) -> dict[str, str]:
    return {"path": str(given.path), "name": given.name}


def _short(text: Any) -> str:
    return str(text)[:_LONGEST]


def _share(share: Any) -> float:
    return min(1.0, max(0.0, share)) if isinstance(share, float | int) else 0.0
