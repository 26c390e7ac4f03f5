"""The benchmark of bounds of epsilon draws what the protections themselves release, and counts what it says."""

import numpy as np
import polars as pl
import pytest

from benchmarks import epsilon
from unveil.data.table import Table
from unveil.protections import NoisyChain, NoisyHistogram


@pytest.mark.parametrize("made", [NoisyHistogram, NoisyChain])
def test_levels_are_those_of_a_release(made: type[NoisyHistogram] | type[NoisyChain]) -> None:
    people = np.random.default_rng(1).integers(0, 8, (300, 3))
    words = [f"w{number}" for number in range(8)]
    names = ["one", "two", "three"]
    frame = pl.DataFrame({name: np.array(words)[column] for name, column in zip(names, people.T, strict=True)})
    protection = made(epsilon=1.0, rows=50, domain=dict.fromkeys(names, words))
    release = protection.apply(Table.from_frame(frame), rng=np.random.default_rng(2))
    found = epsilon.released_levels(protection, people, 8, 50, np.random.default_rng(2))
    assert release.released.frame.rows() == [tuple(words[level] for level in row) for row in found]


def test_no_noise_is_found_at_once_and_all_of_it_is_not() -> None:
    for plan in (epsilon.Plan(50, 4, 10_000), epsilon.Plan(50, 4, 10_000, pairs=True), epsilon.Plan(1, 60, 2000)):
        nothing, due = (
            epsilon.audit(NoisyHistogram(noise=noise), plan, np.random.default_rng(3)) for noise in (0.0, 1.0)
        )
        assert nothing.bound > epsilon.CLAIM >= due.bound
        assert nothing.adjacency == "add-remove"
        assert nothing.coins == plan.canaries * plan.runs
    assert epsilon.chain_audit(NoisyChain(noise=0.0), 3, np.random.default_rng(4)).bound > epsilon.CLAIM
