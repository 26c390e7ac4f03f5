"""Values by case, metric, level and replication: as the rows of the results say, whatever is missing from them."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from tests.studies.small import GUESS, METRICS, small_study
from unveil.errors import InputError
from unveil.grades.replicated_metrics import GradedCase, ReplicatedMetrics
from unveil.metrics import METRICS as LISTED
from unveil.studies import Axis, DataSet, Replications, Results, Study, run_study
from unveil.studies.stored_results import KEYS

AXES = (Axis("seed_pairs", (2, 5, 7)), Axis("overlap", (0.5, 0.9)))


def made_up(folder: Path, *, seed: int = 1, most: int = 4, without: tuple[int, ...] = (), **changes: Any) -> Results:
    """Return results that were never computed: random numbers, some null, and any number of replications.

    ``without`` has the scenarios that failed.
    """
    study: Study = small_study(folder, **{"axes": AXES, **changes})
    every = study.scenarios()
    fine = tuple(each for number, each in enumerate(every) if number not in without)
    results = Results(
        folder=folder,
        study=study,
        scenarios=every,
        fine=fine,
        failed=tuple(each for each in every if each not in fine),
        damaged=(),
        missing=(),
    )
    rng = np.random.default_rng(seed)
    rows: list[dict[str, Any]] = []
    for scenario in fine:
        keys = dict(zip(KEYS, (scenario.data.name, *(getattr(scenario, name) for name in KEYS[1:])), strict=True))
        for replication in range(int(rng.integers(1, most + 1))):
            numbers = {name: None if rng.random() < 0.2 else float(rng.normal()) for name in results.metrics}
            rows.append({**keys, "replication": replication, **numbers})
    schema = dict.fromkeys(KEYS[:-1], pl.String) | {"level": pl.Float64, "replication": pl.UInt32}
    results.__dict__["frame"] = pl.DataFrame(rows, schema=schema | dict.fromkeys(results.metrics, pl.Float64))
    return results


def assert_as_rows(found: ReplicatedMetrics, *studies: Results) -> None:
    """Look every row up, and see that there is nothing else."""
    seen = 0
    for study in studies:
        levels = {axis.name: axis.levels for axis in study.study.axes}
        for row in study.frame.iter_rows(named=True):
            case = GradedCase(*(row[name] for name in KEYS[:-1]))
            place = found.cases.index(case)
            assert found.levels[place] == levels[case.axis]
            for metric, name in enumerate(found.metrics):
                value = found.values[place, metric, levels[case.axis].index(row["level"]), row["replication"]]
                assert (None if np.isnan(value) else value) == row[name]
                seen += row[name] is not None
    assert (~np.isnan(found.values)).sum() == found.replications.sum() == seen


def test_values_are_those_of_the_rows(tmp_path: Path) -> None:
    study = small_study(tmp_path, axes=AXES, fixed={"seed_pairs": 5}, attacks=(GUESS, "tests.studies.own:Idle"))
    run_study(study, tmp_path / "out", workers=0)
    results = Results.read(tmp_path / "out")
    found = ReplicatedMetrics.of(results)
    assert found.values.shape == (2 * 2 * 2, 3, 3, 3)
    assert found.metrics == results.metrics
    assert set(found.metrics) == set(METRICS)
    assert found.rising.tolist() == [LISTED[name].more_means == "less private" for name in found.metrics]
    assert found.rising.any()
    assert not found.rising.all()
    assert found.cases[0] == GradedCase("small", "id-removal", GUESS, "seed_pairs")
    assert {each.axis for each in found.cases} == {"seed_pairs", "overlap"}
    assert_as_rows(found, results)


@pytest.mark.parametrize("seed", range(3))
def test_levels_and_replications_may_differ_or_be_missing(tmp_path: Path, seed: int) -> None:
    # Scenario 1 is one level, 3 and 4 all levels of a case.
    results = made_up(tmp_path, seed=seed, without=(1, 3, 4), data=named(tmp_path, "one", "two"))
    found = ReplicatedMetrics.of(results)
    assert len(found.cases) == 2 * 2 * 2 - 1
    assert np.isnan(found.values[0, :, 1]).all()
    assert found.levels[0] == (2, 5, 7)
    assert_as_rows(found, results)
    # Nothing hangs on the order of the rows.
    results.__dict__["frame"] = results.frame.sample(fraction=1, shuffle=True, seed=seed)
    np.testing.assert_array_equal(ReplicatedMetrics.of(results).values, found.values)


def named(folder: Path, *names: str) -> tuple[DataSet, ...]:
    """Return data sets of these names."""
    return tuple(DataSet(name, "graph", str(folder / f"{name}.csv")) for name in names)


def test_failed_and_missing_scenarios_of_a_real_study(tmp_path: Path) -> None:
    study = small_study(
        tmp_path,
        axes=AXES[:1],
        attacks=("tests.studies.own:Failing:seeds=5", "tests.studies.own:Failing"),
        metrics=METRICS,
    )
    run_study(study, tmp_path / "out", workers=0)
    results = Results.read(tmp_path / "out")
    (results.folder / "results" / results.fine[0].file_name).unlink()
    results = Results.read(tmp_path / "out")
    assert (len(results.fine), len(results.failed), len(results.missing)) == (3, 8, 1)
    found = ReplicatedMetrics.of(results)
    assert [each.attack for each in found.cases] == ["tests.studies.own:Failing:seeds=5"] * 2
    assert (found.replications > 0).any(axis=1).tolist() == [[False, False, True], [True, False, True]]
    assert_as_rows(found, results)


def test_one_replication(tmp_path: Path) -> None:
    run_study(small_study(tmp_path, replications=Replications(number=1)), tmp_path / "out", workers=0)
    found = ReplicatedMetrics.of(Results.read(tmp_path / "out"))
    assert found.values.shape[3] == 1
    np.testing.assert_array_equal(found.means, found.values[..., 0])


def test_several_studies_share_metrics_and_are_padded(tmp_path: Path) -> None:
    first = made_up(tmp_path, most=2, metrics=("entropy", "adversary_success_rate", "max_entropy"))
    second = made_up(
        tmp_path,
        most=6,
        metrics=("adversary_success_rate", "entropy"),
        axes=(Axis("seed_pairs", (1, 2, 3, 4)),),
        data=named(tmp_path, "other"),
    )
    found = ReplicatedMetrics.of(first, second)
    assert set(found.metrics) == {"entropy", "adversary_success_rate"}
    assert len(found.cases) == 4 + 2
    assert found.values.shape[2] == 4
    assert [len(each) for each in found.levels] == [3, 2, 3, 2, 4, 4]
    assert_as_rows(found, first, second)


def test_what_cannot_be_graded_is_refused(tmp_path: Path) -> None:
    results = made_up(tmp_path)
    with pytest.raises(InputError, match="at least one study"):
        ReplicatedMetrics.of()
    with pytest.raises(InputError, match="each case must be in one study only"):
        ReplicatedMetrics.of(results, made_up(tmp_path, seed=2))
    with pytest.raises(InputError, match="must have a metric in common"):
        ReplicatedMetrics.of(made_up(tmp_path, metrics=("entropy",)), made_up(tmp_path, metrics=("max_entropy",)))
    with pytest.raises(InputError, match="must have results before its metrics can be graded"):
        ReplicatedMetrics.of(made_up(tmp_path, without=tuple(range(99))))
    # One without any results adds nothing.
    empty = made_up(tmp_path, without=tuple(range(99)), data=named(tmp_path, "empty"))
    both = ReplicatedMetrics.of(results, empty)
    assert_as_rows(both, results)


def test_means_leave_out_what_is_missing(tmp_path: Path) -> None:
    found = ReplicatedMetrics.of(made_up(tmp_path, most=3))
    for at in np.ndindex(found.values.shape[:3]):
        known = found.values[at][~np.isnan(found.values[at])]
        assert found.means[at] == pytest.approx(known.mean() if known.size else np.nan, nan_ok=True)
        assert found.replications[at] == known.size


def test_some_of_the_cases_and_metrics(tmp_path: Path) -> None:
    found = ReplicatedMetrics.of(made_up(tmp_path))
    rows = np.array([each.axis == "overlap" for each in found.cases])
    some = found.only(cases=rows, metrics=("adversary_success_rate", "entropy"))
    assert some.metrics == ("adversary_success_rate", "entropy")
    assert some.rising.tolist() == [True, False]
    assert {each.axis for each in some.cases} == {"overlap"}
    assert some.values.shape[2] == 2
    places = [found.metrics.index(name) for name in some.metrics]
    np.testing.assert_array_equal(some.values, found.values[rows][:, places, :2])
    np.testing.assert_array_equal(found.only(cases=np.flatnonzero(rows)).values, found.values[rows][:, :, :2])
    assert found.only(cases=np.zeros(len(rows), bool)).values.shape[:3] == (0, 3, 0)
    np.testing.assert_array_equal(found.only().values, found.values)


def test_values_must_have_the_right_shape_and_cannot_be_changed(tmp_path: Path) -> None:
    found = ReplicatedMetrics.of(made_up(tmp_path))
    with pytest.raises(InputError, match=r"4 cases, 3 metrics and 3 levels must be an array of that shape"):
        replace(found, values=found.values[:, :, :2])
    with pytest.raises(InputError, match="must be an array of that shape"):
        replace(found, rising=found.rising[:1])
    with pytest.raises(ValueError, match="read-only"):
        found.values[0, 0, 0, 0] = 1
    own = found.values.copy()
    replace(found, values=own)
    own[:] = 0
