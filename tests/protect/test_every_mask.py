"""What holds for every mask: a release with its truth, and a true probability that is calibrated."""

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest

from tests.protect.masks import (
    GROUPING,
    MASKS,
    NEW_VALUES,
    NUMERIC,
    aligned,
    dense,
    posterior,
    refuses,
    release_with,
)
from tests.protect.tables import AWKWARD, applied, people, table, truth_of
from unveil.data.mechanism import Mechanism
from unveil.data.table import Table
from unveil.errors import InputError
from unveil.guess.posterior import record_level_truth
from unveil.protect import protection_from

each = pytest.mark.parametrize("name", MASKS)


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
def test_a_table_is_masked_or_refused_with_a_sentence(name: str, make: Callable[[], Table]) -> None:
    original = make()
    if refuses(name, original):
        with pytest.raises(InputError) as caught:
            applied(MASKS[name](), original)
        assert str(caught.value).count("\n") == 0
        return
    release = release_with(quick(name), original)
    assert release.released.rows == original.rows
    np.testing.assert_array_equal(np.sort(truth_of(release)), np.arange(original.rows))
    kept = [column for column in original.columns if column.role != "identifier"]
    for column, before in zip(release.released.columns, kept, strict=True):
        assert (column.name, column.kind, column.role) == (before.name, before.kind, before.role)
        values, old = release.released.frame[column.name], original.frame[column.name]
        assert column.missing == values.null_count()
        if name not in NEW_VALUES:
            assert values.dtype == old.dtype
            assert set(values.drop_nulls().to_list()) <= set(old.drop_nulls().to_list())
    # Everybody may be who they are.
    found = posterior(release)
    assert (found[np.arange(original.rows), truth_of(release)] > 0).all()


@pytest.mark.unwatched
@each
def test_what_the_mask_believes_of_itself_comes_true(name: str) -> None:
    """The highest true probability is how often the one who has it is the right one, and the mean square likewise."""
    original = without_gaps().select(["age", "income", "town", "smoker"])
    settings: dict[str, Any] = {"scale": 0.5} if "noise" in name else {}
    if "rank" in name:
        settings = {"draws": 400}
    if name == "generalization":
        settings = {"k": 15}
    surprise = []
    for seed in range(12):
        release = release_with(MASKS[name](**settings), original, seed)
        found = posterior(release)
        truth = truth_of(release)
        right = found[np.arange(truth.size), truth]
        # On average, the probability of the truth is the sum of squares of all.
        surprise.append(right - (found**2).sum(axis=1))
    every = np.concatenate(surprise)
    assert abs(every.mean()) <= 5 * every.std() / np.sqrt(every.size) + 1e-12


@each
def test_the_quick_way_to_the_true_probability_gives_the_same(name: str) -> None:
    class OnlyDense:
        """The same mechanism, asked for all pairs."""

        def __init__(self, mechanism: Mechanism) -> None:
            self.log_likelihood = mechanism.log_likelihood

    release = release_with(quick(name, columns=("age", "income")), without_gaps(40).select(["age", "income", "town"]))
    assert release.mechanism is not None
    assert release.mechanism.likely_pairs(release.original, release.released, np.arange(40), 1600)  # type: ignore[attr-defined]
    assert release.mechanism.likely_pairs(release.original, release.released, np.arange(40), 1) is None  # type: ignore[attr-defined]
    whole = record_level_truth(OnlyDense(release.mechanism), release.original, release.released)
    np.testing.assert_allclose(posterior(release), dense(whole, 40), atol=1e-12)


def quick(name: str, **settings: Any) -> Any:
    """Return the mask, with few simulations of its true probability."""
    return MASKS[name](**settings, **({"draws": 40} if "rank" in name else {}))


@each
def test_nothing_depends_on_the_order_of_rows(name: str) -> None:
    original = without_gaps(30).select(["age", "income", "town", "smoker"])
    order = np.random.default_rng(3).permutation(30)
    one, other = (quick(name, shuffle=False) for _ in range(2))
    first, second = release_with(one, original), release_with(other, original.take(order))
    if name in GROUPING:
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
def test_equal_rows_have_equal_chances(name: str) -> None:
    original = table(age=[1.0, 1, 1, 1, 2, 5, 9, 9], town=list("aaaabbcc"))
    release = release_with(quick(name), original)
    found = posterior(release)
    np.testing.assert_allclose(found[:, :4], found[:, :1].repeat(4, axis=1))
    np.testing.assert_allclose(found[:, 6], found[:, 7])


@each
def test_rows_in_the_old_order_are_said(name: str) -> None:
    original = without_gaps(20)
    release = applied(MASKS[name](shuffle=False), original)
    np.testing.assert_array_equal(truth_of(release), np.arange(20))
    assert any("in the order of the original" in note for note in release.notes)
    assert not any("in the order" in note for note in applied(MASKS[name](), original).notes)


@each
def test_columns_can_be_left_out_of_what_is_seen(name: str) -> None:
    release = release_with(quick(name), without_gaps(20))
    for columns in (["age"], ["income", "age"], ["town"]):
        found = posterior(release, columns)
        np.testing.assert_allclose(found.sum(axis=1), 1)
        assert (found[np.arange(20), truth_of(release)] > 0).all()


@each
def test_only_the_columns_named_are_masked(name: str) -> None:
    original = without_gaps()
    release = release_with(MASKS[name](columns=("age",)), original)
    before, after = aligned(release)
    assert after.drop("age").equals(before.select(after.columns).drop("age"))
    assert any("stayed as in the original: 'income', 'town'" in note for note in release.notes)


@each
@pytest.mark.parametrize(
    ("columns", "message"),
    [(("agee",), "Did you mean 'age'"), (("person_id",), "left out"), ("age", "tuple of column names"), ((), "tuple")],
)
def test_columns_that_cannot_be_masked_are_refused(name: str, columns: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        MASKS[name](columns=columns).apply(people(), rng=np.random.default_rng(1))


@pytest.mark.parametrize("name", sorted(NUMERIC))
def test_masks_of_numbers_say_what_suits_other_kinds(name: str) -> None:
    for columns in (None, ("town",)):
        with pytest.raises(
            InputError, match=r"kind number, but .* pram, suppression, generalization, mondrian or rank"
        ):
            MASKS[name](columns=columns).apply(table(town=list("abcd")), rng=np.random.default_rng(1))


@pytest.mark.parametrize("name", sorted(GROUPING))
@pytest.mark.parametrize("k", [1, 0, -3, 2.5, True, "3"])
def test_a_group_size_that_is_none_is_refused(name: str, k: Any) -> None:
    with pytest.raises(InputError, match="k must be a whole number of at least 2"):
        MASKS[name](k=k)


@pytest.mark.parametrize("name", sorted(GROUPING))
def test_a_group_size_above_the_number_of_rows_is_refused(name: str) -> None:
    with pytest.raises(InputError, match="k must be at most the number of rows, but is 5 and the table has 4"):
        applied(MASKS[name](k=5), table(age=[1, 2, 3, 4]))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("rank-swapping:p=10", MASKS["rank-swapping"](share=0.1, p=10)),
        ("microaggregation:k=3", MASKS["microaggregation"](k=3)),
        ("microaggregation:k=5,block_size=1", MASKS["microaggregation"](k=5, block_size=1)),
        ("mondrian:k=5", MASKS["mondrian"](k=5)),
        ("generalization:columns=age,town,k=3,5", MASKS["generalization"](columns=("age", "town"), k=(3, 5))),
        ("pram:keep=0.7,invariant=no", MASKS["pram"](keep=0.7, invariant=False)),
        ("suppression:k=4", MASKS["suppression"](k=4)),
        ("additive-noise:scale=0.2,shuffle=no", MASKS["additive-noise"](scale=0.2, shuffle=False)),
        ("correlated-noise:rescale=yes", MASKS["correlated-noise"](rescale=True)),
        ("rank-swapping-distribution:p=2.5", MASKS["rank-swapping-distribution"](p=2.5)),
        ("rank-swapping-buckets:buckets=7,seed=3", MASKS["rank-swapping-buckets"](buckets=7, seed=3)),
    ],
)  # fmt: skip
def test_masks_are_written_as_others_are(text: str, expected: Any) -> None:
    assert protection_from(text) == expected
    assert expected.apply(without_gaps(), rng=np.random.default_rng(1)).released.rows == 60


def test_masks_work_on_every_column_name_and_value() -> None:
    frame = pl.DataFrame(
        {'a,"b"\n=<i>': [1.5, 2, 3, 4, 5], "1 $ü": ["=1+1", "<b>", "", "a | b", "$"], "": [1, 1, 2, 2, 3]}
    )
    original = Table.from_frame(frame, roles=dict.fromkeys(frame.columns, "known"))
    for name, mask in MASKS.items():
        release = release_with(mask(), original)
        assert release.released.column_names == original.column_names, name
        assert (posterior(release)[np.arange(5), truth_of(release)] > 0).all()


@each
def test_no_cell_is_printed_with_a_release(name: str) -> None:
    columns = {"number": [73219.5 + 2 * row for row in range(24)], "word": [f"Zephyrine{row % 3}" for row in range(24)]}
    kept = ["word"] if name == "pram" else ["number"] if name in NUMERIC else list(columns)
    people = Table.from_frame(pl.DataFrame({key: columns[key] for key in kept}), roles=dict.fromkeys(kept, "known"))
    release = protection_from(name).apply(people, rng=np.random.default_rng(1))
    for thing in (release, release.mechanism, *getattr(release.mechanism, "parts", ())):
        assert "732" not in repr(thing)
        assert "Zephyrine" not in repr(thing)
