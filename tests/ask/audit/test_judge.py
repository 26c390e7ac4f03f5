"""What is judged, and by which scores, must not depend on who is in the data: only then are draws of labels exact."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from unveil.ask.audit import judge as judging
from unveil.ask.audit.answer import audit
from unveil.ask.audit.attacks import ATTACKS
from unveil.data import samples
from unveil.measure.verdict.family import Family, Figure, FittedGuesses, judge
from unveil.measure.verdict.pool import Pool

PEOPLE = 60
COLUMNS = ["age", "education", "income", "vote", "news", "party"]
#: A statistic of the family as plain numbers, by the places of people, which follow from what they hold.
Statistic = tuple[list[float], ...]


def judged(
    people: pl.DataFrame, released: pl.DataFrame, targets: int | None, monkeypatch: pytest.MonkeyPatch
) -> tuple[list[Statistic], Family]:
    """Return all figures that an audit judges, and the judgement, where the first half of the people are the data."""
    seen: list[Statistic] = []

    def spy(figures: Sequence[Figure], pools: Mapping[str, Pool | None], *, rng: np.random.Generator) -> Family:
        for figure in figures:
            pool, statistic = pools[figure.pool], figure.statistic
            assert pool is not None
            if isinstance(statistic, np.ndarray):
                seen.append((pool.scores(statistic).tolist(),))
            elif isinstance(statistic, FittedGuesses):
                seen.append((statistic.starts.tolist(), statistic.places.tolist()))
        families.append(judge(figures, pools, rng=rng))
        return families[-1]

    families: list[Family] = []
    monkeypatch.setattr(judging, "judge", spy)
    audit(
        people[:PEOPLE],
        released,
        people[PEOPLE:],
        kind="synthetic",
        by="education",
        # What a column is told to be does not hang on who is in the data either.
        kinds={name: "number" if name in ("age", "income") else "category" for name in COLUMNS},
        known=COLUMNS,
        attacks=[name for name in ATTACKS if name != "row_order"],
        targets=targets,
        rng=np.random.default_rng(1),
    )
    return seen, families[-1]


def sample() -> pl.DataFrame:
    # Nobody is equal to anybody: where people are, either may stand at the place of the other.
    table = pl.read_csv(Path(samples.__file__).parent / "anes96.csv").select(COLUMNS).unique(maintain_order=True)
    return table.sample(3 * PEOPLE, seed=4, shuffle=True)


def test_no_score_depends_on_who_is_in_the_data(monkeypatch: pytest.MonkeyPatch) -> None:
    table = sample()
    people, released = table[: 2 * PEOPLE], table[2 * PEOPLE :]
    one, _ = judged(people, released, None, monkeypatch)
    other, _ = judged(people.sample(fraction=1, seed=8, shuffle=True), released, None, monkeypatch)
    assert len(one) > 30
    assert len(one) == len(other)
    for mine, theirs in zip(one, other, strict=True):
        for part, same in zip(mine, theirs, strict=True):
            np.testing.assert_allclose(part, same, atol=1e-9)
