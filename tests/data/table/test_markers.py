from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.data.refusals import MARKER, refusal
from tests.oracles import kinds as oracle
from unveil.data.table import Marker, Table, agree
from unveil.data.table.encode import LAST_MARKER, MISSING, encode
from unveil.data.table.kinds import settle
from unveil.data.table.words import LISTED

NUMBERS = [str(value) for value in range(30)]


def found(*cells: str, name: str = "x") -> dict[str, str]:
    return {marker.text: marker.kind_of_marker for marker in settle(pl.Series(name, cells)).markers}


@pytest.mark.parametrize(
    ("cells", "markers"),
    [
        (["*", "Redacted ", "a", "b", "c"], {"*": "suppressed", "Redacted": "suppressed"}),
        (["NA", "?", "a", "b", "c"], {"NA": "missing", "?": "missing"}),
        (["none", "unknown", "no answer", "-", "a", "b"], {}),
        (["none", "-", "1", "2"], {"none": "missing", "-": "missing"}),
        (["Refused", "k.A.", "nsp", "1", "2"], {"Refused": "missing", "k.A.": "missing", "nsp": "missing"}),
        (["N", "X", "W", "S"], {}),
        (["N", "1"], {}),
        (["N", "X", "1", "2"], {"N": "not applicable", "X": "not applicable"}),
        (["n/a", "inap", "a", "b"], {"n/a": "not applicable", "inap": "not applicable"}),
        (["_RARE_", "top", *NUMBERS], {"_rare_": "missing", "top": "missing"}),
        (["_RARE_", "top", "more", *NUMBERS], {}),
        (["top2", *NUMBERS], {}),
        (["top", "1", "2", "3", "4"], {}),
        (["-9", "-8", *NUMBERS], {"-9": "missing", "-8": "missing"}),
        (["-9", "-1", *NUMBERS], {}),
        (["-6", "-7", "-8", "-9", "-99", *NUMBERS], {}),
        (["99", "99", *NUMBERS], {"99": "own code"}),
        (["99", *NUMBERS], {}),
        (["99", "99", "50", *NUMBERS], {}),
        (["97", "97", "98", "98", *NUMBERS], {"97": "own code", "98": "own code"}),
        (["99999", "99999", "-999", *NUMBERS], {"99999": "own code", "-999": "missing"}),
        (["96", "96", *NUMBERS], {}),
        (["1", "2", "3", "9"] * 9, {}),
    ],
)
def test_each_rule_for_markers(cells: list[str], markers: dict[str, str]) -> None:
    assert {text.lower(): kind for text, kind in found(*cells).items()} == {
        text.lower(): kind for text, kind in markers.items()
    }


def test_every_listed_word_counts_in_any_case_with_blanks_around_it() -> None:
    for word, (kind, least) in LISTED.items():
        beside = [str(value) for value in range(least)] if least else ["a", "b"]
        for written in (word, f" {word.upper()} ", word.capitalize()):
            assert list(found(written, *beside).values()) == [kind], written


SIGNS = ["N", "n", " ?", "*", "NA", "none", "-", "top", "x7", "", "-9", "-99", "99", "999", "98", "1", "2.5"]


@given(st.lists(st.sampled_from(SIGNS) | st.integers(-3, 60).map(str), min_size=1, max_size=60))
def test_markers_are_those_of_the_loop_over_cells(cells: list[str]) -> None:
    settled = settle(pl.Series("x", cells))
    marked = [0] * len(cells) if settled.marked is None else settled.marked.to_list()
    kinds = ["", *(marker.kind_of_marker for marker in settled.markers)]
    assert [kinds[place] for place in marked] == oracle.markers(cells)
    for cell, place in zip(cells, marked, strict=True):
        if place:
            assert settled.markers[place - 1].key == Marker(cell, "missing").key


@given(st.lists(st.text(max_size=6) | st.sampled_from(SIGNS), min_size=1, max_size=40), st.randoms())
def test_any_text_is_read_and_the_order_of_rows_does_not_matter(cells: list[str], random: Any) -> None:
    cells = [cell for cell in cells if "inf" not in cell.lower()] or ["a"]
    turned = list(range(len(cells)))
    random.shuffle(turned)
    one, other = (settle(pl.Series("x", each)) for each in (cells, [cells[at] for at in turned]))
    assert (one.kind, one.reason, one.confidence, one.markers) == (
        other.kind,
        other.reason,
        other.confidence,
        other.markers,
    )
    assert [one.values[at] for at in turned] == other.values.to_list()


def test_markers_are_null_in_numbers_and_words_in_categories_unless_told() -> None:
    numbers = settle(pl.Series("x", ["N", "99", "99", "", *NUMBERS]))
    assert numbers.values.null_count() == 4
    assert numbers.marked is not None
    assert numbers.marked.to_list()[:4] == [1, 2, 2, 0]
    words = pl.Series("x", ["?", "*", "n/a", "a", "b"])
    assert settle(words).values.to_list() == words.to_list()
    told = settle(words, markers={"?": "missing", "n/a": "not applicable", "b": "suppressed"})
    assert told.values.to_list() == [None, "*", "n/a", "a", None]
    assert told.marked is not None
    assert sorted(told.marked.to_list()) == [0, 1, 2, 3, 4]


def test_texts_can_be_told_for_all_columns_or_for_one() -> None:
    frame = pl.DataFrame({"age": ["-1", "4", "top"], "town": ["-1", "Ulm", "top"], "pay": [-1, 5, 6]})
    everywhere = Table.from_frame(frame, missing=["-1", "top"])
    assert everywhere.frame.rows() == [(None, None, None), (4, "Ulm", 5), (None, None, 6)]
    assert [len(column.markers) for column in everywhere.columns] == [2, 2, 1]
    one = Table.from_frame(frame, missing={"pay": ["-1"]}, markers={"age": {"top": "suppressed"}, "Ulm": "own code"})
    assert one.frame.rows() == [(-1, "-1", None), (4, "Ulm", 5), (None, "top", 6)]
    assert one.column("age").markers == (Marker("top", "suppressed"),)
    assert one.marked["town"].to_list() == [0, 1, 0]
    assert set(one.marked) == {"age", "town", "pay"}


@pytest.mark.parametrize(
    ("told", "words"),
    [
        ({"missing": "NA"}, "Write missing=['NA']"),
        ({"missing": {"age": "NA"}}, "Write missing={'age': ['NA']}"),
        ({"missing": {"Age": ["NA"]}}, "missing names column 'Age', which is not in the table. Did you mean 'age'?"),
        ({"markers": {"agee": {"N": "missing"}}}, "markers names column 'agee'"),
        ({"markers": {"N": "gone"}}, "must stand for one of missing, not applicable, suppressed, own code"),
        ({"markers": {"age": {str(at): "missing" for at in range(300)}}}, "at most 254 markers, but has 300"),
    ],
)
def test_what_is_told_wrongly_is_said(told: Any, words: str) -> None:
    frame = pl.DataFrame({"age": [str(at) for at in range(300)]})
    assert words in refusal(lambda: Table.from_frame(frame, **told))


CELLS = ["0", "5", "10", "N", "?", "", "-9"]


def far(one: str, other: str) -> int:
    """Return ten times the distance of two cells: a marker equals the same marker only, a gap only a gap."""
    values = [oracle.number(cell) if cell not in ("-9",) else None for cell in (one, other)]
    if None in values:
        return 0 if one == other else 10
    return int(abs(values[0] - values[1]))  # type: ignore[operator]


@given(
    st.lists(st.sampled_from(CELLS), min_size=1, max_size=8), st.lists(st.sampled_from(CELLS), min_size=1, max_size=8)
)
def test_a_marker_is_a_value_of_its_own_in_distances(original: Sequence[str], released: Sequence[str]) -> None:
    sides = [["0", "10", *original], ["0", "10", *released]]
    for kind, told in (("number", "number"), ("category", "boolean")):
        tables = agree(
            *(
                Table.from_frame(
                    pl.DataFrame(
                        {"x": [cell if told == "number" else {"5": "0", "10": "1"}.get(cell, cell) for cell in side]}
                    ),
                    kinds={"x": told},
                    missing={"x": ["-9"]},
                    markers={"x": {"N": "not applicable", "?": "missing"}},
                )
                for side in sides
            )
        )
        one, other = encode(tables, ["x"])
        for i, cell in enumerate(sides[0]):
            for j, seen in enumerate(sides[1]):
                if kind == "number":
                    a, b = int(one.numbers[i, 0]), int(other.numbers[j, 0])
                    unlike = min(a, b) <= LAST_MARKER and a != b
                    apart = one.mismatch_cost if unlike else abs(a - b) * int(one.step_cost[0])
                    assert apart * 10 == far(cell, seen) * one.mismatch_cost
                else:
                    plain = [{"5": "0"}.get(each, each) for each in (cell, seen)]
                    assert (one.codes[i, 0] == other.codes[j, 0]) == (plain[0] == plain[1])


def test_tables_that_agree_have_one_list_of_markers() -> None:
    original = Table.from_frame(pl.DataFrame({"age": ["N", "?", *NUMBERS]}), name="original")
    released = Table.from_frame(pl.DataFrame({"age": ["*", "n", "3"]}), name="released")
    control = Table.from_frame(pl.DataFrame({"age": [4, 99, 99]}), name="control")
    tables = agree(original, released, control)
    assert {tuple(marker.text for marker in table.column("age").markers) for table in tables} == {("?", "N", "*")}
    assert tables[0].marked["age"].to_list()[:3] == [2, 1, 0]
    assert tables[1].marked["age"].to_list() == [3, 2, 0]
    assert tables[1].frame["age"].to_list() == [None, None, 3]
    # What the original does not have is no marker elsewhere, however it looks there.
    assert tables[2].frame["age"].to_list() == [4, 99, 99]
    encoded = encode(tables, ["age"])
    assert encoded[1].numbers[1, 0] == encoded[0].numbers[0, 0] != encoded[1].numbers[0, 0]


def test_own_codes_of_the_original_are_none_of_the_numbers_of_a_release() -> None:
    original = Table.from_frame(pl.DataFrame({"pay": [99999, 99999, *range(1, 40)]}), name="original")
    released = Table.from_frame(pl.DataFrame({"pay": [99999, 7, 40, 3]}), name="released")
    one, other = agree(original, released)
    assert other.frame["pay"].to_list() == [None, 7, 40, 3]
    known, seen = encode([one, other], ["pay"])
    assert known.numbers[0, 0] == seen.numbers[0, 0] == MISSING + 1
    assert int(known.numbers[2:].max()) - int(known.numbers[2:].min()) == 38


def test_rows_taken_and_columns_chosen_keep_their_markers() -> None:
    table = Table.from_frame(pl.DataFrame({"age": ["N", "1", "2"], "pay": ["1", "?", "3"], "town": ["a", "b", "a"]}))
    part = table.take(np.array([2, 0]))
    assert part.marked["age"].to_list() == [0, 1]
    assert set(part.select(["pay", "town"]).marked) == {"pay"}
    assert table.extremes().frame["age"].to_list() == [1, 2]
    assert "N" not in repr(table.marked) or "marked" not in repr(table)


def test_cells_that_are_none_of_the_originals_kind_are_counted_and_equal_nothing() -> None:
    original = Table.from_frame(pl.DataFrame({"age": [*range(100)]}), name="original")

    def released(strange: int) -> Table:
        cells = [*map(str, range(100 - strange)), *[MARKER] * strange]
        return agree(original, Table.from_frame(pl.DataFrame({"age": cells}), name="released"))[1]

    assert released(3).notes == (
        "3 of 100 cells of 'age' in the released are not numbers as in the original: they match no person",
    )
    assert released(20).notes[0].startswith("Warning: 20 of 100 cells")
    assert released(3).marked["age"].to_list()[-4:] == [0, 1, 1, 1]
    known, seen = encode([original, released(3)], ["age"])
    assert seen.numbers[-1, 0] not in known.numbers[:, 0]
    assert "51 % of the cells of the released are no such values" in refusal(lambda: released(51))
