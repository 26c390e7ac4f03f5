"""Inference in an audit by a model of one's own."""

from typing import Any

import numpy as np
import pytest

from tests.questions.audit.leaks import ILL, LEAK, ORIGINAL, ask, found, run
from unveil.attacks.table.inference import Inference
from unveil.errors import InputError
from unveil.metrics.trials.risk import risk


class Constant:
    """A model that always guesses the value it was told."""

    def __init__(self, value: float) -> None:
        self.value = value

    def fit(self, *_: Any) -> "Constant":
        return self

    def predict(self, known: Any) -> Any:
        return np.full(len(known), self.value)


class Failing(Constant):
    """A model that fails with a message that quotes what it was given."""

    def fit(self, *_: Any) -> "Constant":
        raise ValueError("Zephyrine")


def test_a_model_guesses_instead_of_the_nearest_record() -> None:
    model = Constant(0.0)
    (finding,) = found(ask(ORIGINAL, LEAK, attacks=["inference"], sensitive=["ill"], model=model, targets=None))
    trials = run(Inference(secret=ILL, known=("age", "sex", "region", "income"), targets=None, model=model), leak=True)
    assert finding.risk.attack_rate == risk(trials).attack_rate
    assert finding.risk.attack_rate.value == pytest.approx((ORIGINAL["ill"] == "flu").mean())


@pytest.mark.parametrize("sensitive", [(), ("ill",)])
def test_a_model_that_fails_is_refused_without_its_words(sensitive: tuple[str, ...]) -> None:
    with pytest.raises(InputError, match="the model Failing raised ValueError on 120 released rows") as refused:
        ask(ORIGINAL, LEAK, attacks=["inference"], sensitive=sensitive, model=Failing(0))
    assert "Zephyrine" not in str(refused.value)
