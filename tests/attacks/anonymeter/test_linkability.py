"""The same links as anonymeter: its order of ties, its scales, its draw of targets; the real package's are golden."""

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles import anonymeter as oracle
from unveil._kernels.anonymeter import nearest as kernels
from unveil._kernels.anonymeter.quicksort_order import first_places
from unveil.attacks import ATTACKS, AnonymeterLinkability
from unveil.attacks.anonymeter.linkability import links
from unveil.data.table import Table
from unveil.data.table.release import Knowledge
from unveil.errors import InputError

RNG = np.random.default_rng


def with_ties(size: int, rng: np.random.Generator) -> Any:
    """Return values with many ties, some NaN and infinite, sometimes sorted."""
    values = rng.integers(0, rng.choice([1, 2, 5, 50, 10**9]), size) / 7 - rng.integers(0, 2)
    values[rng.random(size) < rng.choice([0, 0.1, 0.6, 1])] = np.nan
    values[rng.random(size) < rng.choice([0, 0.1])] = np.inf
    values[rng.random(size) < rng.choice([0, 0.1])] = -0.0
    order = rng.integers(4)
    return values if order > 1 else np.sort(values)[:: 1 - 2 * order].copy()


@pytest.mark.unwatched
@pytest.mark.parametrize("compiled", [False, True])
def test_the_first_places_are_those_of_the_full_sort_for_every_length_and_number_of_places(compiled: bool) -> None:
    rng = RNG(1)
    for size in range(1, 70):
        values = with_ties(size, rng)
        full = oracle.argsort(values)
        for k in range(1, size + 1) if compiled else {1, 2, size // 2 + 1, size}:
            np.testing.assert_array_equal(first_places(values[None], min(k, size), fast=compiled)[0], full[:k])


@pytest.mark.parametrize("size", [128, 129, 143, 144, 145, 200, 257, 300, 1000, 20_000])
def test_the_first_places_of_long_arrays_are_those_of_the_full_sort(size: int) -> None:
    rng = RNG(size)
    for _ in range(10):
        values = with_ties(size, rng)
        full = oracle.argsort(values)
        for k in (1, 10, int(rng.integers(1, size)), size):
            np.testing.assert_array_equal(first_places(values[None], k, fast=True)[0], full[:k])
    for k in (1, 10):  # and in plain Python, where coverage sees the strides
        np.testing.assert_array_equal(
            first_places(values[None, :400], k, fast=False)[0], oracle.argsort(values[:400])[:k]
        )


numbers = st.sampled_from([0.0, 0.1, 0.2, 0.3, 0.7, 1.0, 5.0, float("nan")])
words = st.sampled_from(["a", "b", None])
row = st.tuples(numbers, numbers, words, words, words)
GROUPS = st.permutations(range(5)).flatmap(lambda order: st.integers(1, 4).map(lambda cut: (order[:cut], order[cut:])))


def as_frame(rows: list[Any]) -> pl.DataFrame:
    types = [pl.Float64, pl.Float64, pl.String, pl.String, pl.String]
    return pl.DataFrame(rows, schema=dict(zip("abcde", types, strict=True)), orient="row")


@given(st.lists(row, min_size=1, max_size=40), st.lists(row, min_size=1, max_size=8), GROUPS, st.integers(1, 5))
def test_links_are_those_of_all_distances_sorted(
    released: list[Any], original: list[Any], groups: tuple[list[int], list[int]], k: int
) -> None:
    expected = oracle.links(original, released, [sorted(group) for group in groups], k)
    first, second = (["abcde"[c] for c in group] for group in groups)
    found = links(as_frame(original), as_frame(released), range(len(original)), first, second, k)
    assert found.tolist() == expected


@pytest.mark.unwatched
def test_many_targets_give_the_links_of_all_distances_sorted(monkeypatch: pytest.MonkeyPatch) -> None:
    # Compiled, in blocks that end within targets that look alike, and with lists that have to grow.
    monkeypatch.setattr(kernels, "TARGETS_AT_ONCE", 7)
    monkeypatch.setattr(kernels, "DISTANCES_AT_ONCE", 1000)
    rng = RNG(5)
    released, original = (
        [(*(rng.integers(0, [9, 20]) / 10), *(str(word) for word in rng.integers(0, [2, 3, 2]))) for _ in range(size)]
        for size in (400, 60)
    )
    for k in (1, 10):
        for groups in (([0, 2], [1, 3, 4]), ([2], [0, 1]), ([0], [2, 3, 4]), ([3, 4], [2])):
            expected = oracle.links(original, released, groups, k)
            first, second = (["abcde"[c] for c in group] for group in groups)
            assert links(as_frame(original), as_frame(released), range(60), first, second, k).tolist() == expected


def test_the_example_of_the_page_gives_the_two_links_that_the_package_prints() -> None:
    original = pl.DataFrame({"age": [25, 30, 28], "gender": ["m", "f", "m"], "income": [50, 60, 55]})
    released = pl.DataFrame({"age": [24, 31, 29], "gender": ["m", "f", "m"], "income": [52, 62, 53]})
    # 30 is as near to 31 as to 29, but 30/7, 31/7 and 29/7 are rounded.
    assert links(original, released, [0, 1, 2], ["age"], ["income"], 1).sum() == 2
    assert links(original, released, [0, 1, 2], ["age", "gender"], ["income"], 1).all()


def test_columns_that_tell_nothing_link_everybody() -> None:
    people = pl.DataFrame({"a": [1] * 30, "b": ["x"] * 30})
    assert links(people, people, range(30), ["a"], ["b"], 10).all()


def test_groups_whose_tuples_overflow_an_integer_are_still_told_apart() -> None:
    rng = RNG(3)
    columns = {f"c{place:02d}": [str(word) for word in rng.integers(0, 200, 300)] for place in range(12)}
    frame = pl.DataFrame(columns)
    names = list(columns)
    expected = oracle.links(frame.rows()[:20], frame.rows(), (range(11), [11]), 1)
    assert links(frame, frame, range(20), names[:11], names[11:], 1).tolist() == expected


@pytest.mark.parametrize(
    "cells",
    [
        pl.Series([True, False, None, True, True]),
        pl.Series(["2024-01-01", "2024-01-02", None, "2024-01-01", "2024-01-01"]).str.to_date(),
        pl.Series(["a", "b", None, "a", "a"], dtype=pl.Categorical),
    ],
    ids=["truth", "date", "categorical"],
)
def test_all_that_is_no_number_is_equal_or_not(cells: pl.Series) -> None:
    people = pl.DataFrame({"cell": cells, "place": [0, 1, 2, 3, 4]})
    words = people.with_columns(cell=pl.Series(["a", "b", "c", "a", "a"]))
    for k in (1, 2, 3):
        found = links(people, people, range(5), ["cell"], ["place"], k)
        np.testing.assert_array_equal(found, links(words, words, range(5), ["cell"], ["place"], k))


PEOPLE = pl.DataFrame({"age": [31, 40, 52, 40], "town": ["Ulm", "Bonn", "Ulm", "Kiel"], "pay": [1.5, 2.0, 9.0, 4.0]})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"age": pl.Series(["a", "b", "c", "d"])}, "column 'age' must hold numbers in all tables or in none"),
        ({"town": pl.Series([True, False, True, True])}, "column 'town' must be of one type in all tables"),
    ],
)
def test_columns_of_two_kinds_are_refused(change: dict[str, pl.Series], message: str) -> None:
    with pytest.raises(InputError, match=message):
        links(PEOPLE, PEOPLE.with_columns(**change), [0, 1], ["age"], ["town"], 1)


def test_columns_and_rows_that_are_not_there_are_refused() -> None:
    with pytest.raises(InputError, match="column 'city' is not in the original table"):
        links(PEOPLE, PEOPLE, [0], ["age"], ["city"], 1)
    with pytest.raises(InputError, match="target rows must be from 0 to 3"):
        links(PEOPLE, PEOPLE, [4], ["age"], ["town"], 1)


def test_no_target_and_no_released_row_give_no_link() -> None:
    assert links(PEOPLE, PEOPLE, [], ["age"], ["town"], 1).tolist() == []
    assert links(PEOPLE, PEOPLE.head(0), [0, 1], ["age"], ["town"], 1).tolist() == [False, False]


def people(size: int, seed: int, name: str) -> Table:
    rng = RNG(seed)
    return Table.from_frame(
        pl.DataFrame(
            {
                "age": rng.integers(18, 40, size),
                "town": rng.choice(["Ulm", "Bonn", "Kiel"], size),
                "pay": rng.integers(0, 50, size) / 10,
            }
        ),
        name=name,
    )


def test_a_run_attacks_the_rows_that_the_old_generator_draws() -> None:
    original, released, control = people(90, 1, "original"), people(120, 2, "released"), people(70, 3, "control")
    attack = AnonymeterLinkability(first=("age",), second=("town", "pay"), neighbours=4, targets=30, seed=11)
    trials = attack.run(released=released, knowledge=Knowledge(original, control), rng=RNG(0))
    draw = np.random.RandomState(11)
    for table, attempts in ((original, trials.attack), (control, trials.control)):
        rows = draw.choice(table.rows, 30, replace=False)
        expected = links(table.frame, released.frame, rows, ("age",), ("town", "pay"), 4)
        assert attempts is not None
        assert attempts.chances is not None
        np.testing.assert_array_equal(attempts.chances, expected)
        assert attempts.low == attempts.expected == attempts.high == expected.sum()
    assert trials.naive.expected == pytest.approx(30 * (1 - (116 * 115 * 114 * 113) / (120 * 119 * 118 * 117)))
    assert trials.notes == ()


def test_without_a_seed_the_generator_decides() -> None:
    original, released = people(90, 1, "original"), people(120, 2, "released")
    attack = AnonymeterLinkability(first=("age",), second=("pay",), targets=40)

    def run(seed: int) -> tuple[float, ...]:
        trials = attack.run(released=released, knowledge=Knowledge(original), rng=RNG(seed))
        assert trials.control is None
        assert trials.attack.chances is not None
        return tuple(trials.attack.chances)

    assert run(1) == run(1)
    assert len({run(seed) for seed in range(5)}) > 1


def test_a_run_says_where_the_package_would_stop_or_differ() -> None:
    frame = PEOPLE.with_columns(zip=pl.Series(["007", "012", "007", "003"]))
    original = Table.from_frame(frame, name="original")
    attack = AnonymeterLinkability(first=("age",), second=("zip",), neighbours=4, targets=5)
    notes = attack.run(released=original, knowledge=Knowledge(original.take([0, 1])), rng=RNG(0)).notes
    assert [note.split(",")[0] for note in notes] == [
        "5 targets were asked for",
        "as in anonymeter",
        "column 'zip' was taken as a category",
    ]
    told = Table.from_frame(frame, name="original", kinds={"zip": "category"})
    whole = AnonymeterLinkability(first=("age",), second=("zip", "town"), neighbours=1, targets=None)
    trials = whole.run(released=told, knowledge=Knowledge(told), rng=RNG(0))
    assert (trials.attack.tries, trials.notes) == (4, ())


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"first": ()}, "first must name at least one column"),
        ({"second": "pay"}, "second must be a sequence of column names"),
        ({"second": ("age", "pay")}, "'age' is named more often"),
        ({"neighbours": 0}, "neighbours must be a whole number of at least 1, but is 0"),
        ({"targets": 0}, "targets must be a whole number of at least 1, but is 0"),
        ({"seed": -1}, "seed must be a whole number from 0 to 4,294,967,295"),
    ],
)
def test_settings_that_cannot_be_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        AnonymeterLinkability(**{"first": ("age",), "second": ("pay",), **settings})


def test_more_neighbours_than_released_rows_are_refused() -> None:
    original = Table.from_frame(PEOPLE, name="original")
    attack = AnonymeterLinkability(first=("age",), second=("pay",), neighbours=5)
    with pytest.raises(InputError, match="the released table has 4"):
        attack.run(released=original, knowledge=Knowledge(original), rng=RNG(0))


def test_it_is_listed() -> None:
    facts = ATTACKS["anonymeter-linkability"]
    assert (facts.on, facts.leaves, facts.make) == ("table", "Trials", AnonymeterLinkability)
