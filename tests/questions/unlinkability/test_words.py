import math

import pytest

from tests.approved.sentences import Approved
from unveil.metrics.partitions.views import Range
from unveil.questions.unlinkability.words import (
    adjusted_rand_meaning,
    breached_headline,
    breached_meaning,
    breached_tone,
    evidence_meaning,
    explanation,
    forecast_meaning,
    forecast_method,
    gini_meaning,
    kind_meaning,
    next_steps,
    others_meaning,
    risk_slope_meaning,
)


@pytest.mark.parametrize(
    ("breached", "subjects", "start"),
    [
        (0, 4, "None of the 4 subjects is breached so far: less than 80%"),
        (1, 4, "1 of 4 subjects is already breached: the adversary has put at least 80% of its items together."),
        (3, 4, "3 of 4 subjects are already breached: the adversary has put at least 80% of their items together."),
        (4000, 4000, "All 4,000 subjects are already breached"),
        (1, 1, "The only subject is already breached"),
        (0, 1, "The only subject is not breached so far"),
    ],
)
def test_headlines(breached: int, subjects: int, start: str) -> None:
    assert breached_headline(breached, subjects, beta=0.8).startswith(start)


@pytest.mark.parametrize("breached", [0, 1, 2])
def test_headlines_of_policies_of_their_own(breached: int) -> None:
    assert "own threshold β" in breached_headline(breached, 3, beta=None).replace("that subject's", "own")


@pytest.mark.parametrize(
    ("reference", "said"),
    [
        (0.0, ("Random guessing would breach nobody.",)),
        (0.125, ("Random guessing would breach 12.5%.",)),
        (1e-5, ("Random guessing would breach less than 0.1%.",)),
        (math.nan, ()),
    ],
)
def test_the_guess_is_compared_with_guessing_and_with_what_it_may_become(
    reference: float, said: tuple[str], approved: Approved
) -> None:
    assert explanation(reference=reference, mergings=math.nan, breached=False) == said
    last = explanation(reference=reference, mergings=0.96, breached=False)[-1]
    approved(last)
    assert "without any merging" in explanation(reference=reference, mergings=0.0, breached=True)[-1]
    assert next_steps(1)[0] != next_steps(0)[0]


@pytest.mark.parametrize(
    ("breached", "overall", "tone"),
    [(0, False, "neutral"), (1, False, "warning"), (2, False, "bad"), (0, True, "bad")],
)
def test_tone(breached: int, overall: bool, tone: str) -> None:
    assert breached_tone(breached, 4, overall_breached=overall) == tone


def test_meanings_depend_on_the_value(approved: Approved) -> None:
    assert "72.5%" in breached_meaning(0, beta=0.725)
    assert "single" not in breached_meaning(0, beta=0.8)
    approved(breached_meaning(2, beta=None))
    assert "highest risk" in risk_slope_meaning(beta=0.8, breached=True)
    assert "80%" in risk_slope_meaning(beta=0.8, breached=False)
    assert len({kind_meaning(kind) for kind in ("conservative", "liberal", "neutral")}) == 3
    assert adjusted_rand_meaning(0.0) != adjusted_rand_meaning(0.1)
    assert gini_meaning(-1e-17) != gini_meaning(0.3)
    assert "0.80 out of 1" in others_meaning(2.0, 0.8)
    assert "evenness" not in others_meaning(2.0, math.nan)


def spread(**ends: float) -> Range:
    values = {"mean": 0.5, "low": 0.2, "median": 0.5, "high": 0.9, "undefined": 0.0} | ends
    return Range(quantity="risk_slope", **values)


def test_a_forecast_says_when_there_is_nothing_to_forecast(approved: Approved) -> None:
    assert "nine of ten futures" in forecast_meaning(spread())
    approved(forecast_meaning(spread(undefined=0.25)))
    assert "no slope to forecast" in forecast_meaning(spread(undefined=1.0))
    assert "never happens" in evidence_meaning(spread(high=math.inf))
    assert "never" not in evidence_meaning(spread())


@pytest.mark.parametrize("linkage", ["pairs", "any", "cheapest", "given"])
def test_how_evidence_comes_in_is_said(linkage: str) -> None:
    assert "nothing is ever split off" in forecast_method(linkage, 0.0, 200)
    assert "odds of 2 per" in forecast_method(linkage, 2.0, 200)
    assert forecast_method(linkage, 0.0, 200).endswith("200 futures were drawn of each subject.")
