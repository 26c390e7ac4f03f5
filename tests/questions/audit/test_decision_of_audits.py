"""Plant a leak of known size, run the audit, and check level, effect size and decision."""

from dataclasses import replace
from math import isnan
from typing import Any

import numpy as np
import polars as pl
import pytest

from unveil.errors import InputError
from unveil.metrics.verdict.levels import ALPHA
from unveil.questions.audit.answer import audit
from unveil.questions.audit.decision.evidence import decision_of
from unveil.questions.audit.decision.findings import AuditDecision, Thresholds
from unveil.questions.audit.findings import Audit

PEOPLE = 300
ATTACKS = ["linkability", "copies", "membership", "singling_out", "row_order"]


def _people(rng: np.random.Generator, number: int = PEOPLE) -> pl.DataFrame:
    size = rng.normal(size=number)
    columns = {f"c{at}": np.round(size + rng.normal(size=number), 1) for at in range(5)}
    return pl.DataFrame(columns | {"town": rng.integers(0, 12, number)})


def _audit(share_copied: float, *, control: bool = True, seed: int = 5) -> Audit:
    rng = np.random.default_rng(seed)
    original, others, fresh = (_people(rng) for _ in range(3))
    copied = round(share_copied * PEOPLE)
    released = pl.concat([original.head(copied), fresh.tail(PEOPLE - copied)]).sample(
        fraction=1, shuffle=True, seed=seed
    )
    answer = audit(
        original, released, others if control else None, attacks=ATTACKS, release_type="synthetic", neighbors=1
    )
    return answer.findings


@pytest.fixture(scope="module")
def planted() -> dict[float, Audit]:
    return {share: _audit(share) for share in (0.0, 0.1, 1.0)}


def _effect(decision: AuditDecision, risk: str) -> tuple[float, float, float]:
    effect = next(row.effect for row in decision.releases[0].risks if row.risk.startswith(risk))
    assert effect is not None
    return effect.excess.low, effect.excess.value, effect.excess.high


def test_fresh_people_have_no_level_and_bounded_effects(planted: dict[float, Audit]) -> None:
    decision = decision_of(planted[0.0])
    assert decision.level == "none_found"
    assert decision.releases[0].at_most is not None
    assert decision.decision == "none"


def test_verbatim_release_is_high_and_fails(planted: dict[float, Audit]) -> None:
    decision = decision_of(planted[1.0], Thresholds(threshold=0.09))
    assert (decision.level, decision.decision, decision.exit) == ("high", "fail", 3)
    assert _effect(decision, "membership")[1] > 0.33


def test_a_tenth_of_copies_has_its_size(planted: dict[float, Audit]) -> None:
    decision = decision_of(planted[0.1])
    assert decision.level in ("medium", "high")
    low, value, high = _effect(decision, "singling out")
    copies = next(e for e in planted[0.1].verdict.releases[0].effects if e.attack == "copies")
    assert copies.excess.value == pytest.approx(0.1, abs=0.02)
    assert low <= value <= high


def test_every_significant_result_has_a_rate_and_limits(planted: dict[float, Audit]) -> None:
    for found in planted.values():
        release = found.verdict.releases[0]
        significant = {f.attack for f in release.findings if f.p_adjusted <= ALPHA and not f.group}
        sized = {
            e.attack for e in release.effects if e.is_significant and e.excess.low <= e.excess.value <= e.excess.high
        }
        assert significant <= sized
        for each in release.effects:
            if each.excess.is_tested:
                assert each.excess.value == pytest.approx(each.excess.attack_rate - each.excess.baseline)
            else:
                assert each.excess.why_not_tested


def test_without_control_only_tests_that_need_none_have_effects() -> None:
    found = _audit(1.0, control=False)
    decision = decision_of(found, Thresholds(threshold=0.09))
    assert decision.releases[0].at_least
    kinds = {e.attack: e.baseline_kind for e in found.verdict.releases[0].effects if e.excess.is_tested}
    assert "control" not in kinds.values()
    assert decision.decision != "pass"


def test_unusable_control_tests_nothing(planted: dict[float, Audit]) -> None:
    found = planted[0.0]
    control = replace(found.verdict.control, outcome="other_people")
    decision = decision_of(replace(found, verdict=replace(found.verdict, control=control)), Thresholds(threshold=0.33))
    assert decision.decision == "inconclusive"
    assert decision.releases[0].lacks[0] == "usable control"
    assert not isnan(decision.releases[0].highest)


@pytest.fixture(scope="module")
def bands() -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """People, the same in bands, and others."""
    rng = np.random.default_rng(11)
    everybody = pl.DataFrame(
        {
            "age": rng.integers(20, 80, 2 * PEOPLE),
            "sex": rng.choice(["f", "m"], 2 * PEOPLE),
            "wage": np.round(rng.normal(3_000, 900, 2 * PEOPLE), 1),
        }
    )
    original = everybody.head(PEOPLE)
    low = pl.col("age") // 10 * 10
    band = pl.concat_str(low.cast(pl.String), pl.lit("-"), (low + 9).cast(pl.String)).alias("age")
    released = original.with_columns(band, pl.lit("*").alias("wage")).sample(fraction=1, shuffle=True, seed=1)
    return original, released, everybody.tail(PEOPLE)


def _of_bands(bands: tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame], **settings: Any) -> Audit:
    return audit(*bands, attacks=["copies"], **settings).findings


def test_masked_release_is_detected_and_classes_are_counted_whatever_is_attacked(
    bands: tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame],
) -> None:
    found = _of_bands(bands, quasi_identifiers=["age", "sex"])
    release = found.releases[0]
    assert (release.kind, release.type_source, release.truthful) == ("masked", "detected", True)
    assert not any("--kind" in note for note in found.notes)
    sizes = bands[1].group_by("age", "sex").len()["len"]
    assert release.class_sizes is not None
    assert release.class_sizes.smallest == sizes.min()
    assert release.class_sizes.people_below[20] == sizes.filter(sizes < 20).sum()
    # Without matches the mean of 1 / class size is the risk, because rows are truthful.
    effects = decision_of(found).releases[0].risks[0]
    assert effects.effect is not None
    assert (effects.effect.attack, effects.effect.baseline_kind) == ("reidentification", "chance")
    assert effects.effect.excess.attack_rate == pytest.approx(len(sizes) / PEOPLE)
    assert effects.effect.excess.baseline == 1 / PEOPLE
    assert "reidentification" not in decision_of(found).not_run


def test_classes_are_not_held_unless_quasi_identifiers_are_stated(
    bands: tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame],
) -> None:
    found = _of_bands(bands)
    assert found.releases[0].class_sizes is None
    assert "reidentification" in decision_of(found).not_run
    stated = _of_bands(bands, quasi_identifiers=["age", "sex"], release_type="synthetic")
    assert (stated.releases[0].type_source, stated.releases[0].truthful) == ("stated", None)
    assert stated.releases[0].class_sizes is None


def test_small_class_fails_a_truthful_release_and_not_a_sample(
    bands: tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame],
) -> None:
    original, released, others = bands
    alone = released.with_columns(pl.when(pl.int_range(pl.len()) == 0).then(pl.lit("*")).otherwise("sex").alias("sex"))
    made = {
        population: decision_of(
            _of_bands((original, alone, others), quasi_identifiers=["age", "sex"], population_size=population),
            Thresholds(limits={"max_risk": 0.09}),
        )
        for population in (None, 10_000)
    }
    assert (made[None].level, made[None].decision) == ("medium", "fail")
    assert (made[10_000].level, made[10_000].decision) == ("very_low", "inconclusive")


def test_noise_is_masked_if_stated_and_not_truthful(bands: tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]) -> None:
    original, _, others = bands
    noisy = original.with_columns(pl.col("wage") + 1.3, pl.col("age") + 1)
    assert _of_bands((original, noisy, others)).releases[0].kind is None
    found = _of_bands((original, noisy, others), quasi_identifiers=["age", "sex"], release_type="masked")
    assert (found.releases[0].type_source, found.releases[0].truthful) == ("stated", False)
    # Its classes are too small to bound the risk.
    row = decision_of(found).releases[0].risks[0]
    assert row.effect is None or row.effect.attack != "reidentification"
    sexes = _of_bands((original, noisy, others), quasi_identifiers=["sex"], release_type="masked")
    effect = decision_of(sexes).releases[0].risks[0].effect
    assert effect is not None
    assert (effect.attack, effect.counted, effect.excess.low) == ("reidentification", True, 0.0)


def test_households_of_twins_are_drawn_together() -> None:
    rng = np.random.default_rng(2)

    def people(first: int) -> pl.DataFrame:
        # Everybody of one household is alike in all columns.
        homes = 90
        alike = _people(rng, homes).with_columns(home=pl.Series([f"h{first + each}" for each in range(homes)]))
        return alike[np.repeat(np.arange(homes), rng.integers(1, 7, homes))]

    original, released, others = (people(first) for first in (0, 1_000, 2_000))
    released = released.with_columns(home=pl.lit("?"))
    found = audit(
        original, released, others, attacks=["linkability", "copies"], household="home", release_type="synthetic"
    ).findings
    assert found.verdict.control.outcome == "usable"
    assert found.decision.level == "none_found"
    leaked = audit(
        original,
        pl.concat([original.head(200), released.tail(200)]),
        others,
        attacks=["linkability", "copies"],
        household="home",
        release_type="synthetic",
    ).findings
    assert leaked.decision.level in ("medium", "high")
    with pytest.raises(InputError, match="household column 'home' is missing from the control"):
        audit(original, released, others.drop("home"), attacks=["copies"], household="home", release_type="synthetic")
