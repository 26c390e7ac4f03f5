"""The partition question in Python: what goes in, and what the answer gives back."""

import json
import math

import numpy as np
import pandas as pd
import polars as pl
import pytest

import unveil
from tests.approved.sentences import Approved
from unveil.errors import InputError
from unveil.guesses import Partition, View
from unveil.questions.unlinkability.answer import unlinkability

TRUTH = ["Alice"] * 5 + ["Bob"] * 2
GUESS = ["p", "p", "p", "q", "q", "p", "r"]


@pytest.mark.parametrize("kind", [list, np.array, pd.Series, pl.Series, Partition.from_labels])
def test_labels_of_any_kind_give_the_same_answer(kind: type) -> None:
    answer = unlinkability(kind(GUESS), kind(TRUTH))
    assert answer.findings.result.miss.tolist() == [2.5, 1.0]


def test_settings_reach_the_measure_and_the_grid() -> None:
    answer = unlinkability(GUESS, TRUTH, alpha=1, beta=0.9, contamination_desirable=True, weights={0: 0.5})
    plain = unlinkability(GUESS, TRUTH, alpha=1, beta=0.9)
    assert answer.findings.result.linked0[0] == pytest.approx(2.5 / 4.5)
    assert plain.findings.result.linked0[0] == pytest.approx(3 / 5)
    sliders = answer.page().sections[-1].blocks[0]
    assert type(sliders).__name__ == "Playground"
    assert answer.to_html() != plain.to_html()


def test_json_has_the_promised_fields_and_null_for_undefined() -> None:
    answer = unlinkability(GUESS, TRUTH, beta=0.1, rng=np.random.default_rng(0))
    limit = {"quantity": "risk_slope", "limit": 0.5, "value": None, "exceeded": True}
    found = json.loads(answer.to_json(seed=0, limits=[limit]))
    assert found["schema"] == "unveil.unlinkability/2"
    assert (found["n"], found["subjects"], found["alpha"], found["beta"]) == (7, 2, 0.5, 0.1)
    assert found["overall"]["risk_slope"] is None
    assert found["overall"]["breached_subjects"] == 2
    assert found["overall"]["linked"] == [0.45, 1.0, 1.0]
    assert set(found["distances"]) >= {"voi", "voi_normalized", "rand", "adjusted_rand", "mtd", "mtd_normalized"}
    assert [row["subject"] for row in found["per_subject"]] == ["Alice", "Bob"]
    assert found["per_subject"][0]["risk_slope"] is None
    assert found["limits"][0]["exceeded"] is True
    assert (found["random_guessing"]["draws"], found["random_guessing"]["guesser"]) == (200, "uniform")
    assert found["views"] is None
    assert found["forecast"]["draws"] == 200


def test_any_subject_is_in_json_with_its_graphs_and_its_forecast() -> None:
    for subject in ("Bob", 1):
        answer = unlinkability(GUESS, TRUTH, subject=subject, merge_order="cheapest", split_odds=0, beta=0.9)
        told = json.loads(answer.to_json())["subject"]
        assert told["subject"] == "Bob"
        assert (told["linked"], told["mixed"]) == ([0.5, 1.0], [0.0, 0.6])
        assert (told["others_after"], told["effective_others_after"]) == ([0.0, 1.0], [0.0, 1.0])
        # The paper's order: the forecast is the risk slope, whatever is drawn.
        assert told["forecast"]["risk_slope"] == pytest.approx(told["risk_slope"])
        chooser = answer.page().sections[0].data[0].choosers[0]  # type: ignore[union-attr]
        assert chooser.texts[chooser.start] == "Bob"
    with pytest.raises(InputError, match="neither a name"):
        unlinkability(GUESS, TRUTH, subject="Carol")


def test_guessers_are_named_wherever_they_stand(approved: Approved) -> None:
    sizes = unlinkability(GUESS, TRUTH, baseline="sizes")
    assert any("cluster sizes of the attacker" in sentence for sentence in sizes.page().method)
    prior = unlinkability(GUESS, TRUTH, prior=["x"] * 7)
    assert prior.findings.reference.breached_share == 1
    approved(prior.page().headline)
    assert prior.page().picture[1].columns[2] == "The attacker's prior"  # type: ignore[union-attr]
    assert "andom guessing" not in prior.to_html()
    unsure = unlinkability(
        GUESS, TRUTH, prior=View([Partition.from_labels(GUESS), Partition.from_labels(TRUTH)], [0.5, 0.5])
    )
    approved(unsure.page().picture[1].columns[2])  # type: ignore[union-attr]


def test_a_view_says_what_each_of_its_partitions_says_alone() -> None:
    view = View([Partition.from_labels(GUESS), Partition.from_labels(TRUTH)], ["3/4", "1/4"])
    answer = unlinkability(view, TRUTH)
    row = answer.to_polars().row(0, named=True)
    assert row["breached_probability"] == 0.25
    assert (row["linked0_low"], row["linked0_high"]) == (0.4, 1.0)
    told = json.loads(answer.to_json())
    shares = next(each for each in told["views"]["ranges"] if each["quantity"] == "breached_share")
    assert (shares["mean"], shares["low"], shares["high"]) == (0.25, 0.0, 1.0)
    assert told["subject"]["risk_slope_high"] is None
    subjects, _, sensitivity = answer.page().sections
    assert sensitivity.data[1].caption == "Each partition of the attacker alone"  # type: ignore[union-attr]
    table = subjects.blocks[0]
    assert (table.columns[-1], table.rows[0][-1]) == ("P(breached)", "25.0%")  # type: ignore[union-attr,index]
    values = subjects.data[0].data["values"]["forecast"]  # type: ignore[union-attr]
    assert all("breached from the start" in each for each in values)


def test_where_clusters_are_crowded_some_subjects_are_forecast_and_a_note_says_so(
    monkeypatch: pytest.MonkeyPatch,
    approved: Approved,
) -> None:
    monkeypatch.setattr("unveil.questions.unlinkability.run._MOST_LOOKS", 100)
    rng = np.random.default_rng(1)
    answer = unlinkability(rng.integers(0, 5, 60), rng.integers(0, 12, 60), rng=rng)
    found = answer.findings
    assert found.others is None
    assert found.forecast.subjects.size == 1
    approved(found.notes)
    assert "others_after" not in json.loads(answer.to_json())["subject"]
    assert "forecast" not in {output.name for output in answer.page().sections[0].data[0].outputs}  # type: ignore[union-attr]


def test_a_breach_is_undefined_for_limits_whatever_is_shown() -> None:
    for at_breach in ("nan", "limit"):
        quantity = unlinkability(GUESS, TRUTH, beta=0.1, at_breach=at_breach).quantities["risk_slope"]
        assert math.isnan(quantity.value)
        assert quantity.exceeded_when_undefined


def test_the_plot_draws_the_numbers() -> None:
    answer = unlinkability(GUESS, TRUTH)
    (axes,) = answer.plot()
    assert "share of a subject's items" in axes.get_xlabel()


def test_a_view_and_progress() -> None:
    steps: list[tuple[str, float]] = []
    view = View([Partition.from_labels(GUESS), Partition.from_labels(TRUTH)], ["1/2", "1/2"])
    answer = unlinkability(view, TRUTH, rng=np.random.default_rng(0), progress=lambda *step: steps.append(step))
    assert answer.findings.result.miss.tolist() == [1.25, 0.5]
    assert [share for _, share in steps] == sorted(share for _, share in steps)
    assert steps[-1][1] == 1


def test_different_items_are_refused() -> None:
    with pytest.raises(InputError, match="one has 2 and the other 7"):
        unveil.unlinkability(["x", "y"], TRUTH)


def test_the_subject_shown_is_given_by_its_name_or_its_index() -> None:
    labels = Partition.from_labels([0, 0, 1, 1, 2]), Partition.from_labels(["A", "B", "B", "C", "C"])
    assert [unlinkability(*labels, subject=subject).findings.shown for subject in ("B", 1)] == [1, 1]
    for wrong in ("D", 3, -4, 1.5):
        with pytest.raises(InputError, match="neither a name nor an index from 0 to 2"):
            unlinkability(*labels, subject=wrong)


def test_who_guesses_and_how_often_can_be_chosen() -> None:
    answer = unlinkability(GUESS, TRUTH, baseline="growing", draws=7)
    found = json.loads(answer.to_json())["random_guessing"]
    assert (found["guesser"], found["draws"]) == ("growing", 7)
    assert "each starts a cluster or joins one" in answer.to_html()
    uniform = json.loads(unlinkability(GUESS, TRUTH, draws=7).to_json())["random_guessing"]
    assert uniform["miss"] != found["miss"]
