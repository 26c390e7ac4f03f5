"""Noisy histogram and noisy chain: the noise is what the proof needs, and rows come from the noisy counts alone."""

from collections.abc import Iterator
from datetime import date, datetime
from itertools import product
from math import gcd
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.protections.tables import applied, table
from unveil._kernels.types import FloatArray
from unveil.data.table import Table
from unveil.errors import InputError
from unveil.protections import NoisyChain, NoisyHistogram, protection_from, protection_text
from unveil.protections.table._noisy_counts import EqualWidthBins, axes_of, drawn_cells

Noisy = type[NoisyHistogram] | type[NoisyChain]
each = pytest.mark.parametrize("made", [NoisyHistogram, NoisyChain])

DOMAIN: dict[str, list[Any]] = {"pet": ["cat", "dog"], "smokes": [False, True, None], "size": [1, 2]}
EVERYBODY = list(product(*DOMAIN.values()))


def of_people(rows: list[tuple[Any, ...]]) -> Table:
    types = {"pet": pl.String, "smokes": pl.Boolean, "size": pl.Int64}
    frame = pl.DataFrame(rows, schema=types, orient="row")
    kinds: Any = {"pet": "category", "smokes": "boolean", "size": "number"}
    return Table.from_frame(frame, kinds=kinds, roles=dict.fromkeys(types, "known"))


def noisy_counts(protection: NoisyHistogram | NoisyChain, original: Table, seed: int) -> FloatArray:
    """Return all noisy counts one after the other."""
    axes = axes_of(original, protection.domain, len, "test")
    found = protection.noisy_counts(axes, np.random.default_rng(seed))
    return np.concatenate([part.ravel() for part in (found if isinstance(found, list) else [found])])


def exact_counts(made: Noisy, rows: list[tuple[Any, ...]]) -> FloatArray:
    """Return the counts that the proof speaks of, counted one by one."""
    if made is NoisyHistogram:
        return np.array([rows.count(cell) for cell in EVERYBODY], np.float64)
    pet, smokes, size = DOMAIN.values()
    first = [sum(row[0] == one for row in rows) for one in pet]
    second = [sum(row[:2] == pair for row in rows) for pair in product(pet, smokes)]
    return np.array(
        [*first, *second, *(sum(row[1:] == pair for row in rows) for pair in product(smokes, size))], np.float64
    )


def neighbours() -> Iterator[tuple[list[tuple[Any, ...]], tuple[Any, ...]]]:
    rng = np.random.default_rng(3)
    for somebody in EVERYBODY:
        yield [EVERYBODY[place] for place in rng.integers(0, len(EVERYBODY), 6)], somebody


def log_density(noisy: FloatArray, counts: FloatArray, scale: float) -> float:
    return float((-np.abs(noisy - counts) / scale - np.log(2 * scale)).sum())


@each
@pytest.mark.parametrize(("epsilon", "noise"), [(1.0, 1.0), (0.5, 1.0), (1.0, 0.5)])
def test_nobody_makes_noisy_counts_likelier_than_the_proof_says(made: Noisy, epsilon: float, noise: float) -> None:
    # The scale that the noise has is checked below; here its density is that of the definition.
    protection = made(epsilon=epsilon, noise=noise, domain=DOMAIN)
    scale = noise * (1 if made is NoisyHistogram else 3) / epsilon
    largest = 0.0
    for seed, (rows, somebody) in enumerate(neighbours()):
        with_them, without = exact_counts(made, [*rows, somebody]), exact_counts(made, rows)
        for original in (rows, [*rows, somebody]):
            noisy = noisy_counts(protection, of_people(original), seed)
            ratio = abs(log_density(noisy, with_them, scale) - log_density(noisy, without, scale))
            assert ratio <= epsilon / noise + 1e-9
            largest = max(largest, ratio)
    # It is reached, so no smaller epsilon could be claimed: half of the noise is twice the epsilon.
    assert largest == pytest.approx(epsilon / noise)


@each
@pytest.mark.parametrize("noise", [1.0, 0.5])
def test_noise_has_the_law_of_laplace(made: Noisy, noise: float) -> None:
    rng = np.random.default_rng(5)
    cells = 300
    words = [f"w{number}" for number in range(cells)]
    original, domain = table(one=rng.permutation(words), two=words), {"one": words, "two": words}
    protection = made(epsilon=0.7, noise=noise, domain=domain)
    exact = noisy_counts(made(epsilon=0.7, noise=0.0, domain=domain), original, 1)
    assert exact.sum() == (cells if made is NoisyHistogram else 2 * cells)
    found = np.sort(noisy_counts(protection, original, 1) - exact)
    scale = noise * (1 if made is NoisyHistogram else 2) / 0.7
    law = np.where(found < 0, np.exp(found / scale) / 2, 1 - np.exp(-found / scale) / 2)
    steps = np.arange(found.size + 1) / found.size
    largest = max(np.abs(steps[1:] - law).max(), np.abs(steps[:-1] - law).max())
    # The distance of Kolmogorov and Smirnov, which is larger by luck once in 1,000 times, and where a scale is 5 % off.
    assert largest < 1.95 / np.sqrt(found.size)


@each
def test_rows_come_with_the_shares_of_the_noisy_counts(made: Noisy) -> None:
    rows = [EVERYBODY[place] for place in np.random.default_rng(6).integers(0, len(EVERYBODY), 40)]
    found = applied(made(epsilon=1.0, rows=40_000, domain=DOMAIN), of_people(rows), 7).released.frame.rows()
    noisy = np.maximum(noisy_counts(made(epsilon=1.0, domain=DOMAIN), of_people(rows), 7), 0)
    if made is NoisyHistogram:
        share = noisy / noisy.sum()
    else:
        first, second, third = noisy[:2], noisy[2:8].reshape(2, 3), noisy[8:].reshape(3, 2)
        chain = (first / first.sum())[:, None, None] * (second / second.sum(axis=1, keepdims=True))[:, :, None]
        share = (chain * (third / third.sum(axis=1, keepdims=True))).ravel()
    # Five standard deviations of a share of 40,000 are at most 0.0125.
    np.testing.assert_allclose([found.count(cell) / 40_000 for cell in EVERYBODY], share, atol=0.0125)


def test_cells_without_weight_are_not_drawn_and_lines_stay_apart() -> None:
    rng = np.random.default_rng(8)
    weights = np.array([[0.0, 2.0, 0.0], [0.0, 0.0, 0.0], [1.0, 0.0, 3.0]])
    line = np.repeat([0, 1, 2], 3000)
    drawn = drawn_cells(weights, line, rng).reshape(3, 3000)
    counts = np.array([np.bincount(each, minlength=3) for each in drawn])
    assert counts[0].tolist() == [0, 3000, 0]
    np.testing.assert_allclose(counts[1:], [[1000, 1000, 1000], [750, 0, 2250]], atol=130)


@each
def test_the_domain_decides_what_can_come_out_and_not_who_is_in(made: Noisy) -> None:
    # About half of the counts, of nearly nobody, are cut at 0 each time.
    protection, original = made(epsilon=1.0, rows=200, domain=DOMAIN), of_people([EVERYBODY[0]])
    releases = [applied(protection, original, seed).released for seed in range(30)]
    assert {row for released in releases for row in released.frame.rows()} == set(EVERYBODY)
    assert all(released.column("smokes").missing == released.frame["smokes"].null_count() for released in releases)


@each
def test_what_epsilon_does_not_cover_is_said(made: Noisy) -> None:
    original = of_people(EVERYBODY)
    assert applied(made(domain=DOMAIN), original).notes == ()
    (note,) = applied(made(domain={"pet": ["cat", "dog"]}, epsilon=2), original).notes
    assert note.startswith(
        "the values of columns 'smokes', 'size' were taken from the table itself, so epsilon = 2 holds"
    )
    assert (
        applied(made(domain=DOMAIN, noise=0.5), original).notes[0].endswith("the true epsilon is 2: a deliberate fault")
    )
    assert "true epsilon is infinite" in applied(made(domain=DOMAIN, noise=0), original).notes[0]


@each
def test_they_can_be_written(made: Noisy) -> None:
    name = "noisy-histogram" if made is NoisyHistogram else "noisy-chain"
    assert protection_from(f"{name}:epsilon=1,noise=0.5,rows=10") == made(epsilon=1.0, noise=0.5, rows=10)
    assert protection_text(made(noise=0.5, domain=DOMAIN)) == f"{name}:noise=0.5"


# --- numbers and dates in parts ---


@settings(max_examples=60)
@given(st.lists(st.integers(-(2**63), 2**63 - 1) | st.integers(-50, 50), min_size=4, unique=True), st.integers(2, 3))
def test_whole_numbers_are_cut_in_parts_of_equal_width_on_their_grid(values: list[int], parts: int) -> None:
    series = pl.Series(sorted(values), dtype=pl.Int64)
    found = EqualWidthBins.of(series, parts)
    numbers = series.to_numpy()
    low, step = min(values), gcd(*(value - min(values) for value in values))
    many = (max(values) - low) // step + 1
    expected = [
        sum((value - low) // step >= many * part // parts for part in range(1, parts)) for value in sorted(values)
    ]
    assert found.place(numbers).tolist() == expected
    drawn = found.draw(np.repeat(np.arange(parts), 20), np.random.default_rng(1))
    assert found.place(drawn).tolist() == np.repeat(np.arange(parts), 20).tolist()
    assert all((int(value) - low) % step == 0 and low <= int(value) <= max(values) for value in drawn)


@settings(max_examples=60)
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=4, unique=True), st.integers(2, 3))
def test_real_numbers_are_cut_in_parts_of_equal_width(values: list[float], parts: int) -> None:
    series = pl.Series(sorted(values), dtype=pl.Float64)
    found = EqualWidthBins.of(series, parts)
    assert (found.borders[0], found.borders[-1]) == (min(values), max(values))
    widths = np.diff(found.borders / 4)
    np.testing.assert_allclose(
        widths, widths.mean(), rtol=1e-6, atol=1e-12 * float(np.abs(found.borders / 4).max()) + 5e-324
    )
    place = found.place(series.to_numpy())
    assert all(
        found.borders[at] <= value <= found.borders[at + 1] for value, at in zip(sorted(values), place, strict=True)
    )
    drawn = found.draw(np.repeat(np.arange(parts), 20), np.random.default_rng(1))
    assert drawn.min() >= min(values)
    assert drawn.max() <= max(values)


@each
def test_numbers_and_dates_with_many_values_are_drawn_within_parts(made: Noisy) -> None:
    days = [date(2000 + number // 12, 1 + number % 12, 1 + number % 28) for number in range(300)]
    original = table(pay=range(0, 30_000, 100), born=days, real=np.linspace(0, 1, 300), age=[*range(60)] * 5)
    release = applied(made(epsilon=1.0, rows=5000), original)
    frame = release.released.frame
    assert frame.dtypes == original.frame.dtypes
    assert set((frame["pay"] % 100).unique()) == {0}
    assert frame["born"].dt.truncate("1d").equals(frame["born"])
    assert datetime(2000, 1, 1) <= frame["born"].min() <= frame["born"].max() <= datetime(2024, 12, 31)  # type: ignore[operator]
    assert frame["real"].is_between(0, 1).all()
    parts = 31 if made is NoisyHistogram else 64
    assert f"'pay', 'born', 'real'{', ' * (parts < 60)}" in release.notes[1]
    assert release.notes[1].endswith(f"were drawn within {parts} parts of equal width")
    assert set(frame["age"]) <= set(range(60))
    assert frame["pay"].n_unique() > 64


def test_a_domain_of_numbers_may_be_finer_or_wider_than_the_table() -> None:
    original = table(age=[*range(20, 60)] * 2, pay=[0.5, 900.25] * 40)
    domain = {"age": range(100), "pay": range(1000)}
    frame = applied(NoisyHistogram(epsilon=0.1, rows=3000, domain=domain), original).released.frame
    assert frame["age"].min() < 5  # type: ignore[operator]
    assert frame["age"].max() > 94  # type: ignore[operator]
    assert frame["pay"].dtype == pl.Int64


@each
def test_a_domain_is_told_in_the_words_of_the_column(made: Noisy) -> None:
    levels = pl.Series(["low", "high"] * 10, dtype=pl.Enum(["low", "middle", "high"]))
    original = table(level=levels, born=[date(2000, 1, 1)] * 20, smokes=[True, None] * 10, code=["01", "02"] * 10)
    domain: dict[str, Any] = {
        "level": ["low", "middle", "high"],
        "born": [date(2000, 1, 1), date(2000, 1, 2)],
        "smokes": ["yes", "no", None],
        "code": ["01", "02", "03"],
    }
    # Some counts are cut at 0 each time.
    frame = pl.concat([applied(made(rows=50, domain=domain), original, seed).released.frame for seed in range(20)])
    assert frame.dtypes == original.frame.dtypes
    assert [frame[name].n_unique() for name in frame.columns] == [3, 2, 3, 3]


# --- refusals ---


@each
@pytest.mark.parametrize(
    ("told", "said"),
    [
        ({"epsilon": 0}, "epsilon is 0; it must be a number above 0"),
        ({"epsilon": float("inf")}, "it must be a number above 0"),
        ({"epsilon": float("nan")}, "it must be a number above 0"),
        ({"noise": -0.1}, "noise must lie between 0 and 1"),
        ({"noise": 2}, "noise must lie between 0 and 1"),
        ({"rows": 0}, "rows must be a whole number"),
        ({"domain": ["a"]}, "domain does not give the values of columns by name"),
    ],
)
def test_settings_that_cannot_be_are_refused(made: Any, told: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        made(**told)


@each
@pytest.mark.parametrize(
    ("domain", "said"),
    [
        ({"pet": ["cat"]}, r"column 'pet' of the table has a value outside its domain in row 7 \(counted"),
        ({"smokes": [True, False]}, "column 'smokes' of the table has a value outside its domain in row 5"),
        ({"size": range(2, 90)}, "column 'size' of the table has a value outside its domain in row 1"),
        ({"size": ["a", "b"]}, "the domain of column 'size' is not a list of values of type number, with"),
        ({"size": []}, "the domain of column 'size' is not a list of values of type number, with"),
        ({"size": 3}, "the domain of column 'size' is not a list of values of type number, with"),
        ({"Pet": ["cat"]}, "column 'Pet' is not in the table"),
    ],
)
def test_tables_that_do_not_fit_their_domain_are_refused(made: Noisy, domain: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said) as refused:
        applied(made(domain=domain), of_people(EVERYBODY))
    assert "dog" not in str(refused.value)


def test_too_many_cells_are_refused() -> None:
    words = [f"w{number}" for number in range(1500)]
    original = table(one=words, two=words, age=range(1500))
    for made, cells in ((NoisyHistogram, "4,500,000"), (NoisyChain, "2,250,000")):
        with pytest.raises(
            InputError, match=f"in at most 1,000,000 cells, but the columns of the table need {cells}, even"
        ):
            applied(made(), original)
    assert applied(NoisyChain(), table(one=words, age=range(1500), two=words)).released.rows == 1500
