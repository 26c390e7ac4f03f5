"""Attacks with more items than pseudonyms, or fewer: what is checked, and the square matrix that stands for them."""

from math import exp, factorial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from tests.oracles.matchings import pairings
from unveil._kernels.matching import permanent
from unveil.errors import InputError
from unveil.guesses import Matching, UnequalMatching, unequal_truth
from unveil.questions.matching.answer import matching


@pytest.mark.parametrize(("n", "m", "pairs"), [(3, 5, 3), (5, 3, 3), (4, 4, 2), (5, 3, 2), (3, 3, 3)])
def test_the_padded_matrix_has_each_pairing_as_often_as_it_says(n: int, m: int, pairs: int) -> None:
    matrix = np.random.default_rng(n * m).integers(0, 3, (n, m)) + np.eye(n, m, dtype=np.int64)
    for given in (matrix, sp.csr_array(matrix)):
        guess = UnequalMatching(given, pairs=pairs)
        assert guess.padded.n == n + m - pairs
        weight = sum(pairings(matrix.tolist(), pairs).values())
        repeats = factorial(n - pairs) * factorial(m - pairs)
        assert permanent(guess.padded.edges).exact == weight * repeats
        assert exp(guess.log_repeats) == pytest.approx(repeats)
        assert guess.real().sum() == (matrix > 0).sum()
        assert repr(guess) == f"UnequalMatching({n} items, {m} pseudonyms, {pairs} pairs)"


def test_ranges_may_be_more_than_tokens() -> None:
    low, high, seen = [0.4, 0.1, 0.1], [0.9, 0.6, 0.2], [0.2, 0.4]
    guess = UnequalMatching.from_ranges(low, high, seen, items=["a", "b", "c"], pseudonyms=["u", "v"])
    assert guess.matrix.tolist() == [[0, 1], [1, 1], [1, 0]]
    assert (guess.items, guess.pseudonyms, guess.pairs) == (("a", "b", "c"), ("u", "v"), 2)
    with pytest.raises(InputError, match="must be square"):
        Matching.from_ranges(low, high, seen)


def test_files_of_unequal_sizes_and_several_of_them(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(",u,v\nFlu,1,1\nCold,1,0\nGout,1,1\n")
    (tmp_path / "b.csv").write_text(",v,u\nGout,1,0\nFlu,1,1\nCold,1,1\n")
    guess = UnequalMatching.read(tmp_path / "a.csv")
    assert (guess.n, guess.pseudonym_count) == (3, 2)
    found = matching(tmp_path / "a.csv", also=[tmp_path / "b.csv"]).findings.ambiguity
    # Together Flu may be u or v, Cold u, Gout v: u and v go to Flu Gout, Cold Flu or Cold Gout.
    assert (found.permanent, found.pairs) == (3, 2)
    ranges, weeks = tmp_path / "ranges.csv", [tmp_path / "w1.csv", tmp_path / "w2.csv"]
    ranges.write_text("item,low,high\nFlu,0,0.5\nCold,0.4,1\nGout,0,1\n")
    weeks[0].write_text("pseudonym,frequency\nu,0.3\nv,0.45\n")
    weeks[1].write_text("pseudonym,frequency\nv,0.6\nu,0.2\n")
    found = matching(frequency_ranges=ranges, frequencies=weeks[0], also=weeks[1:]).findings.ambiguity
    # u is Flu or Gout in both weeks; v is Flu (first week alone), Cold or Gout, so Cold or Gout.
    assert found.permanent == 3


@pytest.mark.parametrize(
    ("pairs", "said"),
    [
        ([0, 1], "The truth has 2 values for 3 items"),
        ([0, 0, -1], "The truth is not one to one: 1 of 2 pairs share the pseudonym of another"),
        ([0, 2, -1], "from 0 to 1, or -1"),
        ({"Flu": "u", "Gout": "v"}, r"Pair 2 of the truth \(counted from 1\) names an unknown item; such pairs: 1"),
        ([("Flu", "u"), ("Flu", "v")], "The truth is not one to one: 1 of 2 pairs share the item of another pair"),
    ],
)
def test_a_truth_that_does_not_fit_is_refused(pairs: Any, said: str) -> None:
    guess = UnequalMatching(np.ones((3, 2)), ("Flu", "Cold", "Asthma"), ("u", "v"))
    with pytest.raises(InputError, match=said):
        unequal_truth(guess, pairs)
    assert unequal_truth(guess, {"Flu": "v", "Cold": None}).tolist() == [1, -1, -1]


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"matrix": [[1, -1], [1, 1], [1, 1]]}, "row 1, column 2"),
        ({"matrix": [1, 2, 3]}, "must have rows and columns"),
        ({"matrix": np.ones((3, 2)), "pairs": 0}, "pairs must be a whole number"),
        (
            {"matrix": [[1, 0], [1, 0], [1, 0]]},
            "only 1 of 2 items can have a pseudonym at once: too many of the 3 items",
        ),
        ({"matrix": np.zeros((3, 2))}, "only 0 of 2 items can have a pseudonym at once: too many of the 3 items"),
        ({"matrix": np.ones((3, 2)), "pseudonyms": ("u",)}, "there are 1 names for 2 pseudonyms"),
    ],
)
def test_what_is_no_attack_is_refused(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        UnequalMatching(**settings)
