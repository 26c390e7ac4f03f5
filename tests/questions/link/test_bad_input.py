"""Bad input: each case is refused in one sentence or two that say what to do."""

from collections.abc import Callable
from typing import Any

import polars as pl
import pytest

import unveil
from tests.questions.link.planted import panel, visits
from unveil.errors import InputError

TABLE = visits(6, records=2)


def changed(**columns: Any) -> pl.DataFrame:
    return TABLE.with_columns(**columns)


def ask(table: Any = TABLE, **changes: Any) -> Callable[[], object]:
    tables = table if isinstance(table, tuple) else (table,)
    settings = {"person": "card", "time": "day", "lifetime": "7d", **changes}
    return lambda: unveil.link(*tables, **{name: value for name, value in settings.items() if value is not None})


MIXED = ["2026-01-01T00:00:00+01:00", "2026-01-01T00:00:00Z"] * 12
CASES: dict[str, tuple[Callable[[], object], str]] = {
    "no table": (lambda: unveil.link(person="card"), "No table was given"),
    "no person": (ask(person=None), "person is missing"),
    "unknown person": (ask(person="cart"), "Did you mean 'card'"),
    "no rule": (ask(lifetime=None), "how long a pseudonym lives"),
    "one record each": (ask(TABLE.unique("card")), "Use unveil audit"),
    "one person": (ask(TABLE.filter(pl.col("card") == "c1")), "one person only"),
    "person compared": (ask(columns=["card", "stop"]), "is among the compared columns"),
    "identifier alone": (ask(changed(stop=pl.col("card").str.replace("c", "x"))), "it identifies each person"),
    "time that is text": (ask(changed(day=pl.lit("soon"))), "time column 'day'"),
    "mixed time zones": (ask(TABLE.head(24).with_columns(day=pl.Series(MIXED))), "time"),
    "missing time": (ask(changed(day=pl.when(pl.col("card") == "c1").then(None).otherwise("day"))), "missing cells"),
    "long lifetime": (ask(lifetime="99d"), "longer than the data"),
    "no lifetime": (ask(lifetime="0d"), "not above 0"),
    "negative lifetime": (ask(lifetime="-1d"), "not above 0"),
    "unknown unit": (ask(lifetime="7y"), "no known unit"),
    "lifetime without time": (ask(time=None), "no time column"),
    "two rules": (ask(period="stop"), "State one of them"),
    "pseudonym of two": (
        ask(changed(code=pl.col("stop").str.slice(0, 2)), lifetime=None, pseudonym="code"),
        "belong to two persons",
    ),
    "pseudonym that never changes": (ask(lifetime=None, pseudonym="card"), "links all their records by itself"),
    "pseudonym that outlives periods": (
        ask(
            changed(week=pl.col("day") // 7, code=pl.col("card") + pl.col("stop").str.slice(0, 2)),
            lifetime=None,
            period="week",
            pseudonym="code",
        ),
        "stay the same when 'week' changes",
    ),
    "no common column": (
        ask((TABLE.select("card", "day"), TABLE.select("card", "stop")), lifetime=None, time=None),
        "no common column",
    ),
    "same rows": (ask((panel()[0], panel()[0]), person="id", lifetime=None, time=None), "same rows"),
    "same rows in another order": (
        ask((panel()[0], panel()[0].reverse()), person="id", lifetime=None, time=None),
        "same rows",
    ),
    "no shared column for the person": (ask((panel()[0], TABLE), person="id", lifetime=None), "Shared columns: none"),
    "period of one": (ask(TABLE.filter((pl.col("day") < 7) | (pl.col("card") == "c1"))), "1 of 2 periods"),
    "period column that is the person": (ask(lifetime=None, period="card"), "6 of 6 periods"),
    "lifetime that is endless": (ask(lifetime="1e99d"), "no known unit"),
    "constant columns": (ask(changed(stop=pl.lit("a"))), "No column is left"),
    "empty columns": (ask(changed(stop=pl.lit(None, pl.String))), "No column is left"),
    "too many points": (ask(points="20"), "Lower points"),
    "points that are none": (ask(points="few"), "whole number"),
    "steps that are none": (ask(generalize="stop"), "COLUMN:STEP"),
    "unknown step column": (ask(generalize="stopp:2digits"), "Did you mean 'stop'"),
    "two step columns": (ask(changed(more="stop"), generalize=["stop:2digits", "more:2digits"]), "one is compared"),
    "unknown at": (ask(at="3d"), "Add it to lifetime"),
    "rule for two tables": (ask((TABLE, TABLE.head(9))), "Each table is a period"),
    "learned without periods": (ask(lifetime="2 records", learned=True), "needs periods"),
    "unknown group": (ask(group_by="side"), "side"),
    "too many groups": (ask(visits(30), group_by="stop"), "at most 20"),
}


@pytest.mark.parametrize("case", CASES)
def test_bad_input_is_refused_in_a_sentence(case: str) -> None:
    call, said = CASES[case]
    with pytest.raises(InputError) as error:
        call()
    text = str(error.value)
    assert said in text, text
    assert "\n" not in text
    assert len(text) < 300, text


def test_missing_people_are_left_out_and_counted() -> None:
    table = visits(25).with_columns(card=pl.when(pl.col("card") == "c3").then(None).otherwise("card"))
    found = unveil.link(table, person="card", time="day", lifetime="7d", draws=200).findings
    assert found.history.people == 24
    assert "12 records without a person were left out." in found.notes


def test_distinct_texts_and_constant_columns_are_left_out_and_said() -> None:
    table = visits(25).with_columns(pl.Series("note", [f"row {n}" for n in range(300)]), constant=pl.lit("a"))
    found = unveil.link(table, person="card", time="day", lifetime="7d", draws=200).findings
    assert found.history.compared == ("stop",)
    assert sum("is not compared" in note for note in found.notes) == 2


def test_two_pseudonyms_in_a_period_are_said() -> None:
    table = visits(25).with_columns(
        week=pl.col("day") // 7,
        badge=pl.col("card") + "-" + (pl.int_range(pl.len()).over("card") % 4).cast(pl.String),
    )
    found = unveil.link(table.drop("day"), person="card", period="week", pseudonym="badge", draws=200).findings
    assert not found.history.separate
    assert any("two pseudonyms in one period" in note for note in found.notes)


def test_a_lifetime_of_the_curve_that_cannot_be_attacked_is_said() -> None:
    found = unveil.link(visits(25), person="card", time="day", lifetime=["7d", "99d"], at="7d", draws=200).findings
    assert "longer than the data" in found.lifetimes[1].why


def test_people_are_drawn_at_random_above_the_limit() -> None:
    found = unveil.link(visits(40), person="card", time="day", lifetime="7d", people=25, draws=200).findings
    assert found.history.people == 25
    assert found.notes[0].startswith("25 of 40 people were drawn at random.")


def test_missing_cells_leave_other_known_records() -> None:
    table = visits(25).with_columns(stop=pl.when(pl.int_range(pl.len()) % 3 == 0).then(None).otherwise("stop"))
    table = table.with_columns(side=pl.when(pl.col("card") < "c2").then(pl.lit("a")).otherwise(None))
    found = unveil.link(table, person="card", time="day", lifetime="7d", draws=200).findings
    assert found.unicity[0].unicity.people == 25


def test_numbers_of_records_are_named_and_dates_have_no_hours() -> None:
    table = visits(45, records=12).with_columns(pl.col("day").floor())
    table = table.with_columns(number=pl.int_range(pl.len()) * 3 + 7)
    found = unveil.link(table, person="card", time="day", lifetime="7d", draws=200).findings
    assert any("'number' has another number in each record" in note for note in found.notes)
    assert found.unicity[0].time_step == "1d"
