"""Sets of columns are different ones of the right size; counts, bins and numbers are as by looking at each."""

from math import comb, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unveil._kernels.membership import counts
from unveil._kernels.membership.counts import bin_edges, binned, column_sets, excess
from unveil._kernels.neighbours.index import LAST_MARKER, MISSING
from unveil._kernels.types import CodeArray
from unveil._kernels.value_numbers import numbered


@pytest.mark.parametrize(("columns", "size", "most"), [(33, 2, 400), (9, 5, 100), (9, 4, 126), (3, 5, 100), (0, 2, 9)])
def test_sets_are_different_and_of_the_right_size(columns: int, size: int, most: int) -> None:
    sets = column_sets(columns, size, most, np.random.default_rng(1))
    every = comb(columns, min(size, columns)) if columns else 0
    assert len(sets) == len(set(sets)) == min(every, most)
    assert all(len(set(each)) == min(size, columns) and each == tuple(sorted(each)) for each in sets)
    if every > most:
        assert sets != column_sets(columns, size, most, np.random.default_rng(2))
        assert {column for each in sets for column in each} == set(range(columns))


def counted_one_by_one(codes: np.ndarray, released: int, population: int, sets: list[tuple[int, ...]]) -> list[float]:
    """Return the mean logarithm of how much more frequent each person's values are released, row by row."""
    found = []
    for person in codes[released + population :].tolist():
        total = 0.0
        for columns in sets:
            like = [all(row[at] == person[at] for at in columns) for row in codes[: released + population].tolist()]
            here, there = sum(like[:released]), sum(like[released:])
            total += log((here + 0.5) / released) - log((there + 0.5) / population)
        found.append(total / len(sets))
    return found


@pytest.mark.parametrize("width", [np.int16, np.int32])
@pytest.mark.parametrize("most", [2**62, 0])
@given(st.integers(0, 2**32), st.integers(1, 4), st.integers(1, 4), st.integers(1, 5), st.sets(st.integers(1, 9)))
def test_counts_are_those_of_looking_at_every_row_however_they_are_divided(
    width: type, most: int, seed: int, columns: int, size: int, kinds: int, blocks: set[int]
) -> None:
    rng = np.random.default_rng(seed)
    codes: CodeArray = rng.integers(0, kinds + 1, (24, columns)).astype(width)
    codes[15:] = np.maximum(codes[15:], 1)
    codes[:15][codes[:15] > codes[15:].max(axis=0)] = 0  # as of values that no person has
    sets = column_sets(columns, size, 3, rng)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counts, "_MOST_KEYS", most)
        found = excess(np.split(codes[:10], sorted(blocks)), codes[10:15], codes[15:], sets)
    assert found == pytest.approx(counted_one_by_one(codes, 10, 5, sets), abs=1e-8)


def test_many_rows_are_counted_alike_by_keys_and_by_rank(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    codes = (1 + rng.geometric(0.1, (90_000, 4))).astype(np.int16)
    sets = column_sets(4, 3, 9, rng)
    codes[:85_000][codes[:85_000] > codes[85_000:].max(axis=0)] = 0
    parts = codes[:80_000], codes[80_000:85_000], codes[85_000:]
    by_keys = excess([parts[0]], *parts[1:], sets)
    assert by_keys.tolist() == excess(np.split(parts[0], [7, 50_000]), *parts[1:], sets).tolist()
    monkeypatch.setattr(counts, "_MOST_KEYS", 0)
    assert by_keys.tolist() == excess([parts[0]], *parts[1:], sets).tolist()
    assert np.unique(by_keys).size > 100


marked = st.integers(-40, 40) | st.integers(MISSING, LAST_MARKER) | st.sampled_from([-(2**40), 2**40])


@pytest.mark.parametrize("steps", [32, 2**16])
@given(st.lists(marked, max_size=70), st.lists(marked, min_size=1, max_size=20), st.integers(0, 70))
def test_bins_hold_as_many_of_the_reference(steps: int, reference: list[int], numbers: list[int], cut: int) -> None:
    ascending = sorted(each for each in reference if each > LAST_MARKER)
    edges = sorted({ascending[part * len(ascending) // 16] for part in range(1, 16)}) if ascending else []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counts, "_STEPS", steps)
        blocks = np.split(np.array(reference, np.int64), [cut])
        assert bin_edges(lambda: blocks).tolist() == edges
    found = binned(np.array(numbers), np.array(edges, np.int64)).tolist()
    assert found == [n if n <= LAST_MARKER else sum(edge <= n for edge in edges) for n in numbers]


@given(st.lists(marked, max_size=30), st.sets(marked, max_size=20))
def test_values_are_numbered_among_those_wanted(values: list[int], wanted: set[int]) -> None:
    place = {value: at for at, value in enumerate(sorted(wanted), 1)}
    found = numbered(np.array(values, np.int64), np.array(sorted(wanted), np.int64))
    assert found.tolist() == [place.get(value, 0) for value in values]
