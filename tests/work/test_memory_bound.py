"""Who takes more memory than allowed is stopped with a sentence, in whatever thread; nobody else is."""

import signal
import threading
import time
from collections.abc import Callable

import numpy as np
import pytest

from unveil.errors import InputError
from unveil.work import memory as bound
from unveil.work.memory import MemoryLimit, give_back, memory_bound, others_memory, own_memory

MIB = 2**20
on_linux = pytest.mark.skipif(own_memory() is None, reason="only Linux tells how much memory belongs to no file")


def taking(blocks: int, ended: threading.Event | None = None) -> int:
    """Take so many blocks of 16 MiB, one after the other until it is ended, and return how many there were."""
    held: list[np.ndarray] = []
    while len(held) < blocks and not (ended is not None and ended.is_set()):
        held.append(np.ones(2 * MIB))
        time.sleep(0.03)
    return len(held)


def bounded(limit: int | None, work: Callable[[], int]) -> int:
    allowed = None if limit is None else MemoryLimit(limit, "the test", "Take fewer")
    with memory_bound(allowed, doing=lambda: "taking blocks", before=own_memory()):
        return work()


@on_linux
@pytest.mark.parametrize("is_main", [True, False])
def test_whoever_takes_more_than_allowed_is_stopped(is_main: bool) -> None:
    found: list[object] = []

    def work() -> None:
        try:
            found.append(bounded(200 * MIB, lambda: taking(100)))
        except InputError as error:
            found.append(str(error))

    usual = signal.getsignal(signal.SIGURG)
    if is_main:
        work()
    else:
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    (message,) = found
    taken, _, rest = str(message).removeprefix("the test took ").partition(" MiB of memory")
    assert rest == " while taking blocks, and may take 200 MiB. Take fewer"
    assert 200 <= int(taken.replace(",", "")) < 1000
    assert signal.getsignal(signal.SIGURG) is usual
    assert bounded(2000 * MIB, lambda: taking(3)) == 3


@on_linux
def test_the_main_thread_is_stopped_while_it_waits_for_another() -> None:
    ended, all_ended = threading.Event(), threading.Event()

    def help_out() -> None:
        taking(100, ended)
        all_ended.set()

    def waited() -> int:
        helper = threading.Thread(target=help_out, daemon=True)
        helper.start()
        helper.join()
        return 0

    with pytest.raises(InputError, match="the test took"):
        bounded(200 * MIB, waited)
    assert not all_ended.is_set()
    ended.set()
    assert all_ended.wait(10)


@on_linux
def test_memory_that_was_there_before_or_is_given_back_does_not_count() -> None:
    held = np.ones(30 * MIB)
    assert others_memory() >= held.nbytes - bound.BARE
    with memory_bound(MemoryLimit(200 * MIB, "the test", ""), doing=str):
        time.sleep(0.3)
        for _ in range(20):
            taking(1)
    give_back()
    assert held.sum() == 30 * MIB


@pytest.mark.parametrize("limit", [None, 1])
def test_nothing_is_watched_without_a_bound_or_where_nobody_tells(
    limit: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bound, "_STATUS", bound._STATUS / "none")
    assert own_memory() is None
    assert others_memory() == 0
    give_back()
    threads = threading.active_count()
    assert bounded(limit, lambda: threading.active_count() - threads) == 0
