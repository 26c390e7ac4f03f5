"""Membership learned from some people and measured on others: what it finds, whom it exposes, what never leaves."""

import json
from functools import cache
from pathlib import Path
from stat import S_IMODE

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

from tests.approved.sentences import Approved
from tests.questions.audit.leaks import ask, found
from unveil.cli import main
from unveil.questions.audit.findings import AttackFinding, Audit, Separation
from unveil.questions.audit.redaction import shared as without_small_counts
from unveil.questions.audit.sections.membership import best_by_kind
from unveil.questions.result import Result
from unveil.report.blocks import Section, TableBlock

PEOPLE, OTHERS = 420, 330
Frames = tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]


def people(rows: int, seed: int) -> pl.DataFrame:
    """Return people with a weight that hardly anybody shares."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 80, rows)
    return pl.DataFrame(
        {
            "age": age,
            "weight": rng.integers(10_000, 99_999, rows),
            "town": rng.choice([f"town {place}" for place in range(40)], rows),
            "pay": age * 20 + rng.integers(0, 900, rows),
        }
    )


@cache
def tables(*, leak: bool, others: int = OTHERS) -> Frames:
    """Return a release whose values are all of the original, each column shuffled by itself; or one of strangers."""
    original, control = people(PEOPLE, 1), people(others, 2)
    source = original if leak else people(PEOPLE, 3)
    columns = [source[name].sample(fraction=1, shuffle=True, seed=at) for at, name in enumerate(source.columns)]
    return original, control, pl.DataFrame(columns)


@cache
def answer(*, leak: bool, others: int = OTHERS) -> Result[Audit]:
    original, control, released = tables(leak=leak, others=others)
    return ask(original, released, control, attacks=["membership"])


def section_of(answer: Result[Audit]) -> Section:
    (section,) = (each for each in answer.page().sections if each.heading == "Membership inference")
    assert f"{learned(answer)[1].area.value:.2f}" in section.lead
    return section


def learned(answer: Result[Audit]) -> tuple[AttackFinding, Separation]:
    finding = found(answer)[-1]
    assert finding.separation is not None
    return finding, finding.separation


def test_values_of_the_original_give_members_away_where_nearness_does_not() -> None:
    near, dense, _ = found(answer(leak=True))
    finding, separation = learned(answer(leak=True))
    assert not near.proved
    assert not dense.proved
    assert finding.proved
    assert separation.area.low > 0.7
    assert finding.risk.excess_over_control.low > 0.1
    assert next(iter(best_by_kind(separation))) == "exact values"
    assert "membership is disclosed for" in answer(leak=True).headline
    tables = {block.caption: block for block in section_of(answer(leak=True)).data if isinstance(block, TableBlock)}
    rates = tables["Members and non-members"].rows
    assert {row[0]: row[1] for row in rates}["TPR at 1% FPR"].startswith(
        f"{100 * separation.tpr_at_fpr[1].rate.value:.0f}% ("
    )


def test_a_fresh_release_gives_nobody_away() -> None:
    finding, separation = learned(answer(leak=False))
    assert answer(leak=False).level in ("none_found", "inconclusive")
    assert not finding.proved
    assert separation.area.low < 0.5 < separation.area.high
    assert separation.flagged == 0


def test_nobody_is_learned_from_and_measured() -> None:
    _, separation = learned(answer(leak=True))
    assert (separation.members, separation.others) == (310, 110)
    assert (separation.learned_from, separation.population) == ((110, 110), 110)
    judged = [each for each in answer(leak=True).findings.verdict.releases[0].findings if "learned" in each.adversary]
    assert [each.adversary for each in judged] == [
        "learned score",
        "learned score, 1% flagged",
        "learned score, 20% flagged",
        "learned score, AUC",
    ]
    assert {(each.tries, each.control_tries) for each in judged} == {(310, 110)}


def test_what_was_learned_has_a_third_of_the_error() -> None:
    judged = answer(leak=True).findings.verdict.releases[0].findings
    shares = {each.adversary: each.p_adjusted / each.p for each in judged if each.p == min(one.p for one in judged)}
    assert shares["learned score, AUC"] == pytest.approx(3)


def test_the_order_of_rows_changes_no_digit() -> None:
    original, control, released = (
        each.sample(fraction=1, shuffle=True, seed=7 + at) for at, each in enumerate(tables(leak=True))
    )
    again = ask(original, released, control, attacks=["membership"])
    assert again.to_json() == answer(leak=True).to_json()

    def exposed(frame: pl.DataFrame, asked: Result[Audit]) -> list[tuple[int, int, tuple[str, ...]]]:
        return [
            (frame["weight"][each.row], each.as_exposed, each.columns) for each in asked.findings.releases[0].exposed
        ]

    assert sorted(exposed(original, again)) == sorted(exposed(tables(leak=True)[0], answer(leak=True)))


def test_with_few_people_one_score_is_used_that_was_named_beforehand() -> None:
    few = answer(leak=True, others=100)
    finding, separation = learned(few)
    assert finding.scenario is not None
    assert finding.scenario.name == "DCR-difference score"
    assert [each.name for each in separation.scores] == ["dcr_difference"]
    assert (separation.learned_from, separation.population, separation.others) == ((0, 33), 33, 34)
    # 1 % needs 99 people who are not in the data.
    assert [each.rate.defined for each in separation.tpr_at_fpr] == [True, False, False]
    assert len(found(answer(leak=True, others=59))) == 2


def test_a_control_whose_people_lie_otherwise_teaches_nothing(approved: Approved) -> None:
    # The same columns one by one, which no check of margins sees; but who is old is heavy in one and not in the other.
    original, released = (people(PEOPLE, seed).with_columns(pl.col("age", "weight").sort()) for seed in (1, 3))
    asked = ask(original, released, people(OTHERS, 2), attacks=["membership"])
    assert asked.findings.verdict.control.outcome == "usable"
    last = found(asked)[-1]
    approved(last.remark)
    assert last.separation is None
    # Its share of the error is not given to the others: who is in the data would decide on it.
    judged = [each for each in asked.findings.verdict.releases[0].findings if not np.isnan(each.p)]
    assert all(each.p_adjusted >= min(1.5 * each.p, 1) - 1e-9 for each in judged)
    approved(asked.page().cautions[0])


def test_people_with_several_rows_are_learned_from_or_measured_as_a_whole() -> None:
    original, control, released = tables(leak=True)
    ids = pl.Series("who", [f"p{row // 2}" for row in range(PEOPLE)])
    outside = pl.Series("who", [f"c{row // 2}" for row in range(OTHERS)])
    asked = ask(
        original.with_columns(ids),
        released,
        control.with_columns(outside),
        attacks=["membership"],
        identifiers=["who"],
    )
    finding, separation = learned(asked)
    # 210 and 165 people are too few to learn from.
    assert finding.targets == PEOPLE // 2
    assert (separation.members, separation.others) == (PEOPLE // 2, 55)


# --- whom it exposes --------------------------------------------------------------------------------------------------


def test_the_page_of_the_house_names_rows_and_columns_and_the_one_to_share_does_not() -> None:
    whole, shared = (answer(leak=True).to_html(redacted=redacted) for redacted in (False, True))
    for internal in ("Most exposed records", "Closest released row"):
        assert internal in whole
        assert internal not in shared
    assert without_small_counts(answer(leak=True).findings).releases[0].exposed == ()
    # No file for machines holds rows either.
    assert "released_row" not in answer(leak=True).to_json()


def test_a_file_of_people_is_for_its_owner_alone(tmp_path: Path) -> None:
    files = [tmp_path / f"{name}.csv" for name in ("original", "control", "released")]
    for frame, file in zip(tables(leak=True), files, strict=True):
        frame.write_csv(file)
    told = [str(files[0]), str(files[2]), "--attacks", "membership", "--people", str(tmp_path / "people.csv")]
    assert CliRunner().invoke(main, ["audit", *told, "--control", str(files[1]), "--quiet"]).exit_code == 0
    assert S_IMODE((tmp_path / "people.csv").stat().st_mode) == 0o600
    written = pl.read_csv(tmp_path / "people.csv")
    exposed = answer(leak=True).findings.releases[0].exposed
    assert written.columns[:5] == ["release", "row", "p", "flagged", "outlier_percentile"]
    assert written.columns[5:] == ["unique_values_released", "nearest_row", "shared_columns"]
    assert written.height == len(exposed) == 310
    assert written["row"].is_unique().all()
    assert written["row"].is_between(1, PEOPLE).all()
    assert written["p"].is_sorted()
    traced = written.filter(pl.col("nearest_row").is_not_null())
    assert traced.height == 100
    original, _, released = tables(leak=True)
    for row, own, other, columns in traced.select("row", pl.nth(5, 6, 7)).iter_rows():
        for column in columns.split("; ") if columns else ():
            assert original[column][row - 1] == released[column][other - 1]
        for column in own.split("; ") if own else ():
            assert original[column][row - 1] in released[column]
    assert traced["unique_values_released"].str.contains("weight").sum() > 90


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ([], "Add --control"),
        (["--control", "control.csv", "--attacks", "copies"], "needs the membership attack"),
    ],
)
def test_without_anybody_to_compare_with_no_file_is_written(
    more: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for frame, name in zip(tables(leak=True), ("original", "control", "released"), strict=True):
        frame.write_csv(f"{name}.csv")
    run = CliRunner().invoke(main, ["audit", "original.csv", "released.csv", "--people", "people.csv", *more])
    assert run.exit_code == 2
    assert said in run.stderr
    assert not Path("people.csv").exists()


def test_json_has_every_score_and_the_sizes_of_all_parts() -> None:
    told = json.loads(answer(leak=True).to_json())["releases"][0]["attacks"][-1]["separation"]
    assert [each["fpr"] for each in told["tpr_at_fpr"]] == [0.05, 0.01, 0.001]
    assert told["tpr_at_fpr"][2]["value"] is None
    assert len(told["scores"]) == 10
    assert all(len(each["weights"]) == 3 for each in told["scores"])
    assert told["trained_on"] == [110, 110]
