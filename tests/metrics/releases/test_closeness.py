"""Closeness: copies, distances and their ratios as counted row by row, beside the control table."""

import math
from dataclasses import astuple
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.oracles.records import Distance, Rows, quantile, rows_of_people, table
from unveil.data.table import Table
from unveil.data.table.release import Release
from unveil.errors import InputError
from unveil.metrics import METRICS, distance_to_closest, exact_copies, nearest_distance_ratio
from unveil.metrics.releases.closeness import DistanceQuantiles, interval_places, quantile_interval
from unveil.metrics.trials.risk import clopper_pearson

LOW, MEDIAN = Fraction(1, 20), Fraction(1, 2)
maybe_rows = st.one_of(st.none(), rows_of_people)


def same_people(one: Rows, other: Rows | None) -> bool:
    return other is not None and sorted(map(repr, one)) == sorted(map(repr, other))


def release_of(original: Rows, released: Rows, control: Rows | None) -> Release:
    return Release(
        table(original, "original"), table(released, "released"), None if control is None else table(control, "control")
    )


@given(rows_of_people, rows_of_people, maybe_rows)
def test_copies_are_counted(original: Rows, released: Rows, control: Rows | None) -> None:
    assume(not same_people(original, control))
    found = exact_copies(release_of(original, released, control))
    copied = sum(row in original for row in released)
    assert (found.rows, found.copied) == (len(released), copied)
    assert found.copied_unique == sum(original.count(row) == 1 for row in released)
    assert astuple(found.share) == astuple(clopper_pearson(copied, len(released)))
    if control is None:
        assert math.isnan(found.expected)
        assert "no control group" in found.control_share.why
        assert "no control group" in found.excess.why
        return
    outside = Fraction(sum(row in original for row in control), len(control))
    assert found.control_share.value == pytest.approx(float(outside))
    assert found.expected == pytest.approx(float(outside * len(released)))
    if outside < 1:
        excess = (Fraction(copied, len(released)) - outside) / (1 - outside)
        assert found.excess.value == pytest.approx(float(excess), abs=1e-12)
        assert found.excess.low <= found.excess.value + 1e-12
        assert found.excess.value <= found.excess.high + 1e-12


def check(found: DistanceQuantiles, values: list[Fraction | None]) -> None:
    known = [value for value in values if value is not None]
    assert (found.rows, found.undefined) == (len(values), len(values) - len(known))
    for number, share in ((found.low, LOW), (found.median, MEDIAN)):
        assert number == pytest.approx(float(quantile(known, share)) if known else math.nan, abs=1e-12, nan_ok=True)


def near(original: Rows, released: Rows, rows: Rows) -> list[list[Fraction]]:
    """The distances of each row from the original ones, as a share of the three columns, ascending."""
    distance = Distance(original, released)
    return [sorted(distance(row, other) / 3 for other in original) for row in rows]


def ratio(distances: list[Fraction]) -> Fraction | None:
    return distances[0] / distances[1] if len(distances) > 1 and distances[1] > 0 else None


@given(rows_of_people, rows_of_people)
def test_distances_are_those_of_the_rows(original: Rows, released: Rows) -> None:
    release = release_of(original, released, None)
    apart = near(original, released, released)
    assert distance_to_closest(release).control is None
    check(distance_to_closest(release).released, [row[0] for row in apart])
    check(nearest_distance_ratio(release).released, [ratio(row) for row in apart])


@given(rows_of_people, rows_of_people, rows_of_people)
def test_the_control_is_measured_against_the_same_original(original: Rows, released: Rows, control: Rows) -> None:
    # Values beyond three spans are cut off in the distance, so the span is made wide enough for none to be.
    original = [(20, 1.5, "Ulm"), (26, 1.9, "Bonn"), *original]
    assume(not same_people(original, control))
    release = release_of(original, released, control)
    apart = near(original, released, control)
    distances, ratios = distance_to_closest(release).control, nearest_distance_ratio(release).control
    assert distances is not None
    assert ratios is not None
    check(distances, [row[0] for row in apart])
    check(ratios, [ratio(row) for row in apart])


def test_a_copy_of_the_original_is_seen() -> None:
    people: Rows = [(20, 1.5, "Ulm"), (22, 1.6, "Ulm"), (26, None, "Bonn")]
    release = release_of(people, people, [(24, 1.9, "Köln")])
    assert exact_copies(release).excess.value == 1
    assert distance_to_closest(release).released.median == 0
    assert nearest_distance_ratio(release).released.median == 0
    control = distance_to_closest(release).control
    assert control is not None
    assert control.median > 0


def test_copies_are_exact_where_distances_are_not() -> None:
    """A constant column never differs in the distance, but a control row with another value in it is no copy."""
    original, released, control = (
        Table.from_frame(pl.DataFrame({"year": years, "town": ["Ulm"] * 2}), name=name)
        for name, years in (("original", [2000, 2000]), ("released", [2000, 2000]), ("control", [2000, 1990]))
    )
    assert exact_copies(Release(original, released, control)).control_share.value == 0.5


def test_a_number_equals_itself_however_it_is_written() -> None:
    original, released = (
        Table.from_frame(pl.DataFrame({"age": ages}), name=name)
        for name, ages in (("original", [20, 30]), ("released", [20.0, 30.5]))
    )
    assert exact_copies(Release(original, released)).copied == 1


def test_identifiers_are_not_compared_and_columns_can_be_told() -> None:
    original, released = (
        Table.from_frame(
            pl.DataFrame({"key": keys, "age": [20, 30], "town": towns}), roles={"key": "identifier"}, name=name
        )
        for name, keys, towns in (("original", ["a", "b"], ["Ulm", "Ulm"]), ("released", ["c", "d"], ["Ulm", "Bonn"]))
    )
    release = Release(original, released)
    assert exact_copies(release).copied == 1
    assert exact_copies(release, columns=["age"]).copied == 2
    assert exact_copies(release, columns=["key"]).copied == 0
    assert distance_to_closest(release, columns=["age"]).released.median == 0
    assert distance_to_closest(release).released.median == 0.25
    with pytest.raises(InputError, match="column 'aeg' is not in the original"):
        exact_copies(release, columns=["aeg"])
    for nothing in ((), "age"):
        with pytest.raises(
            InputError, match="no column to compare: all are identifiers or ignored, or one is named twice"
        ):
            exact_copies(release, columns=nothing)


def test_some_rows_are_drawn_by_content() -> None:
    rng = np.random.default_rng(3)
    original: Rows = [(age, 1.5, "Ulm") for age in rng.integers(20, 90, 50).tolist()]
    released: Rows = [(age, 1.5, "Ulm") for age in rng.integers(20, 90, 50).tolist()]
    plain, mixed = (
        distance_to_closest(release_of(original, rows, released[:9]), targets=7, rng=np.random.default_rng(1))
        for rows in (released, released[::-1])
    )
    assert plain == mixed
    assert plain.control is not None
    assert (plain.released.rows, plain.control.rows) == (7, 7)
    everybody = release_of(original, released, None)
    assert distance_to_closest(everybody, targets=50, rng=rng) == distance_to_closest(everybody)
    for targets, given_rng in ((7, None), (0, rng)):
        with pytest.raises(InputError, match="it must be at least 1 and needs rng"):
            distance_to_closest(everybody, targets=targets, rng=given_rng)


def test_all_three_are_listed_on_a_release() -> None:
    listed = {name: metric for name, metric in METRICS.items() if metric.on == "Release"}
    assert {"distance_to_closest", "exact_copies", "nearest_distance_ratio"} <= set(listed)
    assert all(metric.category == "closeness" for name, metric in listed.items() if name in {"exact_copies"})


def test_names_that_mean_something_elsewhere_are_just_names() -> None:
    columns = ("a*", "table", "0", 'quo"te\n$x')
    original, released = (
        Table.from_frame(pl.DataFrame(dict(zip(columns, zip(*rows, strict=True), strict=True)), strict=False))
        for rows in ([(1, 2, "a", "b"), (3, 4, "c", "d")], [(1, 2, "a", "b"), (3, 4, "c", "e")])
    )
    release = Release(original, released)
    assert exact_copies(release).copied == 1
    assert distance_to_closest(release).released.median == 0.125


def below(size: int, share: Fraction, count: int) -> Fraction:
    """The chance that at most ``count`` of so many values lie below the quantile."""
    each = (math.comb(size, number) * share**number * (1 - share) ** (size - number) for number in range(count + 1))
    return sum(each, Fraction(0))


@pytest.mark.unwatched
@pytest.mark.parametrize("share", [LOW, MEDIAN])
@pytest.mark.parametrize("size", [1, 5, 6, 20, 71, 72, 73, 100, 150])
def test_limits_are_the_nearest_values_that_are_missed_rarely_enough(size: int, share: Fraction) -> None:
    miss = Fraction(1, 40)
    # The value at place i is too high when at most i values lie below the quantile, too low when more than i do.
    low = max((place for place in range(size) if below(size, share, place) <= miss), default=None)
    high = min((place for place in range(size) if 1 - below(size, share, place) <= miss), default=None)
    found = interval_places(size, float(share), 0.95)
    assert found == (None if low is None or high is None else (low, high))
    assert (found is None) == (size < (72 if share == LOW else 6))


def test_the_figures_lie_within_their_intervals_and_too_few_rows_have_none() -> None:
    rng = np.random.default_rng(2)
    original: Rows = [(age, 1.5, "Ulm") for age in rng.integers(20, 9_000, 60).tolist()]
    for rows in (1, 5, 6, 71, 72, 300):
        released: Rows = [(age, 1.5, "Ulm") for age in rng.integers(20, 9_000, rows).tolist()]
        release = release_of(original, released, None)
        for found in (distance_to_closest(release).released, nearest_distance_ratio(release).released):
            for value, interval, enough in (
                (found.low, found.low_interval, 72),
                (found.median, found.median_interval, 6),
            ):
                if rows < enough:
                    assert all(map(math.isnan, interval))
                else:
                    assert interval[0] < value < interval[1]


@pytest.mark.parametrize("share", [0.05, 0.5])
@pytest.mark.parametrize("decimals", [0, 9])
def test_intervals_hold_the_true_quantile_as_often_as_they_say(share: float, decimals: int) -> None:
    """Exponential times: the quantile is known; rounded ones have many ties and are missed less often still."""
    rng = np.random.default_rng(11)
    truth = round(-math.log(1 - share) * 4, decimals)
    for size in (80, 400):
        samples = rng.exponential(4, (1_000, size)).round(decimals)
        limits = np.array([quantile_interval(sample, share) for sample in samples])
        held = ((limits[:, 0] <= truth) & (truth <= limits[:, 1])).mean()
        # 93.3 % of 1,000 come once in a hundred such tests.
        assert held >= 0.933
        assert decimals == 0 or held <= 0.99


def test_the_histogram_counts_rows_by_distance_and_compares_all_pairs() -> None:
    rng = np.random.default_rng(7)
    original, released, control = rng.random(60), rng.random(80), rng.random(50)
    released[:7] = original[:7]
    tables = [Table.from_frame(pl.DataFrame({"x": each}), name="t") for each in (original, released, control)]
    found = distance_to_closest(Release(tables[0], tables[1], tables[2])).histogram
    assert found is not None
    span = original.max() - original.min()
    near = [np.abs(side[:, None] - original).min(axis=1) / span for side in (released, control)]
    for counts, zero, values in (
        (found.released, found.released_zero, near[0]),
        (found.control, found.control_zero, near[1]),
    ):
        assert zero == (values == 0).sum()
        edges = np.linspace(0, found.high, len(counts) + 1)
        expected, _ = np.histogram(np.minimum(values[values > 0], found.high), edges)
        # Distances are whole numbers of very small steps, so that one may fall into the next bin.
        assert np.abs(np.cumsum(counts) - np.cumsum(expected)).max() <= 1
        assert sum(counts) + zero == values.size
    pairs = np.mean((near[0][:, None] < near[1]) + (near[0][:, None] == near[1]) / 2)
    assert found.nearer is not None
    assert found.nearer.value == pytest.approx(pairs)
