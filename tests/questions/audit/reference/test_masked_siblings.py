"""Masked releases with bands, sets and classes of their own as siblings: planted cases, end to end."""

from typing import Any

import numpy as np
import polars as pl
import pytest

from tests.questions.audit.reference.made_up import people
from unveil.data.table import Table
from unveil.protections.table.mondrian import Mondrian
from unveil.questions.audit.answer import AuditResult, audit
from unveil.questions.audit.reference.findings import SiblingFinding

ORIGINAL, OTHERS = people(1), people(77)
PLAIN: dict[str, Any] = {
    "release_type": "masked", "attacks": ["copies"], "sensitive": "none", "identifiers": ["id"], "threshold": 0.01,
}  # fmt: skip


def banded(table: pl.DataFrame, seed: int) -> pl.DataFrame:
    """Return people with the same bands and sets in every release."""
    age, income = 10 * (pl.col("age") // 10), 2_000 * (pl.col("income") // 2_000)
    return (
        table.drop("id")
        .with_columns(
            age=pl.format("{}-{}", age, age + 9),
            income=pl.format("{}-{}", income, income + 1_999),
            region=pl.when(pl.col("region") < "e").then(pl.lit("{a, b, c, d}")).otherwise(pl.lit("{e, f, g, h}")),
            job=pl.when(pl.col("job") == "job 3").then(None).otherwise("job"),
        )
        .sample(fraction=1.0, shuffle=True, seed=seed)
    )


def in_classes(table: pl.DataFrame, seed: int) -> pl.DataFrame:
    """Return people in classes of at least three, with bands that differ by release."""
    read = Table.from_frame(table.drop("id"))
    return (
        Mondrian(columns=("age", "income", "region"), k=3, cells=True)
        .apply(read, rng=np.random.default_rng(seed))
        .released.frame
    )


def ask(made: Any, release: pl.DataFrame, number: int, *, older: int = 0, **settings: Any) -> AuditResult:
    siblings = [made(people(100 + place, older=older), place) for place in range(number)]
    return audit(ORIGINAL, release, sibling=siblings, **{**PLAIN, **settings})


def found(answer: AuditResult) -> SiblingFinding:
    assert answer.findings.siblings is not None
    return answer.findings.siblings


@pytest.mark.parametrize("made", [banded, in_classes])
def test_a_masked_release_of_the_people_is_found_and_one_of_others_is_not(made: Any) -> None:
    guilty, harmless = (ask(made, made(table, 5), 22) for table in (ORIGINAL, OTHERS))
    assert (found(guilty).test, found(guilty).check) == ("release", "usable")
    assert found(guilty).p == found(guilty).smallest_p
    assert guilty.decision == "fail"
    # All people are in a class of their release.
    assert found(guilty).attack_rate.value > 0.2
    assert found(harmless).p > 0.045
    assert harmless.decision == "inconclusive"
    assert "People whose record fits a released row" in guilty.to_html()


@pytest.mark.parametrize("made", [banded, in_classes])
def test_four_masked_releases_with_their_people(made: Any) -> None:
    behind = [people(100 + place) for place in range(3)]
    for table, is_found in ((ORIGINAL, True), (OTHERS, False)):
        siblings = [made(each if is_found else people(200 + place), place) for place, each in enumerate(behind)]
        answer = audit(ORIGINAL, made(table, 5), sibling=siblings, sibling_people=behind, **PLAIN)
        assert found(answer).test == "assignment"
        assert (found(answer).p <= 0.045) == is_found


@pytest.mark.parametrize("made", [banded, in_classes])
@pytest.mark.parametrize("number", [2, 5, 22])
def test_masked_siblings_of_another_population_are_not_used(made: Any, number: int) -> None:
    assert found(ask(made, made(ORIGINAL, 5), number)).check in ("usable", "too_few")
    older = found(ask(made, made(ORIGINAL, 5), number, older=30))
    assert older.check == "siblings_differ"
    assert older.column in ("age", "income")


def test_the_same_masked_release_twice_is_refused() -> None:
    release = banded(ORIGINAL, 5)
    with pytest.raises(ValueError, match="hold the same rows"):
        audit(ORIGINAL, release, sibling=[release.sample(fraction=1.0, shuffle=True, seed=8)], **PLAIN)


@pytest.mark.unwatched
def test_harmless_masked_releases_are_seldom_flagged() -> None:
    flagged = 0
    for seed in range(12):
        siblings = [in_classes(people(10_000 + 40 * seed + place), place) for place in range(22)]
        answer = audit(people(5_000 + seed), in_classes(people(6_000 + seed), 5), sibling=siblings, **PLAIN)
        flagged += found(answer).p <= 0.045
    # Each is flagged with a probability of 1/23: three or more of 12 are with one of 70.
    assert flagged <= 3
