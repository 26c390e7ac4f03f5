"""How long a study will take: by sizes before it begins, by what was measured from then on."""

from collections import Counter
from dataclasses import replace
from math import isnan, nan
from pathlib import Path

import pytest

from tests.studies.small import looked_at, small_graph, small_study
from unveil.studies import Axis, DataSet, Replications, Study, run_study
from unveil.studies.times import RunForecast, kind_of, seconds_by_size, times_in


@pytest.fixture
def study(tmp_path: Path) -> Study:
    data = (
        DataSet("small", "graph", str(small_graph(tmp_path))),
        DataSet("large", "graph", str(small_graph(tmp_path, nodes=400, name="large.csv"))),
    )
    return looked_at(small_study(tmp_path, data=data))


def test_larger_graphs_more_replications_and_calibration_take_longer(study: Study) -> None:
    small, large = (seconds_by_size(study, each) for each in study.data)
    # 3 replications of 0.02 s, 20 µs for each of 40 nodes and 1.5 µs for each of its edges.
    assert small == pytest.approx(3 * (0.02 + 40 * 20e-6), rel=0.02)
    assert large > small
    twice = replace(study, replications=Replications(number=6))
    assert seconds_by_size(twice, study.data[0]) == pytest.approx(2 * small)
    for how, times in (("simulate", 3), ("seeds", 6)):
        calibrated = replace(study, calibrate=how, calibrate_draws=2)
        assert seconds_by_size(calibrated, study.data[0]) == pytest.approx(times * small)
    gone = DataSet("gone", "graph", "/no/such/graph.csv")
    assert seconds_by_size(study, gone) == 0.0
    assert isnan(seconds_by_size(study, DataSet("people", "table", "sample:anes96")))


def test_a_forecast_goes_from_sizes_to_what_was_measured(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    scenarios = study.scenarios()
    small, large = kind_of(scenarios[0]), kind_of(scenarios[-1])
    seen: list[tuple[int, int, float]] = []
    now = [100.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    forecast = RunForecast(
        progress=lambda *each: seen.append(each),
        total=8,
        reused=0,
        workers=2,
        left=Counter({small: 4, large: 4}),
        by_size={"small": 1.0, "large": 10.0},
        began=now[0],
    )
    forecast.report()
    assert seen[-1] == (0, 8, 44 / 2)
    # The first takes three times as long as its size suggests: so will all others.
    now[0] += 3.0
    forecast.report((scenarios[0], 3.0))
    assert seen[-1] == (1, 8, 3 * 3.0 + 4 * 30.0)
    # A large one takes less than that; and two workers did 8 seconds of work in 4.
    now[0] += 1.0
    forecast.report((scenarios[-1], 5.0))
    assert seen[-1][:2] == (2, 8)
    assert seen[-1][2] == pytest.approx((3 * 3.0 + 3 * 5.0) * 4.0 / 8.0)
    for each in (*scenarios[1:4], *scenarios[4:7]):
        forecast.report((each, 1.0))
    assert seen[-1] == (8, 8, 0.0)


def test_where_sizes_say_nothing_the_first_scenarios_do(study: Study) -> None:
    scenarios = study.scenarios()
    seen: list[float] = []
    forecast = RunForecast(
        lambda *each: seen.append(each[2]), 8, 0, 1, Counter(map(kind_of, scenarios)), {"small": nan}
    )
    forecast.report()
    assert isnan(seen[-1])
    forecast.began -= 10.0
    forecast.report((scenarios[0], 2.0))
    assert seen[-1] == pytest.approx(7 * 10.0, rel=0.01)
    # Scenarios that fail at once say how fast failing is.
    failing = RunForecast(lambda *each: seen.append(each[2]), 8, 0, 1, Counter(map(kind_of, scenarios)), {})
    failing.began -= 7.0
    failing.report((scenarios[0], 0.0))
    assert seen[-1] == 0.0


def test_a_resumed_run_knows_how_long_scenarios_took(study: Study, tmp_path: Path) -> None:
    out, seen = tmp_path / "out", list[float]()
    run_study(study, out, workers=0)
    files = {each.file_name for each in study.scenarios()}
    taken = times_in(out, files)
    assert set(taken) == files
    assert times_in(tmp_path, files) == {}
    for each in study.scenarios()[:2]:
        (out / "results" / each.file_name).unlink()
    run_study(study, out, workers=0, resume=True, progress=lambda *each: seen.append(each[2]))
    same = [taken[each.file_name].seconds for each in study.scenarios()[2:4]]
    assert seen[0] == pytest.approx(2 * sum(same) / 2)
    assert seen[-1] == 0.0


def test_a_study_of_tables_begins_without_a_projection(tmp_path: Path) -> None:
    plan = small_study(
        tmp_path,
        data=(DataSet("people", "table", "sample:anes96", known=("age", "education")),),
        protections=("shuffle",),
        attacks=("record-linkage",),
        axes=(Axis("known_columns", (1, 2)),),
        metrics=("entropy",),
        replications=Replications(number=1),
    )
    seen: list[float] = []
    run_study(plan, tmp_path / "out", workers=0, progress=lambda *each: seen.append(each[2]))
    assert isnan(seen[0])
    assert seen[1] > 0
    assert seen[-1] == 0.0
