"""The risk that anonymeter prints, against numbers worked out by hand."""

import pytest

from tests.metrics.trials.test_risk import trials
from unveil.metrics.trials.anonymeter import anonymeter_risk
from unveil.metrics.trials.risk import Rate


@pytest.mark.parametrize(
    ("attack", "control", "expected"),
    [
        # By hand, z² = 3.841459: (60 + 1.920729) / 503.841459 = .122897 ± .028522 and (10 + 1.920729) / 503.841459 =
        # .023660 ± .012761; the excess is (.122897 - .023660) / .976340 = .101642, and its half width the root of
        # (.028522 / .976340)² + (.012761 x .877103 / .953240)², which is .031485.
        ((60, 500), (10, 500), Rate(0.101642, 0.070158, 0.133127)),
        # 1.920729 / 503.841459 = .003812, and as much on either side.
        ((0, 500), None, Rate(0.003812, 0.0, 0.007624)),
        # Equal centres, so 0; root of 2 x (.003812 / .996188)², of which what is below 0 is cut off: .005412.
        ((0, 500), (0, 500), Rate(0.0, 0.0, 0.005412)),
        # Less than the control: cut off at 0, and so is the upper limit, -.113142 + .039012 < 0.
        ((10, 500), (60, 500), Rate(0.0, 0.0, 0.0)),
    ],
)
def test_anonymeter_by_hand(attack: tuple[int, int], control: tuple[int, int] | None, expected: Rate) -> None:
    found = anonymeter_risk(trials(attack, control))
    assert (found.value, found.low, found.high) == pytest.approx(
        (expected.value, expected.low, expected.high), abs=1e-6
    )
