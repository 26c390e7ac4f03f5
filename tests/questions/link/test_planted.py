"""Planted truths: the sentence, the level and the numbers are right where the truth is known."""

import json
import re
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest

import unveil
from tests.questions.link.planted import panel, visits
from unveil.questions.link.findings import ColumnShare, LinkFindings
from unveil.questions.link.words import next_steps
from unveil.questions.result import Result

ASK: dict[str, Any] = {"person": "card", "time": "day", "lifetime": "7d", "draws": 400}


def asked(table: object, **changes: Any) -> Result[LinkFindings]:
    return unveil.link(table, **{**ASK, **changes})


@pytest.fixture(scope="module")
def own_places() -> Result[LinkFindings]:
    return asked(visits())


def test_people_with_places_of_their_own_are_linked(own_places: Result[LinkFindings]) -> None:
    found = own_places.findings
    assert own_places.level == "high"
    assert found.two_periods is not None
    attack = found.two_periods.attacks[0]
    assert attack.linked.value > 0.9
    assert attack.chance == pytest.approx(1 / 40)
    assert own_places.headline.startswith("High risk: ")
    assert f"{100 * found.worst.success.value:.0f}%" in own_places.headline


@pytest.mark.parametrize("limits", [None, {"linked": 0.2}])
def test_headlines_are_short(own_places: Result[LinkFindings], limits: dict[str, float] | None) -> None:
    answer = own_places if limits is None else own_places.with_limits(limits)
    assert len(answer.headline.split()) <= 20
    assert answer.headline.startswith("High risk" if limits is None else "Fail (high risk)")


def test_exchanged_histories_are_chance() -> None:
    for answer in (asked(visits(), shuffle=True), asked(visits(linked=0.0))):
        assert answer.level in ("none_found", "inconclusive"), answer.headline
        assert answer.findings.two_periods is not None
        assert answer.findings.two_periods.attacks[0].linked.value <= 0.1
        assert all(test.adjusted_p > 0.045 for test in answer.findings.verdict.tests)
        assert "8 of 10 cases" in " ".join(answer.page().explanation)
        assert "%" in " ".join(answer.page().explanation)


def test_shuffled_people_are_stated() -> None:
    assert "exchanged at random" in asked(visits(), shuffle=True).page().cautions[0]


def test_identical_histories_are_not_told_apart() -> None:
    table = pl.DataFrame(
        {
            "card": [f"c{n // 4}" for n in range(160)],
            "day": [(0.5, 1.5, 8.5, 9.5)[n % 4] for n in range(160)],
            "stop": [("a", "b", "a", "b")[n % 4] for n in range(160)],
        }
    )
    answer = asked(table)
    assert answer.level in ("none_found", "inconclusive")
    assert answer.findings.two_periods is not None
    assert answer.findings.two_periods.attacks[0].first_guess.value == pytest.approx(1 / 40)
    # Rows and people in order must not help.
    assert answer.findings.two_periods.attacks[0].linked.value <= 0.15


def test_a_tenth_of_the_people_is_found_and_stated_as_a_tenth() -> None:
    answer = asked(visits(100, linked=0.1, records=8))
    found = answer.findings
    assert found.two_periods is not None
    assert 0.05 <= found.two_periods.attacks[0].linked.value <= 0.2
    assert any(each.significant for each in found.verdict.effects)
    assert answer.level in ("very_low", "low", "medium")
    shares = [float(each) / 100 for each in re.findall(r"([\d.]+)%", answer.headline)]
    assert shares == [pytest.approx(found.worst.success.value, abs=0.006)]


def test_two_people_are_inconclusive() -> None:
    answer = asked(visits(2, records=10))
    assert answer.level == "inconclusive"
    assert answer.headline == "Inconclusive: 2 people have records in both periods, but a test needs 20."
    assert answer.findings.verdict.tests == ()


def test_a_person_with_one_record_counts() -> None:
    table = pl.concat([visits(), pl.DataFrame({"card": ["x"], "day": [3.0], "stop": ["s1"]})])
    found = asked(table).findings
    assert found.history.people == 41
    assert found.two_periods is not None
    assert found.two_periods.attacks[0].people == 40


def test_two_tables_are_two_periods() -> None:
    answer = unveil.link(*panel(), person="id", names=["wave1.csv", "wave2.csv"], draws=400)
    found = answer.findings
    assert found.two_periods is not None
    assert (found.two_periods.earlier, found.two_periods.later) == ("wave1.csv", "wave2.csv")
    assert found.two_periods.attacks[0].linked.value > 0.6
    assert "from wave1.csv to wave2.csv" in answer.headline
    assert found.column_measure == "linked"
    alone = {each.column: each.alone for each in found.columns}
    assert alone["sex"] < alone["town"]
    assert found.unicity[0].unicity.points_known == 1


def test_the_order_of_rows_changes_nothing_but_ties(own_places: Result[LinkFindings]) -> None:
    table = visits()
    mixed = asked(table[np.random.default_rng(5).permutation(table.height)])
    assert mixed.findings.linked_people.records_linked.value == pytest.approx(
        own_places.findings.linked_people.records_linked.value, abs=0.05
    )


def test_a_column_that_identifies_people_is_named_and_left_out() -> None:
    table = visits(linked=0.0).with_columns(pl.col("card").str.replace("c", "mail").alias("email"))
    answer = asked(table)
    assert answer.findings.history.identifiers == ("email",)
    assert "email" not in answer.findings.history.compared
    page = answer.page()
    assert "'email' identifies each person" in page.cautions[0]
    assert page.next_steps[0] == "Remove email before the release."
    kept = asked(table, keep_identifiers=True)
    assert kept.level == "high"
    assert "The attacker uses it here" in kept.page().cautions[0]


def test_learning_on_other_people_is_one_more_attacker() -> None:
    answer = asked(visits(60), learned=True)
    found = answer.findings
    assert found.two_periods is not None
    assert [each.attacker for each in found.two_periods.attacks] == [
        "without truth",
        "learned on other people",
        "without truth",
    ]
    assert [each.people for each in found.two_periods.attacks] == [60, 30, 30]
    assert {each.name for each in found.verdict.tests} == {
        *("links", "ranks", "links, learned", "ranks, learned", "pairs")
    }
    nothing = asked(visits(60, linked=0.0), learned=True)
    assert nothing.level in ("none_found", "inconclusive")


def test_lifetimes_are_a_curve_in_their_order() -> None:
    answer = asked(visits(), lifetime=["7d", "3d"], at="3d")
    curve = answer.findings.lifetimes
    assert [each.lifetime for each in curve] == ["3d", "7d"]
    assert curve[0].records_linked == answer.findings.linked_people.records_linked
    assert curve[0].linked_alone < curve[1].linked_alone
    assert "every 3 days" in answer.headline


def test_pseudonyms_without_periods_are_linked_too() -> None:
    answer = asked(visits(25), lifetime="3 records", time="")
    found = answer.findings
    assert found.two_periods is None
    assert not found.history.separate
    assert found.linked_people.records_linked.value > found.linked_people.linked_alone
    assert "every 3 records" in answer.headline or answer.level in ("inconclusive", "none_found")


def test_gaps_between_pseudonyms_are_named_and_lead_to_a_step() -> None:
    answer = asked(visits(30, records=9, days=28), lifetime="3 records")
    assert answer.findings.history.compared == ("stop", "time gap")
    assert {each.column for each in answer.findings.columns} == {"stop", "time gap"}
    worst = ColumnShare(column="time gap", alone=0.5, all_but=0.1)
    (step,) = (each for each in next_steps(replace(answer.findings, columns=(worst,)), has_limits=True))
    assert step.startswith("Change all pseudonyms at the same time")


def test_names_of_people_are_shown_only_if_asked_for(own_places: Result[LinkFindings]) -> None:
    assert own_places.findings.exposed == ()
    assert "c17" not in own_places.to_html()
    named = asked(visits(), show_people=True)
    assert len(named.findings.exposed) == 10
    assert named.page().edition == "internal"
    assert named.findings.exposed[0].person in named.to_html()


def test_limits_decide_by_both_ends(own_places: Result[LinkFindings]) -> None:
    quantities = own_places.quantities
    assert set(quantities) == {"linked", "records_linked"}
    assert own_places.with_limits({"linked": 0.2}).decision == "fail"
    assert own_places.with_limits({"linked": 1.0}).decision == "pass"
    excess = own_places.findings.worst.excess
    between = (excess.low + excess.value) / 2
    assert own_places.with_limits({own_places.findings.worst.name: between}).decision == "inconclusive"
    assert asked(visits(), threshold=0.09).decision == "fail"
    assert asked(visits(linked=0.0), threshold=0.0).decision == "inconclusive"
    assert asked(visits(), threshold=0.09, limits={"linked": 1.0, "records_linked": 1.0}).decision == "pass"


def test_groups_and_within() -> None:
    table = visits().with_columns(pl.when(pl.col("card") < "c2").then(pl.lit("a")).otherwise(pl.lit("b")).alias("side"))
    found = asked(table, group_by="side", within="side", columns=["stop"]).findings
    assert {each.group for each in found.groups if each.group_by == "side"} == {"a", "b"}
    assert found.two_periods is not None
    # Within two groups a guess at random is right more often.
    assert found.two_periods.attacks[0].chance == pytest.approx(2 / 40, abs=0.01)


def test_unicity_by_steps() -> None:
    cells = asked(visits(), generalize="stop:2digits", points=["1", "3"]).findings.unicity
    assert {each.step for each in cells} == {"", "2digits"}
    assert {each.unicity.points_known for each in cells} == {1, 3}
    value = {(each.time_step, each.step, each.unicity.points_known): each.unicity.unicity for each in cells}
    assert value["6h", "", 1] <= value["1h", "", 1]
    assert value["1h", "2digits", 3] <= value["1h", "", 3]
    assert value["1d", "", 1] <= value["1d", "", 3]


@pytest.mark.unwatched
def test_threads_and_processes_give_the_same_bytes(own_places: Result[LinkFindings]) -> None:
    one = json.loads(own_places.to_json())
    for more in ({"threads": 1}, {"workers": 2}):
        assert json.loads(asked(visits(), **more).to_json()) == one


def test_where_nobody_is_linked_an_excess_of_a_few_points_is_not_ruled_out() -> None:
    answer = asked(visits(100, linked=0.0), lifetime="3 records", time="")
    (effect,) = answer.findings.verdict.effects
    assert effect.excess.value == pytest.approx(0.0, abs=0.01)
    assert 0.01 < effect.excess.high < 0.05
    assert answer.headline.startswith("Nothing significant: an excess above ")
