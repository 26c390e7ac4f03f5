"""Row order in an audit: what is said where an order was kept, by which people are found or not."""

import numpy as np
import polars as pl

from unveil.questions.audit.answer import audit
from unveil.questions.audit.findings import Audit


def districts(rows: int, seed: int) -> pl.DataFrame:
    """Return people whose districts stand in the same order whatever the seed, which all else depends on."""
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "district": np.random.default_rng(0).choice([f"d{at}" for at in range(2)], rows),
            "age": rng.integers(18, 90, rows),
            "pay": rng.integers(0, 5000, rows),
            "sex": rng.integers(1, 3, rows),
        }
    )


def audited(*released: pl.DataFrame) -> Audit:
    named = {f"made {number}": each for number, each in enumerate(released)}
    return audit(districts(400, 1), named, attacks=["row_order"], rng=np.random.default_rng(1)).findings


def test_an_order_of_some_column_finds_almost_nobody_and_is_no_high_risk() -> None:
    """As in a generator that was given the districts one after the other, and made the rest anew."""
    found = audited(districts(400, 2))
    (effect,) = (each for each in found.decision.releases[0].effects if each.attack == "row_order")
    assert effect.is_significant
    assert effect.excess.attack_rate < 0.05
    assert found.decision.level == "very_low"
    assert found.decision.releases[0].at_least


def test_an_order_by_which_people_are_found_is_a_high_risk() -> None:
    found = audited(districts(400, 1)).decision
    assert found.level == "high"
    assert "100% of records can be re-identified by their position in the file" in found.headline


def test_of_several_releases_the_one_that_keeps_an_order_is_named() -> None:
    shuffled = districts(400, 2).sample(fraction=1.0, shuffle=True, seed=3)
    found = audited(districts(400, 1), shuffled).decision
    assert [each.level for each in found.releases] == ["high", "inconclusive"]
    assert found.headline.startswith("High risk in made 0")
