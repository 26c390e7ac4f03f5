"""anonymeter's own classes: the numbers of the package, whole runs after the same seed; bad input is refused."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from tests.golden import make_anonymeter_inference_golden as inference_golden
from unveil.anonymeter import InferenceEvaluator, LinkabilityEvaluator, SinglingOutEvaluator
from unveil.errors import InputError

ORI, SYN, CONTROL = (pd.DataFrame(columns) for columns in inference_golden.whole_run(100, 130))
NAMES = list(ORI.columns)
#: Arguments of a wrong type.
WRONG: Any = {"text": "age", "list": ["pay"]}


def told(evaluator: Any, **settings: Any) -> list[float]:
    results, risk = evaluator.results(**settings), evaluator.risk(**settings)
    rates = (*results.attack_rate, *(results.control_rate or ()))
    return [results.n_success, *rates, risk.value, *risk.ci]


@pytest.mark.filterwarnings("ignore:attack success is")
def test_whole_runs_give_the_numbers_of_the_package() -> None:
    """Printed by anonymeter 1.1.0 for these calls, after the same seed, in this order."""
    np.random.seed(3)  # noqa: NPY002
    linkability = LinkabilityEvaluator(ORI, SYN, (NAMES[:2], NAMES[2:]), 60, 5, control=CONTROL).evaluate(n_jobs=1)
    every = LinkabilityEvaluator(ORI, SYN, (NAMES[:1], NAMES[2:]), n_attacks=None, n_neighbors=3).evaluate()
    inference = InferenceEvaluator(ORI, SYN, NAMES[:-1], NAMES[-1], n_attacks=50, control=CONTROL).evaluate()
    numbers = InferenceEvaluator(
        ORI, SYN, NAMES[1:], NAMES[0], regression=True, n_attacks=np.inf, control=CONTROL
    ).evaluate()
    assert np.random.rand() == 0.3689534749824007  # noqa: NPY002 (as much was drawn as there)
    singled_out = SinglingOutEvaluator(
        ORI, SYN, n_attacks=40, n_cols=2, control=CONTROL.head(70), max_attempts=20_000, seed=4
    ).evaluate()
    for found, expected in (
        (told(linkability), [14, 0.249379161, 0.104983543, 0.202387753, 0.096809784, 0.058915103, 0, 0.233189253]),
        (told(linkability, n_neighbors=2), [1, 0.045749729, 0.042801569, 0.045749729, 0.042801569, 0, 0, 0.063432582]),
        (
            told(linkability, confidence_level=0.8),
            [14, 0.240438292, 0.069402618, 0.191770472, 0.063720667, 0.060215345, 0, 0.173631998],
        ),
        (told(every), [6, 0.076277139, 0.048491015, 0.076277139, 0.027786124, 0.124768154]),
        (told(inference), [10, 0.22140428, 0.10896678, 0.165685136, 0.096176801, 0.066784312, 0, 0.23599121]),
        (told(numbers), [14, 0.153317659, 0.068054223, 0.114797399, 0.059568262, 0.043515756, 0, 0.143782234]),
        (told(singled_out), [7, 0.20347702, 0.116022883, 0.106141602, 0.083712585, 0.108893555, 0, 0.263207427]),
    ):
        assert found == pytest.approx(expected, abs=2e-9)
    assert inference.risk(baseline=True).value == pytest.approx(0.072819895601345)
    assert inference.results().n_baseline == 2


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: LinkabilityEvaluator(ORI, SYN, WRONG["text"]), "two lists of columns"),
        (lambda: LinkabilityEvaluator(ORI, SYN, (["age"], [])).evaluate(), "aux_cols must name at least one column"),
        (lambda: LinkabilityEvaluator(ORI, SYN, (["age", "age"], ["pay"])).evaluate(), "'age' is named more often"),
        (lambda: LinkabilityEvaluator(ORI, SYN, (["age"], ["wage"])), "column 'wage' is not in the synthetic table"),
        (lambda: LinkabilityEvaluator(ORI, SYN, (["age"], ["pay"]), n_neighbors=0), "n_neighbors"),
        (lambda: LinkabilityEvaluator(ORI, SYN, (["age"], ["pay"]), n_neighbors=200).evaluate(), "at most the number"),
        (lambda: LinkabilityEvaluator(ORI.head(0), SYN, (["age"], ["pay"])).evaluate(), "a table has none"),
        (lambda: LinkabilityEvaluator(ORI, SYN, (["age"], ["pay"])).evaluate().risk(n_neighbors=2), "n_neighbors"),
        (lambda: InferenceEvaluator(ORI, SYN, ["age"], WRONG["list"]), r"\(secret\) must be one name"),
        (lambda: InferenceEvaluator(ORI, SYN, ["age"], "wage"), "column 'wage' is not in the synthetic table"),
        (lambda: InferenceEvaluator(ORI, SYN, ["age"], "pay", n_attacks=0), "n_attacks must be a whole number"),
        (lambda: InferenceEvaluator(ORI, SYN, ["age"], "pay", inference_model=print), "a method predict"),
        (lambda: InferenceEvaluator(ORI, SYN, ["age"], "pay").evaluate().results(1.5), "confidence_level"),
        (lambda: SinglingOutEvaluator(ORI, None), "DataFrame"),
        (lambda: SinglingOutEvaluator(ORI, SYN).evaluate(mode="both"), "'multivariate' or 'univariate'"),
        (lambda: SinglingOutEvaluator(ORI, SYN, n_cols=5).evaluate(), "n_cols must be at most the number of columns"),
        (lambda: SinglingOutEvaluator(ORI, SYN, seed=-1), "seed must be a whole number of at least 0"),
        (lambda: SinglingOutEvaluator(ORI.head(0), SYN).evaluate(), "every table must have rows"),
        (lambda: SinglingOutEvaluator(ORI[["age"]], SYN).evaluate(), "column 'town' is not in the original table"),
        (lambda: SinglingOutEvaluator(ORI.assign(age="x"), SYN).evaluate(), "'age' must be of one type in all tables"),
    ],
)
def test_what_cannot_be_is_refused_in_one_sentence(wrong: Any, message: str) -> None:
    with pytest.raises(InputError, match=message) as refusal:
        wrong()
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    "evaluator",
    [
        LinkabilityEvaluator(pd.DataFrame(), pd.DataFrame(), ([], [])),
        InferenceEvaluator(ORI, SYN, ["age"], "pay"),
        SinglingOutEvaluator(pd.DataFrame(), pd.DataFrame()),
    ],
)
def test_there_are_no_results_before_the_attack(evaluator: Any) -> None:
    calls = [evaluator.results, evaluator.risk]
    calls += [evaluator.risk_for_groups] if hasattr(evaluator, "risk_for_groups") else []
    for call in calls:
        with pytest.raises(RuntimeError, match="Call evaluate"):
            call()


def test_nothing_else_of_the_package_is_loaded_by_the_import() -> None:
    import unveil.anonymeter as package

    assert sorted(package.__all__) == dir(package)
    assert all(getattr(package, name).__name__ == name for name in package.__all__)
