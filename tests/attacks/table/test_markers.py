"""A marker of no value is a value of its own: equal to the same marker and to nothing else, wherever rows are compared.

The oracle takes the cells as they are written: there an N is one word, 9999 another and 31 a third.
"""

from collections import Counter

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unveil.attacks.table.attribute_disclosure import AttributeDisclosure
from unveil.attacks.table.singling_out import EQUAL, Picks, predicates_of
from unveil.data.table import Table
from unveil.data.table.encode import encode
from unveil.data.table.markers import DeclaredMarkers
from unveil.data.table.release import Knowledge, Release
from unveil.guesses.predicates import CodedTable
from unveil.metrics.releases._classes import equivalence_classes
from unveil.metrics.releases.closeness import exact_copies
from unveil.metrics.releases.diversity import distinct_l_diversity, t_closeness

Row = tuple[str, str, str]

MARKERS: DeclaredMarkers = {"age": {"N": "not applicable", "-9": "missing", "9999": "own code"}}
BAND = "30-39"
ILL = "ill"
KNOWN = ("age", "town")
ages = st.sampled_from(["31", "38", "44", "", "N", "-9", "9999"])
rows = st.lists(st.tuples(ages, st.sampled_from("ab"), st.sampled_from("xyz")), max_size=12)
#: There are always numbers, illnesses, and a missing value, so that none of the release was taken out.
SURE = [("31", "a", "x"), ("38", "b", "y"), ("44", "b", "z"), ("", "a", "x")]


def table(name: str, cells: list[Row]) -> Table:
    frame = pl.DataFrame(cells, schema=["age", "town", "ill"], orient="row")
    return Table.from_frame(frame, name=name, markers=MARKERS)


def fits(person: Row, row: Row) -> bool:
    return person[1] == row[1] and (person[0] == row[0] or (row[0] == BAND and person[0] in ("31", "38")))


@pytest.mark.parametrize("bands", [[], [(BAND, "a", "x")]], ids=["exact", "coarse"])
@settings(deadline=None, max_examples=25)
@given(people=rows, shown=rows)
def test_rows_are_alike_where_they_are_written_alike(bands: list[Row], people: list[Row], shown: list[Row]) -> None:
    people, shown = [*SURE, *people], [*SURE, *shown, *bands]
    release = Release(table("original", people), table("released", shown), kind="masked")
    assert release.released.coarse() == ("age",) * len(bands)
    classes = Counter(row[:2] for row in shown)
    assert equivalence_classes(release, columns=KNOWN).of_row.tolist() == [classes[row[:2]] for row in shown]
    assert distinct_l_diversity(release, sensitive=ILL, columns=KNOWN) == min(
        len({other[2] for other in shown if other[:2] == row[:2]}) for row in shown
    )
    copies, exact = exact_copies(release), [row for row in shown if row[0] != BAND]
    assert (copies.rows, copies.copied) == (len(exact), sum(row in people for row in exact))
    details = AttributeDisclosure(secret=ILL, known=KNOWN, targets=None).details(
        released=release.released, knowledge=Knowledge(release.original), rng=np.random.default_rng(1)
    )
    assert details.matched.expected == sum(any(fits(person, row) for row in shown) for person in people)
    # What is said of a released cell holds for the people who fit it.
    coded = CodedTable(release.released, ["age"])
    codes = coded.index.codes[0].astype(np.int64)[:, None]
    picks = Picks(np.zeros_like(codes), np.full_like(codes, EQUAL), codes)
    said = predicates_of(coded, picks).counts(release.original)
    assert said.tolist() == [sum(fits((age, row[1], ""), row) for age, _, _ in people) for row in shown]


def test_distances_and_shares_tell_markers_apart() -> None:
    people = table("original", [*SURE, ("N", "a", "x"), ("-9", "a", "x"), ("9999", "a", "y")])
    for others in ([], [(BAND, "a", "x")]):
        release = Release(people, table("released", [("N", "a", "x"), ("9999", "a", "x"), ("", "a", "x"), *others]))
        original, released = encode([release.original, release.released], ["age"])
        own = original.numbers[:, 0]
        assert [int((own == number).sum()) for number in released.numbers[:3, 0]] == [1, 1, 1]
        assert len(set(released.numbers[:3, 0].tolist()) | set(own.tolist())) == 7


def test_the_distance_of_an_ordered_secret_counts_each_reason_why_it_is_not_there() -> None:
    cells = [("N", "a", "x"), ("-9", "b", "x")] * 5 + [("31", "a", "x"), ("31", "b", "x")] * 5
    released = Release(table("original", cells), table("released", cells)).released
    # Half of each town has no age: as to the shares of N and of -9, a quarter of each lies elsewhere.
    assert t_closeness(released, sensitive="age", columns=["town"]) == pytest.approx(0.25)


def test_a_missing_cell_that_no_person_has_was_taken_out_of_a_masked_release() -> None:
    people, shown = [row for row in SURE if row[0]], [("31", "a", "x"), ("-9", "b", "y"), ("N", "b", "z")]
    for kind, coarse in (("masked", ("age",)), ("synthetic", ())):
        release = Release(table("original", people), table("released", shown), kind=kind)  # type: ignore[arg-type]
        assert release.released.coarse() == coarse
    cells = (Release(table("original", people), table("released", shown), kind="masked").released.cells or {})["age"]
    fit = cells.compatible(np.arange(3))[:, cells.of_row]
    assert fit.tolist() == [[True, True, False], [False, True, False], [False, True, False]]
