"""What is read from the folders of studies: values of nodes and calibrated columns, some of them not there."""

from pathlib import Path

import numpy as np
import pytest

from tests.studies.small import small_study
from tests.studies.test_calibrated import plan
from unveil import grade_metrics
from unveil.errors import InputError
from unveil.studies import Results, run_study

RNG = np.random.default_rng


def test_a_study_without_nodes_is_graded_by_means_and_says_so(tmp_path: Path) -> None:
    run_study(small_study(tmp_path, node_values=False), tmp_path / "out", workers=0)
    both = grade_metrics(tmp_path / "out", rng=RNG(1)).findings
    said = "The study 'small' kept no values of nodes: evenness and range are of means over targets alone."
    assert said in both.notes
    assert both.grades.nodes is None
    assert said not in grade_metrics(tmp_path / "out", unit="means", rng=RNG(1)).findings.notes
    with pytest.raises(
        InputError, match=r"the study 'small' kept no node values[.] Run the study again with node_values = true"
    ):
        grade_metrics(tmp_path / "out", unit="nodes", rng=RNG(1))


def test_nodes_and_calibrated_columns_are_those_of_the_files_and_of_studies_that_have_them(tmp_path: Path) -> None:
    calibrated, raw = plan(tmp_path), plan(tmp_path, name="raw", protections=("switch:share=0.3",), calibrate=None)
    for study in (calibrated, raw):
        run_study(study, tmp_path / study.name, workers=0)
    found = grade_metrics(tmp_path / calibrated.name, tmp_path / raw.name, rng=RNG(1)).findings.grades
    results = Results.read(tmp_path / calibrated.name)
    assert found.calibrated is not None
    cases = found.calibrated.raw.scores.values.cases
    assert len(cases) < len(found.values.cases)
    assert {case.protect for case in cases} == set(calibrated.protections)
    one = cases[0]
    own = results.frame.filter(protect=one.protect, attack=one.attack, axis=one.axis)
    for reading, name in ((found.calibrated.raw, "entropy"), (found.calibrated.calibrated, "calibrated.entropy")):
        values = reading.scores.values
        measured = values.values[0, values.metrics.index("entropy")]
        assert np.sort(measured[~np.isnan(measured)]) == pytest.approx(np.sort(own[name].drop_nulls().to_numpy()))
    assert found.nodes is not None
    assert found.calibrated_nodes is not None
    kept = results.nodes.filter(metric="entropy", protect=one.protect, attack=one.attack, axis=one.axis)
    every = [each.nodes.filter(metric="entropy") for each in (results, Results.read(tmp_path / raw.name))]
    low = min(each["lowest"].to_numpy().min() for each in every)
    high = max(each["highest"].to_numpy().max() for each in every)
    scores = found.nodes.scores
    share = scores.shared_range[found.values.cases.index(one), scores.values.metrics.index("entropy")]
    assert share == pytest.approx((kept["highest"].to_numpy().max() - kept["lowest"].to_numpy().min()) / (high - low))
