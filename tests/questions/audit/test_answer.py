"""The audit as a whole: the same in any order of rows, for each release alone, and it says what it cannot."""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import unveil
from tests.questions.audit.example import CONTROL, FOREIGN, MASKED, ORIGINAL, ask, of, write_files
from unveil.cli import main
from unveil.data.table import Table
from unveil.data.table.release import Release
from unveil.errors import InputError
from unveil.questions.audit.answer import ATTACKS, audit, sample_releases
from unveil.questions.audit.findings import Audit
from unveil.questions.audit.people import draw_people
from unveil.questions.audit.settings import AuditSettings
from unveil.questions.result import Result
from unveil.report.blocks import RiskSummary

COLUMNS = ["age", "sex", "region", "income"]


def test_a_release_that_is_the_original_is_all_copies() -> None:
    answer = ask(ORIGINAL, ORIGINAL, CONTROL, release_type="masked")
    assert of(answer, "copies")[0]["attack_rate"] == 1.0
    assert of(answer, "closest_record")[0]["median"] == 0.0
    assert of(answer, "row_order")[0]["attack_rate"] > 0.8
    assert (answer.level, answer.decision) == ("high", "none")
    assert ">Fail<" in answer.with_limits({"copies": 0.5}).to_html()


# --- no order, no other release, no accident changes a number ---------------------------------------------------------


def shuffled(frame: pl.DataFrame, seed: int) -> pl.DataFrame:
    return frame.sample(fraction=1.0, shuffle=True, seed=seed)


@pytest.mark.unwatched
@pytest.mark.parametrize("seed", [1, 2])
def test_shuffling_any_table_changes_no_number(seed: int) -> None:
    attacks = [attack for attack in ATTACKS if attack != "row_order"]
    settings: dict[str, Any] = {"attacks": attacks, "targets": 30, "neighbors": 3, "release_type": "masked"}
    plain = ask(ORIGINAL, MASKED, CONTROL, **settings)
    mixed = ask(*(shuffled(each, seed) for each in (ORIGINAL, MASKED, CONTROL)), **settings)
    assert mixed.to_polars().equals(plain.to_polars())
    # Whoever is exposed stands in another row then.
    one, other = (_without_rows(each).to_html(seed=1) for each in (plain, mixed))
    assert one == other


def _without_rows(answer: Result[Audit]) -> Result[Audit]:
    releases = tuple(replace(each, exposed=()) for each in answer.findings.releases)
    return replace(answer, findings=replace(answer.findings, releases=releases))


@pytest.mark.unwatched
def test_the_same_seed_gives_the_same_bytes_and_another_one_other_targets() -> None:
    settings: dict[str, Any] = {"targets": 20, "neighbors": 3}
    one, same, other = (ask(ORIGINAL, MASKED, CONTROL, seed=seed, **settings) for seed in (1, 1, 2))
    assert one.to_html(seed=1) == same.to_html(seed=1)
    assert one.to_json(seed=1) == same.to_json(seed=1)
    assert one.to_json(seed=1) != other.to_json(seed=1)


def test_a_release_is_judged_alike_alone_and_among_others() -> None:
    settings: dict[str, Any] = {"targets": 20, "neighbors": 3, "attacks": ["linkability", "closest_record"]}
    alone = ask(ORIGINAL, {"b": FOREIGN}, CONTROL, **settings)
    both = ask(ORIGINAL, {"a": MASKED, "b": FOREIGN}, CONTROL, **settings)
    fewer = ask(ORIGINAL, {"b": FOREIGN}, CONTROL, **(settings | {"attacks": ["closest_record"]}))
    # All releases are one family, so that p is adjusted for more figures; nothing else hangs on the others.
    rest = pl.exclude("p_adjusted")
    assert both.to_polars().filter(pl.col("release") == "b").select(rest).equals(alone.to_polars().select(rest))
    assert fewer.to_polars().equals(alone.to_polars().filter(pl.col("attack") == "closest_record"))


def test_targets_are_drawn_once() -> None:
    table = Table.from_frame(ORIGINAL)
    drawn = draw_people(table, rng=np.random.default_rng(1)).split(30)[0].rows
    assert len(set(drawn)) == 30
    assert sorted(draw_people(table, rng=np.random.default_rng(1)).rows) == list(range(120))
    assert draw_people(table.take([0]), rng=np.random.default_rng(1)).rows.tolist() == [0]


def test_all_rows_of_a_person_are_drawn_together_and_by_what_they_hold() -> None:
    whose = np.repeat(np.arange(40), 3)
    drawn = draw_people(Table.from_frame(ORIGINAL), rng=np.random.default_rng(1), person=whose).split(7)[0].rows
    assert sorted(np.bincount(whose[drawn], minlength=40)) == [0] * 33 + [3] * 7
    order = np.random.default_rng(2).permutation(120)
    mixed = Table.from_frame(ORIGINAL[order])
    again = draw_people(mixed, rng=np.random.default_rng(1), person=whose[order]).split(7)[0].rows
    assert set(whose[order][again]) == set(whose[drawn])


# --- who may know what ------------------------------------------------------------------------------------------------


def test_sensitive_columns_and_identifiers_are_not_known() -> None:
    keyed = ORIGINAL.with_columns(patient_id=pl.Series(np.random.default_rng(1).permutation(120) * 7))
    answer = ask(keyed, MASKED, sensitive=["income"], attacks=["linkability"], targets=20)
    (release,) = answer.findings.releases
    assert release.columns == ("age", "sex", "region")
    used = {name for finding in release.findings for name in finding.scenario.first + finding.scenario.second}  # type: ignore[union-attr]
    assert used <= {"age", "sex", "region"}
    assert any("'patient_id'" in note for note in answer.findings.notes)
    roles = {column.name: column.role for column in answer.findings.columns}
    assert roles == {
        "age": "known", "sex": "known", "region": "known", "income": "sensitive", "patient_id": "identifier",
    }  # fmt: skip


def test_known_names_all_that_is_known() -> None:
    answer = ask(ORIGINAL, MASKED, quasi_identifiers=["age", "income"], attacks=["linkability"], targets=20)
    assert answer.findings.releases[0].columns == ("age", "income")
    assert {column.role for column in answer.findings.columns if column.name in ("sex", "region")} == {"ignored"}


# --- what is said about the input -------------------------------------------------------------------------------------


def test_without_control_nothing_is_concluded() -> None:
    answer = ask(ORIGINAL, MASKED, targets=20)
    assert of(answer, "linkability")[0]["normalized_excess"] is None
    assert np.isnan(answer.quantities["linkability"].value)
    assert answer.findings.decision.control == "none"
    assert "Hold a random fifth of the people" in answer.to_html()


@pytest.mark.parametrize("more", [ORIGINAL.head(0), FOREIGN])
def test_a_control_that_holds_the_original_is_refused(more: pl.DataFrame) -> None:
    with pytest.raises(InputError, match="the control has"):
        ask(ORIGINAL, MASKED, shuffled(pl.concat([ORIGINAL, more]), 1), targets=20)


def test_more_targets_than_rows_attack_everybody() -> None:
    answer = ask(ORIGINAL, MASKED, scenarios=["n=age"], targets=10_000, attacks=["linkability"])
    assert of(answer, "linkability")[0]["targets"] == 120
    assert any("there are no 10000" in note for note in answer.findings.notes)


def test_the_worst_quantity_is_over_releases_and_adversaries_but_not_the_mean() -> None:
    answer = ask(ORIGINAL, {"near": MASKED, "far": FOREIGN}, CONTROL, targets=30, neighbors=3)
    rows = answer.to_polars().filter(
        (pl.col("attack") == "linkability") & pl.col("scenario").str.starts_with("column split ")
    )
    effects = [each for release in answer.decided.releases for each in release.effects if each.attack == "linkability"]
    counting = [each for each in effects if each.blocks_pass or each.is_significant]
    assert rows.height > len(counting) / 2
    assert answer.quantities["linkability"].value in {each.excess.value for each in counting}
    significant = [each.excess.value for each in counting if each.is_significant]
    assert answer.quantities["linkability"].value == max(significant)
    near = answer.to_polars().filter(pl.col("attack") == "closest_record")["median"]
    assert answer.quantities["closest_record.median"].value == near.min()
    assert not answer.quantities["closest_record.median"].more_is_worse


def test_releases_come_in_many_forms() -> None:
    table = Table.from_frame(MASKED, name="a table")
    release = Release(Table.from_frame(ORIGINAL), Table.from_frame(MASKED), name="a release", kind="masked")
    answer = ask(ORIGINAL, [MASKED, table, release, MASKED.to_pandas()], attacks=["copies"])
    assert [each.name for each in answer.findings.releases] == ["release 1", "a table", "a release", "release 4"]
    assert [each.kind for each in answer.findings.releases] == [None, None, "masked", None]
    shares = answer.to_polars()["attack_rate"].to_list()
    assert len(set(shares)) == 1
    by_name = ask(ORIGINAL, {"x": MASKED}, release_type={"x": "synthetic"}, attacks=["copies"])
    assert by_name.findings.releases[0].kind == "synthetic"
    each = ask(ORIGINAL, [MASKED, MASKED], release_type=["synthetic", "masked"], attacks=["copies"])
    assert [release.kind for release in each.findings.releases] == ["synthetic", "masked"]


def test_paths_are_accepted_wherever_tables_are(tmp_path: Path) -> None:
    home = write_files(tmp_path / "files")
    original, masked, control = (home / f"{name}.csv" for name in ("original", "masked", "control"))
    told: dict[str, Any] = {"attacks": "linkability", "release_type": "masked", "seed": 3}
    figures = [
        audit(*given, **told).to_polars().drop("release").to_dicts()
        for given in (
            (ORIGINAL, MASKED, CONTROL),
            (original, masked, control),
            (str(original), [masked], control),
            (original, {"mine": str(masked)}, control),
            (ORIGINAL, masked, control),
            (original, {"mine": MASKED, "other": masked}, CONTROL),
        )
    ]
    assert figures[0] == figures[1] == figures[2] == figures[3] == figures[4]
    assert len(figures[5]) == 2 * len(figures[0])
    named = audit(original, {"mine": masked}, control, **told)
    assert [each.name for each in named.findings.releases] == ["mine"]


def test_settings_are_keywords_or_one_object() -> None:
    given = (ORIGINAL, MASKED, CONTROL)
    asked = AuditSettings(attacks=("linkability",), sensitive=("income",), seed=4)
    one = audit(*given, asked)
    assert one.to_json() == audit(*given, attacks="linkability", sensitive="income", seed=4).to_json()
    assert one.seed == 4
    assert one.to_json() != audit(*given, asked, seed=5).to_json()
    assert "abc" not in repr(AuditSettings(generator="shuffle", env={"TOKEN": "abc"}))


def test_it_is_public_and_its_page_and_picture_work() -> None:
    from matplotlib import pyplot

    assert unveil.audit is audit
    answer = ask(ORIGINAL, {"near": MASKED, "far": FOREIGN}, CONTROL, targets=20)
    (axes,) = answer.plot()
    assert axes.get_legend_handles_labels()[1] == ["near", "far"]
    axes.figure.canvas.draw()
    one = ask(ORIGINAL, MASKED, CONTROL, targets=20, threshold=0.09)
    (axes,) = one.plot()
    summary = one.page().picture[0]
    assert isinstance(summary, RiskSummary)
    assert [label.get_text().replace("-\n", "-") for label in axes.get_yticklabels()] == [
        row.risk for row in summary.rows
    ]
    drawn = axes.containers[0].lines[0].get_xdata()
    np.testing.assert_array_equal(drawn, [row.excess for row in summary.rows])
    pyplot.close("all")
    with pytest.raises(InputError, match="has no chart"):
        ask(ORIGINAL, MASKED, release_type="synthetic", attacks=["record_linkage"]).plot()


def test_progress_goes_on_and_never_back() -> None:
    seen: list[float] = []
    ask(ORIGINAL, {"a": MASKED, "b": FOREIGN}, targets=10, progress=lambda _, share: seen.append(share))
    assert seen == sorted(seen)
    assert 0 <= seen[0] <= seen[-1] <= 1


@pytest.mark.parametrize(
    ("settings", "naming"),
    [
        ({"attacks": ["linkabilty"]}, "Did you mean 'linkability'"),
        ({"targets": 0}, "targets cannot be"),
        ({"neighbors": 121}, "is 121, but the release has 120 rows"),
        ({"quasi_identifiers": ["age"], "sensitive": ["age"]}, "Column 'age' has two roles"),
        ({"sensitive": ["incom"]}, "Did you mean 'income'"),
        ({"identifiers": COLUMNS}, "can know no column"),
        ({"quasi_identifiers": ["age"]}, "needs two columns"),
        ({"scenarios": ["n=agee"]}, "Did you mean 'age'"),
        ({"scenarios": ["n=income"], "sensitive": ["income"]}, "is sensitive"),
        ({"release_type": "anonymous"}, "kind of a release"),
        ({"release_type": ["masked", "masked"]}, "release types is 2, but that of releases is 1"),
        ({"release_type": {"relase": "masked"}}, "Did you mean 'release'"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings: dict[str, Any], naming: str) -> None:
    with pytest.raises(InputError, match=naming):
        ask(ORIGINAL, MASKED, **settings)


def test_releases_that_cannot_be_told_apart_are_refused() -> None:
    table = Table.from_frame(MASKED, name="same")
    with pytest.raises(InputError, match="Two releases have the name 'same'"):
        ask(ORIGINAL, [table, table])
    with pytest.raises(InputError, match="There is no release to audit"):
        ask(ORIGINAL, [])


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("mia", "membership"),
        ("membership inference", "membership"),
        ("Membership-Inference attack", "membership"),
        ("attribute_inference", "inference"),
        ("SinglingOutEvaluator", "singling_out"),
        ("LinkabilityEvaluator", "linkability"),
        ("InferenceEvaluator", "inference"),
        ("dcr", "closest_record"),
        ("linkabilty", "linkability"),
    ],
)
def test_an_unknown_attack_names_the_one_meant_and_all_there_are(said: str, meant: str) -> None:
    every = ", ".join((*ATTACKS, "disclosure", "utility", "before"))
    with pytest.raises(InputError) as refused:
        ask(ORIGINAL, MASKED, attacks=[said])
    assert str(refused.value) == f"attacks: Unknown name {said!r}. Did you mean {meant!r}? Available: {every}"
    run = CliRunner().invoke(main, ["audit", "--attacks", said])
    assert run.exit_code == 2
    assert f"Did you mean {meant!r}? Available: {every}" in run.output


def test_no_two_attacks_are_called_alike() -> None:
    names = [name for attack in ATTACKS.values() for name in (attack.name, *attack.also_called)]
    assert len(names) == len(set(names))
    with pytest.raises(InputError, match=r"attacks: Unknown name 'zzz'\. Available: singling_out, "):
        ask(ORIGINAL, MASKED, attacks=["zzz"])


@pytest.mark.parametrize(
    ("columns", "told", "said"),
    [
        (["fnlwgt"], {}, "If 'fnlwgt' holds survey weights: no rate uses them, every row counts once."),
        (["PWGTP", "WGTP"], {}, "If 'PWGTP', 'WGTP' hold survey weights: no rate uses them, every row counts once."),
        (["weight"], {}, "If 'weight' holds survey weights: no rate uses them, every row counts once."),
        (["stands_for"], {"weight": "stands_for"}, "No rate uses the survey weights in 'stands_for': every row counts"),
        (["weight", "birth_year"], {}, "If 'weight' holds survey weights: no rate uses them, every row counts once."),
        (["fnlwgt", "height"], {}, "If 'fnlwgt' holds survey weights: no rate uses them, every row counts once."),
        (["weight", "height"], {}, ""),
        (["birth_weight"], {}, ""),
        ([], {}, ""),
    ],
)
def test_weights_are_said_to_be_in_no_rate(columns: list[str], told: dict[str, Any], said: str) -> None:
    rng = np.random.default_rng(1)
    original, released = (
        frame.with_columns(pl.Series(name, rng.integers(50, 900, frame.height)) for name in columns)
        for frame in (ORIGINAL, MASKED)
    )
    answer = ask(original, released, attacks=["copies", "disclosure"], **told)
    notes = [note for note in answer.findings.notes if "survey weights" in note and "no rate" in note.lower()]
    assert [note.startswith(said) for note in notes] == [True] * bool(said)
    assert all(note in answer.to_html().replace("&#39;", "'") for note in notes)


# --- the embedded sample ----------------------------------------------------------------------------------------------


def test_three_releases_are_made() -> None:
    original, control, releases = sample_releases(np.random.default_rng(1))
    assert [(release.name, release.kind) for release in releases] == [
        ("shuffled", "masked"),
        ("rank-swapped", "masked"),
        ("gaussian-copula", "synthetic"),
    ]
    for release in releases:
        assert release.released.rows == 700
        assert release.released.column_names == original.column_names
        assert release.original.frame.equals(original.frame)
        assert release.control is not None
        assert release.control.frame.equals(control.frame)
        assert not release.released.frame.equals(original.frame)
    shuffled, swapped, drawn = (Counter(release.released.frame.rows()) for release in releases)
    people = Counter(original.frame.rows())
    assert shuffled == people
    assert sum((swapped & people).values()) < 10
    assert sum((drawn & people).values()) < 10


def test_one_seed_gives_one_set_of_releases() -> None:
    first, again, other = (sample_releases(np.random.default_rng(seed))[2] for seed in (1, 1, 2))
    for one, same, another in zip(first, again, other, strict=True):
        assert one.released.frame.equals(same.released.frame)
        assert not one.released.frame.equals(another.released.frame)
