"""Workers: answers come back, a worker that dies is replaced, and nobody is left behind."""

import io
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import wait
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from tests.questions.audit.example import write_files
from tests.studies.small import small_study
from unveil.cli import main
from unveil.errors import InputError, MissingExtraError
from unveil.work.cluster import DaskCluster, cluster_risk
from unveil.work.processes import Processes, receive, send, serve
from unveil.work.run import executor
from unveil.work.task import MismatchError, SharedValue, Task, WorkerDiedError, version
from unveil.work.threads import Threads


class OddError(Exception):
    """An error that cannot be copied."""

    def __reduce__(self) -> Any:
        raise TypeError


@pytest.fixture
def workers() -> Iterator[Processes]:
    made = Processes(2)
    yield made
    made.stop()
    assert made.process_numbers == []


def gone(number: int) -> bool:
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return True
    return False


def call(function: Any, *arguments: Any) -> Task:
    return Task(0, function, arguments)


def test_answers_errors_and_deaths_of_local_workers(workers: Processes) -> None:
    assert workers.slots == 2
    workers.check()
    futures = [workers.submit(call(Fraction, number, 2)) for number in range(6)]
    assert [future.result() for future in futures] == [Fraction(number, 2) for number in range(6)]
    with pytest.raises(ZeroDivisionError):
        workers.submit(call(Fraction, 1, 0)).result()
    with pytest.raises(RuntimeError, match="SystemExit: 7"):
        workers.submit(call(sys.exit, 7)).result()
    with pytest.raises(Exception, match="pickle"):
        workers.submit(call(lambda: 1)).result()
    # What a task prints is not taken for its answer.
    assert workers.submit(call(print, "noise")).result() is None
    before = set(workers.process_numbers)
    killed = workers.submit(call(os._exit, 5))
    with pytest.raises(WorkerDiedError, match="it ended with the code 5"):
        killed.result()
    number = workers.submit(call(os.getpid)).result()
    assert number != os.getpid()
    long = workers.submit(call(time.sleep, 60))
    deadline = time.monotonic() + 60
    while not long.running() and time.monotonic() < deadline:
        time.sleep(0.01)
    time.sleep(0.1)
    for each in workers.process_numbers:
        os.kill(each, signal.SIGKILL)
    with pytest.raises(WorkerDiedError, match="it was ended by SIGKILL"):
        long.result(timeout=30)
    while workers.process_numbers:
        time.sleep(0.01)
    assert workers.submit(call(os.getpid)).result() not in before
    assert workers.submit(call(os.getenv, "OPENBLAS_NUM_THREADS")).result() == "1"


class Sent:
    """A value that counts in a file how often it is read, or cannot be read."""

    def __init__(self, file: str, odd: bool = False) -> None:
        self.file, self.odd = file, odd

    def __setstate__(self, state: dict[str, Any]) -> None:
        if state["odd"]:
            raise OddError("odd")
        vars(self).update(state)
        with Path(self.file).open("a") as stream:
            stream.write("x")


def known(shared: SharedValue, number: int) -> tuple[str, int]:
    return shared.value.file, number


def test_a_shared_value_reaches_each_worker_once(tmp_path: Path) -> None:
    made = Processes(1)
    one, other = (SharedValue(Sent(str(tmp_path / name))) for name in "ab")
    asked = [(one, 1), (one, 2), (other, 3), (one, 4)]
    futures = [made.submit(call(known, *each)) for each in asked]
    assert [each.result() for each in futures] == [(shared.value.file, number) for shared, number in asked]
    assert [(tmp_path / name).read_text() for name in "ab"] == ["xx", "x"]
    # One that cannot be read is an error of each task that needs it, and of no other.
    odd = SharedValue(Sent("", odd=True))
    for _ in range(2):
        with pytest.raises(RuntimeError, match="OddError"):
            made.submit(call(known, odd, 5)).result()
    assert made.submit(call(known, one, 6)).result()[1] == 6
    os.kill(made.process_numbers[0], signal.SIGKILL)
    while made.process_numbers:
        time.sleep(0.01)
    assert made.submit(call(known, one, 7)).result()[1] == 7
    made.stop()


def test_stopping_ends_workers_in_the_middle_of_a_task() -> None:
    made = Processes(1)
    assert made.submit(call(abs, -1)).result() == 1
    (number,) = made.process_numbers
    begun, never = made.submit(call(time.sleep, 60)), made.submit(call(abs, -2))
    while not begun.running():
        time.sleep(0.01)
    made.stop()
    wait([begun, never], timeout=30)
    assert isinstance(begun.exception(), WorkerDiedError)
    assert never.cancelled()
    assert gone(number)


@pytest.mark.parametrize("number", [-1, 1.5, True, "2"])
def test_a_wrong_number_of_workers_is_refused(number: Any) -> None:
    with pytest.raises(InputError, match="must be a whole number of at least 0"), executor(number):
        pass


def test_no_worker_is_this_process() -> None:
    with executor(0) as on:
        assert on == Threads(1)


class Pipe:
    """What one side writes, the other side reads."""

    def __init__(self) -> None:
        one, other = os.pipe()
        self.reader, self.writer = os.fdopen(one, "rb"), os.fdopen(other, "wb")


def test_a_worker_serves_until_the_other_side_is_gone() -> None:
    asked, answers = Pipe(), Pipe()
    left = threading.Event()
    thread = threading.Thread(target=serve, args=(asked.reader, answers.writer), kwargs={"leave": left.set})
    thread.start()
    send(asked.writer, (version(), None, "", Fraction, 3, 4))
    assert receive(answers.reader) == (True, Fraction(3, 4))
    for told, kind, text in (
        ((version(), None, "", Fraction, 3, 0), ZeroDivisionError, "Fraction"),
        ((version(), None, "", raising), RuntimeError, "OddError: 1 and 2"),
        (("0.0.1", None, "", Fraction, 3), MismatchError, "and this is 0.0.1. Install unveil 0.0.1"),
    ):
        send(asked.writer, told)
        fine, error = receive(answers.reader)
        assert not fine
        assert isinstance(error, kind)
        assert text in str(error)
    asked.writer.close()
    thread.join(timeout=30)
    assert left.is_set()
    for stream in (asked.reader, answers.reader, answers.writer):
        stream.close()


def raising() -> None:
    raise OddError("1 and 2")


def test_half_a_message_is_the_end() -> None:
    whole = io.BytesIO()
    send(whole, "word")
    for size in (0, 3, len(whole.getvalue()) - 1):
        with pytest.raises(EOFError):
            receive(io.BytesIO(whole.getvalue()[:size]))


@pytest.mark.parametrize("address", ["", "localhost", "tcp://localhost", "http://localhost:1", "tcp://a b:1"])
def test_an_address_that_is_none_is_refused(address: str) -> None:
    with pytest.raises(InputError, match="must look like tcp://host:8786, but is "):
        DaskCluster(address)


def test_without_the_library_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingExtraError, match=r"unveil\[cluster\]"):
        DaskCluster("tcp://127.0.0.1:8786")


@pytest.mark.parametrize(
    ("address", "is_open"),
    [
        ("tcp://10.0.0.5:8786", True),
        ("tcp://cluster.example:8786", True),
        ("ucx://10.0.0.5:8786", True),
        ("ws://10.0.0.5:8786", True),
        ("tcp://0.0.0.0:8786", True),
        ("tcp://[2001:db8::1]:8786", True),
        ("tcp://localhost.example:8786", True),
        ("tls://10.0.0.5:8786", False),
        ("wss://10.0.0.5:8786", False),
        ("tcp://127.0.0.1:8786", False),
        ("tcp://127.8.8.8:8786", False),
        ("tcp://[::1]:8786", False),
        ("tcp://LOCALHOST:8786", False),
        ("no address", False),
    ],
)
def test_a_cluster_that_others_can_listen_to_is_warned_of(address: str, is_open: bool) -> None:
    assert bool(cluster_risk(address)) == is_open


@pytest.mark.parametrize("quiet", [True, False])
@pytest.mark.parametrize("address", ["tcp://192.0.2.1:8786", "tcp://127.0.0.1:8786", "tls://192.0.2.1:8786"])
def test_both_commands_warn_before_anything_is_sent(
    address: str, quiet: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise InputError("nobody is asked in this test")

    monkeypatch.setattr("unveil.work.cluster.DaskCluster.__init__", refuse)
    monkeypatch.chdir(write_files(tmp_path))
    (tmp_path / "study.toml").write_text(small_study(tmp_path).to_toml())
    for words in (
        ("audit", "original.csv", "masked.csv"),
        ("audit", "original.csv", "--generator", "shuffle", "--keep-runs", "made"),
        ("study", "run", "study.toml", "--out", "out"),
    ):
        told = [*words, "--cluster", address, *(["--quiet"] if quiet else [])]
        lines = CliRunner().invoke(main, told).stderr.splitlines()
        first, last = lines[0], lines[-1]
        warned = first.startswith("The cluster is reached without encryption (tcp://). Data about people is readable")
        assert warned == (address == "tcp://192.0.2.1:8786" and not quiet)
        assert not warned or "anyone who reaches the scheduler can run code on its workers. Use tls://" in first
        assert last == "unveil: nobody is asked in this test"
