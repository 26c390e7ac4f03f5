"""The question about matchings, asked of objects and of files: the same figures either way."""

import json
from dataclasses import replace
from itertools import permutations
from math import isnan, nan, prod
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from unveil.data import samples
from unveil.errors import InputError
from unveil.guesses import Matching, MatchingDistribution
from unveil.metrics.matchings.cracks import EstimatedValue
from unveil.questions.matching.answer import matching
from unveil.questions.matching.findings import MatchingFindings
from unveil.questions.matching.settings import OF_GROUPS, OF_NO_TRUTH, OF_SETS, ONLY_WITHOUT_TRUTH
from unveil.questions.matching.view import meanings, quantities
from unveil.questions.result import Result
from unveil.report.blocks import Chart, TableBlock

HOSPITAL = [[0, 0, 1, 1, 1], [0, 0, 1, 1, 1], [0, 1, 1, 1, 1], [1, 1, 1, 1, 0], [1, 1, 1, 0, 0]]
TRUE = [2, 3, 4, 0, 1]


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def figures(answer: Result[MatchingFindings]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(answer.to_json())
    return found


@given(data=st.data(), n=st.integers(1, 5))
@settings(max_examples=24)
def test_figures_are_those_of_all_matchings(data: st.DataObject, n: int) -> None:
    weights = data.draw(st.lists(st.integers(0, 4), min_size=n * n, max_size=n * n))
    matrix = np.array(weights, float).reshape(n, n) + np.eye(n)[data.draw(st.permutations(range(n)))]
    truth = data.draw(st.permutations(range(n)))
    groups = data.draw(st.lists(st.sampled_from("ab"), min_size=n, max_size=n))
    found = figures(matching(matrix, truth, equivalent=groups, rng=rng()))
    weight = {
        order: prod(matrix[k, pseudonym] for k, pseudonym in enumerate(order)) for order in permutations(range(n))
    }
    total = sum(weight.values())
    chance, grouped = np.zeros(n + 1), 0.0
    owner = np.argsort(truth)
    for order, likely in weight.items():
        chance[sum(a == b for a, b in zip(order, truth, strict=True))] += likely / total
        grouped += likely / total * sum(groups[k] == groups[owner[pseudonym]] for k, pseudonym in enumerate(order))
    assert found["crack_distribution"] == pytest.approx(chance.tolist(), abs=1e-9)
    assert found["expected_cracks"]["value"] == pytest.approx(float(chance @ np.arange(n + 1)), abs=1e-9)
    assert found["groups"]["expected"]["value"] == pytest.approx(grouped, abs=1e-9)


@pytest.mark.parametrize("guess", [HOSPITAL, np.array(HOSPITAL), sp.csr_array(HOSPITAL), Matching(HOSPITAL)])
def test_a_guess_may_be_any_matrix(guess: Any) -> None:
    assert figures(matching(guess, TRUE, rng=rng())) == figures(matching(HOSPITAL, TRUE, rng=rng()))


def test_listed_matchings_give_the_figures_of_their_matrix() -> None:
    guess = Matching(HOSPITAL)
    listed = matching(MatchingDistribution.from_matching(guess), TRUE, rng=rng())
    assert listed.findings.cracks.crack_distribution == pytest.approx(
        matching(guess, TRUE, rng=rng()).findings.cracks.crack_distribution
    )
    assert isnan(listed.findings.cracks.heuristic.value)
    assert "18 matchings" in listed.page().method[0]


def test_names_reach_the_figures_and_numbers_stand_for_missing_ones() -> None:
    guess = Matching([[1, 1], [1, 1]], items=["Flu", "Cold"], pseudonyms=["u", "v"])  # type: ignore[arg-type]
    rows = figures(matching(guess, {"Cold": "u", "Flu": "v"}, rng=rng()))["items"]
    assert [(row["name"], row["pseudonym"]) for row in rows] == [("Flu", "v"), ("Cold", "u")]
    rows = figures(matching([[1, 1], [1, 1]], [1, 0], rng=rng()))["items"]
    assert [(row["name"], row["pseudonym"]) for row in rows] == [("1", "2"), ("2", "1")]


def test_every_quantity_has_a_meaning_and_a_value() -> None:
    answer = matching(HOSPITAL, TRUE, equivalent=list("aabbb"), sets={"a": [0, 1]}, rng=rng())
    assert list(answer.quantities) == [name for name in meanings() if name not in ONLY_WITHOUT_TRUTH]
    assert all(quantity.meaning == meanings()[name] for name, quantity in answer.quantities.items())
    assert {name for name, quantity in answer.quantities.items() if not quantity.more_is_worse} == {"d", "d.low"}
    without = matching(HOSPITAL, TRUE, rng=rng()).quantities
    assert list(without) == [name for name in meanings() if name not in (*OF_GROUPS, *OF_SETS, *ONLY_WITHOUT_TRUTH)]
    assert list(matching(HOSPITAL, rng=rng()).quantities) == list(OF_NO_TRUTH)


def test_upper_ends_add_two_standard_errors_and_stay_shares() -> None:
    findings = matching(HOSPITAL, TRUE, rng=rng()).findings
    for value, error, high in ((2.0, 0.25, 0.5), (4.9, 0.25, 1.0)):
        found = replace(findings.cracks, expected_cracks=EstimatedValue(value, error, "worm", 1.001, "sampled"))
        told = quantities(replace(findings, cracks=found))
        assert told["cracked_share"].value == pytest.approx(value / 5)
        assert told["cracked_share.high"].value == pytest.approx(high)
    found = replace(findings.cracks, d=EstimatedValue(0.5, 0.1, "worm", 1.001, "sampled"))
    assert quantities(replace(findings, cracks=found))["d.low"].value == pytest.approx(0.3)
    found = replace(findings.cracks, d=EstimatedValue(0.5, 0.1, "Bethe bracket", nan, "bracket"))
    assert quantities(replace(findings, cracks=found))["d.low"].value == 0.5


def test_chains_that_do_not_agree_keep_no_limit() -> None:
    findings = matching(HOSPITAL, TRUE, rng=rng()).findings
    bad = EstimatedValue(1.0, 0.001, "worm", 1.2, "sampled")
    found = replace(
        findings.cracks, expected_cracks=bad, d=EstimatedValue(0.9, 0.001, "worm", 1.2, "sampled"), r_hat=1.2
    )
    told = quantities(replace(findings, cracks=found))
    ends = [told[name].value for name in ("cracked_share.high", "d.low", "cracks_q95.high")]
    assert ends == [1.0, 0.0, 5.0]


def test_an_adversary_who_knows_nothing_is_the_reference() -> None:
    answer = matching(np.ones((5, 5)), TRUE, rng=rng())
    assert answer.findings.blind == pytest.approx(answer.findings.cracks.crack_distribution)
    assert answer.findings.cracks.expected_cracks.value == pytest.approx(1)


def test_a_plot_has_the_distribution() -> None:
    axes = matching(HOSPITAL, TRUE, rng=rng()).plot()
    assert axes.shape == (1,)
    assert sum(bar.get_height() for bar in axes[0].patches) == pytest.approx(1)


def test_the_page_holds_every_part() -> None:
    page = matching(HOSPITAL, TRUE, equivalent=list("aabbb"), rng=rng()).page(seed=3)
    assert (page.seed, page.edition) == (3, "internal")
    assert [type(block) for block in page.picture] == [Chart, TableBlock]


@pytest.mark.parametrize(
    ("matrix", "sentence"),
    [
        (HOSPITAL, "17 of 25 pairs of an item and a pseudonym to be possible, and all matchings"),
        ([[0.5, 0.5], [0.5, 0.5]], "sum to 1 in each row and column"),
        ([[3, 1], [1, 1]], "only their proportions matter"),
    ],
)
def test_what_the_adversary_holds_is_said(matrix: list[list[float]], sentence: str) -> None:
    answer = matching(matrix, TRUE if len(matrix) == 5 else [0, 1], rng=rng())
    assert sentence in answer.page().method[0]


def test_too_many_rows_are_bad_input() -> None:
    n = 1_000_001
    with pytest.raises(InputError, match="1,000,001"):
        matching(sp.eye_array(n), np.arange(n), rng=rng())


def test_a_table_has_a_row_for_each_entry() -> None:
    answer = matching(HOSPITAL, TRUE, rng=rng())
    shown = answer.to_polars()
    assert shown["pseudonym"].to_list() == ["3", "4", "5", "1", "2"]
    assert shown["crack_probability"].to_list() == answer.findings.cracks.crack_probability.tolist()


# --- files ------------------------------------------------------------------------------------------------------------


def sample(name: str) -> Path:
    return samples.path(f"matching_{name}.csv")


def test_ranges_and_transactions_are_the_hospital_unit() -> None:
    answer = matching(
        frequency_ranges=sample("ranges"), transactions=sample("transactions"), truth=sample("truth"), rng=rng()
    )
    assert answer.findings.cracks.permanent == 18
    assert answer.findings.notes == ()


def test_what_was_left_out_of_the_transactions_is_a_note(tmp_path: Path) -> None:
    twice = tmp_path / "twice.csv"
    twice.write_text(sample("transactions").read_text() + "1,x\n")
    answer = matching(frequency_ranges=sample("ranges"), transactions=twice, truth=sample("truth"), rng=rng())
    assert "repeat a pseudonym" in answer.findings.notes[0]
    assert answer.findings.cracks.permanent == 18


@pytest.mark.parametrize(
    ("files", "match"),
    [
        ({}, "exactly one"),
        ({"guess": "a", "dataflow": "b"}, "2 were given"),
        ({"guess": "a", "equivalent": "b"}, "need the true pseudonyms"),
        ({"frequency_ranges": "a", "truth": "b"}, "none were given"),
        ({"frequency_ranges": "a", "truth": "b", "transactions": "c", "frequencies": "d"}, "both were given"),
    ],
)
def test_files_that_make_no_attack_are_refused(files: dict[str, str], match: str) -> None:
    with pytest.raises(InputError, match=match):
        matching(**files, rng=rng())  # type: ignore[arg-type]
