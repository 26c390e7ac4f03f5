"""What holds for every attack on published counts, whichever it is."""

from dataclasses import fields
from typing import Any

import numpy as np
import polars as pl
import pytest

from unveil.attacks import ATTACKS, Attack
from unveil.data.counts import read_counts
from unveil.data.counts.knowledge import CountKnowledge
from unveil.data.counts.system import CountSystem, system_of
from unveil.data.counts.tabulate import tabulate, with_small_hidden
from unveil.data.counts.truth import true_counts
from unveil.guesses.cell_intervals import CellIntervals

ON_COUNTS = [one for one in ATTACKS.values() if one.on == "count table"]


def published(seed: int) -> tuple[CountSystem, "np.ndarray[Any, np.dtype[np.int64]]"]:
    rng = np.random.default_rng(seed)
    people = pl.DataFrame({name: rng.choice(list("xyz"), 25, p=[0.6, 0.3, 0.1]) for name in "abc"})
    tables = [with_small_hidden(tabulate(people, pair), 4) for pair in (["a", "b"], ["b", "c"], ["a", "c"])]
    system = system_of(read_counts(tables))
    return system, true_counts(people, system).counts


def arrays(guess: Any) -> dict[str, Any]:
    return {each.name: getattr(guess, each.name) for each in fields(guess)}


@pytest.mark.parametrize("listed", ON_COUNTS, ids=lambda each: each.name)
def test_it_is_never_wrong_by_more_than_it_says(listed: Attack) -> None:
    for seed, work in ((0, 1_000_000), (1, 1_000_000), (2, 1)):
        system, truth = published(seed)
        before = system.told(((1, 3),))
        guess = listed.make(work=work).run(
            released=system, knowledge=CountKnowledge(reading=((1, 3),)), rng=np.random.default_rng(5)
        )
        again = listed.make(work=work).run(
            released=system, knowledge=CountKnowledge(reading=((1, 3),)), rng=np.random.default_rng(5)
        )
        assert type(guess).__name__ == listed.leaves
        assert all(np.array_equal(own, arrays(again)[name]) for name, own in arrays(guess).items())
        assert all(map(np.array_equal, before, system.told(((1, 3),))))
        if isinstance(guess, CellIntervals):
            assert ((guess.low <= truth) & (truth <= guess.high)).all()
        else:
            assert (truth[guess.cells[guess.is_certain]] > 0).all()
