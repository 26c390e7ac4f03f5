import re
from typing import Any

import numpy as np
import polars as pl
import pytest

from tests.approved.sentences import Approved
from tests.questions.audit.example import people
from unveil.data.table import Table
from unveil.errors import InputError
from unveil.questions.audit.answer import audit
from unveil.questions.audit.generator.design import draw_design
from unveil.questions.audit.generator.settings import WAY, GeneratorSettings
from unveil.questions.audit.sections.generator import epsilon_sentence
from unveil.report.page import label_of

PEOPLE = people(240, 1).with_columns(weight=np.random.default_rng(3).integers(0, 10**6, 240))
OTHERS = people(3_000, 2).with_columns(weight=np.random.default_rng(4).integers(0, 10**6, 3_000))
FEW = ["copies", "membership", "linkability", "singling_out"]


def resampled(frame: Any, rng: Any) -> Any:
    """Copy most people."""
    return frame[rng.integers(frame.height, size=frame.height)]


def unrelated(frame: Any, rng: Any) -> Any:
    """Return other people of the same kind."""
    return OTHERS[rng.permutation(OTHERS.height)[: frame.height]]


def found(
    generator: Any,
    *released: Any,
    attacks: Any = ("copies", "membership"),
    seed: Any = 1,
    frame: Any = PEOPLE,
    **settings: Any,
) -> Any:
    return audit(
        frame,
        *released,
        generator=generator,
        attacks=list(attacks),
        release_type="synthetic",
        rng=np.random.default_rng(seed),
        **settings,
    ).findings


@pytest.mark.parametrize("settings", [{}, {"folds": 3}, {"runs": 2}, {"holdout": 0.4}], ids=str)
def test_a_way_that_copies_people_is_found_and_one_that_ignores_them_is_not(settings: Any) -> None:
    guilty, harmless = (found(each, attacks=FEW, **settings) for each in (resampled, unrelated))
    assert guilty.decision.level in ("medium", "high")
    assert {"copies", "membership"} <= {each.attack for each in guilty.verdict.releases[0].proved}
    assert harmless.verdict.releases[0].proved == ()
    assert harmless.decision.level in ("none_found", "inconclusive")
    assert guilty.way.runs == settings.get("folds", 1) * settings.get("runs", 1)
    assert guilty.way.oddities == harmless.way.oddities == ()


@pytest.mark.parametrize("settings", [{}, {"folds": 3}, {"runs": 2}], ids=str)
def test_effects_of_a_way_are_those_of_people_over_all_runs(settings: Any) -> None:
    copied, fresh = (
        {
            (each.attack, each.attacker): each
            for each in found(made, attacks=FEW, **settings).verdict.releases[0].effects
            if each.excess.is_tested
        }
        for made in (lambda frame, rng: frame.sample(fraction=1, shuffle=True, seed=int(rng.integers(99))), unrelated)
    )
    assert {attack for attack, _ in copied} >= {"copies", "linkability", "membership"}
    # Of three folds or two halves everybody is held out once; else a fifth of all people is.
    held_out = 240 if settings else 48
    for name in ("copies", ""), ("linkability", "column split 1"), ("membership", "DCR score"):
        high, none = copied[name], fresh[name]
        assert high.is_significant
        assert high.excess.value > 0.4
        assert abs(none.excess.value) < 4 * (0.25 / held_out) ** 0.5
        assert none.excess.low <= 0
    assert copied["copies", ""].excess.attack_rate == 1


def test_one_run_is_the_audit_of_its_release_beside_those_held_out() -> None:
    made = []

    def kept(frame: Any, rng: Any) -> Any:
        made.append((frame, resampled(frame, rng)))
        return made[-1][1]

    way = found(kept, attacks=FEW)
    given, released = made[0]
    outside = PEOPLE.join(given, on=PEOPLE.columns, how="anti")
    assert outside.height == 48
    plain = audit(
        given, released, outside, attacks=FEW, release_type="synthetic", rng=np.random.default_rng(9)
    ).findings
    for one, other in zip(way.releases[0].findings, plain.releases[0].findings, strict=True):
        assert (one.attack, one.targets) == (other.attack, other.targets)
        if one.attack in ("copies", "membership"):  # the others draw columns by lot
            assert one.risk.attack_rate == other.risk.attack_rate
            assert one.risk.control_rate == other.risk.control_rate


def test_with_folds_rates_are_those_of_all_runs_as_sure_as_there_are_people() -> None:
    made = []

    def kept(frame: Any, rng: Any) -> Any:
        made.append((frame, resampled(frame, rng)))
        return made[-1][1]

    way = found(kept, folds=4, attacks=["copies"])
    copies = way.releases[0].findings[0]
    inside = [given.join(released, on=PEOPLE.columns, how="semi").height for given, released in made]
    assert copies.risk.attack_rate.value == pytest.approx(sum(inside) / sum(given.height for given, _ in made))
    assert copies.risk.control_rate.value == 0
    assert copies.risk.attack_rate.tries == copies.risk.control_rate.tries == 240
    assert way.rows == way.control_rows == 240
    spread = {each.attack: each.values for each in way.way.spread}["copies"]
    assert spread == pytest.approx([hits / given.height for hits, (given, _) in zip(inside, made, strict=True)])


def test_a_release_that_exists_already_is_audited_beside_the_way() -> None:
    way = found(unrelated, {"old": resampled(PEOPLE, np.random.default_rng(5))}, attacks=FEW)
    assert [each.name for each in way.releases] == [WAY, "old"]
    assert way.decision.releases[0].level in ("none_found", "inconclusive")
    assert way.decision.releases[1].level in ("medium", "high")
    copies = way.releases[1].of("copies")[0]
    assert copies.targets == 240
    assert not copies.risk.control_rate.defined


def test_a_table_that_is_the_same_whoever_is_given_is_said() -> None:
    fixed = OTHERS[:100]
    assert found(lambda *_: fixed, folds=2).way.oddities == ("same table",)
    # With the same people every time nobody can tell.
    assert found(lambda *_: fixed, runs=2, holdout=0.2).way.oddities == ()


def test_people_who_were_never_given_are_said() -> None:
    assert found(lambda *_: PEOPLE).way.oddities == ("people never given",)


def test_people_exposed_are_those_of_the_whole_table() -> None:
    way = found(resampled, attacks=["membership"], frame=people(400, 5))
    rows = [each.row for each in way.releases[0].exposed]
    assert max(rows) > 320
    assert len(set(rows)) == len(rows)


@pytest.mark.parametrize("adjacency", ["add-remove", "replace"])
@pytest.mark.parametrize("canaries", [40, "40:unusual"])
def test_canaries_contradict_a_claim_of_a_way_that_copies_and_not_of_one_that_ignores_people(
    canaries: Any, adjacency: Any
) -> None:
    settings = {"canaries": canaries, "runs": 3, "epsilon": 0.5, "adjacency": adjacency, "holdout": 0.45}
    guilty, harmless = (found(each, attacks=["copies"], **settings).epsilon for each in (resampled, unrelated))
    assert guilty.contradicted
    assert not harmless.contradicted
    assert harmless.bound.bound == 0
    assert guilty.bound.coins == 120
    assert guilty.bound.adjacency == adjacency


def test_one_person_who_is_left_out_or_not_in_each_of_many_runs_shows_as_much_as_many_canaries() -> None:
    settings = {"canaries": 1, "runs": 60, "epsilon": 0.1}
    guilty, harmless = (found(each, attacks=["copies"], **settings).epsilon for each in (resampled, unrelated))
    assert guilty.contradicted
    assert (guilty.bound.coins, guilty.bound.runs) == (60, 60)
    assert harmless.bound.bound == 0


def test_without_canaries_epsilon_is_bounded_by_people_of_both_tables() -> None:
    claimed = found(resampled, frame=people(700, 6), attacks=["membership"], epsilon=0.1).epsilon
    assert claimed.source == "two tables"
    assert claimed.contradicted
    assert claimed.by_lot


def test_the_claim_of_a_release_rests_on_a_control_that_was_kept_apart_by_lot(approved: Approved) -> None:
    original, control = people(300, 1), people(300, 2)
    plain: Any = audit(original, original, control, attacks=["membership"], epsilon=1, rng=np.random.default_rng(0))
    assert plain.findings.epsilon.contradicted
    approved(epsilon_sentence(plain.findings))
    with pytest.raises(InputError, match="several"):
        audit(original, [original, control], control, attacks=["membership"], epsilon=1)


def test_the_same_seed_gives_the_same_answer() -> None:
    answers = [
        audit(PEOPLE, generator=resampled, attacks=["copies"], canaries=20, rng=np.random.default_rng(4))
        for _ in range(2)
    ]
    texts = [answer.to_json() for answer in answers]
    clock = ("seconds",)
    assert len({_without(text, clock) for text in texts}) == 1


def _without(text: Any, names: Any) -> Any:
    import json

    told = json.loads(text)
    for name in names:
        told["generator"].pop(name)
    return json.dumps(told)


def test_many_people_are_attacked_in_the_same_part_in_all_folds(monkeypatch: Any) -> None:
    for module in ("people", "generator.design"):
        monkeypatch.setattr(f"unveil.questions.audit.{module}.ATTACKED_UP_TO", 100)
    way = found(resampled, folds=3, attacks=["membership"])
    assert way.verdict.releases[0].proved
    assert (way.rows, way.attacked, way.attacked_outside) == (240, 100, 100)
    by_distance = next(each for each in way.releases[0].findings if each.scenario.name == "DCR score")
    assert by_distance.risk.control_rate.tries == 100


def test_of_very_many_people_those_count_who_are_attacked(monkeypatch: Any) -> None:
    for module in ("people", "generator.design"):
        monkeypatch.setattr(f"unveil.questions.audit.{module}.ATTACKED_UP_TO", 100)
    monkeypatch.setattr("unveil.questions.audit.generator.combine.DRAWN_UP_TO", 200)
    way = found(resampled, folds=3, attacks=["copies", "membership", "singling_out"])
    judged = {each.attack for each in way.verdict.releases[0].findings}
    assert judged == {"copies", "membership"}
    assert way.verdict.releases[0].proved


def test_rows_of_a_person_are_held_out_together() -> None:
    frame = PEOPLE.with_columns(person=pl.Series(np.arange(240) // 2))
    given = []

    def kept(rows: Any, rng: Any) -> Any:
        given.append(set(rows["person"].to_list()))
        return resampled(rows, rng)

    found(kept, frame=frame, identifiers=["person"], attacks=["copies"], folds=2)
    assert given[0].isdisjoint(given[1])
    assert given[0] | given[1] == set(range(120))


@pytest.mark.parametrize("settings", [{}, {"folds": 3}, {"runs": 4}], ids=str)
def test_households_are_held_out_whole_and_no_leak_is_found_where_there_is_none(settings: Any) -> None:
    # The two people of a household are alike, so that one would give the other away.
    half = PEOPLE[:120]
    frame = pl.concat([half, half.with_columns(pl.col("weight") + 1)]).with_columns(
        home=pl.Series([f"home {each % 120}" for each in range(240)])
    )
    given = []

    def kept(rows: Any, rng: Any) -> Any:
        given.append(set(rows["home"].to_list()))
        return unrelated(rows, rng).with_columns(home=pl.lit("x"))

    way = found(kept, frame=frame, household="home", attacks=["copies", "membership"], **settings)
    assert way.verdict.releases[0].proved == ()
    homes = {f"home {each}" for each in range(120)}
    for each in given:
        assert len(each) == {"folds": 80, "runs": 60}.get(next(iter(settings), ""), 96)
        assert each < homes
    guilty = found(resampled, frame=frame, household="home", attacks=["copies", "membership"], **settings)
    assert guilty.verdict.releases[0].proved


def test_a_generator_makes_its_own_control() -> None:
    with pytest.raises(InputError, match="Leave out control"):
        audit(PEOPLE, None, OTHERS, generator=resampled)
    with pytest.raises(InputError, match="or a generator that makes one"):
        audit(PEOPLE)


def test_pandas_stays_pandas_and_canaries_are_planted_in_it() -> None:
    import pandas as pd

    seen = []

    def kept(frame: Any, rng: Any) -> Any:
        seen.append(frame)
        return frame.sample(frac=1, replace=True, random_state=int(rng.integers(1000)))

    whole = pd.DataFrame(PEOPLE.to_dict(as_series=False))
    way = found(kept, frame=whole, canaries="30:unusual", attacks=["copies"], runs=2, epsilon=0.1)
    assert all(isinstance(each, pd.DataFrame) for each in seen)
    assert way.epsilon.contradicted
    assert way.epsilon.canaries == "unusual"


def test_a_mask_tells_whose_each_row_is() -> None:
    way = audit(PEOPLE, generator="shuffle", attacks=["record_linkage"], rng=np.random.default_rng(1)).findings
    assert way.releases[0].kind == "masked"
    assert way.releases[0].findings[0].risk.attack_rate.value == pytest.approx(1, abs=0.05)


def test_folds_are_balanced_among_those_attacked() -> None:
    table = Table.from_frame(PEOPLE)
    settings = GeneratorSettings(generator="shuffle", folds=4)
    made = draw_design(table, settings, person=np.arange(240), adjacency="add-remove", rng=np.random.default_rng(0))
    assert np.bincount(made.fold[0, made.attacked[:100]]).tolist() == [25] * 4


def test_targets_are_the_same_people_in_all_folds() -> None:
    way = found(resampled, folds=3, attacks=["membership"], targets=40)
    assert (way.attacked, way.attacked_outside) == (80, 80)


def test_what_is_said_of_runs_needs_a_generator() -> None:
    with pytest.raises(InputError, match="Pass a generator"):
        audit(PEOPLE, PEOPLE, folds=3)
    with pytest.raises(InputError, match="suggest"):
        audit(PEOPLE, generator=resampled, suggest=2)


def test_a_claim_may_be_contradicted_where_no_attack_proves_anything() -> None:
    answer = audit(
        PEOPLE,
        generator=resampled,
        canaries="40:unusual",
        holdout=0.45,
        epsilon=0.1,
        attacks=["closest_record"],
        rng=np.random.default_rng(1),
    )
    assert answer.findings.verdict.releases[0].proved == ()
    page = answer.page()
    assert (page.tone, label_of(page)) == ("bad", "Fail")
    assert (answer.decision, answer.decided.exit) == ("fail", 3)
    assert "the claimed epsilon is refuted" in answer.headline
    (section,) = (each for each in page.sections if each.heading == "Generator")
    assert epsilon_sentence(answer.findings) in section.lead
    assert re.search(r"ε = 0\.1 .*is refuted", section.lead)


def test_a_claim_that_could_not_be_tested_is_said(approved: Approved) -> None:
    way = found(resampled, attacks=["copies"], epsilon=2)
    assert not way.epsilon.contradicted
    approved(epsilon_sentence(way))
    assert epsilon_sentence(found(resampled, attacks=["copies"])) == ""
