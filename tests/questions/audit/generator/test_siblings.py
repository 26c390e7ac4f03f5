"""Runs of a generator as sibling releases: compared with loops over people, and with planted copies."""

import json
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.questions.audit.example import people
from tests.questions.audit.generator.test_run import FEW, found, unrelated
from unveil.data.table import Table
from unveil.errors import InputError
from unveil.questions.audit.answer import audit
from unveil.questions.audit.generator.findings import RunSiblings
from unveil.questions.audit.reference.calibration import CalibrationReleases, calibrated_scores
from unveil.report.blocks import NextStep

PEOPLE = people(120, 1).with_columns(weight=np.random.default_rng(3).integers(0, 10**6, 120))


def leaky(frame: pl.DataFrame, rng: np.random.Generator) -> pl.DataFrame:
    """Return other people, and a tenth of the given ones."""
    copied = frame[rng.permutation(frame.height)[: frame.height // 10]]
    others: pl.DataFrame = unrelated(frame, rng)
    return pl.concat([others[: frame.height - copied.height], copied])


def siblings_of(generator: Any, **settings: Any) -> RunSiblings:
    made = found(generator, frame=PEOPLE, **{"attacks": ["copies"], **settings}).way.siblings
    assert isinstance(made, RunSiblings)
    return made


def table(values: Any) -> Table:
    return Table.from_frame(pl.DataFrame({"x": values}))


def scores(release: Table, tables: Any) -> Any:
    """Score people by the sum of a release plus themselves."""
    total = float(release.series("x").to_numpy().sum())
    values = [each.series("x").to_numpy() for each in tables]
    return [{"sum": total + each, "twice": 2 * total + each} for each in values]


@given(st.data())
def test_calibrated_scores_are_own_ones_minus_the_mean_over_siblings(data: Any) -> None:
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    sizes = [data.draw(st.integers(1, 4)) for _ in range(2)]
    every, number = sum(sizes), data.draw(st.integers(1, 3))
    releases = [table(rng.integers(0, 9, 3)) for _ in range(4)]
    compared = np.zeros((every, 4), np.bool_)
    for row in compared:
        row[rng.permutation(4)[:number]] = True
    rows = np.split(rng.permutation(every), [sizes[0]])
    parts = [table(rng.integers(0, 9, size)) for size in sizes]
    own = scores(table([5, 6]), parts)
    made = calibrated_scores(own, parts, rows, CalibrationReleases(releases=tuple(releases), compared=compared), scores)
    for part, mine, old, some in zip(parts, made, own, rows, strict=True):
        for place, row in enumerate(some):
            theirs = [scores(releases[at], [part])[0]["twice"][place] for at in np.flatnonzero(compared[row])]
            assert mine["twice"][place] == pytest.approx(old["twice"][place] - np.mean(theirs))


def test_runs_that_copy_their_people_are_told_from_others() -> None:
    guilty, plain = siblings_of(leaky, runs=4), siblings_of(unrelated, runs=4)
    assert guilty.smallest_p == plain.smallest_p == pytest.approx(1 / 24)
    assert guilty.p == guilty.smallest_p
    assert plain.p > 0.045
    assert guilty.number == plain.number == 1
    assert guilty.auc > 0.52
    assert guilty.auc_calibrated > 0.52
    assert plain.auc_calibrated == pytest.approx(0.5, abs=0.08)


def test_few_runs_are_not_tested_and_the_same_people_held_out_are_no_siblings() -> None:
    made = siblings_of(leaky, runs=3)
    assert np.isnan([made.p, made.smallest_p, made.auc_calibrated]).all()
    assert made.auc > 0.5
    assert made.number == 0
    assert found(leaky, frame=PEOPLE, runs=3, holdout=0.3).way.siblings is None
    assert found(leaky, frame=PEOPLE).way.siblings is None


def test_many_runs_draw_assignments() -> None:
    made = siblings_of(leaky, runs=9)
    assert made.p == made.smallest_p == pytest.approx(1 / 10_001)
    assert made.number == 3


def test_folds_with_several_rounds_calibrate_too() -> None:
    made = siblings_of(leaky, folds=3, runs=2, attacks=["membership"])
    assert made.number == 1
    assert made.p <= 0.045


@pytest.mark.parametrize("settings", [{"runs": 4}, {"runs": 5}, {"folds": 3, "runs": 2}], ids=str)
def test_membership_is_found_with_calibrated_scores_and_not_without_a_leak(settings: Any) -> None:
    guilty, harmless = (found(each, frame=PEOPLE, attacks=FEW, **settings) for each in (leaky, unrelated))
    assert "membership" in {each.attack for each in guilty.verdict.releases[0].proved}
    assert harmless.verdict.releases[0].proved == ()


def test_a_mask_calibrates_too() -> None:
    masked = audit(
        PEOPLE.drop("weight"), generator="mondrian:k=5", runs=4, attacks=["membership"], rng=np.random.default_rng(1)
    ).findings.way
    assert masked is not None
    assert masked.siblings is not None
    assert masked.siblings.number == 1
    assert masked.siblings.p <= 1


def test_the_report_states_what_runs_were_used_for() -> None:
    answer = audit(
        PEOPLE,
        generator=leaky,
        runs=8,
        attacks=["copies", "membership"],
        release_type="synthetic",
        rng=np.random.default_rng(1),
    )
    (section,) = (each for each in answer.page().sections if each.heading == "Generator")
    assert "Each of 8 runs of the generator was given a random half of the people." in section.lead
    assert "calibrated by 3 runs without this person (sibling releases)" in section.lead
    assert "Test with the run as unit" in section.lead
    told = json.loads(answer.to_json())["generator"]["siblings"]
    assert told["number"] == 3
    assert told["p"] <= 0.045
    assert f"calibrated {told['auc_calibrated']:.2f}" in answer.to_html(redacted=True)


@pytest.mark.parametrize(
    ("settings", "option"),
    [({}, "--runs 8"), ({"folds": 3}, "--runs 3"), ({"runs": 4}, "--runs 8"), ({"runs": 8}, "")],
    ids=str,
)
def test_more_runs_are_suggested_where_nothing_was_found(settings: Any, option: str) -> None:
    answer = audit(
        PEOPLE,
        generator=unrelated,
        attacks=["copies"],
        release_type="synthetic",
        rng=np.random.default_rng(1),
        **settings,
    )
    steps = [each for each in answer.page().next_steps if each.startswith("Run the generator")]
    assert [each.option for each in steps if isinstance(each, NextStep)] == ([option] if option else [])
    if settings == {"folds": 3}:
        assert steps == ["Run the generator 9 times: more runs find smaller leaks."]


def test_a_run_without_a_column_is_refused() -> None:
    made = []

    def forgetful(frame: pl.DataFrame, rng: np.random.Generator) -> pl.DataFrame:
        made.append(1)
        rows: pl.DataFrame = unrelated(frame, rng)
        return rows.drop("region") if len(made) == 3 else rows

    with pytest.raises(InputError, match="Run 3 of the generator left out 'region'"):
        found(forgetful, frame=PEOPLE, runs=4)


def test_runs_may_hold_different_values() -> None:
    def generator(frame: pl.DataFrame, rng: np.random.Generator) -> pl.DataFrame:
        rows: pl.DataFrame = unrelated(frame, rng)
        # Of some runs, 0 and 1 are all values; beside a 2 they are no truth values.
        most = 2 + int(rng.integers(2))
        return rows.with_columns(flag=pl.Series([str(place % most) for place in range(rows.height)]))

    frame = PEOPLE.with_columns(
        flag=pl.Series([str(place % 3) if place < 6 else str(place % 2) for place in range(120)])
    )
    made = found(generator, frame=frame, runs=6, attacks=["membership"]).way.siblings
    assert made.number == 2
    assert 0 < made.p <= 1
