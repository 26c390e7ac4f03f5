"""Hypothesis strategies for candidates: ragged rows, ties, zeros, rows not attempted, truths of every kind."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.oracles.candidates import NOBODY, NOT_ATTEMPTED, Target
from unveil.guesses import Candidates

#: Candidates are numbered below this; the last ones are never considered, so that a truth can lie outside.
CONSIDERABLE, ALL = 7, 9

INSIDE, OUTSIDE, STANDS_FOR_NOBODY = "inside", "outside", "nobody"
EVERY_TRUTH = (INSIDE, OUTSIDE, STANDS_FOR_NOBODY)


@dataclass(frozen=True)
class Case:
    """Targets as plain exact data, and the same as the implementation takes them."""

    targets: tuple[Target, ...]

    @property
    def guess(self) -> Candidates:
        sizes = [len(target.probability) for target in self.targets]
        chosen = [target.chosen for target in self.targets]
        return Candidates(
            np.cumsum([0, *sizes]),
            np.array([candidate for target in self.targets for candidate in target.probability], np.int32),
            np.array([float(p) for target in self.targets for p in target.vector]),
            None if None in chosen else np.array(chosen, np.int32),
        )

    @property
    def truth(self) -> NDArray[np.int64]:
        return np.array([target.truth for target in self.targets], np.int64)


def weights(count: int) -> st.SearchStrategy[list[int]]:
    """Return one weight per candidate, not all 0: many tie or add up to round numbers; in some rows a few dwarf all."""
    small = st.integers(0, 3)
    mixed = st.one_of(small, st.sampled_from([1000, 1001, 5000]))
    return st.one_of(*(st.lists(kind, min_size=count, max_size=count) for kind in (small, mixed))).filter(any)


@st.composite
def distributions(draw: st.DrawFn, *, least: int = 0) -> dict[int, Fraction]:
    """Return exact probabilities of the candidates considered, in ascending order; none at all if ``least`` is 0."""
    numbers = sorted(draw(st.sets(st.integers(0, CONSIDERABLE - 1), min_size=least)))
    if not numbers:
        return {}
    heights = draw(weights(len(numbers)))
    return {number: Fraction(height, sum(heights)) for number, height in zip(numbers, heights, strict=True)}


def truths(considered: Sequence[int], kinds: Sequence[str]) -> st.SearchStrategy[int]:
    """Return a true candidate of one of these kinds; a target without candidates has none inside."""
    outside = [number for number in range(ALL) if number not in considered]
    choices = {
        INSIDE: st.sampled_from(sorted(considered) or outside),
        OUTSIDE: st.sampled_from(outside),
        STANDS_FOR_NOBODY: st.just(NOBODY),
    }
    return st.one_of(*(choices[kind] for kind in kinds))


@st.composite
def targets(draw: st.DrawFn, *, with_choice: bool, least: int, kinds: Sequence[str]) -> Target:
    probability = draw(distributions(least=least))
    chosen: int | None = None
    if with_choice:
        chosen = draw(st.sampled_from([*probability, NOT_ATTEMPTED]))
    return Target(probability=probability, chosen=chosen, truth=draw(truths(list(probability), kinds)))


@st.composite
def cases(draw: st.DrawFn, *, least: int = 0, kinds: Sequence[str] = EVERY_TRUTH, choices: bool | None = None) -> Case:
    """Return up to eight targets with at least ``least`` candidates each; ``choices`` says if there are chosen ones."""
    with_choice = draw(st.booleans()) if choices is None else choices
    one = targets(with_choice=with_choice, least=least, kinds=kinds)
    return Case(tuple(draw(st.lists(one, min_size=1, max_size=8))))
