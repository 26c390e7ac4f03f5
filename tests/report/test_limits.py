"""The limits on a page: what was allowed, what was found, in the same words for every question."""

from typing import Any

import numpy as np
import pytest

from tests.approved.sentences import Approved
from unveil.errors import InputError
from unveil.guesses.candidates import Candidates
from unveil.questions.attack_metrics.answer import attack_metrics
from unveil.questions.audit.decision.evidence import meanings
from unveil.questions.unlinkability.answer import unlinkability
from unveil.report.blocks import TableBlock
from unveil.report.limits import Quantity, limit_name, limit_strip, quantity_hint

NAN = float("nan")


QUANTITIES = {
    name: Quantity(name=name, value=NAN, meaning="", exceeded_when_undefined=False, more_is_worse=worse)
    for name, worse in {"share": True, "slope": True, "doubt": False}.items()
}


def limit(quantity: str, bound: float, value: float, exceeded: bool | None) -> dict[str, Any]:
    return {"quantity": quantity, "limit": bound, "value": value, "exceeded": exceeded}


def test_each_limit_has_its_side_its_value_and_its_outcome(approved: Approved) -> None:
    limits = [
        limit("share", 0.05, 0.0512345678, True),
        limit("share", 0.75, 0.75, False),
        limit("slope", 1, NAN, True),
        limit("slope", 1, NAN, None),
        limit("doubt", 2, 1.5, True),
    ]
    table = limit_strip(limits, QUANTITIES).limits
    assert isinstance(table, TableBlock)
    approved(table.rows)


@pytest.mark.parametrize(
    ("outcomes", "decision"),
    [
        ([True], "fail"),
        ([False], "pass"),
        ([True, None, False], "fail"),
        ([None], "inconclusive"),
        ([None, False, None], "inconclusive"),
    ],
)
def test_the_decision_is_that_of_the_worst_limit(outcomes: list[bool | None], decision: str) -> None:
    limits = [limit("share", 1, NAN if exceeded is None else 1 + exceeded, exceeded) for exceeded in outcomes]
    strip = limit_strip(limits, QUANTITIES)
    assert (strip.decision, strip.level) == (decision, "")
    assert strip.limits is not None
    assert len(strip.limits.rows) == len(outcomes)


def test_a_quantity_that_is_not_there_is_refused() -> None:
    with pytest.raises(InputError, match="Did you mean 'share'"):
        limit_strip([limit("shar", 1, 1, False)], QUANTITIES)


def test_the_other_questions_list_limits_too() -> None:
    partitioned = unlinkability([0, 0, 1, 1], [0, 1, 1, 1], rng=np.random.default_rng(1))
    guessed = attack_metrics(Candidates.from_matrix(np.array([[0.5, 0.5], [1.0, 0.0]])), np.array([0, 0]))
    for answer in (partitioned, guessed):
        name = next(iter(answer.quantities))
        plain = answer.to_html(seed=1)
        listed = answer.to_html(limits=[limit(name, 0.5, 0.25, False)], seed=1)
        assert ">Pass<" not in plain
        assert ">Pass<" in listed
        assert f">{name}</bdi>" in listed
        assert answer.to_html(limits=(), seed=1) == plain


@pytest.mark.parametrize(
    ("wrong", "suggested"),
    [
        ("Linkabilty", " Did you mean 'linkability'?"),
        ("linkability.baseline", " It is a baseline, not a risk. Write linkability=0.1"),
        ("linkability.control_rate", " It is a baseline, not a risk. Write linkability=0.1"),
        ("memory.naive_rate", " It is a baseline, not a risk. Write memorization=0.1"),
        (
            "linkability.attack_rate",
            " An attack may succeed as often without the release, so its excess risk is held. Write linkability=0.1",
        ),
        ("copies.unmistakeable", " Did you mean 'copies.unmistakable'?"),
        ("utility", " Did you mean 'utility.loss'?"),
        ("luck", ""),
    ],
)
def test_a_baseline_is_never_suggested(wrong: str, suggested: str) -> None:
    assert quantity_hint(wrong, meanings()) == suggested


def test_no_slip_in_a_quantity_leads_to_a_baseline() -> None:
    for name in meanings():
        for wrong in (name[:-1], name.replace("_", ""), name.partition(".")[0]):
            assert "naive_rate" not in quantity_hint(wrong, meanings())
            assert "control_rate" not in quantity_hint(wrong, meanings())


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ("linkability.excess_over_control", "linkability.normalized"),
        ("record_linkage", "reidentification"),
        ("memory.excess_over_control", "memorization.normalized"),
        ("utility.loss", "utility.loss"),
        ("linkability.naive_rate", "linkability.naive_rate"),
    ],
)
def test_names_of_earlier_versions_still_work(before: str, now: str) -> None:
    assert limit_name(before, meanings()) == now
