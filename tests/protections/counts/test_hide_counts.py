"""Hiding more: what is hidden then cannot be worked out, unless it is proven that no hiding would help."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unveil
from unveil.attacks.counts.solve_counts import NOT_ZERO, SolveCounts
from unveil.data.counts import read_counts
from unveil.data.counts.system import CountSystem, system_of
from unveil.data.counts.tabulate import tabulate
from unveil.errors import InputError
from unveil.protections.counts.hide_counts import HideCounts, known_counts


def table(inner: list[list[int]]) -> pl.DataFrame:
    people = [
        (f"r{row}", f"c{at}") for row, line in enumerate(inner) for at, count in enumerate(line) for _ in range(count)
    ]
    return tabulate(pl.DataFrame(people, schema=["row", "column"], orient="row"), ["row", "column"])


def attacked(system: CountSystem, hidden: "np.ndarray[tuple[int], np.dtype[np.bool_]]") -> CountSystem:

    frame = pl.DataFrame(
        {
            variable.name: [variable.codes[code] for code in system.released.codes[:, at].tolist()]
            for at, variable in enumerate(system.released.variables)
        }
    )
    texts = np.where(hidden[system.cell], "*", system.released.low.astype(str))
    return system_of(read_counts([frame.with_columns(pl.Series("count", texts.tolist()))]))


@given(
    st.lists(st.lists(st.integers(0, 9), min_size=3, max_size=3), min_size=2, max_size=3), st.sampled_from([2, 2, 4])
)
@settings(deadline=None, max_examples=25)
def test_small_counts_keep_their_values_unless_nothing_would_help(inner: list[list[int]], keep: int) -> None:
    if not any(map(any, inner)):
        return
    made = table(inner)
    system = system_of(read_counts([made]))
    counts = known_counts(system)
    assert counts is not None
    found = HideCounts(minimum=4, keep=keep).apply(system, counts)
    assert not found.is_undecided.any()
    small = (counts >= 1) & (counts < 4)
    assert (found.is_hidden >= small).all()
    assert not found.is_hidden[counts == 0].any()
    for hidden, exactly in ((found.is_hidden, False), (counts > 0, True)):
        again = attacked(system, hidden)
        reading = (NOT_ZERO,) * len(again.released.symbols)
        ranges = SolveCounts().solve(released=again, reading=reading, rng=np.random.default_rng(0)).ranges
        out = {again.label(int(cell)) for cell in np.flatnonzero(ranges.is_recovered)}
        few = {again.label(int(cell)) for cell in np.flatnonzero(ranges.is_hidden & (ranges.values < keep))}
        less = {system.label(int(cell)) for cell in np.flatnonzero(found.is_helpless | found.is_short)}
        helpless = {system.label(int(cell)) for cell in np.flatnonzero(found.is_helpless)}
        named = {system.label(int(cell)) for cell in np.flatnonzero(small)}
        assert out & named <= helpless
        assert few & named <= less
        if exactly:  # with everything hidden that may be, it is no better
            assert helpless <= out
            assert less <= few


def test_the_answer_has_the_attack_on_what_was_repaired() -> None:
    given = {"ward": ["N", "S", "W", "E", "Total"], "count": ["3", "17", "12", "9", "41"]}
    answer = unveil.tables(given, suppress=True)
    repair = answer.findings.repair
    assert repair is not None
    assert (repair.suppressed_before, repair.suppressed_after, repair.after.small) == (0, 2, 0)
    assert repair.frame["count"].to_list() == ["*", "17", "12", "*", "41"]
    assert [each.base for each in repair.rounding] == [3, 5, 10]
    assert "With 2 of 5 cells suppressed (0 before), the same attack recovers 0 small cells." in answer.to_html()


def test_more_values_are_kept_where_that_is_asked_for() -> None:
    given = {"ward": ["N", "S", "W", "E", "Total"], "count": ["1", "2", "12", "9", "24"]}
    two, six = (unveil.tables(given, suppress=True, min_interval=keep).findings.repair for keep in (2, 6))
    assert two is not None
    assert six is not None
    assert two.frame["count"].to_list() == ["*", "*", "12", "9", "24"]  # 1 and 2, or 2 and 1
    assert six.suppressed_after == 3
    assert (six.tight, six.short, six.after.approximate) == (0, 0, 0)


def test_what_cannot_be_repaired_is_said() -> None:
    # Both others are zeros that are shown, so that nothing but the total could stand in.
    answer = unveil.tables({"ward": ["N", "S", "W"], "count": ["3", "0", "0"]}, suppress=True)
    assert answer.findings.repair is not None
    assert answer.findings.repair.helpless == 0  # no total is shown: nobody can tell
    shown = unveil.tables({"a": ["x", "y", "Total"], "f": ["2", "0", "2"], "m": ["0", "1", "1"]}, suppress=True)
    assert shown.findings.repair is not None
    assert shown.findings.repair.after.small == 0


@pytest.mark.parametrize("given", [{"ward": ["N", "S", "Total"], "count": ["*", "7", "9"]}])
def test_without_every_count_nothing_is_repaired(given: dict[str, list[str]]) -> None:
    with pytest.raises(InputError, match="needs every count"):
        unveil.tables(given, suppress=True)
