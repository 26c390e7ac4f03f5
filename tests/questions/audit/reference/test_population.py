"""A population file in an audit: the worked example, the register that is none, and the control group it holds."""

from typing import Any

import numpy as np
import polars as pl
import pytest

from tests.questions.audit.reference.made_up import people, released
from unveil.metrics.releases.population_risk import RegisterRisk
from unveil.questions.audit.answer import AuditResult, audit

REGISTER = pl.DataFrame({"key": [*"aaaaaa", "A", "A", *"bbbb", "B", *"ccc"]})
RELEASE = pl.DataFrame({"key": [*"aaa", "A", *"bb", "B"], "income": range(1000, 1007)})
#: The values of the worked example.
EXPECTED = {
    "prosecutor_max": 1, "prosecutor_mean": 4 / 7, "prosecutor_above": 1, "journalist_max": 1,
    "journalist_above": 4 / 7, "k_map": 1, "marketer": 2.5 / 7,
    "sample_uniques": 2, "population_uniques": 1, "unique_match_correct": 2 / 3,
    "delta_max": 1, "delta_min": 0,
}  # fmt: skip


def ask(population: pl.DataFrame, **settings: Any) -> AuditResult:
    original = RELEASE.with_columns(pl.col("income") + 1)
    plain: dict[str, Any] = {"release_type": "masked", "quasi_identifiers": ["key"], "attacks": ["copies"]}
    return audit(original, RELEASE, population=population, **{**plain, **settings})


def risk(answer: AuditResult) -> RegisterRisk:
    assert answer.findings.population is not None
    return answer.findings.population.risk


def test_the_worked_example() -> None:
    answer = ask(REGISTER)
    assert {name: getattr(risk(answer), name) for name in EXPECTED} == pytest.approx(EXPECTED)
    assert answer.to_dict()["population"]["marketer"] == pytest.approx(2.5 / 7)
    assert answer.findings.population is not None
    assert answer.findings.population.of == "release"
    assert answer.findings.control_rows is None


@pytest.mark.parametrize(
    ("profile", "threshold", "above"),
    [("", 0.2, 4 / 7), ("ema", 1 / 11, 1), ("cell-3", 1 / 3, 2 / 7), ("quebec", 0.2, 4 / 7)],
)
def test_a_profile_sets_the_risk_above_which_records_are_counted(profile: str, threshold: float, above: float) -> None:
    answer = ask(REGISTER, **({"profile": profile} if profile else {}))
    # F is 6 for a, 2 for A, 4 for b, and 1 for B.
    assert risk(answer).threshold == threshold
    assert risk(answer).journalist_above == pytest.approx(above)
    assert f"Journalist risk above {100 * threshold:.2g}%" in answer.to_html().replace(".0%", "%")


def test_a_class_with_too_few_people_makes_it_a_sample() -> None:
    found = risk(ask(REGISTER.filter(pl.col("key") != "B")))
    assert (found.is_register, found.contradictions) == (False, 1)
    assert np.isnan([found.journalist_max, found.marketer, found.delta_max]).all()


def test_limits_fail_and_never_pass_alone() -> None:
    for name in ("journalist_max", "marketer", "delta_max"):
        assert ask(REGISTER, limits={name: 0.1}).decision == "fail"
        assert ask(REGISTER, limits={name: 1.0}).decision == "inconclusive"


def test_a_synthetic_release_has_the_risk_of_the_original() -> None:
    answer = ask(REGISTER, release_type="synthetic")
    assert answer.findings.population is not None
    assert answer.findings.population.of == "original"
    assert "A synthetic release has no equivalence classes of people" in answer.to_html()


def test_the_redacted_report_bounds_small_classes() -> None:
    html = ask(REGISTER).to_html(redacted=True)
    part = html.partition("Population file")[2]
    assert "at least 0.1" in part
    assert "36%" not in part.partition("δ")[2]


ORIGINAL = people(1)


def test_people_with_another_identifier_are_the_control_group() -> None:
    both = pl.concat([ORIGINAL, people(4)]).sample(fraction=1.0, shuffle=True, seed=1)
    plain: dict[str, Any] = {"release_type": "synthetic", "attacks": ["copies"], "population": both}
    answer = audit(ORIGINAL, released(ORIGINAL, 3, copied=0.4), **plain, identifiers=["id"])
    assert answer.findings.control_rows == 120
    assert answer.decided.basis == "control"
    same = audit(
        ORIGINAL, released(ORIGINAL, 3, copied=0.4), people(4), **plain | {"population": None}, identifiers=["id"]
    )
    assert answer.level == same.level
    assert answer.worst_excess == same.worst_excess
    # Without identifier it is none, however different the rows look.
    assert audit(ORIGINAL, released(ORIGINAL, 3), **plain).findings.control_rows is None


def test_a_population_without_other_people_is_no_control_group() -> None:
    twice = pl.concat([ORIGINAL, ORIGINAL.head(5)])
    answer = audit(
        ORIGINAL,
        released(ORIGINAL, 3),
        release_type="synthetic",
        attacks=["copies"],
        identifiers=["id"],
        population=twice,
    )
    assert answer.findings.control_rows is None
    assert "The population file is not the control group: all its people are in the data." in answer.findings.notes
