"""What is judged, and by which scores, must not depend on who is in the data: only then are draws of labels exact."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from unveil.data import samples
from unveil.metrics.verdict.family import FamilyJudgement, FigureToJudge, FittedGuesses, judge
from unveil.metrics.verdict.pool import Pool
from unveil.questions.audit.answer import audit
from unveil.questions.audit.attacks import ATTACKS
from unveil.questions.audit.decision import judge as judging

PEOPLE = 60
COLUMNS = ["age", "education", "income", "vote", "news", "party"]
#: A statistic of the family as plain numbers, by the places of people, which follow from what they hold.
Statistic = tuple[list[float], ...]


def judged(
    people: pl.DataFrame, released: pl.DataFrame, targets: int | None, monkeypatch: pytest.MonkeyPatch
) -> list[Statistic]:
    """Return all figures about everybody that an audit judges, where the first half of the people are the data."""
    seen: list[Statistic] = []

    def spy(figures: Sequence[FigureToJudge], pools: Mapping[str, Pool | None], **more: Any) -> FamilyJudgement:
        for figure in figures:
            pool, statistic = pools["everybody"], figure.statistic
            assert pool is not None
            if figure.pool == "everybody" and isinstance(statistic, np.ndarray):
                seen.append((pool.scores(statistic).tolist(),))
            elif isinstance(statistic, FittedGuesses):
                seen.append((statistic.starts.tolist(), statistic.places.tolist()))
        return judge(figures, pools, **more)

    monkeypatch.setattr(judging, "judge", spy)
    audit(
        people[:PEOPLE],
        released,
        people[PEOPLE:],
        release_type="synthetic",
        group_by="education",
        # What a column is told to be does not hang on who is in the data either.
        kinds={name: "number" if name in ("age", "income") else "category" for name in COLUMNS},
        quasi_identifiers=COLUMNS,
        attacks=[name for name in ATTACKS if name != "row_order"],
        targets=targets,
        rng=np.random.default_rng(1),
    )
    return seen


def sample() -> pl.DataFrame:
    # Nobody is equal to anybody: where people are, either may stand at the place of the other.
    table = pl.read_csv(Path(samples.__file__).parent / "anes96.csv").select(COLUMNS).unique(maintain_order=True)
    return table.sample(3 * PEOPLE, seed=4, shuffle=True)


#: Everybody is attacked, or a few; then copies and singling out, with small groups of all attacks, are about everybody.
@pytest.mark.parametrize(("targets", "figures"), [(None, 60), (25, 35)])
def test_no_score_depends_on_who_is_in_the_data(
    targets: int | None, figures: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = sample()
    people, released = table[: 2 * PEOPLE], table[2 * PEOPLE :]
    shuffled = people.sample(fraction=1, seed=8, shuffle=True)
    one, other = (judged(each, released, targets, monkeypatch) for each in (people, shuffled))
    assert len(one) == len(other) >= figures
    for mine, theirs in zip(one, other, strict=True):
        for part, same in zip(mine, theirs, strict=True):
            np.testing.assert_allclose(part, same, atol=1e-9)
