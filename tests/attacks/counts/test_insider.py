"""Whoever is alone in a hidden count knows it: an example by hand."""

import polars as pl
import pytest

import unveil
from unveil.errors import InputError

#: Each row and column has two hidden counts: outsiders know none, whoever knows one knows all four.
TABLE = {"ward": ["N", "S", "Total"], "f": ["*", "*", "9"], "m": ["*", "*", "8"], "Total": ["5", "12", "17"]}
PEOPLE = pl.DataFrame(
    {"ward": ["N"] * 5 + ["S"] * 12, "column": ["f"] + ["m"] * 4 + ["f"] * 8 + ["m"] * 4},
)


def test_one_count_that_is_known_gives_the_others() -> None:
    found = unveil.tables(TABLE, truth=PEOPLE, insider=True).findings
    assert found.figures.worked_out == 0
    assert found.insiders == (1, 1, 1, 3)
    assert (
        "1 person is alone in a hidden count; knowing it, 1 can work out others, at most 3."
        in unveil.tables(TABLE, truth=PEOPLE, insider=True).to_html()
    )


def test_without_records_nobody_is_known_to_be_alone() -> None:
    with pytest.raises(InputError, match="--truth"):
        unveil.tables(TABLE, insider=True)
