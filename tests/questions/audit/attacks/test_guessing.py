"""Columns that are guessed in an audit, by inference or off matching records: each sensitive one, or all in turn."""

import numpy as np
import polars as pl
import pytest

from tests.approved.sentences import Approved
from tests.questions.audit.leaks import (
    CONTROL,
    FOREIGN,
    GUESSES,
    ILL,
    LEAK,
    ORIGINAL,
    SEED,
    ask,
    found,
    people,
    run,
    tables,
)
from unveil.data.table import Table
from unveil.data.table.release import Knowledge
from unveil.metrics.trials.risk import risk
from unveil.questions.audit.people import draw_people


@pytest.mark.parametrize("attack", sorted(GUESSES))
@pytest.mark.parametrize("leak", [True, False])
def test_each_sensitive_column_gets_the_figures_of_the_attack(attack: str, leak: bool) -> None:
    answer = ask(
        ORIGINAL, LEAK if leak else FOREIGN, CONTROL, attacks=[attack], sensitive=["ill", "income"], tolerance=0.1,
        targets=None,
    )  # fmt: skip
    assert [each.secret for each in found(answer)] == ["income", "ill"]
    for finding in found(answer):
        known = ("age", "sex", "region")
        trials = run(GUESSES[attack](secret=finding.secret, known=known, tolerance=0.1, targets=None), leak=leak)
        assert finding.risk == risk(trials)
        assert finding.links.expected == trials.attack.expected
        assert finding.scenario is not None
        assert (finding.scenario.first, finding.scenario.origin) == (known, "all")


@pytest.mark.parametrize("attack", sorted(GUESSES))
def test_a_named_adversary_guesses_from_what_it_holds(attack: str) -> None:
    answer = ask(
        ORIGINAL, LEAK, CONTROL, attacks=[attack], sensitive=["ill"], scenarios=["n=age", "age:region"], targets=None
    )
    single, both = found(answer)
    for finding, known in ((single, ("age",)), (both, ("age", "region"))):
        assert finding.risk == risk(run(GUESSES[attack](secret=ILL, known=known, targets=None), leak=True))


@pytest.mark.parametrize("attack", sorted(GUESSES))
def test_where_nothing_is_sensitive_every_column_is_judged_and_the_clearest_comes_first(attack: str) -> None:
    answer = ask(ORIGINAL, FOREIGN, CONTROL, attacks=[attack], targets=40)
    *columns, mean = found(answer)
    assert {each.secret for each in columns} == set(ORIGINAL.columns)
    assert columns[0].p_adjusted == min(each.p_adjusted for each in columns)
    original, released, control = tables()
    seeds = np.random.default_rng(SEED).integers(2**63, size=3)
    inside, outside = (
        table.take(draw_people(table, rng=np.random.default_rng([seed, 0])).split(40)[0].rows)
        for table, seed in ((original, seeds[0]), (control, seeds[1]))
    )
    knowledge = Knowledge(inside, outside, scale=Table.from_frame(pl.concat([ORIGINAL, CONTROL])).extremes())
    for finding in columns:
        others = tuple(name for name in original.column_names if name != finding.secret)
        trials = GUESSES[attack](secret=finding.secret, known=others, targets=None).run(
            released=released, knowledge=knowledge, rng=np.random.default_rng(0)
        )
        assert finding.risk == risk(trials)
        assert finding.scenario is not None
        assert (finding.scenario.origin, finding.scenario.first) == ("random", others)
    hits = np.mean([each.risk.attack_rate.value for each in columns])
    assert mean.risk.attack_rate.value == pytest.approx(hits)
    assert (mean.secret, mean.is_mean) == ("", True)


def test_columns_that_hold_nothing_to_guess_are_left_out(approved: Approved) -> None:
    flat = [each.with_columns(one=pl.lit(1), gone=pl.lit(None, pl.String)) for each in (ORIGINAL, FOREIGN, CONTROL)]
    *columns, mean = found(ask(*flat, attacks=["inference"], targets=30))
    assert {each.secret for each in columns} == set(ORIGINAL.columns)
    assert mean.scenario is not None
    assert mean.scenario.name == "mean of 5 columns"
    nothing = pl.DataFrame({"a": [1] * 30, "b": ["x"] * 30})
    (finding,) = found(ask(nothing, nothing, attacks=["inference"]))
    approved(finding.remark)


def rarely_told(rows: int, seed: int) -> pl.DataFrame:
    """Return people of whom three tell something, so that among a few there is often nobody who does."""
    return people(rows, seed).select("age", "sex").with_columns(told=pl.Series(["x", "y", "x"] + [None] * (rows - 3)))


@pytest.mark.unwatched
@pytest.mark.parametrize("attack", sorted(GUESSES))
def test_a_column_that_hardly_anybody_has_does_not_end_the_audit(attack: str) -> None:
    tables = [rarely_told(90, seed) for seed in (1, 2, 3)]
    for seed in range(6):
        for sensitive in ((), ("told",)):
            first = found(ask(*tables, seed=seed, attacks=[attack], targets=10, sensitive=sensitive))[0]
            assert first.targets or "told" in first.remark
