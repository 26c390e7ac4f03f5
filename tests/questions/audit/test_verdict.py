"""Planted truths end in the right sentence: what leaks, what does not, and controls that say nothing."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import polars as pl
import pytest

from tests.approved.sentences import Approved
from unveil.questions.audit.answer import audit
from unveil.questions.audit.findings import Audit
from unveil.questions.audit.verdict import _clearest, _luck
from unveil.questions.result import Result

#: Two of the columns are numbers, and one in thirty people is of a group of their own.
LEVELS = {"town": 9, "work": 8, "school": 6, "family": 4, "hobby": 12, "car": 7, "diet": 5}
ROWS = 300
ATTACKS = ["singling_out", "linkability", "attribute_disclosure", "membership", "copies", "row_order"]


def people(rows: int, seed: int, *, older: int = 0) -> pl.DataFrame:
    """Return made-up people, the same for the same seed; some columns hang together."""
    rng = np.random.default_rng(seed)
    age = rng.integers(20, 70, rows) + older
    columns = {name: rng.integers(0, size, rows) for name, size in LEVELS.items()}
    columns["school"] = (columns["school"] + age // 25) % 6
    texts = {name: pl.Series([f"{name}{value}" for value in values]) for name, values in columns.items()}
    kin = np.where(rng.random(rows) < 1 / 30, "few", np.where(rng.random(rows) < 0.5, "one", "two"))
    return pl.DataFrame({"age": age, "hours": rng.integers(0, 12, rows) * 5, **texts, "kin": kin})


@cache
def tables() -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Return people in the data, people of the control, and a release of neither."""
    return people(ROWS, 11), people(ROWS, 12), people(ROWS, 13)


def leaking(original: pl.DataFrame, copied: pl.DataFrame) -> pl.DataFrame:
    """Return a release of strangers in which some people stand word for word."""
    rest = tables()[2].tail(ROWS - copied.height)
    return pl.concat([copied.select(rest.columns), rest]).sample(fraction=1.0, shuffle=True, seed=1)


def ask(original: Any, released: Any, control: Any, **settings: Any) -> Result[Audit]:
    given = {"attacks": ATTACKS, "guesses": 200, "sensitive": ["diet"], **settings}
    return audit(original, released, control, rng=np.random.default_rng(1), **given)


def outcome(answer: Result[Audit]) -> tuple[str, str]:
    return answer.findings.verdict.outcome, answer.findings.verdict.control.outcome


def test_a_fresh_sample_gives_nobody_away() -> None:
    original, control, released = tables()
    answer = ask(original, released, control)
    assert outcome(answer) == ("nothing_found", "usable")
    assert answer.page().headline.startswith("No attack did provably better on people in the data than on others, in ")
    assert answer.page().tone == "neutral"


@pytest.mark.parametrize(("share", "outcomes"), [(0.02, {"copies", "found"}), (0.1, {"found"}), (1.0, {"found"})])
def test_people_released_word_for_word_are_found(share: float, outcomes: set[str]) -> None:
    original, control, _ = tables()
    answer = ask(original, leaking(original, original.head(round(share * ROWS))), control)
    assert answer.findings.verdict.outcome in outcomes
    assert answer.page().tone == ("bad" if share == 1 else "warning")


def test_a_full_copy_is_found_with_a_small_control() -> None:
    original, control, _ = tables()
    answer = ask(original, original.sample(fraction=1.0, shuffle=True, seed=2), control.head(60))
    assert outcome(answer) == ("found", "usable")
    assert answer.page().headline.startswith(
        "The release gives most people away: being in the data of 300 people adds 100%"
    )
    assert answer.page().tone == "bad"
    assert answer.quantities["singling_out.excess_over_control"].value > 0.95


def test_unusual_people_word_for_word_are_found_by_their_records() -> None:
    original, control, _ = tables()
    rare = original.tail(5).with_columns(
        age=pl.Series(range(101, 106), dtype=original["age"].dtype),
        **{name: pl.Series([f"{name} of wizard {place}" for place in range(5)]) for name in ("town", "work", "car")},
    )
    data = pl.concat([original.head(ROWS - 5), rare])
    answer = ask(data, leaking(data, rare), control)
    assert outcome(answer) == ("copies", "usable")
    assert answer.page().headline.startswith(
        "5 people of 300 people stand in the release word for word, and their records"
    )
    assert "wizard" not in answer.to_json() + answer.to_html()
    assert "wizard" in answer.to_html(show_records=True)
    # One could have a twin who is not in the data: a control of this size does not tell.
    assert outcome(ask(data, leaking(data, rare.head(1)), control)) == ("nothing_found", "usable")


def test_a_minority_word_for_word_is_named() -> None:
    original, control, _ = tables()
    few = original.filter(pl.col("kin") == "few")
    answer = ask(original, leaking(original, few), control)
    assert outcome(answer) == ("found", "usable")
    said = answer.page().headline
    assert said.startswith(f"The release gives away people of one group: kin: few ({few.height} people), of 300 people")
    (group,) = [each for each in answer.findings.verdict.releases[0].findings if each.group == "kin: few"]
    assert (group.tries, group.control_tries) == (few.height, control.filter(pl.col("kin") == "few").height)
    assert (group.attack_rate.value, group.proved) == (1, True)
    assert "kin: few" not in answer.to_html(edition="shareable") or few.height >= 11


def with_twins() -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return people and a control; only the 60 of one group have nobody who equals them, others many by coincidence."""

    def plain(each: pl.DataFrame) -> pl.DataFrame:
        few = each.head(60).with_columns(kin=pl.lit("few"))
        same = {name: pl.lit(f"{name}0") for name in LEVELS if name not in ("diet", "family")}
        return pl.concat(
            [few, each.tail(-60).with_columns(age=40, hours=40, kin=pl.lit("one"), **same)], how="vertical_relaxed"
        )

    return plain(tables()[0]), plain(tables()[1])


@pytest.mark.parametrize("several", [False, True])
def test_where_everybody_is_copied_no_group_leads_the_headline(several: bool) -> None:
    original, control = with_twins()
    few = leaking(original, original.head(60))
    copy = original.sample(fraction=1.0, shuffle=True, seed=2)
    answer = ask(original, {"few": few, "copy": copy} if several else copy, control)
    release = answer.findings.verdict.releases[-1]
    (group,) = (each for each in release.proved if (each.group, each.attack) == ("kin: few", "copies"))
    (alone,) = (each for each in release.findings if each.adversary == "alone in the pool" and not each.group)
    assert group.attack_rate.low > alone.attack_rate.high
    said = answer.page().headline
    assert "one group" not in said
    assert "300 people" in said
    assert said.startswith("Both releases" if several else "The release gives most people away: ")
    if several:
        assert "most clearly 'copy'" in said


def test_where_one_group_is_copied_it_leads_with_its_size(approved: Approved) -> None:
    original, control = with_twins()
    answer = ask(original, leaking(original, original.head(60)), control)
    said = answer.page().headline
    approved(said)
    several = ask(original, {"few": leaking(original, original.head(60)), "fresh": tables()[2]}, control)
    approved(several.page().headline)


@pytest.mark.parametrize(
    ("control", "expected", "said"),
    [
        (people(ROWS, 12, older=15), "other_people", "The control is of other people: age is "),
        (pl.concat([people(200, 12), people(ROWS, 11).head(100)]), "overlap", " control people are in the original"),
        (people(15, 12), "too_small", "The control has 15 people, and with fewer than 20 no figure has a test."),
    ],
)
def test_a_control_that_is_not_usable_proves_nothing(control: pl.DataFrame, expected: str, said: str) -> None:
    original, _, released = tables()
    answer = ask(original, released, control)
    assert outcome(answer) == ("control_unusable", expected)
    assert said in answer.page().headline
    if expected != "overlap":
        assert not answer.to_polars()["excess_over_control"].drop_nulls().len()
    # What needs no control, and what is found in spite of it, is still said.
    leak = ask(original, leaking(original, original.tail(60)), control)
    assert leak.findings.verdict.outcome in ("found", "copies")


def test_without_control_only_facts_are_said() -> None:
    original, _, released = tables()
    answer = ask(original, released, None)
    assert outcome(answer) == ("no_control", "none")
    assert any("Keep a random fifth of the people" in step for step in answer.page().next_steps)
    whole = ask(original, original.sample(fraction=1.0, shuffle=True, seed=2), None)
    assert outcome(whole) == ("found", "none")
    # In the order of the original, a release of other columns gives its rows away too.
    kept = ask(original, original.with_columns(age=pl.col("age") + 1), None, attacks=["row_order"])
    assert kept.page().headline.startswith("The release gives people away: row order reaches ")


def test_small_tables_are_judged_too() -> None:
    original, control, released = tables()
    assert outcome(ask(original, released.head(20), control))[0] == "nothing_found"
    binary = [
        people(ROWS, seed)
        .select((pl.col(name) == f"{name}0").alias(name) for name in LEVELS)
        .select("town", "work", "car", "diet")
        for seed in (11, 12, 13)
    ]
    answer = ask(binary[0], binary[2], binary[1])
    assert outcome(answer)[0] == "nothing_found"


def test_figures_of_several_releases_are_one_family_and_the_leak_is_named() -> None:
    original, control, released = tables()
    both = {"fresh": released, "leak": leaking(original, original.head(60))}
    answer = ask(original, both, control)
    assert [each.outcome for each in answer.findings.verdict.releases] == ["nothing_found", "found"]
    assert answer.page().headline.startswith("Of 2 releases of 300 people 1 gives people away, 'leak', where being in")
    assert answer.page().headline.endswith("; nothing is proved against 'fresh'.")


def test_rows_of_one_person_are_one_person() -> None:
    """Twenty people with five rows each are no hundred: their luck is that of twenty."""
    original, control, released = tables()
    person = np.arange(ROWS) // 5
    named = [each.with_columns(person=pl.Series(person)) for each in (original, control)]
    answer = ask(named[0], released, named[1], identifiers=["person"], attacks=["copies", "membership"])
    assert answer.findings.verdict.control.members == 60
    assert answer.findings.verdict.releases[0].copies.people == 60  # type: ignore[union-attr]
    assert answer.findings.verdict.fewest_copies_provable == 8


def test_the_verdict_of_some_of_many_people_is_of_two_families() -> None:
    original, control, _ = tables()
    answer = ask(original, leaking(original, original.head(60)), control, targets=100)
    everybody = [each for each in answer.findings.verdict.releases[0].findings if not each.group]
    assert {each.tries for each in everybody if each.attack == "copies"} == {ROWS}
    assert {each.tries for each in everybody if each.attack == "membership"} == {100}
    assert outcome(answer) == ("found", "usable")


@pytest.mark.unwatched
def test_any_number_of_threads_gives_the_same_verdict() -> None:
    program = (
        "from tests.questions.audit.test_verdict import ask, leaking, tables\n"
        "original, control, _ = tables()\n"
        "print(ask(original, leaking(original, original.head(20)), control).to_json())"
    )

    def said(threads: int) -> str:
        names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS", "POLARS_MAX_THREADS")
        environment = os.environ | dict.fromkeys(names, str(threads))
        done = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environment
        )
        return done.stdout

    one = said(1)
    assert json.loads(one)["verdict"]["figures"] > 20
    assert one == said(2)


def test_a_chance_that_is_too_small_for_a_number_has_a_sentence() -> None:
    original, control, _ = tables()
    found = ask(original, leaking(original, original.head(200)), control, attacks=["copies"]).findings
    figure = replace(_clearest(found)[1], p_adjusted=0.0)
    assert _luck(figure, found).endswith("comes up in fewer than 1 of 1,000,000,000,000 audits.")
