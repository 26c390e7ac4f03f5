"""Record linkage in an audit: right by definition where the truth is known, and honest where it is not."""

import json

import numpy as np
import polars as pl
import pytest

from tests.questions.audit.example import MASKED, ORIGINAL, ask, noisy, of
from unveil.data.table import Table
from unveil.grades.shipped_grades import shipped_grades
from unveil.report.trust import RELIABILITY


def nearest_by_definition(released: pl.DataFrame, original: pl.DataFrame, truth: list[int]) -> float:
    """Return the chance that a random nearest original row is the true one, mean over released rows: slow and plain."""
    spans = {
        name: max(original[name].max(), released[name].max()) - min(original[name].min(), released[name].min())  # type: ignore[type-var, operator]
        for name in ("age", "income")
    }
    hits = 0.0
    for row, own in zip(released.rows(named=True), truth, strict=True):
        far = [
            sum(abs(row[name] - other[name]) / spans[name] for name in spans)
            + sum(row[name] != other[name] for name in ("sex", "region"))
            for other in original.rows(named=True)
        ]
        best = [at for at, distance in enumerate(far) if distance <= min(far) + 1e-12]
        hits += (own in best) / len(best)
    return hits / released.height


def test_an_identifier_in_both_tables_tells_who_is_right() -> None:
    keyed = ORIGINAL.with_columns(patient=pl.Series([f"p{at}" for at in range(120)]))
    masked = noisy(keyed, 3)
    answer = ask(
        keyed, masked, release_type="masked", targets=None, attacks=["record_linkage"], identifiers=["patient"]
    )
    (found,) = of(answer, "record_linkage")
    truth = [int(name[1:]) for name in masked["patient"]]
    assert found["attack_rate"] == pytest.approx(nearest_by_definition(masked, keyed, truth))
    assert found["baseline"] == pytest.approx(1 / 120)
    assert any("still has the identifier 'patient'" in note for note in answer.findings.notes)


def test_a_release_that_knows_its_truth_needs_no_identifier() -> None:
    from unveil.protections import RankSwapping

    table = Table.from_frame(ORIGINAL, name="original")
    made = RankSwapping().apply(table, rng=np.random.default_rng(1))
    answer = ask(table, made, attacks=["record_linkage"])
    (found,) = of(answer, "record_linkage", made.name)
    assert found["attack_rate"] is not None
    assert found["attack_rate"] > found["baseline"]


def test_without_truth_the_answer_says_so() -> None:
    answer = ask(ORIGINAL, MASKED, release_type="masked", attacks=["record_linkage"])
    (found,) = of(answer, "record_linkage")
    assert found["attack_rate"] is None
    payload = json.loads(answer.to_json())["releases"][0]["attacks"][0]
    assert payload["values"].keys() >= {"entropy", "anonymity_set_size", "sure"}
    assert "incorrectness" not in payload["values"]
    assert payload["reliability"] == {
        name: {"tables": RELIABILITY[shipped_grades()["tables"].metrics[name].verdict]}
        for name in payload["values"]
        if name != "sure"
    }


def test_what_leaves_no_candidates_is_trusted_as_far_as_it_orders_releases() -> None:
    answer = ask(ORIGINAL, MASKED, attacks=["copies"])
    grade = RELIABILITY[shipped_grades()["releases"].metrics["copies.attack_rate"].verdict]
    trust = [each["reliability"] for each in json.loads(answer.to_json())["releases"][0]["attacks"]]
    assert trust == [{"attack_rate": {"releases": grade}}]
