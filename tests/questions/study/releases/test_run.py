"""Audits of given releases put together, against the same counted one by one, and the page they come to."""

import json
from math import isnan
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from tests.approved.sentences import Approved
from tests.studies.given import people
from unveil.questions.result import Result
from unveil.questions.study.answer import study_report
from unveil.questions.study.releases.findings import ReleasesFindings
from unveil.questions.study.releases.run import spread_of
from unveil.questions.study.releases.sections.epsilon import epsilon_table, grade_table
from unveil.questions.study.releases.sections.techniques import (
    cell_table,
    comparison_table,
    release_table,
    summary_table,
)
from unveil.studies import Results, Study, run_study
from unveil.studies.audit_columns import LINKED, LOSS

AUDIT = "audit:guesses=20,without=before,memory,membership,inference,attribute_disclosure"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run a study of six releases by two techniques, one of them with two epsilons."""
    home = tmp_path_factory.mktemp("releases")
    original = people(120)
    original.write_csv(home / "people.csv")
    told = []
    for number, (technique, epsilon) in enumerate(
        [("noise", "1"), ("noise", "10"), ("noise", "1"), ("noise", "10"), ("copy", ""), ("copy", "")]
    ):
        released = people(120, seed=number + 2)
        if technique == "copy" or epsilon == "10":
            some = 60 if technique == "copy" else 20
            released = pl.concat([original[:some], released[some:]])
        # Two feature sets, so that a technique has two groups.
        few = number % 4 > 1
        (released.drop("sex") if few else released).sample(fraction=1.0, shuffle=True, seed=1).write_csv(
            home / f"{number}.csv"
        )
        told.append(
            {"file": f"{number}.csv", "original": "people", "technique": technique, "epsilon": epsilon}
            | {"features": "few" if few else "all"}
        )
    pl.DataFrame(told).write_csv(home / "index.csv")
    (home / "six.toml").write_text(
        f'name = "six"\nseed = 1\nattacks = [{json.dumps(AUDIT)}]\n[[original]]\nname = "people"\n'
        'source = "people.csv"\n[index]\nsource = "index.csv"\n'
    )
    run_study(Study.read(home / "six.toml"), home / "out", workers=0)
    return home / "out"


@pytest.fixture(scope="module")
def answer(folder: Path) -> Result[ReleasesFindings]:
    return study_report(folder)


def test_who_is_safer_and_more_useful_is_counted_among_the_same_columns(
    answer: Result[ReleasesFindings], folder: Path
) -> None:
    rows = {row["data"]: row for row in Results.read(folder).frame.iter_rows(named=True)}
    assert len(rows) == 6
    for each in answer.findings.releases:
        others = [
            rows[one.name]
            for one in answer.findings.releases
            if one.name != each.name and one.features == each.features and one.columns == each.columns
        ]
        assert others
        own = rows[each.name]
        safer = [0.5 if one[LINKED] == own[LINKED] else float(one[LINKED] > own[LINKED]) for one in others]
        useful = [0.5 if one[LOSS] == own[LOSS] else float(one[LOSS] > own[LOSS]) for one in others]
        assert each.safer == pytest.approx(np.mean(safer))
        assert each.more_useful == pytest.approx(np.mean(useful))
        assert each.beaten == pytest.approx(np.mean([(1 - a) * (1 - b) for a, b in zip(safer, useful, strict=True)]))


def test_what_is_saved_is_what_a_line_within_the_same_columns_leaves(answer: Result[ReleasesFindings]) -> None:
    releases = answer.findings.releases
    groups = sorted({each.features for each in releases})
    # One slope, and a level of its own for each group: ordinary least squares.
    levels = [[float(each.features == name) for name in groups] for each in releases]
    columns = [[np.log(each.linked.value + 0.01), *level] for each, level in zip(releases, levels, strict=True)]
    lost = np.array([each.loss for each in releases])
    fitted = np.array(columns) @ np.linalg.lstsq(np.array(columns), lost, rcond=None)[0]
    assert [each.saves for each in releases] == pytest.approx((fitted - lost).tolist())


def test_techniques_and_epsilons_are_means_over_their_releases(answer: Result[ReleasesFindings]) -> None:
    found = answer.findings
    assert [(each.technique, each.releases) for each in found.families] == [("noise", 4), ("copy", 2)]
    assert [(each.technique, each.epsilon) for each in found.cells][1:] == [("noise", 1.0), ("noise", 10.0)]
    noise = [each.loss for each in found.releases if each.technique == "noise"]
    assert found.families[0].loss.mean == pytest.approx(np.mean(noise))
    assert min(noise) <= found.families[0].loss.low <= found.families[0].loss.high <= max(noise)


def test_epsilons_are_compared_over_the_same_columns(answer: Result[ReleasesFindings]) -> None:
    (level,) = answer.findings.levels
    assert (level.technique, level.epsilons, level.groups) == ("noise", (1.0, 10.0), 2)
    by = {(each.features, each.epsilon): each.linked.value for each in answer.findings.releases}
    change = [by[features, 10.0] - by[features, 1.0] for features in ("all", "few")]
    assert level.more_linked.mean == pytest.approx(np.mean(change))


def test_a_single_value_has_no_interval_and_none_no_mean() -> None:
    assert isnan(spread_of([0.3], 1).low)
    assert isnan(spread_of([], 1).mean)
    assert spread_of([0.3, float("nan")], 1).mean == 0.3


def test_tables_have_a_row_for_each(answer: Result[ReleasesFindings]) -> None:
    found = answer.findings
    assert len(release_table(found).rows) == 6
    assert len(cell_table(found).rows) == 3
    assert [row[0] for row in summary_table(found).rows] == ["noise"]  # two releases are too few to conclude from
    assert "closest_record.median" in [row[0] for row in grade_table(found).rows]
    for table in (
        release_table(found),
        cell_table(found),
        summary_table(found),
        comparison_table(found),
        grade_table(found),
    ):
        assert {len(row) for row in table.rows} == {len(table.columns)} == {len(table.align)}


def test_the_first_screen_says_who_keeps_most(answer: Result[ReleasesFindings], approved: Approved) -> None:
    page = answer.page()
    significant = sum(each.proved for each in answer.findings.releases)
    assert page.headline.startswith(f"{significant} of 6 releases ")
    approved(page.explanation)
    assert [row[:2] for row in epsilon_table(answer.findings).rows] == [("noise", "1 to 10")]
    html = answer.to_html()
    assert page.headline.replace("'", "&#39;") in html or page.headline in html
    assert len(html) < 1_000_000


def test_json_holds_every_release_and_grade(answer: Result[ReleasesFindings]) -> None:
    told = json.loads(answer.to_json())
    assert told["schema"] == "unveil.study-releases/1"
    assert len(told["releases"]) == 6
    assert told["releases"][4]["epsilon"] is None
    assert {each["quantity"] for each in told["grades"]} >= {LINKED, LOSS}
    assert answer.to_polars().height == 6


def test_a_summary_gives_the_same_report(answer: Result[ReleasesFindings], folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "six.parquet"
    path.write_bytes(Results.read(folder).to_summary())
    again = study_report(path)
    assert again.findings.releases == answer.findings.releases
    assert again.page().headline == answer.page().headline
