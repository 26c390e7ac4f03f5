"""Remembered secrets in an audit: the search on parts of people, its figures, no control, words, what is left out."""

from typing import Any

import numpy as np
import polars as pl
import pytest

from tests.approved.sentences import Approved
from tests.questions.audit.leaks import ask, found, people
from unveil.attacks.table.searched_inference import SearchedInference
from unveil.guesses.trials import Attempts
from unveil.metrics.trials.risk import risk
from unveil.metrics.verdict.effects import RatePair
from unveil.questions.audit import people as parts_of_people
from unveil.questions.audit.attacks import memorization
from unveil.questions.audit.findings import AttackFinding

SENSITIVE = ["ill", "income"]


@pytest.fixture
def few_learn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let so few people be learned from that tables stay small."""
    monkeypatch.setattr(parts_of_people, "LEAST_LEARNING", 30)


def memory_of(*given: Any, **settings: Any) -> list[AttackFinding]:
    return found(ask(*given, attacks=["memory"], **settings), "memory")


def roles(findings: list[AttackFinding]) -> list[tuple[str, str]]:
    return [(each.secret, each.scenario.name.partition(":")[0] if each.scenario else "") for each in findings]


@pytest.mark.usefixtures("few_learn")
def test_a_leak_is_remembered_per_secret_and_overall_and_judged_on_those_who_are_measured() -> None:
    original, control = people(240, 1), people(200, 2)
    findings = memory_of(original, original.sample(fraction=1, shuffle=True, seed=3), control, sensitive=SENSITIVE)
    first = {
        each.secret: each for each in findings if each.scenario and each.scenario.name.startswith("most memorization")
    }
    assert set(first) == {"", *SENSITIVE}
    # 200 outsiders: 66 show the population, 67 are learned from, 67 are measured; of the members 67 and 173.
    assert first["ill"].targets == 240 - 67
    assert first["ill"].risk.control_rate.tries == 67
    for finding in first.values():
        assert finding.proved
        assert finding.risk.excess_over_control.low > 0.5
    assert first[""].is_mean
    assert first[""].risk.attack_rate.worth >= first[""].risk.attack_rate.tries


@pytest.mark.usefixtures("few_learn")
def test_the_figures_are_those_of_the_search_on_the_same_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    kept: dict[str, Any] = {}
    whole = SearchedInference.search

    def watched(self: SearchedInference, **given: Any) -> Any:
        kept[self.secret] = (given["parts"], given["knowledge"], whole(self, **given))
        return kept[self.secret][-1]

    monkeypatch.setattr(SearchedInference, "search", watched)
    findings = memory_of(people(240, 1), people(210, 4), people(200, 2), sensitive=SENSITIVE)
    # Secrets are searched side by side, in any order.
    assert sorted(kept) == ["ill", "income"]
    for secret, (parts, knowledge, result) in kept.items():
        (own,) = [each for each in findings if each.secret == secret and "most memorization" in str(each.scenario)]
        assert own.risk == risk(result.remembered.trials)
        assert not own.proved
        assert not np.isnan(own.p)
        learned = {tuple(row) for row in knowledge.records.take(parts.learning[0]).frame.rows()}
        measured = {tuple(row) for row in knowledge.records.take(parts.measured[0]).frame.rows()}
        assert len(learned) == 67
        assert not learned & measured
    rows = [each.remembered.trials.attack for *_, each in kept.values()]
    mean = (
        np.asarray(rows[0].chances)[np.argsort(rows[0].rows)] + np.asarray(rows[1].chances)[np.argsort(rows[1].rows)]
    ) / 2
    assert findings[-1].risk.attack_rate.value == pytest.approx(mean.mean())
    assert findings[-1].targets == mean.size


def test_with_few_outsiders_the_adversary_is_named_in_advance() -> None:
    original, control = people(150, 1), people(90, 2)
    findings = memory_of(original, original, control, sensitive=["ill"], targets=None)
    assert [str(each.scenario.name) for each in findings if each.scenario] == [
        "most memorization: agreement, all columns",
        "best inference: counts, all columns",
    ]
    assert findings[0].targets == 150
    assert findings[0].risk.control_rate.tries == 30
    assert findings[0].proved


def test_without_a_control_it_is_compared_with_other_people_and_accuses_nobody() -> None:
    original = people(600, 1)
    answer = ask(original, original.sample(fraction=1, shuffle=True, seed=3), attacks=["memory"], sensitive=["ill"])
    findings = found(answer)
    assert roles(findings)[:2] == [("ill", "most memorization"), ("ill", "trained on other people")]
    taught, others = findings[:2]
    assert taught.risk.attack_rate.value > 0.5
    assert others.risk.attack_rate.value < 0.5
    assert not taught.risk.control_rate.defined
    assert not any(each.proved for each in findings)
    assert (answer.level, answer.findings.decision.control) == ("inconclusive", "none")
    assert answer.findings.verdict.figures == 0


@pytest.mark.usefixtures("few_learn")
def test_what_one_column_tells_of_everybody_is_measured_and_proves_nothing() -> None:
    tables = [
        each.with_columns(ill=pl.when(each["age"] > 45).then(pl.lit("gout")).otherwise(pl.lit("none")))
        for each in (people(200, seed) for seed in (1, 2, 3))
    ]
    findings = memory_of(*tables, sensitive=["ill"])
    (alone,) = [each for each in findings if each.scenario and each.scenario.name.startswith("one column")]
    assert alone.scenario is not None
    assert alone.scenario.first == ("age",)
    assert not any(each.proved for each in findings)


def test_where_nothing_is_sensitive_some_columns_are_drawn_and_named_adversaries_know_what_was_said() -> None:
    original, released, control = people(150, 1), people(150, 3), people(80, 2)
    wide = [each.with_columns(**{f"x{n}": each["ill"] for n in range(5)}) for each in (original, released, control)]
    findings = memory_of(*wide)
    assert len({each.secret for each in findings if each.secret}) == memorization.MOST_SECRETS
    told = memory_of(original, released, control, sensitive=["ill"], scenarios=["n=age", "m=age,region"])
    assert {each.scenario.first for each in told if each.scenario} == {("age", "region")}


def test_what_cannot_be_guessed_is_left_out_with_a_sentence(approved: Approved) -> None:
    original, released, control = people(150, 1), people(150, 3), people(80, 2)
    flat = released.with_columns(ill=pl.lit("flu"))
    (only,) = memory_of(original, flat, control, sensitive=["ill"])
    approved(only.remark)
    (gone,) = memory_of(original, released.drop("ill"), control, sensitive=["ill"])
    approved(gone.remark)
    (single,) = memory_of(*(each.select("age") for each in (original, released, control)))
    assert single.remark.startswith("Not run: inference needs two columns")


def test_coarse_cells_and_several_releases_are_searched_too() -> None:
    original, control = people(150, 1), people(80, 2)
    ages = [f"{age // 10 * 10}-{age // 10 * 10 + 9}" for age in original["age"]]
    coarse = original.with_columns(age=pl.Series(ages))
    answer = ask(
        original,
        {"coarse": coarse, "plain": original},
        control,
        attacks=["memory"],
        sensitive=["ill"],
        release_type="masked",
        targets=None,
    )
    for release in answer.findings.releases:
        assert release.findings[0].risk.attack_rate.defined
    assert answer.to_html()


@pytest.mark.usefixtures("few_learn")
def test_the_effect_of_a_stated_secret_is_measured_on_everybody(monkeypatch: pytest.MonkeyPatch) -> None:
    kept: list[Any] = []
    whole = SearchedInference.search

    def watched(self: SearchedInference, **given: Any) -> Any:
        kept.append((given["parts"], whole(self, **given)))
        return kept[-1][-1]

    monkeypatch.setattr(SearchedInference, "search", watched)
    answer = ask(people(240, 1), people(210, 4), people(200, 2), attacks=["memory"], sensitive=["ill"])
    ((parts, result),) = kept
    first, second = result.folds
    assert first is result.remembered.trials
    for side, rows in (("attack", 0), ("control", 1)):
        measured = [set(getattr(each, side).rows.tolist()) for each in (first, second)]
        assert measured == [set(part[rows].tolist()) for part in (parts.measured, parts.learning)]
        assert not measured[0] & measured[1]
    effect = answer.findings.verdict.releases[0].effects[0].excess
    differences = [
        each.attack.expected / each.attack.tries - each.control.expected / each.control.tries
        for each in (first, second)
    ]
    assert min(differences) <= effect.value <= max(differences)
    # Where nothing is stated nothing is held, and the part that is measured is enough.
    kept.clear()
    ask(people(240, 1), people(210, 4), people(200, 2), attacks=["memory"])
    assert {each.folds for _, each in kept} == {()}


def test_an_attacker_named_in_advance_is_measured_on_everybody_at_once() -> None:
    answer = ask(people(150, 1), people(150, 3), people(90, 2), attacks=["memory"], sensitive=["ill"])
    effect, finding = answer.findings.verdict.releases[0].effects[0].excess, found(answer, "memory")[0]
    assert effect.attack_rate == finding.risk.attack_rate.value
    # Only 30 of the 90 are measured for the test.
    alone = RatePair.of(
        *(
            Attempts(tries=n, expected=n * rate.value, low=0, high=n)
            for n, rate in ((150, finding.risk.attack_rate), (30, finding.risk.control_rate))
        )
    )
    assert effect.high - effect.low < 0.8 * (alone.effect().high - alone.effect().low)
