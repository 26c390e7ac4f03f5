"""An audit as an assertion decides as the command line does, and says why."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import unveil
from unveil.errors import InputError

rng = np.random.default_rng(3)
EVERYBODY = pl.DataFrame({"age": rng.permutation(400) + 18.5, "income": rng.permutation(400) * 7.25})
PEOPLE, OTHERS = EVERYBODY[:200], EVERYBODY[200:]
LINKED: dict[str, Any] = {"attacks": ["linkability"], "neighbors": 1}


def test_a_limit_that_is_exceeded_is_named_with_the_headline_and_the_report_is_kept(tmp_path: Path) -> None:
    report = tmp_path / "report.html"
    with pytest.raises(AssertionError) as failed:
        unveil.assert_release(
            PEOPLE, PEOPLE, OTHERS, limits={"linkability": 0.1}, report=report, release_type="masked", **LINKED
        )
    headline, numbers, *steps = str(failed.value).splitlines()
    assert headline.startswith("Fail (high risk): ")
    assert numbers.startswith("Linkability: 100%, control ")
    assert steps
    assert headline.partition(" (")[0] in report.read_text(encoding="utf-8")


def test_a_limit_that_is_not_exceeded_returns_the_answer() -> None:
    answer = unveil.assert_release(PEOPLE, PEOPLE, OTHERS, limits={"linkability": 1.0}, **LINKED)
    assert (answer.decision, answer.passed) == ("pass", True)


def test_inconclusive_is_no_pass_unless_that_is_accepted() -> None:
    limits = {"linkability": 0.5}  # without a control it is undefined
    with pytest.raises(AssertionError, match=r"^Inconclusive: "):
        unveil.assert_release(PEOPLE, PEOPLE, limits=limits, **LINKED)
    answer = unveil.assert_release(PEOPLE, PEOPLE, limits=limits, accept_inconclusive=True, **LINKED)
    assert (answer.decision, answer.passed) == ("inconclusive", None)
    # Fail is never accepted.
    with pytest.raises(AssertionError, match=r"^Fail "):
        unveil.assert_release(PEOPLE, PEOPLE, OTHERS, threshold=0.09, accept_inconclusive=True, **LINKED)


def test_a_published_threshold_goes_by_its_name_alone_and_together_with_limits() -> None:
    for limits in ({}, {"utility.loss": 0.9}):
        with pytest.raises(AssertionError, match=r"^Fail \(high risk\): .*"):
            unveil.assert_release(
                PEOPLE, PEOPLE, OTHERS, profile="ema", limits=limits, release_type="masked",
                attacks=["linkability", "utility"], neighbors=1,
            )  # fmt: skip


@pytest.mark.parametrize(
    ("held", "said"),
    [
        ({"limits": {"linkability.attack_rat": 1.0}}, r"Unknown limit 'linkability\.attack_rat'.*"),
        ({"limits": {"x": 1.0}}, r"Unknown limit 'x'"),
        ({"limits": {"linkability": 9}}, r"share from 0 to 1\. For 9%, write 0\.09\."),
        ({"profile": "emo"}, "ema"),
        ({"profile": "ema", "threshold": 0.1}, "Choose one of them"),
        ({}, r"No threshold is set\. Pass threshold=0\.09"),
    ],
)
def test_what_cannot_be_held_is_refused(held: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        unveil.assert_release(PEOPLE, PEOPLE, OTHERS, **held, **LINKED)
