"""The generator inside loops: known numbers, even chances, and no difference between plain and compiled."""

import numpy as np
import pytest

from unveil._kernels._compile import compiled
from unveil._kernels.random import State, below, fresh_state, next_bits, next_float

# The first outputs of splitmix64 from the seed 1234567, as printed with its public description.
_KNOWN = [6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821]


def _many(state: State, count: int, floats: np.ndarray, whole: np.ndarray) -> None:
    for place in range(floats.size):
        floats[place] = next_float(state)
        whole[place] = below(state, count)


def test_known_numbers() -> None:
    state = np.array([1234567], np.uint64)
    assert [int(next_bits(state)) for _ in _KNOWN] == _KNOWN


@pytest.mark.parametrize("count", [1, 2, 3, 1000, 2**31 + 11, 2**61 + 1, 2**62])
def test_plain_and_compiled_draw_the_same(count: int) -> None:
    for seed in (0, 5, 2**64 - 1):
        drawn = []
        for run in (_many, compiled(_many)):
            state, floats, whole = np.array([seed], np.uint64), np.empty(300), np.empty(300, np.int64)
            run(state, count, floats, whole)
            drawn.append((int(state[0]), floats, whole))
        assert drawn[0][0] == drawn[1][0]
        np.testing.assert_array_equal(drawn[0][1], drawn[1][1])
        np.testing.assert_array_equal(drawn[0][2], drawn[1][2])
        assert drawn[0][1].min() >= 0
        assert drawn[0][1].max() < 1
        assert drawn[0][2].min() >= 0
        assert drawn[0][2].max() < count


def test_every_number_has_the_same_chance() -> None:
    from scipy.stats import chisquare, kstest

    floats, whole = np.empty(200_000), np.empty(200_000, np.int64)
    compiled(_many)(np.array([7], np.uint64), 7, floats, whole)
    assert chisquare(np.bincount(whole, minlength=7)).pvalue > 0.001
    assert kstest(floats, "uniform").pvalue > 0.001
    # Three quarters of 2**62 as the bound: without drawing again, the lower third would come up twice as often.
    compiled(_many)(np.array([8], np.uint64), 3 * 2**60, floats, whole)
    assert chisquare(np.bincount(whole // 2**60, minlength=3)).pvalue > 0.001


def test_state_comes_from_the_generator() -> None:
    one, same, other = (fresh_state(np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert one == same
    assert one != other
