"""The rates and risks that anonymeter prints, against numbers worked out by hand."""

from math import isnan
from typing import Any

import pytest

from unveil.anonymeter import EvaluationResults, PrivacyRisk, SuccessRate
from unveil.errors import InputError


@pytest.mark.filterwarnings("ignore:attack success is")
@pytest.mark.parametrize(
    ("attack", "control", "expected"),
    [
        # By hand, z² = 3.841459: (60 + 1.920729) / 503.841459 = .122897 ± .028522 and (10 + 1.920729) / 503.841459 =
        # .023660 ± .012761; the excess is (.122897 - .023660) / .976340 = .101642, and its half width the root of
        # (.028522 / .976340)² + (.012761 x .877103 / .953240)², which is .031485.
        (60, 10, (0.101642, 0.070158, 0.133127)),
        # 1.920729 / 503.841459 = .003812, and as much on either side.
        (0, None, (0.003812, 0.0, 0.007624)),
        # Equal centres, so 0; root of 2 x (.003812 / .996188)², of which what is below 0 is cut off: .005412.
        (0, 0, (0.0, 0.0, 0.005412)),
        # Less than the control: cut off at 0, and so is the upper limit, -.113142 + .039012 < 0.
        (10, 60, (0.0, 0.0, 0.0)),
    ],
)
def test_risks_by_hand(attack: int, control: int | None, expected: tuple[float, float, float]) -> None:
    risk = EvaluationResults(500, attack, 0, control).risk()
    assert (risk.value, *risk.ci) == pytest.approx(expected, abs=1e-6)


def test_a_confidence_of_0_gives_the_plain_shares() -> None:
    results = EvaluationResults((10, 20, 40), 5, 1, 10, confidence_level=0)
    assert (results.attack_rate, results.baseline_rate, results.control_rate) == ((0.5, 0), (0.05, 0), (0.25, 0))
    assert (results.risk().value, *results.risk().ci) == pytest.approx((1 / 3,) * 3)
    assert results.risk(baseline=True) == (0.05, (0.05, 0.05))
    assert (results.n_attacks_ori, results.n_attacks_baseline, results.n_attacks_control) == (10, 20, 40)


def test_an_attack_no_better_than_guessing_is_warned_about() -> None:
    with pytest.warns(UserWarning, match=r"attack success is 0.1000 and the baseline 0.2000"):
        EvaluationResults(10, 1, 2, confidence_level=0)


def test_a_control_that_is_always_hit_leaves_no_risk_to_measure() -> None:
    with pytest.warns(UserWarning, match="the risk is undefined"):
        results = EvaluationResults(10, 9, 2, 10, confidence_level=0)
    assert isnan(results.risk().value)
    assert all(map(isnan, results.risk().ci))
    assert results.risk(baseline=True).value == 0.2


def test_a_rate_is_clipped_as_a_risk() -> None:
    assert SuccessRate(0.75, 0.5).to_risk() == PrivacyRisk(0.75, (0.25, 1.0))
    assert SuccessRate(-0.1, 0.05).to_risk() == PrivacyRisk(0.0, (0.0, 0.0))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"confidence_level": 1}, "confidence_level must lie between 0 and 1, 1 excluded"),
        ({"confidence_level": -0.1}, "confidence_level must lie between 0 and 1"),
        ({"n_success": 11}, "but are 11 of 10"),
        ({"n_attacks": 0, "n_success": 0, "n_baseline": 0}, "but are 0 of 0"),
    ],
)
def test_numbers_that_cannot_be_are_refused(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        EvaluationResults(**{"n_attacks": 10, "n_success": 5, "n_baseline": 1, **wrong})
