"""A release made elsewhere by a declared method: the same mechanism as if it had been made here, or why it is not."""

import numpy as np
import polars as pl
import pytest

from tests.protections.tables import applied, truth_of
from unveil.data.table import Table
from unveil.data.table.agree import agree
from unveil.errors import InputError
from unveil.guesses.posterior import record_level_truth
from unveil.protections import PROTECTIONS, GaussianCopula, protection_from
from unveil.protections.declared_method import DeclaredMethod, declared_mechanism
from unveil.protections.dialects import RecodedElsewhere

ROWS = 60
RNG = np.random.default_rng(3)
FRAME = pl.DataFrame(
    {
        "age": RNG.integers(18, 80, ROWS),
        "income": RNG.lognormal(10, 0.5, ROWS).round(),
        "town": RNG.choice(["Ulm", "Bonn", "Jena"], ROWS),
    }
)
PEOPLE = Table.from_frame(FRAME, name="original", roles=dict.fromkeys(FRAME.columns, "known"))
MASKED = [name for name, each in PROTECTIONS.items() if each.on == "table" and each.kind == "masked"]


def declare(made_by: str, declared: object, *, change: pl.Series | None = None) -> DeclaredMethod:
    """Return what is found of a release that was written by one method and is declared to be by another."""
    release = applied(protection_from(made_by), PEOPLE)
    frame = release.released.frame if change is None else release.released.frame.with_columns(change)
    people, released = agree(PEOPLE, Table.from_frame(frame, name="release"), masked=True)
    method = protection_from(declared) if isinstance(declared, str) else declared
    return declared_mechanism(method, people, released, truth_of(release), rng=np.random.default_rng(1))


@pytest.mark.parametrize("name", MASKED)
def test_every_method_that_masks_is_recognized_in_its_own_release(name: str) -> None:
    release = applied(protection_from(name), PEOPLE)
    found = declared_mechanism(
        protection_from(name), PEOPLE, release.released, truth_of(release), rng=np.random.default_rng(1)
    )
    assert found.against == ()
    assert found.mechanism is not None
    if release.mechanism is None:
        return
    here, there = (record_level_truth(each, PEOPLE, release.released) for each in (release.mechanism, found.mechanism))
    np.testing.assert_array_equal(here.candidate, there.candidate)
    np.testing.assert_allclose(here.probability, there.probability)


@pytest.mark.parametrize(
    ("made_by", "declared", "said"),
    [
        ("microaggregation:k=3", "microaggregation:k=4", "a group of 3 under k=4"),
        ("univariate-microaggregation:k=3", "univariate-microaggregation:k=9", "under k=9"),
        ("mondrian:k=5", "mondrian:k=20", "under k=20"),
        ("mondrian:k=5,cells=yes", RecodedElsewhere(k=20), "under k=20"),
        ("generalization:k=3", "generalization:k=20", "under k=20"),
        ("rank-swapping:p=20", "rank-swapping:p=4", "moved beyond the window of 2 ranks"),
        ("additive-noise:scale=0.5", "additive-noise:scale=0.05", "standard deviations away"),
        ("additive-noise:scale=0.05", "additive-noise:scale=0.5", "standard deviations away"),
        ("correlated-noise:scale=0.5", "correlated-noise:scale=0.05", "standard deviations away"),
        ("microaggregation:k=5", "additive-noise:scale=0.2", "values repeat, which noise excludes"),
        ("rank-swapping:p=20", "suppression:share=0.1", "cannot come from their original row"),
        ("additive-noise:scale=0.1", "shuffle", "the method does not change it"),
        ("generalization:k=5,cells=yes", "rank-swapping:p=10", "cells are ranges or not numbers"),
    ],
)  # fmt: skip
def test_a_method_that_did_not_make_the_file_is_said_so(made_by: str, declared: object, said: str) -> None:
    found = declare(made_by, declared)
    assert found.mechanism is None
    assert any(said in each for each in found.against), found.against
    assert not any(town in each for each in found.against for town in ("Ulm", "Bonn", "Jena"))


def test_means_that_are_none_are_said_so() -> None:
    release = applied(protection_from("microaggregation:k=3,columns=age"), PEOPLE)
    moved = (release.released.frame["age"] + 5).alias("age")
    found = declare("microaggregation:k=3,columns=age", "microaggregation:k=3,columns=age", change=moved)
    assert "do not show the mean of their group" in found.against[0]


def test_other_columns_may_be_left_out_of_it() -> None:
    release = applied(protection_from("additive-noise:scale=0.2,columns=age,income"), PEOPLE)
    frame = release.released.frame.with_columns(pl.lit("Kiel").alias("town"))
    people, released = agree(PEOPLE, Table.from_frame(frame, name="release"), masked=True)
    method = protection_from("additive-noise:scale=0.2")
    for only, wanted in ((None, 1), (["age", "income"], 0)):
        found = declared_mechanism(method, people, released, truth_of(release), only=only, rng=np.random.default_rng(1))
        assert len(found.against) == wanted


def test_what_cannot_be_declared_is_refused() -> None:
    release = applied(protection_from("microaggregation:k=3"), PEOPLE)
    truth = truth_of(release)
    with pytest.raises(InputError, match="cannot be declared"):
        declared_mechanism(GaussianCopula(), PEOPLE, release.released, truth, rng=np.random.default_rng(1))
    part = release.released.take(np.arange(50))
    method = protection_from("microaggregation:k=3")
    with pytest.raises(InputError, match="groups can only be recognized in a file with every original row, but only"):
        declared_mechanism(method, PEOPLE, part, truth[:50], rng=np.random.default_rng(1))
