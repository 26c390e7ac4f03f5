"""Worked examples of tables whose hidden counts follow, by hand: rectangles, groupings, differences, readings."""

import numpy as np
import polars as pl
import pytest

import unveil
from unveil._kernels.counts.solver import Budget
from unveil.attacks.counts.solve_counts import NOT_ZERO, ContradictoryCountsError, SolveCounts, rule_reading
from unveil.attacks.counts.steps import steps
from unveil.data.counts import CountSettings, read_counts
from unveil.data.counts.knowledge import ANY
from unveil.data.counts.settings import Range
from unveil.data.counts.system import CountSystem, system_of
from unveil.errors import InputError

AGES = ("0-17", "18-39", "40-64", "65+", "Total")
ROWS = {
    "North": (20, 3, 14, 9, 46),
    "South": (8, 17, 2, 11, 38),
    "West": (15, 6, 12, 4, 37),
    "Total": (43, 26, 28, 24, 121),
}
SMALL = {("North", "18-39"), ("South", "40-64"), ("West", "65+")}


def wards(hidden: set[tuple[str, str]]) -> CountSystem:
    table: dict[str, list[str]] = {"ward": list(ROWS)}
    for at, age in enumerate(AGES):
        table[age] = ["*" if (ward, age) in hidden else str(row[at]) for ward, row in ROWS.items()]
    return system_of(read_counts([table], CountSettings(wide="age")))


def ranges(system: CountSystem, reading: Range) -> dict[str, tuple[int, int]]:
    found = (
        SolveCounts()
        .solve(released=system, reading=(reading,) * len(system.released.symbols), rng=np.random.default_rng(0))
        .ranges
    )
    asked = np.flatnonzero(system.is_hidden | system.is_unlisted)
    assert found.is_proven[asked].all()
    return {system.label(int(cell)): (int(found.low[cell]), int(found.high[cell])) for cell in asked}


def test_one_subtraction() -> None:
    assert ranges(wards(SMALL), ANY) == {"North, 18-39": (3, 3), "South, 40-64": (2, 2), "West, 65+": (4, 4)}


def test_a_rectangle_too_few() -> None:
    system = wards(SMALL | {("North", "40-64"), ("South", "18-39")})
    assert ranges(system, ANY) == {
        "North, 18-39": (1, 17), "North, 40-64": (0, 16), "South, 18-39": (3, 19), "South, 40-64": (0, 16),
        "West, 65+": (4, 4),
    }  # fmt: skip
    assert list(ranges(system, NOT_ZERO).values()) == [(2, 16), (1, 15), (4, 18), (1, 15), (4, 4)]


def test_a_rectangle_that_holds() -> None:
    more = {("North", "40-64"), ("North", "65+"), ("South", "18-39"), ("West", "18-39")}
    assert list(ranges(wards(SMALL | more), ANY).values()) == [
        (0, 23), (0, 16), (3, 13), (3, 19), (0, 16), (0, 10), (0, 10),
    ]  # fmt: skip


DISTRICTS = {"A": 2, "B": 2, "C": 8, "D": 8, "K": 3, "L": 3, "M": 3, "N": 7, "BIG": 6, "county-1": 20, "county-2": 16}


@pytest.mark.parametrize(
    ("hidden", "expected"),
    [
        ("K L M", {"K": (3, 3), "L": (0, 6), "M": (0, 6)}),
        ("K L M N", {"K": (0, 10), "L": (0, 6), "M": (0, 6), "N": (0, 10)}),
        (
            "K L M county-1 county-2",
            {"K": (3, 3), "L": (0, 6), "M": (0, 6), "county-1": (20, 20), "county-2": (16, 16)},
        ),
    ],
)
def test_two_groupings(
    hidden: str, expected: dict[str, tuple[int, int]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """sdcTools/UserSupport, issue 136: a region across a county gives a district away."""
    path = tmp_path_factory.mktemp("groups") / "h.csv"
    below = {"county-1": "ABCD", "county-2": "KLMN", "BIG": "LM"}
    path.write_text("child,parent\n" + "".join(f"{leaf},{top}\n" for top, own in below.items() for leaf in own))
    table = {
        "district": [*DISTRICTS, "Total"],
        "count": ["*" if name in hidden.split() else str(value) for name, value in DISTRICTS.items()] + ["36"],
    }
    system = system_of(read_counts([table], CountSettings(hierarchies={"district": path})))
    assert ranges(system, ANY) == expected


def test_two_bandings_are_subtracted() -> None:
    first = {"age": ["0-17", "0-17", "18+", "18+"], "state": ["ill", "well"] * 2, "count": ["12", "88", "30", "170"]}
    second = {"age": ["0-18", "0-18", "19+", "19+"], "state": ["ill", "well"] * 2, "count": ["13", "88", "29", "170"]}
    system = system_of(read_counts([first, second]))
    assert ranges(system, ANY) == {"18": (1, 1), "18, ill": (1, 1), "18, well": (0, 0)}


def test_a_cell_that_another_table_shows_is_worked_out() -> None:
    system = system_of(read_counts([{"ward": ["N", "S"], "count": ["*", "7"]}, {"ward": ["N"], "count": ["5"]}]))
    solved = SolveCounts().solve(released=system, reading=(ANY,), rng=np.random.default_rng(0))
    told = solved.ranges
    made = steps(
        system, solved.solution, told.told_low, told.told_high, np.flatnonzero(told.is_recovered), Budget(10**6)
    )
    assert [(step.count, step.kind) for step in made] == [(5, "shown")]


def test_a_chain_of_sums_says_what_was_worked_out_before() -> None:
    # The column gives (S, m), and only with it the row gives (S, f).
    table = {"ward": ["N", "S", "Total"], "f": ["3", "*", "*"], "m": ["4", "*", "9"], "Total": ["7", "8", "15"]}
    system = system_of(read_counts([table], CountSettings(wide="sex")))
    solved = SolveCounts().solve(released=system, reading=(ANY,), rng=np.random.default_rng(0))
    told = solved.ranges
    made = steps(
        system, solved.solution, told.told_low, told.told_high, np.flatnonzero(told.is_recovered), Budget(10**6)
    )
    by_name = {system.label(step.cell): step for step in made}
    assert by_name["S, m"].count == 5
    assert sorted((term.sign, term.count) for term in by_name["S, m"].terms) == [(-1, 4), (1, 9)]
    assert by_name["S, f"].count == 3
    for step in made:
        assert sum(term.sign * term.count for term in step.terms) == step.count


def test_the_rule_is_read_as_small_only_where_that_fits() -> None:
    rng = np.random.default_rng(0)
    assert rule_reading(SolveCounts(), wards(SMALL), 5, rng=rng) == ((1, 4),)
    more = SMALL | {("North", "40-64"), ("South", "18-39")}
    assert rule_reading(SolveCounts(), wards(more), 5, rng=rng) == (NOT_ZERO,)
    zeros = {"ward": ["N", "S", "Total"], "count": ["*", "7", "7"]}
    assert rule_reading(SolveCounts(), system_of(read_counts([zeros])), 5, rng=rng) == (ANY,)


def test_two_symbols_are_read_each_for_itself() -> None:
    # "*" can be small, "c" cannot: it stands for 14.
    table = {"ward": ["N", "S", "W", "E", "Total"], "count": ["*", "c", "*", "9", "28"]}
    found = rule_reading(SolveCounts(), system_of(read_counts([table])), 5, rng=np.random.default_rng(0))
    assert found == ((1, 4), NOT_ZERO)


def test_contradictions_are_raised_with_their_cells() -> None:
    system = system_of(read_counts([{"ward": ["N", "S", "Total"], "count": ["5", "7", "13"]}]))
    with pytest.raises(ContradictoryCountsError) as caught:
        SolveCounts().solve(released=system, reading=(), rng=np.random.default_rng(0))
    assert sorted(system.label(cell) for cell in caught.value.cells) == ["N", "S", "Total"]


def test_a_spent_budget_leaves_true_ranges() -> None:
    system = wards(SMALL | {("North", "40-64"), ("South", "18-39")})
    exact = SolveCounts().solve(released=system, reading=(ANY,), rng=np.random.default_rng(0)).ranges
    poor = SolveCounts(work=1).solve(released=system, reading=(ANY,), rng=np.random.default_rng(0))
    assert not poor.is_finished
    assert (poor.ranges.low <= exact.low).all()
    assert (poor.ranges.high >= exact.high).all()


def test_tables_without_their_common_detail_are_said_to_be_so() -> None:
    pairs = [
        {one: list("abab"), other: list("aabb"), "count": ["1"] * 4}
        for one, other in (("x", "y"), ("y", "z"), ("x", "z"))
    ]
    assert system_of(read_counts(pairs)).is_whole
    assert not system_of(read_counts(pairs), largest=20).is_whole


#: Each row and column has two hidden counts: outsiders know none, whoever knows one knows all four.
TABLE = {"ward": ["N", "S", "Total"], "f": ["*", "*", "9"], "m": ["*", "*", "8"], "Total": ["5", "12", "17"]}
PEOPLE = pl.DataFrame(
    {"ward": ["N"] * 5 + ["S"] * 12, "column": ["f"] + ["m"] * 4 + ["f"] * 8 + ["m"] * 4},
)


def test_one_count_that_is_known_gives_the_others() -> None:
    found = unveil.tables(TABLE, microdata=PEOPLE, singleton=True).findings
    assert found.figures.recovered == 0
    assert found.singletons == (1, 1, 1, 3)
    assert (
        "Singleton attack: 1 respondent is the only one in a suppressed cell; 1 can recover other cells, at most 3."
        in unveil.tables(TABLE, microdata=PEOPLE, singleton=True).to_html()
    )


def test_without_records_nobody_is_known_to_be_alone() -> None:
    with pytest.raises(InputError, match="needs the microdata"):
        unveil.tables(TABLE, singleton=True)
