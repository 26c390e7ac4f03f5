"""One source, two ways of running it: the answers are the same, and small inputs never meet the compiler."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from unveil._kernels import _compile
from unveil._kernels._compile import LEDGER, kernel

LARGE = _compile._MOST_PLAIN + 1


def running_sum(values: NDArray[np.int64], step: int = 1) -> NDArray[np.int64]:
    """Sum every ``step``-th value so far."""
    total = np.zeros_like(values)
    seen = 0
    for place in range(values.size):
        if place % step == 0:
            seen += values[place]
        total[place] = seen
    return total


fast_running_sum = kernel()(running_sum)


@pytest.fixture
def compilations(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the functions that were compiled, without the wait for the compiler."""
    names: list[str] = []

    def note(function: Callable[..., Any]) -> Callable[..., Any]:
        names.append(function.__name__)
        return function

    monkeypatch.setattr(_compile, "compiled", note)
    return names


def test_a_kernel_keeps_its_name_and_docstring() -> None:
    assert fast_running_sum.__name__ == "running_sum"
    assert fast_running_sum.__doc__ == running_sum.__doc__


@pytest.mark.parametrize(("size", "compiled"), [(0, []), (_compile._SMALL, []), (LARGE, ["running_sum"])])
def test_only_large_arrays_are_compiled(compilations: list[str], size: int, compiled: list[str]) -> None:
    fast_running_sum(np.ones(size, np.int64))
    assert compilations == compiled


def test_many_small_calls_are_compiled_in_the_end_and_then_always(compilations: list[str]) -> None:
    LEDGER.clear()
    few = np.ones(_compile._SMALL, np.int64)
    for _ in range(_compile._MOST_PLAIN // few.size):
        fast_running_sum(few)
    assert compilations == []
    fast_running_sum(few)
    fast_running_sum(few[:1])
    assert compilations == ["running_sum"] * 2
    # Other types would have to be compiled anew, for next to nothing.
    LEDGER.entries.clear()
    fast_running_sum(few[:1].astype(np.int32))
    assert compilations == ["running_sum"] * 2


def test_middling_calls_use_code_on_disk_once_the_compiler_is_loaded(
    compilations: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_compile, "_is_loaded_soon", lambda _: False)
    LEDGER.clear()
    middling = np.ones(_compile._SMALL + 1, np.int64)
    fast_running_sum(middling)
    assert compilations == []
    monkeypatch.setattr(_compile, "_is_loaded_soon", lambda _: True)
    fast_running_sum(middling[1:])
    assert compilations == []
    fast_running_sum(middling)
    assert compilations == ["running_sum"]


def test_code_on_disk_is_seen_when_the_compiler_is_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = tmp_path / f"test_compile.running_sum-{running_sum.__code__.co_firstlineno}.py311.nbi"
    fast = SimpleNamespace(stats=SimpleNamespace(cache_path=str(tmp_path)))
    monkeypatch.setattr(_compile, "compiled", lambda _: fast)
    monkeypatch.setitem(sys.modules, "numba", ModuleType("numba"))
    assert not _compile._is_loaded_soon(running_sum)
    kept.touch()
    assert _compile._is_loaded_soon(running_sum)
    fast.stats.cache_path = None
    assert not _compile._is_loaded_soon(running_sum)
    fast.signatures = [()]
    assert _compile._is_loaded_soon(running_sum)
    monkeypatch.delitem(sys.modules, "numba")
    assert not _compile._is_loaded_soon(running_sum)


def test_the_cost_of_an_entry_counts(compilations: list[str]) -> None:
    dear = kernel(cost=LARGE)(running_sum)
    dear(np.ones(1, np.int64))
    assert compilations == ["running_sum"]


def test_the_largest_array_decides(compilations: list[str]) -> None:
    @kernel()
    def pick(few: NDArray[np.int64], many: NDArray[np.int64]) -> int:
        return int(few[0] + many[-1])

    assert pick(np.array([2]), np.arange(LARGE)) == 1 + LARGE
    assert compilations == ["pick"]


def test_python_integers_are_never_compiled_and_never_overflow(compilations: list[str]) -> None:
    values = np.full(LARGE, 2**62, dtype=object)
    assert fast_running_sum(values)[-1] == 2**62 * LARGE
    assert compilations == []


@given(st.lists(st.integers(-(2**40), 2**40), min_size=1), st.integers(1, 3))
def test_plain_and_compiled_agree(values: list[int], step: int) -> None:
    # Repeated until it is large enough to be compiled.
    small = np.array(values, np.int64)
    large = np.resize(small, LARGE)
    expected = np.cumsum(np.where(np.arange(large.size) % step == 0, large, 0))
    np.testing.assert_array_equal(fast_running_sum(large, step), expected)
    np.testing.assert_array_equal(fast_running_sum(small, step), expected[: small.size])


def test_large_arrays_really_reach_numba() -> None:
    fast_running_sum(np.ones(LARGE, np.int64))
    assert type(_compile.compiled(running_sum)).__module__.startswith("numba")


def test_without_a_folder_that_can_be_written_loops_are_compiled_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    from numba.core.caching import CompileResultCacheImpl

    def last(values: NDArray[np.int64]) -> int:
        return int(values[-1])

    monkeypatch.setattr(CompileResultCacheImpl, "_locator_classes", [])
    fast: Any = _compile.compiled(last)
    assert fast(np.arange(5)) == 4
    assert type(fast).__module__.startswith("numba")


def test_a_small_input_does_not_even_import_numba() -> None:
    program = """
import sys
import numpy as np
from unveil._kernels._compile import kernel
total = kernel()(lambda values: values.sum())(np.arange(5))
sys.exit(f"{total} {'numba' in sys.modules}")
"""
    done = subprocess.run(
        [sys.executable, "-c", program], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    assert done.stderr.strip() == "10 False"


def test_a_small_call_may_run_in_numpy_instead(compilations: list[str]) -> None:
    fast = kernel(cost=lambda values: values.size, small=np.copy)(running_sum)
    ones, few = np.ones(LARGE, np.int64), np.ones(3, np.int64)
    LEDGER.clear()
    assert fast(few).tolist() == [1, 1, 1]
    assert fast(ones)[-1] == LARGE
    assert fast(few).tolist() == fast(few.astype(object)).tolist() == [1, 2, 3]
    assert compilations == ["running_sum"] * 2
