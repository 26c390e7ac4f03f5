"""Linkability in an audit: its figures are those of the attack, and all divisions are judged together."""

import numpy as np
import polars as pl
import pytest

from tests.questions.audit.example import CONTROL, MASKED, ORIGINAL, ask, of
from unveil.attacks.table.linkability import Linkability
from unveil.data.table import Table, agree
from unveil.data.table.release import Knowledge
from unveil.errors import InputError
from unveil.metrics.trials.risk import risk
from unveil.questions.audit.findings import BEYOND_DOUBT
from unveil.questions.audit.people import draw_people


def test_a_named_adversary_gets_the_figures_of_the_attack_itself() -> None:
    (found,) = of(ask(ORIGINAL, MASKED, CONTROL, scenarios=["n=age,sex"], targets=None, neighbors=3), "linkability")
    original, released, control = agree(*(Table.from_frame(each) for each in (ORIGINAL, MASKED, CONTROL)))
    attack = Linkability(first=("age", "sex"), second=("region", "income"), neighbours=3, targets=None)
    trials = attack.run(released=released, knowledge=Knowledge(original, control), rng=np.random.default_rng(0))
    rates = risk(trials)
    names = {"baseline": "naive_rate", "normalized_excess": "excess_over_control"}
    for figure in ("attack_rate", "baseline", "control_rate", "normalized_excess"):
        rate = getattr(rates, names.get(figure, figure))
        assert (found[figure], found[f"{figure}_low"], found[f"{figure}_high"]) == (rate.value, rate.low, rate.high)
    assert (found["successes_expected"], found["successes_low"], found["successes_high"]) == (
        trials.attack.expected,
        trials.attack.low,
        trials.attack.high,
    )
    assert (found["targets"], found["neighbors"], found["scenario"]) == (120, 3, "n")


def test_the_example_of_the_page_comes_out_as_worked() -> None:
    original = pl.DataFrame({"age": [25, 30, 28], "gender": ["Male", "Female", "Male"], "income": [50, 60, 55]})
    released = pl.DataFrame({"age": [24, 31, 29], "gender": ["Male", "Female", "Male"], "income": [52, 62, 53]})
    answer = ask(
        original,
        released,
        scenarios=["age:income", "age,gender:income"],
        attacks=["linkability"],
        targets=None,
        neighbors=1,
        quasi_identifiers=["age", "gender", "income"],
    )
    tied, clear = of(answer, "linkability")
    assert (tied["successes_expected"], tied["successes_low"], tied["successes_high"]) == (2.5, 2.0, 3.0)
    assert (clear["successes_expected"], clear["successes_low"], clear["successes_high"]) == (3.0, 3.0, 3.0)


def test_divisions_are_all_judged_on_the_same_people_and_the_clearest_comes_first() -> None:
    answer = ask(ORIGINAL, MASKED, CONTROL, targets=40, attacks=["linkability"], neighbors=2)
    (release,) = answer.findings.releases
    *splits, mean = release.findings
    assert [each.scenario.origin for each in release.findings if each.scenario] == ["random"] * 7 + ["mean"]
    assert {each.targets for each in release.findings} == {40}
    assert splits[0].strength == max(each.strength for each in splits)
    beyond_doubt = [each.worse.value for each in splits if each.p_adjusted <= BEYOND_DOUBT]
    assert splits[0].worse.value == max(beyond_doubt)
    seeds = np.random.default_rng(5).integers(2**63, size=3)
    original, released, control = agree(*(Table.from_frame(each) for each in (ORIGINAL, MASKED, CONTROL)))
    inside = draw_people(original, rng=np.random.default_rng([seeds[0], 0])).split(40)[0].rows
    outside = draw_people(control, rng=np.random.default_rng([seeds[1], 0])).split(40)[0].rows
    # Whoever reaches farthest of both tables makes the scale, so that it does not tell who is in the data.
    reach = Table.from_frame(pl.concat([ORIGINAL, CONTROL])).extremes()
    knowledge = Knowledge(original.take(inside), control.take(outside), scale=reach)
    for finding in splits:
        assert finding.scenario is not None
        attack = Linkability(first=finding.scenario.first, second=finding.scenario.second, neighbours=2, targets=None)
        trials = attack.run(released=released, knowledge=knowledge, rng=np.random.default_rng(0))
        assert risk(trials) == finding.risk
    assert mean.links.expected == pytest.approx(np.mean([each.links.expected for each in splits]))
    assert mean.scenario is not None
    assert mean.scenario.name == "mean of all 7 splits"
    assert np.isnan(mean.p)


def test_a_column_is_worth_what_the_attack_loses_without_it() -> None:
    answer = ask(ORIGINAL, MASKED, scenarios=["age,sex:income"], targets=None, neighbors=2, attacks=["linkability"])
    (release,) = answer.findings.releases
    weights = {weight.column: weight for weight in release.weights}
    assert set(weights) == {"age", "sex", "income"}
    original, released = agree(Table.from_frame(ORIGINAL), Table.from_frame(MASKED))
    attack = Linkability(first=("age",), second=("income",), neighbours=2, targets=None)
    trials = attack.run(released=released, knowledge=Knowledge(original), rng=np.random.default_rng(0))
    assert weights["sex"].without == risk(trials).attack_rate
    # Without a whole group nothing is left to link but by chance.
    assert weights["income"].without == release.findings[0].risk.naive_rate
    losses = [weight.loss for weight in release.weights]
    assert losses == sorted(losses, reverse=True)


def test_columns_that_say_nothing_give_chance_and_no_excess() -> None:
    flat = pl.DataFrame({"a": [1] * 50, "b": ["x"] * 50})
    (worst, _) = of(ask(flat, flat, attacks=["linkability"], neighbors=3), "linkability")
    assert worst["attack_rate"] == pytest.approx(worst["baseline"])


def test_files_that_share_one_column_are_said_to() -> None:
    strange = MASKED.select("age", gender="sex", place="region")
    with pytest.raises(InputError, match=r"share only one column \('age'\).*both come from the same data set"):
        ask(ORIGINAL, strange, attacks=["linkability"])
    with pytest.raises(InputError, match="Of 4 shared columns only 'age' remains"):
        ask(ORIGINAL, MASKED, attacks=["linkability"], quasi_identifiers=["age"])
