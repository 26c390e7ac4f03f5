"""Profile matching: assignments against enumeration, training, and what it must not depend on."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.attacks.link.histories import panel, visits
from tests.oracles import linking
from unveil.attacks.link._assignment import best_assignment, exact_assignment, soft_assignment
from unveil.attacks.link.learned_weights import learned_weights, split_people
from unveil.attacks.link.two_periods import ProfileMatching
from unveil.data.histories import History
from unveil.data.table import Table
from unveil.errors import InputError
from unveil.guesses.candidates import Candidates
from unveil.metrics import adversary_success_rate, expected_cracks
from unveil.metrics.candidates.candidate_metrics import all_metrics

WEIGHTS = np.array([[4.0, 1, 1], [2, 2, 1], [1, 1, 3]])


def run(history: History, seed: int = 0, **changes: object) -> Candidates:
    return ProfileMatching(**changes).run(released=history.released, rng=np.random.default_rng(seed))  # type: ignore[arg-type]


def test_the_worked_marginals() -> None:
    worked = [[0.717949, 0.179487, 0.102564], [0.205128, 0.666667, 0.128205], [0.076923, 0.153846, 0.769231]]
    assert linking.marginals(WEIGHTS) == pytest.approx(np.array(worked), abs=5e-7)
    assert exact_assignment(np.log(WEIGHTS)) == pytest.approx(np.array(worked), abs=5e-7)
    row, column = best_assignment(np.log(WEIGHTS), rng=np.random.default_rng(0))
    assert column[np.argsort(row)].tolist() == [0, 1, 2]


@given(st.integers(1, 5), st.integers(0, 10_000))
def test_exact_probabilities_agree_with_all_assignments(size: int, seed: int) -> None:
    scores = np.random.default_rng(seed).normal(scale=2, size=(size, size))
    assert exact_assignment(scores) == pytest.approx(linking.marginals(np.exp(scores)), abs=1e-9)


@given(st.integers(2, 9), st.integers(2, 9), st.integers(0, 10_000), st.floats(0.1, 30))
def test_scaled_probabilities_are_margins(rows: int, columns: int, seed: int, scale: float) -> None:
    scores = np.random.default_rng(seed).normal(scale=scale, size=(rows, columns))
    full = soft_assignment(scores, 1.0, rounds=3000).probability
    smaller, larger = (full.sum(axis=1), full.sum(axis=0)) if rows <= columns else (full.sum(axis=0), full.sum(axis=1))
    assert smaller == pytest.approx(np.ones(min(rows, columns)), abs=0.02)
    assert (larger <= 1.02).all()
    found = soft_assignment(scores, rounds=3000)
    assert (found.probability.sum(axis=0) <= 1.01).all()
    assert (found.probability.sum(axis=1) <= 1.01).all()
    assert 0 <= found.share <= 1.01


@given(st.integers(1, 3), st.integers(1, 4), st.integers(0, 10_000))
def test_people_without_a_partner_are_allowed_for(rows: int, columns: int, seed: int) -> None:
    scores = np.random.default_rng(seed).normal(scale=0.5, size=(rows, columns))
    found = soft_assignment(scores)
    pairs = found.share * min(rows, columns)
    odds = (pairs + 0.5) / ((rows - pairs + 0.5) * (columns - pairs + 0.5))
    # Belief propagation is exact on one row, and near the enumeration where evidence is weak.
    exact = linking.partial_marginals(np.exp(scores), odds)
    assert found.probability == pytest.approx(exact, abs=0.02 if rows == 1 else 0.12)


def test_the_share_in_both_periods_is_estimated() -> None:
    rng = np.random.default_rng(4)
    for both in (30, 60, 90):
        scores = rng.normal(-12.5, 5, (100, 110))  # log Bayes factors of two normal distributions, 5 apart
        scores[np.arange(both), np.arange(both)] += 25
        assert soft_assignment(scores).share == pytest.approx(both / 100, abs=0.03)


@given(st.integers(1, 3), st.integers(2, 4), st.integers(0, 10_000), st.floats(0.05, 0.95))
def test_a_given_share_is_met_at_the_odds_that_give_it(rows: int, columns: int, seed: int, share: float) -> None:
    scores = np.random.default_rng(seed).normal(scale=0.5, size=(rows, columns))
    found = soft_assignment(scores, share)
    assert found.share == pytest.approx(share, abs=0.005)
    wanted, low, high = share * min(rows, columns), -20.0, 20.0
    for _ in range(60):
        middle = (low + high) / 2
        exact = linking.partial_marginals(np.exp(scores), float(np.exp(middle)))
        low, high = (middle, high) if exact.sum() < wanted else (low, middle)
    assert found.probability == pytest.approx(exact, abs=0.02 if rows == 1 else 0.12)


def test_a_given_share_far_from_the_evidence_is_met() -> None:
    rng = np.random.default_rng(4)
    scores = rng.normal(-12.5, 5, (100, 110))
    scores[np.arange(60), np.arange(60)] += 25
    for share in (0.2, 0.5, 0.9):
        assert soft_assignment(scores, share).share == pytest.approx(share, abs=0.02)


def test_a_given_share_of_pairs_that_are_all_very_unlikely_is_finite() -> None:
    found = soft_assignment(np.full((3, 4), -2_000.0) + np.arange(12).reshape(3, 4), 0.5)
    assert np.isfinite(found.probability).all()
    assert 0 <= found.share <= 1


def test_ties_are_broken_at_random() -> None:
    rng = np.random.default_rng(1)
    firsts = {int(best_assignment(np.zeros((4, 4)), rng=rng)[1][0]) for _ in range(60)}
    assert firsts == {0, 1, 2, 3}


def test_own_places_link_people() -> None:
    history = visits().of_periods(0, 1)
    guess = run(history)
    truth = history.partners()
    assert np.mean(guess.chosen == truth) > 0.8
    assert adversary_success_rate(guess, truth) > 0.7
    assert len(all_metrics(guess, truth)) > 15


def test_correlated_numbers_link_people() -> None:
    history = panel(keep=0.98)
    match = ProfileMatching(overlap=1).match(history.released, rng=np.random.default_rng(0))
    assert (match.partner == history.partners()).mean() > 0.6
    assert expected_cracks(match.matching(), np.argsort(history.partners()), rng=np.random.default_rng(0)).value > 90
    assert match.training.model.numbers[0].ratio.max() > 0.9
    assert match.excess > 0.3
    rank = match.true_rank(history.partners())
    assert np.nanmean(rank) > 0.97


def test_nothing_is_found_where_people_are_exchanged() -> None:
    shares = []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        history = panel(keep=0.98, seed=seed).exchanged(rng=rng)
        match = ProfileMatching(rounds=2).match(history.released, rng=rng)
        shares.append((match.partner == history.partners()).mean())
    assert np.mean(shares) < 0.03


@settings(max_examples=8)
@given(st.integers(0, 100))
def test_the_order_of_records_and_the_persons_play_no_part(seed: int) -> None:
    rng = np.random.default_rng(seed)
    history = panel(people=40, seed=seed)
    rows = rng.permutation(history.person.size)
    released = history.released
    # Other records first, and the same items: numbers of items follow periods and persons, not rows.
    other = replace(released, item=released.item[rows], columns=tuple(each.take(rows) for each in released.columns))
    one, two = (ProfileMatching(overlap=1).match(each, rng=np.random.default_rng(7)) for each in (released, other))
    assert one.scores == pytest.approx(two.scores, abs=1e-6)
    assert (history.exchanged(rng=rng).released.item == released.item).all()


def test_items_in_another_order_get_the_same_partners() -> None:
    history = visits(people=40).of_periods(0, 1)
    released = history.released
    order = np.concatenate([np.random.default_rng(1).permutation(40), 40 + np.random.default_rng(2).permutation(40)])
    other = replace(released, item=np.argsort(order)[released.item])
    one, two = (ProfileMatching(overlap=1).match(each, rng=np.random.default_rng(7)) for each in (released, other))
    assert two.scores == pytest.approx(one.scores[np.ix_(order[:40], order[40:] - 40)], abs=1e-6)


def test_people_in_one_period_have_no_partner() -> None:
    history = panel(people=300, keep=0.995, absent=0.35)
    match = ProfileMatching(rounds=15).match(history.released, rng=np.random.default_rng(0))
    truth = history.partners()
    assert match.share < 0.95
    known = match.probability.sum(axis=0)
    assert known[truth >= 0].mean() > known[truth < 0].mean() + 0.1
    guess = match.candidates()
    assert guess.elsewhere is not None
    with pytest.raises(InputError, match="a matching is square"):
        match.matching()


def test_weights_learned_on_other_people_help_where_columns_mislead() -> None:
    history = misleading()
    split = split_people(history, rng=np.random.default_rng(0))
    shares = {}
    for learn in ("without truth", "other people"):
        attack = ProfileMatching(learn=learn, overlap=1)
        match = attack.match(split.attacked.released, split.known, rng=np.random.default_rng(0))
        shares[learn] = (match.partner == split.attacked.partners()).mean()
    assert shares["other people"] > shares["without truth"]
    weights = learned_weights(split.known, overlap=1, rng=np.random.default_rng(0))
    assert weights["mood"] < weights["town"]


def misleading(people: int = 240) -> History:
    """Return weeks in which a mood repeats within a week only, and a town over weeks."""
    rng = np.random.default_rng(0)
    town = rng.integers(0, 40, people)
    rows: dict[str, list[object]] = {"who": [], "week": [], "mood": [], "town": []}
    for week in range(2):
        mood = rng.integers(0, 30, people)
        for who in rng.permutation(people):
            for _ in range(4):
                rows["who"].append(f"p{who}")
                rows["week"].append(week)
                rows["mood"].append(f"m{mood[who] if rng.random() < 0.9 else rng.integers(0, 30)}")
                rows["town"].append(f"t{town[who] if rng.random() < 0.7 else rng.integers(0, 40)}")
    return History.from_table(Table.from_frame(rows), person="who", period="week")


def test_strangers_are_no_better_than_impostors() -> None:
    found = []
    for seed in range(4):
        one, other = panel(seed=seed), panel(seed=seed + 50)
        records = pl.concat(
            [one.records.frame.filter(pl.col("wave") == 0), other.records.frame.filter(pl.col("wave") == 1)]
        )
        strangers = History.from_table(Table.from_frame(records), person="who", period="wave")
        match = ProfileMatching(rounds=2).match(strangers.released, rng=np.random.default_rng(0))
        found.append(match.excess)
    assert abs(np.mean(found)) < 0.06


def test_impossible_settings_are_refused() -> None:
    released = panel(people=30, waves=3).released
    with pytest.raises(InputError, match="3 periods, but two are matched"):
        ProfileMatching().run(released=released, rng=np.random.default_rng(0))
    with pytest.raises(InputError, match="no period 'x'"):
        ProfileMatching(periods=("0", "x")).run(released=released, rng=np.random.default_rng(0))
    with pytest.raises(InputError, match="Name two"):
        ProfileMatching(periods=("0",))
    with pytest.raises(InputError, match="overlap"):
        ProfileMatching(overlap=0)
    with pytest.raises(InputError, match="learn must be one of"):
        ProfileMatching(learn="much")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="Pass them as knowledge"):
        ProfileMatching(periods=("0", "1"), learn="other people").run(released=released, rng=np.random.default_rng(0))


def test_training_goes_on_from_the_better_start_until_it_has_converged(monkeypatch: pytest.MonkeyPatch) -> None:
    def mean_linked(**changes: int) -> float:
        shares = []
        for seed in range(3):
            history = persistent(seed)
            match = ProfileMatching(**changes).match(history.released, rng=np.random.default_rng(0))  # type: ignore[arg-type]
            shares.append((match.partner == history.partners()).mean())
        return float(np.mean(shares))

    long = mean_linked()
    monkeypatch.setattr("unveil.attacks.link._training._STARTS", (0.7,))
    assert long > mean_linked(rounds=4) + 0.05


def persistent(seed: int, people: int = 200) -> History:
    """Return two waves with a number that hardly changes, one that does, and values that depend on one another."""
    rng = np.random.default_rng(seed)
    base = rng.normal(size=(people, 3))
    group = (rng.normal(size=people)[:, None] + rng.normal(size=(people, 4)) > 0).astype(int)
    rows: dict[str, list[object]] = {name: [] for name in ("who", "wave", "a", "b", "c", "v", "w", "x", "y")}
    for wave in range(2):
        kept = np.array([0.999, 0.9, 0.3])
        now = kept**0.5 * base + (1 - kept) ** 0.5 * rng.normal(size=base.shape)
        moved = np.where(rng.random(group.shape) < 0.95, group, 1 - group)
        for who in rng.permutation(people):
            for name, value in zip(
                rows, (f"p{who}", wave, *now[who], *(f"g{each}" for each in moved[who])), strict=True
            ):
                rows[name].append(value)
    return History.from_table(Table.from_frame(rows), person="who", period="wave")
