"""What holds for every mask: a release with its truth, and a true probability that is calibrated."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest

from tests.protections.masks import MASKS, aligned, dense, posterior, quick, release_with
from tests.protections.tables import AWKWARD, applied, people, released_or_refused, table, truth_of
from unveil.data.mechanism import Mechanism
from unveil.data.table import Table
from unveil.errors import InputError
from unveil.guesses.posterior import record_level_truth
from unveil.protections import Protection

each = pytest.mark.parametrize("mask", MASKS, ids=lambda mask: mask.name)
#: Masks that put rows in groups of a least size.
GROUPING = [mask for mask in MASKS if mask.least_rows > 1]
each_grouping = pytest.mark.parametrize("mask", GROUPING, ids=lambda mask: mask.name)


def without_gaps(rows: int = 60) -> Table:
    """Return made-up people of whom everything is known."""
    table = people(rows)
    frame = table.frame.with_columns(
        table.frame["income"].fill_null(30_000.0),
        table.frame["town"].fill_null("Ulm"),
        table.frame["smoker"].fill_null(False),
    )
    return Table.from_frame(frame, name="original", roles={"person_id": "identifier", "remark": "identifier"})


@each
@pytest.mark.parametrize("make", AWKWARD.values(), ids=AWKWARD)
def test_everybody_may_be_who_they_are(mask: Protection, make: Callable[[], Table]) -> None:
    original = make()
    release = released_or_refused(mask, original, quick(mask))
    if release is not None:
        assert (posterior(release)[np.arange(original.rows), truth_of(release)] > 0).all()


@pytest.mark.unwatched
@each
def test_what_the_mask_believes_of_itself_comes_true(mask: Protection) -> None:
    """The highest true probability is how often the one who has it is the right one, and the mean square likewise."""
    original = without_gaps().select(["age", "income", "town", "smoker"])
    # Strong enough, and with enough simulations, that the truth is neither certain nor badly estimated.
    strong = {"scale=0.1": 0.5, "draws=none": 400, "k=3": 15}
    settings = {text.partition("=")[0]: value for text, value in strong.items() if text in mask.settings}
    surprise = []
    for seed in range(12):
        release = release_with(mask.make(**settings), original, seed)
        found = posterior(release)
        truth = truth_of(release)
        right = found[np.arange(truth.size), truth]
        # On average, the probability of the truth is the sum of squares of all.
        surprise.append(right - (found**2).sum(axis=1))
    every = np.concatenate(surprise)
    assert abs(every.mean()) <= 5 * every.std() / np.sqrt(every.size) + 1e-12


@each
def test_the_quick_way_to_the_true_probability_gives_the_same(mask: Protection) -> None:
    class OnlyDense:
        """The same mechanism, asked for all pairs."""

        def __init__(self, mechanism: Mechanism) -> None:
            self.log_likelihood = mechanism.log_likelihood

    release = release_with(quick(mask, columns=("age", "income")), without_gaps(40).select(["age", "income", "town"]))
    assert release.mechanism is not None
    assert release.mechanism.likely_pairs(release.original, release.released, np.arange(40), 1600)  # type: ignore[attr-defined]
    assert release.mechanism.likely_pairs(release.original, release.released, np.arange(40), 1) is None  # type: ignore[attr-defined]
    whole = record_level_truth(OnlyDense(release.mechanism), release.original, release.released)
    np.testing.assert_allclose(posterior(release), dense(whole, 40), atol=1e-12)


@each
def test_nothing_depends_on_the_order_of_rows(mask: Protection) -> None:
    original = without_gaps(30).select(["age", "income", "town", "smoker"])
    order = np.random.default_rng(3).permutation(30)
    one, other = (quick(mask, shuffle=False) for _ in range(2))
    first, second = release_with(one, original), release_with(other, original.take(order))
    if mask in GROUPING:
        # Which of two equal rows went where is drawn by lot; all else is the same.
        for column in ("age", "income"):
            assert second.released.frame[column].sort().equals(first.released.frame[column].sort())
    mechanism = first.mechanism
    assert mechanism is not None
    rows = np.arange(30)
    np.testing.assert_allclose(
        mechanism.log_likelihood(original.take(order), first.released, rows),
        mechanism.log_likelihood(original, first.released, rows)[:, order],
    )


@each
def test_equal_rows_have_equal_chances(mask: Protection) -> None:
    original = table(age=[1.0, 1, 1, 1, 2, 5, 9, 9], town=list("aaaabbcc"))
    release = release_with(quick(mask), original)
    found = posterior(release)
    np.testing.assert_allclose(found[:, :4], found[:, :1].repeat(4, axis=1))
    np.testing.assert_allclose(found[:, 6], found[:, 7])


@each
def test_rows_in_the_old_order_are_said(mask: Protection) -> None:
    original = without_gaps(20)
    release = applied(mask.make(shuffle=False), original)
    np.testing.assert_array_equal(truth_of(release), np.arange(20))
    assert any("in the order of the original" in note for note in release.notes)
    assert not any("in the order" in note for note in applied(mask.make(), original).notes)


@each
def test_columns_can_be_left_out_of_what_is_seen(mask: Protection) -> None:
    release = release_with(quick(mask), without_gaps(20))
    for columns in (["age"], ["income", "age"], ["town"]):
        found = posterior(release, columns)
        np.testing.assert_allclose(found.sum(axis=1), 1)
        assert (found[np.arange(20), truth_of(release)] > 0).all()


@each
def test_only_the_columns_named_are_masked(mask: Protection) -> None:
    original = without_gaps()
    release = release_with(mask.make(columns=("age",)), original)
    before, after = aligned(release)
    assert after.drop("age").equals(before.select(after.columns).drop("age"))
    assert any("not changed: 'income', 'town'" in note for note in release.notes)


@each
@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (("agee",), "Did you mean 'age'"),
        (("person_id",), "column 'person_id' is a direct identifier and is not released, so it"),
        ("age", "tuple of column names"),
        ((), "tuple"),
    ],
)
def test_columns_that_cannot_be_masked_are_refused(mask: Protection, columns: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        mask.make(columns=columns).apply(people(), rng=np.random.default_rng(1))


@each
def test_a_mask_says_what_suits_other_kinds(mask: Protection) -> None:
    columns = table(town=list("abcd"), age=[1.5, 2.5, 3.5, 4.5])
    for name, kind in (("town", "category"), ("age", "number")):
        if kind not in mask.suits:
            others = {other.name for other in MASKS if kind in other.suits}
            with pytest.raises(
                InputError, match="rank-swapping, rank-swapping-distribution, rank-swapping-buckets"
            ) as caught:
                applied(mask.make(), columns.select([name]))
            assert set(str(caught.value).partition("Take ")[2].replace(" or ", ", ").split(", ")) == others


@each_grouping
@pytest.mark.parametrize("k", [1, 0, -3, 2.5, True, "3"])
def test_a_group_size_that_is_none_is_refused(mask: Protection, k: Any) -> None:
    with pytest.raises(InputError, match="k must be a whole number of at least 2"):
        mask.make(k=k)


@each_grouping
def test_a_group_size_above_the_number_of_rows_is_refused(mask: Protection) -> None:
    with pytest.raises(InputError, match="k is 5, but the table has 4 rows"):
        applied(mask.make(k=5), table(age=[1, 2, 3, 4]))


def test_masks_work_on_every_column_name_and_value() -> None:
    frame = pl.DataFrame(
        {'a,"b"\n=<i>': [1.5, 2, 3, 4, 5], "1 $ü": ["=1+1", "<b>", "", "a | b", "$"], "": [1, 1, 2, 2, 3]}
    )
    original = Table.from_frame(frame, roles=dict.fromkeys(frame.columns, "known"))
    for mask in MASKS:
        release = release_with(mask.make(), original)
        assert release.released.column_names == original.column_names, mask.name
        assert (posterior(release)[np.arange(5), truth_of(release)] > 0).all()


@each
def test_no_cell_is_printed_with_a_release(mask: Protection) -> None:
    columns = {"number": [73219.5 + 2 * row for row in range(24)], "word": [f"Zephyrine{row % 3}" for row in range(24)]}
    kinds = {"number": "number", "word": "category"}
    kept = [column for column in columns if kinds[column] in mask.suits]
    people = Table.from_frame(pl.DataFrame({key: columns[key] for key in kept}), roles=dict.fromkeys(kept, "known"))
    release = mask.make().apply(people, rng=np.random.default_rng(1))
    for thing in (release, release.mechanism, *getattr(release.mechanism, "parts", ())):
        text = re.sub(r" at 0x[0-9a-f]+", "", repr(thing))  # an address may hold the digits by chance
        assert "732" not in text
        assert "Zephyrine" not in text
