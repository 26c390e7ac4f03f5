"""What random guessing would give, against the mean over every partition there is."""

from collections import defaultdict
from itertools import permutations
from math import log2
from typing import Any

import numpy as np
import pytest

from tests.oracles.random_partitions import all_partitions, canonical, growing_probabilities
from unveil.errors import InputError
from unveil.guesses import Partition, View
from unveil.metrics import partition_distances, random_guessing, unlinkability

TRUTH = Partition.from_labels("aaabb")


@pytest.mark.unwatched
def test_means_approach_those_over_all_partitions() -> None:
    everything = [Partition.from_labels(labels) for labels in all_partitions(TRUTH.n)]
    results = [unlinkability(guess, TRUTH).overall for guess in everything]
    distances = [partition_distances(guess, TRUTH) for guess in everything]
    found = random_guessing(TRUTH, rng=np.random.default_rng(5), draws=4_000)
    assert found.miss == pytest.approx(np.mean([r.miss for r in results]), abs=0.05)
    assert found.include == pytest.approx(np.mean([r.include for r in results]), abs=0.05)
    assert found.breached_share == pytest.approx(np.mean([r.breached_share for r in results]), abs=0.02)
    assert found.risk_slope == pytest.approx(np.nanmean([r.risk_slope for r in results]), abs=0.02)
    assert found.voi == pytest.approx(np.mean([d.voi for d in distances]), abs=0.05)
    assert found.voi_normalised == pytest.approx(found.voi / log2(TRUTH.n))
    assert found.mtd == pytest.approx(np.mean([d.mtd for d in distances]), abs=0.05)
    assert found.adjusted_rand == pytest.approx(np.mean([d.adjusted_rand for d in distances]), abs=0.03)


def test_graphs_of_different_length_are_flat_after_their_end() -> None:
    found = random_guessing(TRUTH, rng=np.random.default_rng(5), draws=400)
    assert found.linked.size == TRUTH.n
    assert found.linked[-1] == 1
    assert (np.diff(found.linked) >= 0).all()


def test_the_same_seed_gives_the_same_reference_and_progress_is_told() -> None:
    shares: list[float] = []
    first = random_guessing(TRUTH, rng=np.random.default_rng(1), draws=20, progress=shares.append)
    second = random_guessing(TRUTH, rng=np.random.default_rng(1), draws=20)
    assert (first.miss, first.voi) == (second.miss, second.voi)
    assert shares == [(k + 1) / 20 for k in range(20)]


def test_undefined_where_no_draw_has_a_value() -> None:
    found = random_guessing(Partition.from_labels("ab"), rng=np.random.default_rng(1), beta=0)
    assert np.isnan(found.risk_slope)
    assert found.breached_share == 1


def test_guessing_with_the_sizes_of_a_guess_is_the_mean_over_all_ways_to_deal_out_the_items() -> None:
    guess = Partition.from_labels("xxyyz")
    dealt = {tuple(labels) for labels in permutations("xxyyz")}
    results = [unlinkability(Partition.from_labels(list(labels)), TRUTH).overall for labels in sorted(dealt)]
    found = random_guessing(TRUTH, like=guess, rng=np.random.default_rng(5), draws=3_000)
    assert found.guesser == "sizes"
    assert found.miss == pytest.approx(np.mean([r.miss for r in results]), abs=0.05)
    assert found.include == pytest.approx(np.mean([r.include for r in results]), abs=0.05)
    assert found.breached_share == pytest.approx(np.mean([r.breached_share for r in results]), abs=0.02)
    low, high = np.quantile([r.miss for r in results], [0.05, 0.95], method="inverted_cdf")
    assert (found.range_of("miss").low, found.range_of("miss").high) == (low, high)


def test_a_view_is_guessed_like_by_its_partitions_in_turn() -> None:
    view = View([Partition.from_labels("xxxxx"), Partition.from_labels("vwxyz")], ["1/4", "3/4"])
    found = random_guessing(TRUTH, like=view, rng=np.random.default_rng(5), draws=2_000)
    # All together misses nothing, all alone three items of five.
    assert found.miss == pytest.approx(0.75 * 3, abs=0.1)


def test_a_prior_is_not_drawn_from_but_counted_with_its_probabilities() -> None:
    prior = View([Partition.from_labels("xxxxx"), Partition.from_labels("vwxyz")], ["1/4", "3/4"])
    found = random_guessing(TRUTH, prior=prior, rng=np.random.default_rng(5))
    assert (found.guesser, found.draws, found.miss) == ("prior", 2, 0.75 * 3)
    assert found.linked.tolist() == unlinkability(prior, TRUTH).overall.linked.tolist()
    assert (found.range_of("miss").low, found.range_of("miss").high) == (0, 3)


def test_guessing_goes_by_one_thing() -> None:
    with pytest.raises(InputError, match="Leave one out"):
        random_guessing(TRUTH, like=TRUTH, prior=TRUTH, rng=np.random.default_rng(5))


@pytest.mark.unwatched
def test_growing_clusters_give_the_means_of_the_appendix_over_random_orders_of_items() -> None:
    truth, orders = Partition.from_labels("aaaabb"), list(permutations(range(6)))
    chances: defaultdict[tuple[int, ...], float] = defaultdict(float)
    for labels, chance in growing_probabilities(truth.n).items():
        for order in orders:
            chances[canonical([labels[k] for k in order])] += float(chance) / len(orders)
    names = ("miss", "include", "breached_share")
    results = [
        (chance, unlinkability(Partition.from_labels(labels), truth).overall) for labels, chance in chances.items()
    ]
    drawn = random_guessing(truth, guesser="growing", rng=np.random.default_rng(5), draws=6_000)
    uniform = random_guessing(truth, rng=np.random.default_rng(5), draws=6_000)
    assert (drawn.guesser, drawn.draws) == ("growing", 6_000)
    for name in names:
        mean = sum(chance * getattr(found, name) for chance, found in results)
        assert getattr(drawn, name) == pytest.approx(mean, abs=0.03), name
    # Uniformly random partitions include fewer foreign items.
    assert uniform.include < drawn.include - 0.06


def test_the_order_of_items_tells_the_growing_guesser_nothing() -> None:
    sorted_truth, mixed_truth = (Partition.from_labels(labels) for labels in ("aaaaabbbbb", "ababababab"))
    found = [
        random_guessing(truth, guesser="growing", rng=np.random.default_rng(seed), draws=3_000).rand
        for seed, truth in enumerate((sorted_truth, mixed_truth))
    ]
    assert found[0] == pytest.approx(found[1], abs=0.006)


@pytest.mark.parametrize(
    ("settings", "words"), [({"draws": 0}, "at least one draw"), ({"guesser": "sizes"}, "'uniform' or 'growing'")]
)
def test_what_cannot_be_guessed_is_refused(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        random_guessing(TRUTH, rng=np.random.default_rng(1), **settings)
