"""The distributions behind the charts of columns, by counting."""

from datetime import date

import numpy as np
import polars as pl
import pytest

from unveil.data.table import Table
from unveil.data.table.release import Release
from unveil.metrics.releases.distributions import BINS, CATEGORIES, MOST_COLUMNS, ColumnDistribution
from unveil.metrics.releases.utility import loss_summary


def distributions(original: dict[str, object], released: dict[str, object]) -> dict[str, ColumnDistribution]:
    first, second = (Table.from_frame(pl.DataFrame(each), name="t") for each in (original, released))
    found = loss_summary(Release(first, second), rng=np.random.default_rng(1)).distributions
    assert len(found) <= MOST_COLUMNS
    return {each.name: each for each in found}


def test_numbers_are_counted_in_bins_of_both_tables() -> None:
    rng = np.random.default_rng(2)
    first, second = rng.normal(50, 10, 2_000), rng.normal(55, 10, 1_000)
    found = distributions({"x": first}, {"x": second})["x"]
    low, high = np.quantile(np.concatenate([first, second, second]), [0.01, 0.99])
    for counts, values in ((found.original, first), (found.released, second)):
        assert len(counts) == BINS
        assert sum(counts) == values.size
        expected, _ = np.histogram(np.clip(values, low, high), BINS, (low, high))
        # The quantiles of values and of histograms differ by a value or two.
        assert np.abs(np.array(counts) - expected).max() <= 0.02 * values.size
    assert found.is_number
    assert all(found.labels)


def test_whole_numbers_fill_bins_alike() -> None:
    ages = list(range(20, 84)) * 5
    found = distributions({"age": ages}, {"age": ages})["age"]
    inner = found.original[1:-1]
    assert max(inner) == min(inner)
    few = distributions({"n": [1, 2, 2, 5] * 20}, {"n": [1, 2, 5, 5] * 20})["n"]
    assert (few.original, few.released) == ((20, 40, 20), (20, 20, 40))
    assert few.labels == ("1", "5")


def test_categories_are_counted_with_their_names_and_all_others_together() -> None:
    towns = [f"t{place:02d}" for place in range(12) for _ in range(12 - place)]
    found = distributions({"town": towns}, {"town": towns[::-1]})["town"]
    assert found.labels == tuple(f"t{place:02d}" for place in range(CATEGORIES))
    assert found.original == (*range(12, 12 - CATEGORIES, -1), sum(range(1, 13 - CATEGORIES)))
    gaps = distributions({"sex": ["f", "m", None, "f"] * 9}, {"sex": ["f", "m", "m", "f"] * 9})["sex"]
    assert dict(zip(gaps.labels, zip(gaps.original, gaps.released, strict=True), strict=False)) == {
        "f": (18, 18),
        "m": (9, 18),
        "missing": (9, 0),
    }


def test_cells_of_several_values_have_the_names_of_these() -> None:
    towns = ["Ulm", "Bonn", "Ulm", "Köln", "Bonn", "Köln"]
    found = distributions({"town": towns}, {"town": ["{Ulm,Bonn}"] * 4 + ["Köln"] * 2})["town"]
    assert dict(zip(found.labels, zip(found.original, found.released, strict=True), strict=False)) == {
        "Bonn, Ulm": (4, 4),
        "Köln": (2, 2),
    }


def test_the_ends_of_dates_are_months() -> None:
    days = pl.date_range(date(2020, 1, 1), date(2023, 1, 1), "10d", eager=True).to_list()
    found = distributions({"day": days}, {"day": days})["day"]
    assert [label[:2] for label in found.labels] == ["20", "20"]
    assert sum(found.original) == len(days)


@pytest.mark.parametrize("values", [[None] * 10 + [1.0] * 10, [3.0] * 20, [float(2**60 + k) for k in range(20)]])
def test_odd_columns_have_bins_too(values: list[float | None]) -> None:
    found = distributions({"x": values, "y": range(20)}, {"x": values, "y": range(20)})["x"]
    assert sum(found.original) == sum(found.released) == sum(each is not None for each in values)
