"""Plant leaks and faults in whole audits, and check the level, the decision and the headline against them."""

import json
import os
import re
import subprocess
import sys
from functools import cache
from typing import Any

import numpy as np
import polars as pl
import pytest

from unveil.questions.audit.answer import AuditResult, audit
from unveil.questions.audit.decision.findings import AttackEffect, ReleaseDecision
from unveil.report.blocks import TableBlock

#: Two of the columns are numbers, and one in thirty people is of a group of their own.
LEVELS = {"town": 9, "work": 8, "school": 6, "family": 4, "hobby": 12, "car": 7, "diet": 5}
ROWS = 300
ATTACKS = ["singling_out", "linkability", "attribute_disclosure", "membership", "copies", "row_order"]
THRESHOLD = 0.09


def people(rows: int, seed: int, *, older: int = 0) -> pl.DataFrame:
    """Return made-up people, the same for the same seed; some columns are correlated."""
    rng = np.random.default_rng(seed)
    age = rng.integers(20, 70, rows) + older
    columns = {name: rng.integers(0, size, rows) for name, size in LEVELS.items()}
    columns["school"] = (columns["school"] + age // 25) % 6
    texts = {name: pl.Series([f"{name}{value}" for value in values]) for name, values in columns.items()}
    kin = np.where(rng.random(rows) < 1 / 30, "few", np.where(rng.random(rows) < 0.5, "one", "two"))
    return pl.DataFrame({"age": age, "hours": rng.integers(0, 12, rows) * 5, **texts, "kin": kin})


@cache
def tables() -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Return people in the data, the control group, and a release of neither."""
    return people(ROWS, 11), people(ROWS, 12), people(ROWS, 13)


def leaking(original: pl.DataFrame, copied: pl.DataFrame) -> pl.DataFrame:
    """Return a release of other people that holds some records unchanged."""
    rest = tables()[2].tail(ROWS - copied.height)
    return pl.concat([copied.select(rest.columns), rest]).sample(fraction=1.0, shuffle=True, seed=1)


def shuffled(table: pl.DataFrame) -> pl.DataFrame:
    return table.sample(fraction=1.0, shuffle=True, seed=2)


def ask(original: Any, released: Any, control: Any, **settings: Any) -> AuditResult:
    given = {"attacks": ATTACKS, "predicates": 200, "sensitive": ["diet"], **settings}
    return audit(original, released, control, rng=np.random.default_rng(1), **given)


def effect_of(release: ReleaseDecision, attack: str) -> AttackEffect:
    """Return the effect of an attack that has one attacker."""
    (effect,) = (each for each in release.effects if each.attack == attack)
    return effect


def first_numbers(text: str, pattern: str) -> list[float]:
    found = re.search(pattern, text)
    assert found is not None, text
    return [float(each) for each in found.groups()]


def test_fresh_people_have_no_level_and_do_not_fail() -> None:
    original, control, released = tables()
    answer = ask(original, released, control, threshold=THRESHOLD, release_type="synthetic")
    decided, (release,) = answer.decided, answer.decided.releases
    assert (decided.control, decided.level, decided.decision) == ("usable", "none_found", "inconclusive")
    # A partial audit cannot pass.
    assert (decided.partial, release.lacks) == (True, ("not run",))
    assert release.at_most is not None
    assert answer.page().tone == "warning"
    free = ask(original, released, control)
    assert (free.decided.exit, free.page().tone) == (0, "neutral")
    (bound,) = first_numbers(free.page().headline, r"^Partial audit – nothing significant: .* above (\S+) points")
    assert bound / 100 == pytest.approx(free.decided.releases[0].highest, abs=0.001)


@pytest.mark.parametrize(("share", "levels"), [(0.02, {"medium"}), (0.1, {"medium"}), (1.0, {"high"})])
def test_copied_people_set_level_decision_and_size(share: float, levels: set[str]) -> None:
    original, control, _ = tables()
    copied = round(share * ROWS)
    answer = ask(original, leaking(original, original.head(copied)), control, threshold=THRESHOLD)
    decided, (release,) = answer.decided, answer.decided.releases
    assert decided.level in levels
    assert (decided.decision, decided.exit, answer.page().tone) == ("fail", 3, "bad")
    copies = effect_of(release, "copies").excess
    assert copies.value == pytest.approx(share, abs=0.02)
    assert copies.low <= share <= copies.high
    assert release.individuals.copies_seen == pytest.approx(copied, abs=3)
    if release.cause == "copies":
        said, expected = first_numbers(
            answer.page().headline, r"^Fail \(medium risk\): (\d+) people's records are released unchanged, (\d+) exp"
        )
        assert said == pytest.approx(copied, abs=3)
        assert expected == 0
    else:
        more, rate, control_rate = first_numbers(
            answer.page().headline, r"^Fail \(high risk\): .* for (\d+) more people .* \((\d+)%, control (\d+)%\)\.$"
        )
        assert more == rate - control_rate == 100 * share


def test_full_copy_is_high_with_a_small_control_group() -> None:
    original, control, _ = tables()
    answer = ask(original, shuffled(original), control.head(60))
    release = answer.decided.releases[0]
    assert (answer.decided.control, release.level, release.cause) == ("usable", "high", "effect")
    said = f"Partial audit – high risk: {ROWS} people's records are released unchanged"
    assert answer.page().headline.startswith(said)
    assert release.risks[0].effect is not None
    assert release.risks[0].effect.excess.value > 0.95


def test_rare_people_released_unchanged_raise_the_level_and_one_does_not() -> None:
    original, control, _ = tables()
    rare = original.tail(5).with_columns(
        age=pl.Series(range(101, 106), dtype=original["age"].dtype),
        **{name: pl.Series([f"{name} of wizard {place}" for place in range(5)]) for name in ("town", "work", "car")},
    )
    data = pl.concat([original.head(ROWS - 5), rare])
    answer = ask(data, leaking(data, rare), control)
    release = answer.decided.releases[0]
    assert (release.level, release.cause, release.individuals.unmistakable) == ("medium", "copies", 5)
    assert "medium risk: 5 people's records are released unchanged, 0 expected by chance." in answer.page().headline
    assert "wizard" not in answer.to_json() + answer.to_html()
    assert "wizard" in answer.to_html(show_records=True)
    # One of them could have a twin outside the data: a control group of this size does not tell.
    assert ask(data, leaking(data, rare.head(1)), control).level == "none_found"


def test_copied_minority_is_significant_as_a_group_and_fails() -> None:
    original, control, _ = tables()
    few = original.filter(pl.col("kin") == "few")
    answer = ask(original, leaking(original, few), control, threshold=THRESHOLD)
    release = answer.decided.releases[0]
    assert (release.level, release.decision, release.cause) == ("medium", "fail", "copies")
    (group,) = [each for each in release.individuals.groups if (each.group, each.attack) == ("kin: few", "copies")]
    assert (group.people, group.control_people) == (few.height, control.filter(pl.col("kin") == "few").height)
    assert (group.excess.value, group.is_significant, group.level) == (1, True, "medium")
    assert f"in the group kin: few ({few.height} people): excess 100 points" in answer.decided.subline
    # The mean over all people hides them.
    assert effect_of(release, "copies").level == "very_low"
    assert "kin: few" not in answer.to_html(redacted=True)


def with_twins() -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return people and a control group; only the 60 of one group are unique, the others have twins in both."""

    def plain(each: pl.DataFrame) -> pl.DataFrame:
        few = each.head(60).with_columns(kin=pl.lit("few"))
        same = {name: pl.lit(f"{name}0") for name in LEVELS if name not in ("diet", "family")}
        return pl.concat(
            [few, each.tail(-60).with_columns(age=40, hours=40, kin=pl.lit("one"), **same)], how="vertical_relaxed"
        )

    return plain(tables()[0]), plain(tables()[1])


def test_no_group_leads_the_headline_if_a_result_about_everybody_is_as_large() -> None:
    original, control = with_twins()
    few, copy = leaking(original, original.head(60)), shuffled(original)
    answer = ask(original, {"few": few, "copy": copy}, control)
    by_name = {each.name: each for each in answer.decided.releases}
    assert {name: each.cause for name, each in by_name.items()} == {"few": "effect", "copy": "effect"}
    assert {name: each.level for name, each in by_name.items()} == {"few": "medium", "copy": "high"}
    assert any(each.group == "kin: few" and each.is_significant for each in by_name["copy"].individuals.groups)
    assert "kin" not in answer.page().headline
    # Coincidence explains the copies of people who have twins.
    copies = by_name["copy"].individuals
    assert copies.copies_seen == ROWS
    assert copies.copies_expected == pytest.approx(240, abs=5)


@pytest.mark.parametrize(
    ("control", "expected", "said"),
    [
        (people(ROWS, 12, older=15), "other_people", r"from another population: .*age"),
        (pl.concat([people(200, 12), people(ROWS, 11).head(100)]), "overlap", r"of 300 control people"),
        (people(15, 12), "too_small", "has 15 people"),
    ],
)
def test_unusable_control_group_is_named_and_cannot_acquit(control: pl.DataFrame, expected: str, said: str) -> None:
    original, _, released = tables()
    answer = ask(original, released, control, threshold=0.9, release_type="synthetic")
    decided, (release,) = answer.decided, answer.decided.releases
    assert (decided.control, decided.level, decided.decision) == (expected, "inconclusive", "inconclusive")
    assert release.lacks[0] == "usable control"
    assert "the control group cannot be used" in answer.page().headline
    assert any(re.search(said, note) for note in answer.page().notes)
    if expected != "overlap":
        compared = {each.attack for each in release.effects if each.excess.is_tested}
        assert compared == {"row_order"}
    # Copies beyond coincidence need no control group.
    leak = ask(original, leaking(original, original.tail(60)), control, threshold=0.9).decided
    assert (leak.level, leak.decision, leak.exit) == ("medium", "fail", 3)
    assert leak.releases[0].at_least


def test_without_a_control_group_only_facts_are_stated() -> None:
    original, _, released = tables()
    answer = ask(original, released, None)
    assert (answer.decided.control, answer.level) == ("none", "inconclusive")
    assert answer.page().headline == "Inconclusive: without a control group the excess risk cannot be estimated."
    assert any("Hold a random fifth of the people" in step for step in answer.page().next_steps)
    whole = ask(original, shuffled(original), None)
    assert "high risk" in whole.page().headline
    assert whole.decided.releases[0].at_least
    # In the order of the original a release discloses its rows whatever their values are.
    kept = ask(original, original.with_columns(age=pl.col("age") + 1), None, attacks=["row_order"])
    (rate,) = first_numbers(kept.page().headline, r"high risk: (\d+)% of records can be re-identified")
    assert rate == 100


def test_small_tables_are_inconclusive_even_if_every_excess_is_small() -> None:
    original, control, released = tables()
    assert ask(original, released, control.head(59)).level == "inconclusive"
    assert ask(original.head(99), released, control).level == "inconclusive"
    assert ask(original, released.head(20), control).level == "none_found"


def test_coarse_columns_alone_give_no_level() -> None:
    yes_or_no = [
        people(ROWS, seed)
        .select((pl.col(name) == f"{name}0").alias(name) for name in LEVELS)
        .select("town", "work", "car", "diet")
        for seed in (11, 12, 13)
    ]
    answer = ask(yes_or_no[0], yes_or_no[2], yes_or_no[1])
    assert answer.level == "none_found"
    copies = answer.decided.releases[0].individuals
    assert copies.copies_seen > 200
    assert copies.copies_expected == pytest.approx(copies.copies_seen, abs=20)
    assert not copies.copies_lead


def test_leaking_release_among_several_is_named() -> None:
    original, control, released = tables()
    both = {"fresh": released, "leak": leaking(original, original.head(60))}
    answer = ask(original, both, control, threshold=THRESHOLD, release_type="synthetic")
    assert [each.level for each in answer.decided.releases] == ["none_found", "medium"]
    assert [each.decision for each in answer.decided.releases] == ["inconclusive", "fail"]
    assert (answer.decided.decision, answer.decided.exit) == ("fail", 3)
    assert answer.page().headline.startswith("No release passes; closest: fresh (excess at most ")
    assert answer.decided.subline.startswith("Worst: leak, medium risk; ")
    without = ask(original, both, control)
    assert without.page().headline.startswith("Medium risk in leak; lowest: fresh (excess at most ")
    assert without.decided.recommended == "fresh"


def test_many_releases_are_cut_to_what_fits() -> None:
    original, control, _ = tables()
    fresh = {f"fresh {place}": people(ROWS, 30 + place) for place in range(6)}
    answer = ask(original, fresh | {"leak": shuffled(original)}, control, attacks=["copies"], threshold=THRESHOLD)
    assert len(answer.decided.releases) == 7
    (shown,) = (block for block in answer.page().picture if isinstance(block, TableBlock))
    assert len(shown.columns) == 6
    assert "2 more releases" in shown.note


def panel(persons: int, seed: int) -> pl.DataFrame:
    """Return people who were asked three times: their rows differ in age and hours alone."""
    first = people(persons, seed)
    numbers = pl.int_range(persons) + 10_000 * seed
    waves = (
        first.with_columns(person=numbers, age=pl.col("age") + wave, hours=(pl.col("hours") + 5 * wave) % 60)
        for wave in range(3)
    )
    return pl.concat(waves)


def test_rows_of_one_person_count_as_one_person() -> None:
    original, control, released = tables()
    person = np.arange(ROWS) // 5
    named = [each.with_columns(person=pl.Series(person)) for each in (original, control)]
    settings: dict[str, Any] = {"identifiers": ["person"], "attacks": ["copies", "membership"]}
    answer = ask(named[0], released, named[1], **settings)
    tests = answer.findings.verdict
    assert (tests.control.members, answer.decided.people, answer.decided.control_people) == (60, 60, 60)
    assert effect_of(answer.decided.releases[0], "copies").attempts == 60
    leak = ask(named[0], leaking(original, original.head(60)), named[1], **settings).decided.releases[0]
    assert leak.individuals.copies_seen == 12
    assert effect_of(leak, "copies").excess.value == pytest.approx(12 / 60)


def test_harmless_panel_has_no_level_and_copied_persons_do() -> None:
    original, released, control = (panel(120, seed) for seed in (21, 22, 23))
    settings: dict[str, Any] = {"identifiers": ["person"], "threshold": THRESHOLD}
    harmless = ask(original, released, control, **settings).decided
    assert (harmless.people, harmless.control, harmless.level) == (120, "usable", "none_found")
    copied = original["person"].unique(maintain_order=True)[:30]
    leak = pl.concat([original.filter(pl.col("person").is_in(copied.to_list())), released.tail(270)])
    found = ask(original, leak, control, **settings).decided
    assert (found.level, found.decision) == ("medium", "fail")
    assert effect_of(found.releases[0], "copies").excess.value == pytest.approx(30 / 120)


def test_sample_of_the_people_is_compared_with_everybody_in_copies() -> None:
    original, control, _ = tables()
    answer = ask(original, leaking(original, original.head(60)), control, targets=100)
    release = answer.decided.releases[0]
    assert effect_of(release, "copies").attempts == ROWS
    assert {each.attempts for each in release.effects if each.attack == "linkability"} <= {0, 100}
    assert (release.level, release.individuals.copies_seen) == ("medium", 60)


@pytest.mark.unwatched
def test_any_number_of_threads_gives_the_same_decision() -> None:
    program = (
        "from tests.questions.audit.test_planted_decisions import ask, leaking, tables\n"
        "original, control, _ = tables()\n"
        "print(ask(original, leaking(original, original.head(20)), control, threshold=0.09).to_json())"
    )

    def printed(threads: int) -> str:
        names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS", "POLARS_MAX_THREADS")
        environment = os.environ | dict.fromkeys(names, str(threads))
        done = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environment
        )
        return done.stdout

    one = printed(1)
    assert json.loads(one)["decision"]["decision"] == "fail"
    assert json.loads(one)["tests"]["tests"] > 20
    assert one == printed(2)
