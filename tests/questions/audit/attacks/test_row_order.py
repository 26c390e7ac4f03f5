"""Row order in an audit: what is said where an order was kept, by which people are found or not."""

import numpy as np
import polars as pl

from tests.approved.sentences import Approved
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


def said(findings: Audit) -> str:
    from unveil.questions.audit.verdict import said_of

    whole = said_of(findings)
    return f"{whole.headline} {' '.join(whole.explanation)}"


def test_an_order_of_some_column_is_said_to_be_kept_and_nobody_to_be_found(approved: Approved) -> None:
    """As in a generator that was given the districts one after the other, and made the rest anew."""
    found = audited(districts(400, 2))
    assert found.verdict.outcome == "found"
    assert found.releases[0].findings[0].risk.attack_rate.value < 0.05
    whole = said(found)
    assert whole.startswith("The release keeps the order of the 400 people in the data.")
    assert "reaches 0%" not in whole
    approved(whole)


def test_an_order_by_which_people_are_found_gives_them_away() -> None:
    whole = said(audited(districts(400, 1)))
    assert whole.startswith("The release gives people away: row order reaches 100%")


def test_of_several_releases_the_one_that_keeps_an_order_is_named(approved: Approved) -> None:
    shuffled = districts(400, 2).sample(fraction=1.0, shuffle=True, seed=3)
    whole = said(audited(districts(400, 2), shuffled))
    approved(whole)


def test_luck_is_told_in_a_sentence_without_a_lonely_comma(approved: Approved) -> None:
    whole = said(audited(districts(400, 2)))
    approved(whole)
