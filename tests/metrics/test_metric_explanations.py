"""What pages and docs say of a metric comes from its docstring, cut into formula, meaning and when it is undefined."""

import re
from collections.abc import Iterator

import numpy as np
import pytest

from unveil.guesses import Candidates
from unveil.metrics import METRICS, Metric, _listing, metric


@pytest.fixture
def only_for_this_test() -> Iterator[None]:
    """Leave the list as it was."""
    before = dict(METRICS)
    yield
    _listing._METRICS.clear()
    _listing._METRICS.update(before)


def list_it(docstring: str | None) -> Metric:
    def mine(guess: Candidates) -> float:
        return float(np.sum(guess.probability))

    mine.__doc__ = docstring
    metric(category="error", per="release", more_means="more private", bounds=(0, 1), source="a paper")(mine)
    return METRICS["mine"]


DOCSTRING = """Return something, in bits.

    Formula: ``-log2(x. y)``, capped at 39.9 bits; see :func:`entropy` and
    :class:`~unveil.Candidates`. It keeps
    a tail away. 0 means nothing (at all); ``1 / c`` is a little. More is better. NaN where not attempted. (As the
    source says.)

    >>> 1 + 1
    2
    """


@pytest.mark.usefixtures("only_for_this_test")
def test_a_docstring_is_cut_at_what_values_mean_and_at_nan() -> None:
    found = list_it(DOCSTRING)
    assert found.summary == "Return something, in bits."
    assert found.formula == (
        "``-log2(x. y)``, capped at 39.9 bits; see ``entropy`` and ``unveil.Candidates``. It keeps a tail away."
    )
    assert found.meaning == ("0 means nothing (at all); ``1 / c`` is a little. More is better. (As the source says.)")
    assert found.undefined == "NaN where not attempted."
    assert found.explanation.startswith("Formula: ``-log2(x. y)``, capped")
    assert found.explanation.endswith("(As the source says.)")


@pytest.mark.usefixtures("only_for_this_test")
@pytest.mark.parametrize(
    ("docstring", "explanation"),
    [
        ("Return 1.", ""),
        ("Return 1.\n\n>>> 1\n1\n", ""),
        ("Return 1.\n\nIt is one.\n\nParameters\n----------\nguess\n    What is guessed.\n", "It is one."),
        ("Return 1.\n\nIt is one\n\nand more", "It is one and more"),
        (None, ""),
    ],
)
def test_a_docstring_may_say_less(docstring: str | None, explanation: str) -> None:
    found = list_it(docstring)
    assert found.summary == (docstring or "").partition("\n")[0]
    assert (found.explanation, found.formula, found.undefined) == (explanation, "", "")
    assert found.meaning == explanation


def letters(text: str) -> str:
    return re.sub(r"\W", "", text)


@pytest.mark.parametrize("name", METRICS)
def test_nothing_of_an_explanation_is_lost(name: str) -> None:
    found = METRICS[name]
    parts = ("Formula" if found.formula else "") + found.formula + found.meaning + found.undefined
    assert sorted(letters(parts)) == sorted(letters(found.explanation))


@pytest.mark.parametrize("name", METRICS)
def test_every_metric_says_formula_meaning_and_when_undefined(name: str) -> None:
    found = METRICS[name]
    assert "``" in found.formula
    assert re.match(r"[01] means ", found.meaning)
    assert ("never undefined" in found.meaning) != bool(found.undefined)
    if found.on == "Candidates" and found.per == "target":
        assert found.undefined.startswith("NaN where not attempted")
