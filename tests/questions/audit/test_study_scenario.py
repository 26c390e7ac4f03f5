"""A whole audit as a scenario: its numbers are those of the audit, and its risk is beyond what strangers reach."""

import json
from dataclasses import replace
from math import isnan, nan
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from tests.studies.given import index, people, study_file
from unveil.data.table import Table
from unveil.metrics.trials.risk import CONFIDENCE, clopper_pearson, excess
from unveil.questions.audit.answer import audit
from unveil.questions.audit.findings import AttackFinding, AttackScenario
from unveil.questions.audit.study_scenario import WholeAudit, numbers_of, risks_of
from unveil.studies import Results, Study, run_study
from unveil.studies.existing_release import ExistingTables

FEW = WholeAudit(guesses=50, without=("before", "memory", "membership"))


def tables(released: pl.DataFrame, control: pl.DataFrame | None = None) -> ExistingTables:
    read = [
        None if each is None else Table.from_frame(each, name=name)
        for each, name in ((people(300), "original"), (released, "release"), (control, "control"))
    ]
    return ExistingTables("made", read[0], read[1], read[2], None)  # type: ignore[arg-type]


def test_the_numbers_are_those_of_the_audit() -> None:
    given = tables(people(300, seed=5))
    found = FEW.measure(given, rng=np.random.default_rng(1))
    attacks = ["singling_out", "linkability", "inference", "copies", "closest_record", "row_order"]
    answer = audit(
        given.original,
        {"made": given.released},
        attacks=attacks,
        predicates=50,
        threads=1,
        rng=np.random.default_rng(1),
    )
    for name, quantity in answer.quantities.items():
        if name.split(".")[0] in attacks and name in FEW.columns:
            assert found[name] == pytest.approx(quantity.value, nan_ok=True), name
    assert set(found) <= set(FEW.columns)
    assert found["verdict.compared"] == 0
    assert isnan(found["risk.together"])


def test_everybody_released_is_found_out_beside_a_control() -> None:
    found = FEW.measure(tables(people(300), people(300, seed=8)), rng=np.random.default_rng(1))
    assert found["verdict.compared"] == 1
    assert found["risk.low"] > 0.5
    assert found["copies.attack_rate"] == 1
    assert found["utility.loss"] < 0.05


def test_an_order_that_was_kept_is_a_risk_without_a_control() -> None:
    asked = replace(FEW, without=(*FEW.without, "singling_out"))
    kept, lots = (
        asked.measure(tables(each), rng=np.random.default_rng(1))
        for each in (people(300), people(300).sample(fraction=1.0, shuffle=True, seed=1))
    )
    assert kept["risk.who.low"] > 0.5
    assert lots["risk.who.low"] < 0.05


def test_a_secret_is_remembered_beyond_whoever_is_taught_best_by_others() -> None:
    answer = audit(people(300), people(300, seed=4), attacks=["memory"], rng=np.random.default_rng(1))
    release = answer.findings.releases[0]
    rates = risks_of(answer.findings, release)
    pairs = []
    for finding in release.findings:
        role = finding.scenario.name.partition(":")[0] if finding.scenario else ""
        if role in ("most memorization", "best inference") and not finding.is_mean:
            taught = next(each for each in release.findings if _is_taught(each, finding.secret))
            pairs.append((finding.risk.attack_rate, taught.risk.attack_rate))
    confidence = 1 - (1 - CONFIDENCE) / (len(pairs) + 1)
    wanted = [
        excess(*(clopper_pearson(rate.value * rate.tries, rate.tries, confidence=confidence) for rate in pair))
        for pair in pairs
    ]
    beside = zip(wanted, (other.value for _, other in pairs), strict=True)
    lows = [rate.low for rate, other in beside if 1 - other >= 0.1 and rate.high - rate.low <= 0.5]
    assert rates["secret"].low == pytest.approx(max(lows, default=nan), nan_ok=True)
    assert pairs


def _is_taught(finding: AttackFinding, secret: str) -> bool:
    who: AttackScenario | None = finding.scenario
    return finding.secret == secret and who is not None and who.name.startswith("trained on other people")


def test_figures_to_be_graded_are_columns() -> None:
    graded = WholeAudit().graded
    assert set(graded) <= set(WholeAudit().columns)
    assert graded["linkability.attack_rate"] is True
    assert graded["closest_record.median"] is False
    assert graded["utility.loss"] is False
    assert not [name for name in graded if name.endswith((".high", "naive_rate", "control_rate"))]


def test_a_study_runs_whole_audits(tmp_path: Path) -> None:
    index(tmp_path)
    written = "audit:guesses=20,without=before,memory,membership,inference,attribute_disclosure"
    path = study_file(tmp_path, attacks=json.dumps([written]))
    summary = run_study(Study.read(path), tmp_path / "out", workers=0)
    assert (summary.done, summary.failed) == (3, 0)
    frame = Results.read(tmp_path / "out").frame
    assert frame["people"].to_list() == [30.0, 60.0, 60.0]
    assert frame["columns"].to_list() == [4.0, 3.0, 3.0]
    # Only the part of the original has people who were not released.
    assert frame["verdict.compared"].to_list()[1:] == [0.0, 0.0]
    assert frame["copies.expected"].is_null().to_list() == [False, True, True]


def test_numbers_of_an_audit_without_usefulness() -> None:
    answer = audit(people(80), people(80, seed=2), attacks=["copies"], rng=np.random.default_rng(1))
    found = numbers_of(answer.findings)
    assert "utility.column_loss" not in found
    assert found["people"] == 80
