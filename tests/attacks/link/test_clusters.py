"""Linking all records: agglomeration against all partitions, and what chains and clusters find."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.attacks.link.histories import panel, visits
from tests.attacks.link.test_score import WEIGHTS, profiles
from tests.oracles import linking
from unveil.attacks import ATTACKS
from unveil.attacks.link.clusters import AgglomeratedProfiles, ChainedProfiles, LinkedProfiles, agglomerate
from unveil.attacks.link.learned_weights import split_people
from unveil.attacks.link.score import ScoreModel, Urn
from unveil.errors import InputError
from unveil.guesses.partition import Partition, View
from unveil.metrics import linked_records, partition_distances, unlinkability

ITEMS = ["aa", "cc", "aa", "cc", "ab"]
PERIODS = [0, 0, 1, 1, 1]
MODEL = ScoreModel(values=(Urn(1.0),), numbers=())


def clusters(items: list[str], periods: list[int] | None, prior: float) -> set[frozenset[int]]:
    present = np.zeros((len(items), 2), bool)
    if periods is not None:
        present[np.arange(len(items)), periods] = True
    label = agglomerate(
        profiles(items), MODEL, np.arange(len(items)), present, prior=prior, rng=np.random.default_rng(0)
    )
    return {frozenset(np.flatnonzero(label == each).tolist()) for each in label}


def best_partition(items: list[str], periods: list[int] | None, prior: float) -> tuple[set[frozenset[int]], float]:
    found = [
        (linking.log_partition(each, items, WEIGHTS, prior), {frozenset(cluster) for cluster in each})
        for each in linking.partitions(range(len(items)))
        if periods is None or all(len({periods[item] for item in cluster}) == len(cluster) for cluster in each)
    ]
    value, best = max(found, key=lambda each: each[0])
    return best, value


def test_the_worked_clusters() -> None:
    best, value = best_partition(ITEMS, None, 0.0)
    assert value == pytest.approx(-6.420890, abs=5e-7)
    assert clusters(ITEMS, None, 0.0) == best
    best, value = best_partition(ITEMS, PERIODS, -np.log(3))
    assert value == pytest.approx(-8.184479, abs=5e-7)
    assert (
        clusters(ITEMS, PERIODS, -np.log(3))
        == best
        == {frozenset({0}), frozenset({1, 3}), frozenset({2}), frozenset({4})}
    )


@settings(max_examples=40)
@given(st.lists(st.text("abc", min_size=1, max_size=3), min_size=2, max_size=5), st.floats(-2, 0))
def test_merging_never_lowers_the_likelihood(items: list[str], prior: float) -> None:
    found = clusters(items, None, prior)
    value = linking.log_partition([sorted(each) for each in found], items, WEIGHTS, prior)
    alone = linking.log_partition([[each] for each in range(len(items))], items, WEIGHTS, prior)
    assert value >= alone - 1e-9
    # No pair of clusters is left whose merging would raise it.
    for one in found:
        for other in found - {one}:
            merged = [sorted(each) for each in found - {one, other}] + [sorted(one | other)]
            assert linking.log_partition(merged, items, WEIGHTS, prior) <= value + 1e-9


@pytest.mark.parametrize(
    "attack", [ChainedProfiles(), AgglomeratedProfiles(), LinkedProfiles()], ids=lambda one: type(one).__name__
)
def test_pseudonyms_of_a_week_are_linked(attack: ChainedProfiles) -> None:
    history = visits(people=50)
    truth = Partition.from_labels(history.item_person)
    guess = attack.run(released=history.released, rng=np.random.default_rng(0))
    found = linked_records(guess, truth, weights=history.sizes)
    assert found.records_linked > 0.5 > 2 * found.linked_alone - 0.1
    assert found.own_share > 0.9
    # All metrics of partitions apply.
    assert unlinkability(guess, truth).miss.shape == (50,)
    assert partition_distances(guess, truth).bcubed_recall > 0.5
    period = history.released.period
    pairs = {(int(label), int(wave)) for label, wave in zip(guess.codes, period, strict=True)}
    assert len(pairs) == guess.n  # two items of one period are two people
    again = attack.run(released=history.released, rng=np.random.default_rng(0))
    assert (again.codes == guess.codes).all()


def test_agglomeration_joins_people_who_skip_a_period() -> None:
    history = panel(people=120, keep=0.999, absent=0.3, waves=4)
    truth = Partition.from_labels(history.item_person)
    rng = np.random.default_rng(0)
    chains, both = (attack.run(released=history.released, rng=rng) for attack in (ChainedProfiles(), LinkedProfiles()))
    assert linked_records(both, truth).records_linked > linked_records(chains, truth).records_linked + 0.03


def test_a_view_holds_partitions_of_perturbed_scores() -> None:
    history = visits(people=30, lifetime="4d")
    view = LinkedProfiles().view(released=history.released, rng=np.random.default_rng(0), draws=4)
    assert isinstance(view, View)
    assert len({tuple(each.codes.tolist()) for each in view.partitions}) > 1
    assert [float(each) for each in view.probabilities] == [0.25] * 4
    agglomerated = AgglomeratedProfiles().view(released=history.released, rng=np.random.default_rng(0), draws=2)
    assert agglomerated.n == history.released.items


def test_without_periods_profiles_are_agglomerated() -> None:
    history = visits(people=30, days=40, lifetime="20 records")
    assert not history.separate
    truth = Partition.from_labels(history.item_person)
    found = linked_records(LinkedProfiles().run(released=history.released, rng=np.random.default_rng(0)), truth)
    assert found.records_linked > 1.5 * found.linked_alone


def test_other_people_teach_clusters_too() -> None:
    split = split_people(visits(people=60), rng=np.random.default_rng(0))
    guess = LinkedProfiles(learn="other people").run(
        released=split.attacked.released, knowledge=split.known, rng=np.random.default_rng(0)
    )
    assert linked_records(guess, Partition.from_labels(split.attacked.item_person)).records_linked > 0.5


def test_too_many_profiles_are_refused() -> None:
    history = visits(people=150, days=34, lifetime="1 records")
    with pytest.raises(InputError, match="agglomeration compares at most 5000"):
        AgglomeratedProfiles(rounds=1).run(released=history.released, rng=np.random.default_rng(0))


def test_they_are_listed_as_attacks_on_histories() -> None:
    listed = {name: (each.on, each.leaves) for name, each in ATTACKS.items() if each.on == "history table"}
    assert listed == {
        "profile-matching": ("history table", "Candidates"),
        "chained-profiles": ("history table", "Partition"),
        "agglomerated-profiles": ("history table", "Partition"),
        "linked-profiles": ("history table", "Partition"),
    }
