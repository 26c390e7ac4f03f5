"""Random numbers for loops, equal in plain Python and compiled code.

A loop that does not know how many random numbers it needs cannot be handed them in an array. It is handed the state of
a small generator (splitmix64, drawn from a numpy generator by ``fresh_state``) and moves that on. Its period is 2**64;
like numpy's, it passes the usual tests of randomness and is not made for cryptography.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

State = NDArray[np.uint64]

# All four are above 2**63, so that numba takes them as unsigned; a signed number would turn the sum into a float.
_STEP = 0x9E3779B97F4A7C15
_FIRST = 0xBF58476D1CE4E5B9
_SECOND = 0x94D049BB133111EB
_ALL_BITS = 0xFFFFFFFFFFFFFFFF

_FLOAT_STEP = 2.0**-53
_WHOLE_NUMBERS = 2**62


def fresh_state(rng: np.random.Generator) -> State:
    """Return a state drawn from a numpy generator.

    >>> fresh_state(np.random.default_rng(1)).dtype, fresh_state(np.random.default_rng(1)).shape
    (dtype('uint64'), (1,))
    """
    return rng.integers(0, 2**64, size=1, dtype=np.uint64)


def next_bits(state: State) -> Any:
    """Return 64 random bits as an unsigned number, and move the state on.

    >>> hex(next_bits(np.zeros(1, np.uint64)))
    '0xe220a8397b1dcdaf'
    """
    # Python's integers do not overflow, so masks cut them to the 64 bits that compiled ones have anyway.
    moved = (int(state[0]) + _STEP) & _ALL_BITS
    state[0] = moved
    mixed = ((moved ^ (moved >> 30)) * _FIRST) & _ALL_BITS
    mixed = ((mixed ^ (mixed >> 27)) * _SECOND) & _ALL_BITS
    return mixed ^ (mixed >> 31)


def next_float(state: State) -> float:
    """Return a random float in [0, 1), a multiple of 2**-53.

    >>> round(next_float(np.zeros(1, np.uint64)), 6)
    0.883311
    """
    drawn: float = (next_bits(state) >> 11) * _FLOAT_STEP
    return drawn


def below(state: State, count: int) -> int:
    """Return a uniform random integer below ``count``, at most 2**62.

    >>> state = np.zeros(1, np.uint64)
    >>> [below(state, 6) for _ in range(5)]
    [1, 3, 1, 1, 4]
    """
    while True:
        drawn = np.int64(next_bits(state) >> 2)
        rest = drawn % count
        # The last numbers that do not fill a whole round of ``count`` would make the small ones likelier: draw again.
        if drawn - rest <= _WHOLE_NUMBERS - count:
            return int(rest)
