"""The audit as a whole: its figures are those of the attacks, in any order of rows, and it says what it cannot."""

import json
from typing import Any

import numpy as np
import polars as pl
import pytest

import unveil
from unveil.ask.audit.answer import ATTACKS, AuditAnswer, audit
from unveil.ask.audit.people import draw_people
from unveil.attack.anonymeter.linkability import AnonymeterLinkability
from unveil.attack.table.linkability import Linkability
from unveil.data.table import Table, agree
from unveil.data.table.release import Knowledge, Release
from unveil.errors import InputError
from unveil.grade.shipped import shipped_grades
from unveil.measure.trials.risk import risk

COLUMNS = ["age", "sex", "region", "income"]


def people(rows: int, seed: int) -> pl.DataFrame:
    """Return made-up people whose columns hang together a little."""
    rng = np.random.default_rng(seed)
    age = rng.integers(20, 60, rows)
    return pl.DataFrame(
        {
            "age": age,
            "sex": rng.choice(["f", "m"], rows),
            "region": rng.choice(["north", "south", "east"], rows),
            "income": (age * 100 + rng.integers(0, 3000, rows)) // 100,
        }
    )


def noisy(frame: pl.DataFrame, seed: int) -> pl.DataFrame:
    """Return the same people with ages and incomes moved a little."""
    rng = np.random.default_rng(seed)
    moved = {name: frame[name].to_numpy() + rng.integers(-2, 3, frame.height) for name in ("age", "income")}
    return frame.with_columns(**{name: pl.Series(values) for name, values in moved.items()}).sample(
        fraction=1.0, shuffle=True, seed=seed
    )


ORIGINAL, CONTROL = people(120, 1), people(60, 2)
MASKED, FOREIGN = noisy(ORIGINAL, 3), people(100, 4)


def ask(*given: Any, seed: int = 5, **settings: Any) -> AuditAnswer:
    return audit(*given, rng=np.random.default_rng(seed), **settings)


def of(answer: AuditAnswer, attack: str, release: str = "release") -> list[dict[str, Any]]:
    rows = answer.to_frame().filter((pl.col("attack") == attack) & (pl.col("release") == release))
    return rows.rows(named=True)


# --- the figures are those of the attacks -----------------------------------------------------------------------------


def test_a_named_adversary_gets_the_figures_of_the_attack_itself() -> None:
    (found,) = of(ask(ORIGINAL, MASKED, CONTROL, scenarios=["n=age,sex"], targets=None, neighbours=3), "linkability")
    original, released, control = agree(*(Table.from_frame(each) for each in (ORIGINAL, MASKED, CONTROL)))
    attack = Linkability(first=("age", "sex"), second=("region", "income"), neighbours=3, targets=None)
    trials = attack.run(released=released, knowledge=Knowledge(original, control), rng=np.random.default_rng(0))
    rates = risk(trials)
    for figure in ("attack_rate", "naive_rate", "control_rate", "excess_over_control"):
        rate = getattr(rates, figure)
        assert (found[figure], found[f"{figure}_low"], found[f"{figure}_high"]) == (rate.value, rate.low, rate.high)
    assert (found["links_expected"], found["links_low"], found["links_high"]) == (
        trials.attack.expected,
        trials.attack.low,
        trials.attack.high,
    )
    assert (found["targets"], found["neighbours"], found["scenario"]) == (120, 3, "n")


def test_the_example_of_the_page_comes_out_as_worked() -> None:
    original = pl.DataFrame({"age": [25, 30, 28], "gender": ["Male", "Female", "Male"], "income": [50, 60, 55]})
    released = pl.DataFrame({"age": [24, 31, 29], "gender": ["Male", "Female", "Male"], "income": [52, 62, 53]})
    answer = ask(
        original,
        released,
        scenarios=["age:income", "age,gender:income"],
        attacks=["linkability"],
        targets=None,
        neighbours=1,
        known=["age", "gender", "income"],
    )
    tied, clear = of(answer, "linkability")
    assert (tied["links_expected"], tied["links_low"], tied["links_high"]) == (2.5, 2.0, 3.0)
    assert (clear["links_expected"], clear["links_low"], clear["links_high"]) == (3.0, 3.0, 3.0)


def test_compatibility_gives_the_links_of_that_attack() -> None:
    settings: dict[str, Any] = {"scenarios": ["age,sex:income"], "neighbours": 2, "targets": 50}
    answer = ask(ORIGINAL, MASKED, compatibility="anonymeter", compatibility_seed=7, **settings)
    (found,) = of(answer, "linkability")
    original, released = agree(Table.from_frame(ORIGINAL), Table.from_frame(MASKED))
    attack = AnonymeterLinkability(first=("age", "sex"), second=("income",), neighbours=2, targets=50, seed=7)
    trials = attack.run(released=released, knowledge=Knowledge(original), rng=np.random.default_rng(0))
    assert (found["targets"], found["links_expected"]) == (50, trials.attack.expected)
    assert "anonymeter 1.1.0" in answer.to_html()
    assert "shuffling the rows" not in answer.to_html()


def test_the_winner_of_the_search_is_measured_on_people_whom_the_search_never_saw() -> None:
    answer = ask(ORIGINAL, MASKED, CONTROL, targets=40, attacks=["linkability"], neighbours=2)
    (release,) = answer.findings.releases
    winner, mean = release.findings
    assert winner.scenario is not None
    assert mean.scenario is not None
    assert (winner.scenario.origin, mean.scenario.origin) == ("worst", "random")
    assert release.search is not None
    assert release.search.splits >= release.search.random_splits == 7
    assert (winner.targets, release.search.targets) == (40, 40)
    seeds = np.random.default_rng(5).integers(2**63, size=3)
    original, released, control = agree(*(Table.from_frame(each) for each in (ORIGINAL, MASKED, CONTROL)))
    halves = draw_people(original, 40, rng=np.random.default_rng([seeds[0], 0]))
    outside = draw_people(control, 40, rng=np.random.default_rng([seeds[1], 0]))
    assert not set(halves.search) & set(halves.fresh)
    attack = Linkability(first=winner.scenario.first, second=winner.scenario.second, neighbours=2, targets=None)
    fresh = Knowledge(original.take(halves.fresh), control.take(outside.fresh))
    trials = attack.run(released=released, knowledge=fresh, rng=np.random.default_rng(0))
    assert risk(trials) == winner.risk
    seen = Knowledge(original.take(halves.search), control.take(outside.search))
    seemed = risk(attack.run(released=released, knowledge=seen, rng=np.random.default_rng(0)))
    assert release.search.seemed == seemed.excess_over_control


def test_the_mean_is_that_of_all_splits_on_the_half_that_was_searched() -> None:
    answer = ask(ORIGINAL, MASKED, attacks=["linkability"], known=["age", "sex", "income"], targets=30, neighbours=2)
    mean = answer.findings.releases[0].findings[1]
    original, released = agree(Table.from_frame(ORIGINAL), Table.from_frame(MASKED))
    seeds = np.random.default_rng(5).integers(2**63, size=3)
    seen = Knowledge(original.take(draw_people(original, 30, rng=np.random.default_rng([seeds[0], 0])).search))
    splits = [(("age",), ("sex", "income")), (("sex",), ("age", "income")), (("income",), ("age", "sex"))]
    hits = [
        Linkability(first=first, second=second, neighbours=2, targets=None)
        .run(released=released, knowledge=seen, rng=np.random.default_rng(0))
        .attack.expected
        for first, second in splits
    ]
    assert mean.links.expected == pytest.approx(np.mean(hits))
    assert mean.scenario is not None
    assert mean.scenario.name == "mean of all 3 splits"


def test_a_column_is_worth_what_the_attack_loses_without_it() -> None:
    answer = ask(ORIGINAL, MASKED, scenarios=["age,sex:income"], targets=None, neighbours=2, attacks=["linkability"])
    (release,) = answer.findings.releases
    weights = {weight.column: weight for weight in release.weights}
    assert set(weights) == {"age", "sex", "income"}
    original, released = agree(Table.from_frame(ORIGINAL), Table.from_frame(MASKED))
    attack = Linkability(first=("age",), second=("income",), neighbours=2, targets=None)
    trials = attack.run(released=released, knowledge=Knowledge(original), rng=np.random.default_rng(0))
    assert weights["sex"].without == risk(trials).attack_rate
    # Without a whole group nothing is left to link but by chance.
    assert weights["income"].without == release.findings[0].risk.naive_rate
    losses = [weight.loss for weight in release.weights]
    assert losses == sorted(losses, reverse=True)


def test_columns_that_say_nothing_give_chance_and_no_excess() -> None:
    flat = pl.DataFrame({"a": [1] * 50, "b": ["x"] * 50})
    answer = ask(flat, flat, flat.head(20), attacks=["linkability"], neighbours=3)
    (worst, _) = of(answer, "linkability")
    assert worst["attack_rate"] == pytest.approx(worst["naive_rate"])
    assert worst["excess_over_control"] == pytest.approx(0, abs=1e-12)


def test_a_release_that_is_the_original_is_all_copies() -> None:
    answer = ask(ORIGINAL, ORIGINAL, CONTROL, kind="masked")
    assert of(answer, "copies")[0]["attack_rate"] == 1.0
    assert of(answer, "closest_record")[0]["median"] == 0.0
    assert of(answer, "row_order")[0]["attack_rate"] > 0.8
    assert "Serious" in answer.to_html()


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
    answer = ask(keyed, masked, kind="masked", targets=None, attacks=["record_linkage"], identifiers=["patient"])
    (found,) = of(answer, "record_linkage")
    truth = [int(name[1:]) for name in masked["patient"]]
    assert found["attack_rate"] == pytest.approx(nearest_by_definition(masked, keyed, truth))
    assert found["naive_rate"] == pytest.approx(1 / 120)
    assert any("still has the identifier 'patient'" in note for note in answer.findings.notes)


def test_a_release_that_knows_its_truth_needs_no_identifier() -> None:
    from unveil.protect import RankSwapping

    table = Table.from_frame(ORIGINAL, name="original")
    made = RankSwapping().apply(table, rng=np.random.default_rng(1))
    answer = ask(table, made, attacks=["record_linkage"])
    (found,) = of(answer, "record_linkage", made.name)
    assert found["attack_rate"] is not None
    assert found["attack_rate"] > found["naive_rate"]


def test_without_truth_the_answer_says_so() -> None:
    answer = ask(ORIGINAL, MASKED, kind="masked", attacks=["record_linkage"])
    (found,) = of(answer, "record_linkage")
    assert found["attack_rate"] is None
    assert "cannot be said" in found["sentence"]
    payload = json.loads(answer.to_json())["releases"][0]["attacks"][0]
    assert payload["figures"].keys() >= {"entropy", "anonymity_set_size", "sure"}
    assert "incorrectness" not in payload["figures"]
    assert payload["trust"] == {
        name: {"tables": shipped_grades()["tables"].metrics[name].verdict}
        for name in payload["figures"]
        if name != "sure"
    }


def test_what_leaves_no_candidates_has_no_trust() -> None:
    answer = ask(ORIGINAL, MASKED, attacks=["copies"])
    assert [each["trust"] for each in json.loads(answer.to_json())["releases"][0]["attacks"]] == [None]


# --- no order, no other release, no accident changes a number ---------------------------------------------------------


def shuffled(frame: pl.DataFrame, seed: int) -> pl.DataFrame:
    return frame.sample(fraction=1.0, shuffle=True, seed=seed)


@pytest.mark.unwatched
@pytest.mark.parametrize("seed", [1, 2])
def test_shuffling_any_table_changes_no_number(seed: int) -> None:
    attacks = [attack for attack in ATTACKS if attack != "row_order"]
    settings: dict[str, Any] = {"attacks": attacks, "targets": 30, "neighbours": 3, "kind": "masked"}
    plain = ask(ORIGINAL, MASKED, CONTROL, **settings)
    mixed = ask(*(shuffled(each, seed) for each in (ORIGINAL, MASKED, CONTROL)), **settings)
    assert mixed.to_frame().equals(plain.to_frame())
    assert mixed.to_html(seed=1) == plain.to_html(seed=1)


@pytest.mark.unwatched
def test_the_same_seed_gives_the_same_bytes_and_another_one_other_targets() -> None:
    settings: dict[str, Any] = {"targets": 20, "neighbours": 3}
    one, same, other = (ask(ORIGINAL, MASKED, CONTROL, seed=seed, **settings) for seed in (1, 1, 2))
    assert one.to_html(seed=1) == same.to_html(seed=1)
    assert one.to_json(seed=1) == same.to_json(seed=1)
    assert one.to_json(seed=1) != other.to_json(seed=1)


def test_a_release_is_judged_alike_alone_and_among_others() -> None:
    settings: dict[str, Any] = {"targets": 20, "neighbours": 3, "attacks": ["linkability", "closest_record"]}
    alone = ask(ORIGINAL, {"b": FOREIGN}, CONTROL, **settings)
    both = ask(ORIGINAL, {"a": MASKED, "b": FOREIGN}, CONTROL, **settings)
    fewer = ask(ORIGINAL, {"b": FOREIGN}, CONTROL, **(settings | {"attacks": ["closest_record"]}))
    assert both.to_frame().filter(pl.col("release") == "b").equals(alone.to_frame())
    assert fewer.to_frame().equals(alone.to_frame().filter(pl.col("attack") == "closest_record"))


def test_targets_are_drawn_once_and_shared_by_nobody() -> None:
    table = Table.from_frame(ORIGINAL)
    drawn = draw_people(table, 30, rng=np.random.default_rng(1))
    assert len(set(drawn.told)) == len(set(drawn.fresh)) == len(set(drawn.search)) == 30
    every = draw_people(table, None, rng=np.random.default_rng(1))
    assert (every.told.size, every.fresh.size, every.search.size) == (120, 60, 60)
    single = draw_people(table.take([0]), 5, rng=np.random.default_rng(1))
    assert (single.told.tolist(), single.fresh.tolist(), single.search.tolist()) == ([0], [0], [0])


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
    answer = ask(ORIGINAL, MASKED, known=["age", "income"], attacks=["linkability"], targets=20)
    assert answer.findings.releases[0].columns == ("age", "income")
    assert {column.role for column in answer.findings.columns if column.name in ("sex", "region")} == {"ignored"}


# --- what is said about the input -------------------------------------------------------------------------------------


def test_without_control_nothing_is_concluded() -> None:
    answer = ask(ORIGINAL, MASKED, targets=20)
    assert of(answer, "linkability")[0]["excess_over_control"] is None
    assert np.isnan(answer.quantities["linkability.excess_over_control.high"].value)
    assert "There is no control table" in answer.to_html()


def test_a_control_that_is_the_original_is_not_used() -> None:
    answer = ask(ORIGINAL, MASKED, shuffled(ORIGINAL, 1), targets=20)
    assert any("same people as the original" in note for note in answer.findings.notes)
    assert of(answer, "linkability")[0]["excess_over_control"] is None
    assert not answer.findings.has_control


def test_more_targets_than_rows_attack_everybody() -> None:
    answer = ask(ORIGINAL, MASKED, scenarios=["n=age"], targets=10_000, attacks=["linkability"])
    assert of(answer, "linkability")[0]["targets"] == 120
    assert any("there are no 10000" in note for note in answer.findings.notes)


def test_the_worst_quantity_is_over_releases_and_adversaries_but_not_the_mean() -> None:
    answer = ask(ORIGINAL, {"near": MASKED, "far": FOREIGN}, CONTROL, targets=30, neighbours=3)
    rows = answer.to_frame().filter((pl.col("attack") == "linkability") & (pl.col("scenario") == "worst split found"))
    for figure in ("attack_rate", "control_rate", "excess_over_control", "naive_rate"):
        assert answer.quantities[f"linkability.{figure}"].value == rows[figure].max()
        assert answer.quantities[f"linkability.{figure}.high"].value == rows[f"{figure}_high"].max()
    near = answer.to_frame().filter(pl.col("attack") == "closest_record")["median"]
    assert answer.quantities["closest_record.median"].value == near.min()
    assert not answer.quantities["closest_record.median"].more_is_worse


def test_releases_come_in_many_forms() -> None:
    table = Table.from_frame(MASKED, name="a table")
    release = Release(Table.from_frame(ORIGINAL), Table.from_frame(MASKED), name="a release", kind="masked")
    answer = ask(ORIGINAL, [MASKED, table, release, MASKED.to_pandas()], attacks=["copies"])
    assert [each.name for each in answer.findings.releases] == ["release 1", "a table", "a release", "release 4"]
    assert [each.kind for each in answer.findings.releases] == [None, None, "masked", None]
    shares = answer.to_frame()["attack_rate"].to_list()
    assert len(set(shares)) == 1
    by_name = ask(ORIGINAL, {"x": MASKED}, kind={"x": "synthetic"}, attacks=["copies"])
    assert by_name.findings.releases[0].kind == "synthetic"


def test_it_is_public_and_its_page_and_picture_work() -> None:
    from matplotlib import pyplot

    assert unveil.audit is audit
    answer = ask(ORIGINAL, {"near": MASKED, "far": FOREIGN}, CONTROL, targets=20)
    axes = answer.plot()
    assert axes.shape == (2,)
    assert [label.get_text() for label in axes[0].get_yticklabels()] == ["near", "far"]
    axes[0].figure.canvas.draw()
    pyplot.close("all")
    assert ask(ORIGINAL, MASKED, attacks=["copies"]).plot().shape == (1,)
    pyplot.close("all")
    assert ask(ORIGINAL, MASKED, attacks=["closest_record"]).plot().shape == (1,)
    pyplot.close("all")
    with pytest.raises(InputError, match="nothing that was measured"):
        ask(ORIGINAL, MASKED, kind="synthetic", attacks=["record_linkage"]).plot()


def test_progress_goes_on_and_never_back() -> None:
    seen: list[float] = []
    ask(ORIGINAL, {"a": MASKED, "b": FOREIGN}, targets=10, progress=lambda _, share: seen.append(share))
    assert seen == sorted(seen)
    assert 0 <= seen[0] <= seen[-1] <= 1


@pytest.mark.parametrize(
    ("settings", "naming"),
    [
        ({"attacks": ["linkabilty"]}, "Did you mean 'linkability'"),
        ({"attacks": []}, "at least one attack"),
        ({"targets": 0}, "targets must be"),
        ({"neighbours": 0}, "neighbours must be"),
        ({"neighbours": 121}, "at most the number of released rows"),
        ({"compatibility": "other"}, "'anonymeter' or None"),
        ({"known": ["age"], "sensitive": ["age"]}, "'age' is said to be known and sensitive"),
        ({"sensitive": ["incom"]}, "Did you mean 'income'"),
        ({"identifiers": COLUMNS}, "can be known"),
        ({"known": ["age"]}, "at least two columns"),
        ({"scenarios": ["n=agee"]}, "Did you mean 'age'"),
        ({"scenarios": ["n=income"], "sensitive": ["income"]}, "is sensitive"),
        ({"kind": "anonymous"}, "kind of a release"),
        ({"kind": {"relase": "masked"}}, "Did you mean 'release'"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings: dict[str, Any], naming: str) -> None:
    with pytest.raises(InputError, match=naming):
        ask(ORIGINAL, MASKED, **settings)


def test_releases_that_cannot_be_told_apart_are_refused() -> None:
    table = Table.from_frame(MASKED, name="same")
    with pytest.raises(InputError, match="two are called 'same'"):
        ask(ORIGINAL, [table, table])
    with pytest.raises(InputError, match="at least one release"):
        ask(ORIGINAL, [])
