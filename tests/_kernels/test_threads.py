"""Work on several threads: order, how many at once, pieces of pieces, what fails, and what is given up."""

import threading
import time
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unveil._kernels.threads import available, in_threads, threads


class Busy:
    """Counts how many pieces are worked on at the same time."""

    def __init__(self) -> None:
        self.now, self.most, self.begun = 0, 0, 0
        self.lock = threading.Lock()

    def __call__(self, seconds: float) -> float:
        with self.lock:
            self.begun += 1
            self.now += 1
            self.most = max(self.most, self.now)
        time.sleep(seconds)
        with self.lock:
            self.now -= 1
        return seconds


def until(holds: Callable[[], bool]) -> None:
    """Wait for it, and fail where it does not come."""
    for _ in range(2000):
        if holds():
            return
        time.sleep(0.005)
    raise AssertionError("it did not come")


@settings(deadline=None, max_examples=25)
@given(st.lists(st.lists(st.integers(), max_size=5), max_size=6), st.integers(1, 4))
def test_results_of_pieces_of_pieces_come_in_their_order(whole: list[list[int]], number: int) -> None:
    with threads(number):
        assert available() == number
        found = in_threads(lambda part: in_threads(lambda item: 2 * item, part), whole)
    assert found == [[2 * item for item in part] for part in whole]


def test_all_pieces_together_take_no_more_threads_than_there_are() -> None:
    busy = Busy()
    with threads(3):
        in_threads(lambda _: in_threads(busy, [0.01] * 4), range(4))
    assert busy.begun == 16
    # Whoever waited for the others goes on beside whoever took its thread, until that one ends.
    assert 2 <= busy.most <= 4


def test_a_number_of_threads_of_its_own_is_the_most() -> None:
    busy = Busy()
    with threads(4):
        in_threads(busy, [0.01] * 8, threads=2)
    assert busy.most == 2


def test_the_pieces_of_a_late_one_take_the_threads_of_those_that_ended() -> None:
    """With two threads, one is busy while the other begins four pieces; then it is idle, and helps."""
    first_ended, helped = threading.Event(), set[int]()

    def piece(number: int) -> None:
        helped.add(threading.get_ident())
        if number == 0:
            first_ended.wait(10)
        time.sleep(0.05)

    def whole(number: int) -> None:
        if number == 0:
            in_threads(piece, range(4))
        else:
            until(lambda: bool(helped))
            first_ended.set()

    with threads(2):
        in_threads(whole, range(2))
    assert len(helped) == 2


def test_the_first_item_that_fails_is_told_whatever_ended_first_and_nothing_more_is_begun() -> None:
    begun: list[int] = []

    def fails(item: int) -> None:
        begun.append(item)
        time.sleep(0.2 if item == 0 else 0)
        raise ValueError(f"item {item}")

    with threads(2), pytest.raises(ValueError, match="item 0"):
        in_threads(fails, range(50))
    assert len(begun) <= 3


def test_pieces_of_what_was_given_up_are_not_begun() -> None:
    helper_works, busy = threading.Event(), Busy()

    def slow(_: int) -> None:
        helper_works.set()
        busy(0.01)

    def whole(number: int) -> None:
        if number == 0:  # this thread is the first to take an item
            helper_works.wait(10)
            raise KeyboardInterrupt
        in_threads(slow, range(1000))

    with threads(2), pytest.raises(KeyboardInterrupt):
        in_threads(whole, range(2))
    until(lambda: busy.now == 0)
    assert busy.begun < 1000


def test_who_gives_up_does_not_wait_for_a_long_piece() -> None:
    in_hand, may_end, ended = threading.Event(), threading.Event(), threading.Event()

    def whole(number: int) -> None:
        if number == 0:
            in_hand.wait(10)
            raise KeyboardInterrupt
        in_hand.set()
        may_end.wait(10)
        ended.set()

    with threads(2), pytest.raises(KeyboardInterrupt):
        in_threads(whole, range(2))
    assert not ended.is_set()
    may_end.set()
    assert ended.wait(10)
