"""What random guessing would give, against the mean over every partition there is."""

from itertools import permutations
from math import log2

import numpy as np
import pytest

from tests.oracles.random_partitions import all_partitions
from unveil.errors import InputError
from unveil.guess import Partition, View
from unveil.measure import partition_distances, random_guessing, unlinkability

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
