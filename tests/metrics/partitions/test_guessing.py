"""What random guessing would give, against the mean over every partition there is."""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from decimal import Decimal, localcontext
from fractions import Fraction
from inspect import unwrap
from itertools import permutations
from math import factorial, log2
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles.partition_distances import transfer_distance_by_transfers
from tests.oracles.random_partitions import all_partitions, bell, canonical, growing_probabilities, walk_probabilities
from unveil.errors import InputError
from unveil.guesses import Partition, View
from unveil.metrics import partition_distances, random_guessing, unlinkability
from unveil.metrics.partitions.guessing import (
    _bell_numbers,
    _below,
    _exact_sizes,
    _random_steps,
    _thrown_into_urns,
    _urn_counts,
    growing_partition,
    shuffled_partition,
    uniform_partition,
    walk_from,
)

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
    assert found.voi_normalized == pytest.approx(found.voi / log2(TRUTH.n))
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
    ("settings", "words"),
    [({"draws": 0}, "draws is 0; guessing needs at least one"), ({"guesser": "sizes"}, "'uniform' or 'growing'")],
)
def test_what_cannot_be_guessed_is_refused(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        random_guessing(TRUTH, rng=np.random.default_rng(1), **settings)


# Enough for about 60 of each of the 52 partitions of five items.
DRAWS = 3_000


def seen(draws: int, draw: Callable[[], Partition]) -> Counter[Any]:
    partitions = [draw() for _ in range(draws)]
    for partition in partitions:
        assert partition.sizes.min() > 0
    return Counter(canonical(partition.codes.tolist()) for partition in partitions)


def fits(counts: Mapping[Any, int], probabilities: Mapping[Any, Fraction]) -> bool:
    """Whether the counts are likely under the probabilities: a chi-square test that is wrong once in a billion."""
    from scipy.special import chdtri

    draws = sum(counts.values())
    if not counts.keys() <= probabilities.keys():
        return False
    off = [(counts.get(case, 0) - draws * float(p)) ** 2 / (draws * float(p)) for case, p in probabilities.items()]
    return bool(sum(off) < chdtri(max(1, len(off) - 1), 1e-9))


def uniform(n: int) -> dict[Any, Fraction]:
    partitions = all_partitions(n)
    return dict.fromkeys(partitions, Fraction(1, len(partitions)))


@pytest.mark.parametrize("n", range(9))
def test_the_oracle_knows_all_partitions(n: int) -> None:
    assert len(set(all_partitions(n))) == len(all_partitions(n)) == bell(n) == _bell_numbers()[n]


@pytest.mark.unwatched
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_uniform_draws_every_partition_alike(n: int) -> None:
    rng = np.random.default_rng(n)
    assert fits(seen(DRAWS, lambda: uniform_partition(n, rng=rng)), uniform(n))


@pytest.mark.unwatched
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_urns_draw_every_partition_alike(n: int) -> None:
    rng = np.random.default_rng(n)
    assert fits(seen(DRAWS, lambda: _thrown_into_urns(n, rng)), uniform(n))


@pytest.mark.unwatched
def test_the_check_notices_a_generator_that_is_not_uniform() -> None:
    rng = np.random.default_rng(4)
    assert not fits(seen(DRAWS, lambda: growing_partition(4, rng=rng)), uniform(4))


@pytest.mark.unwatched
@pytest.mark.parametrize("way", ["sizes", "urns"])
def test_number_of_clusters_follows_stirling_numbers(way: str) -> None:
    n, rng = 10, np.random.default_rng(10)
    stirling = Counter(len(set(labels)) for labels in all_partitions(n))
    by_urns = way == "urns"
    draws = Counter[Any](
        _thrown_into_urns(n, rng).cluster_count if by_urns else len(list(_exact_sizes(n, rng))) for _ in range(6_000)
    )
    assert fits(draws, {count: Fraction(k, bell(n)) for count, k in stirling.items()})


@pytest.mark.parametrize("n", [1, 2, 5, 30, 201, 350])
def test_number_of_urns_has_its_exact_probabilities(n: int) -> None:
    counts, probability = _urn_counts(n)
    most = int(counts[-1])
    assert counts.tolist() == list(range(int(counts[0]), most + 1))
    weights = [m**n * (factorial(most) // factorial(m)) for m in counts.tolist()]
    exact = np.array([float(Fraction(weight, sum(weights))) for weight in weights])
    likely = exact > 1e-25
    assert probability[likely] == pytest.approx(exact[likely], rel=1e-12)
    assert float(counts @ probability) == pytest.approx(float(Fraction(bell(n + 1), bell(n))), rel=1e-13)


def test_number_of_urns_stays_exact_for_ten_million_items() -> None:
    n = 10_000_000
    counts, probability = _urn_counts(n)
    middle = int(np.argmax(probability))
    for far in (-900, -300, 300, 900):
        low, high = sorted((middle, middle + far))
        with localcontext() as context:
            context.prec = 60
            many, few = Decimal(int(counts[high])), Decimal(int(counts[low]))
            rising = sum(((few + step).ln() for step in range(1, high - low + 1)), Decimal(0))
            ratio = float((n * (many / few).ln() - rising).exp())
        assert probability[high] / probability[low] == pytest.approx(ratio, rel=1e-11)
    assert probability[[0, -1]].max() < 1e-25


def test_a_large_uniform_partition_has_the_expected_number_of_clusters() -> None:
    n = 1_000_000
    partition = uniform_partition(n, rng=np.random.default_rng(6))
    counts, probability = _urn_counts(n)
    # The urns have mean B(n+1)/B(n) and mean square B(n+2)/B(n); the clusters one less and, in variance, one less.
    mean = float(counts @ probability)
    variance = float((counts - mean) ** 2 @ probability) - 1
    assert abs(partition.cluster_count - (mean - 1)) < 6 * variance**0.5
    assert partition.cluster_count == pytest.approx(n / 11.3833580861, rel=0.005)  # n / W(n)
    assert partition.codes.dtype == np.int32
    assert partition.sizes.min() > 0
    assert abs(float(np.corrcoef(np.arange(n), partition.codes)[0, 1])) < 0.006


@pytest.mark.unwatched
def test_whole_numbers_are_drawn_alike_whatever_the_bound() -> None:
    rng = np.random.default_rng(7)
    for bound in (1, 2, 3, 8, 257):
        draws = Counter[Any](_below(bound, rng) for _ in range(4_000))
        assert fits(draws, dict.fromkeys(range(bound), Fraction(1, bound)))


@pytest.mark.unwatched
@pytest.mark.parametrize("n", [1, 2, 4, 5])
def test_growing_follows_its_coins(n: int) -> None:
    rng = np.random.default_rng(n)
    probabilities = growing_probabilities(n)
    assert sum(probabilities.values()) == 1
    assert fits(seen(DRAWS, lambda: growing_partition(n, rng=rng)), probabilities)


def test_growing_numbers_clusters_in_order_and_starts_one_for_every_second_item() -> None:
    partition = growing_partition(100_000, rng=np.random.default_rng(8))
    first = np.unique(partition.codes, return_index=True)[1]
    assert first.size == partition.cluster_count
    assert (np.diff(first) > 0).all()
    assert abs(partition.cluster_count - 50_000) < 6 * 100_000**0.5 / 2


@pytest.mark.unwatched
def test_shuffling_keeps_names_and_sizes_and_deals_all_ways_alike() -> None:
    partition = Partition.from_labels("aabc", items=list("wxyz"))
    rng = np.random.default_rng(9)
    shuffled = shuffled_partition(partition, rng=rng)
    assert shuffled.items is partition.items
    assert shuffled.clusters.tolist() == ["a", "b", "c"]
    assert shuffled.sizes.tolist() == [2, 1, 1]
    pairs = [labels for labels in all_partitions(4) if len(set(labels)) == 3]
    assert fits(seen(DRAWS, lambda: shuffled_partition(partition, rng=rng)), dict.fromkeys(pairs, Fraction(1, 6)))


@pytest.mark.unwatched
@pytest.mark.parametrize("start", ["aabb", "aaaa", "abcd", "abbb"])
@pytest.mark.parametrize("steps", [0, 1, 3])
def test_a_walk_ends_where_its_steps_lead(start: str, steps: int) -> None:
    rng = np.random.default_rng(steps)
    probabilities = walk_probabilities(canonical(start), steps)
    partition = Partition.from_labels(start)
    assert fits(seen(DRAWS, lambda: walk_from(partition, steps, rng=rng)), probabilities)


@given(st.lists(st.integers(0, 3), min_size=2, max_size=6), st.integers(0, 2**32))
def test_one_step_is_one_transfer(labels: list[int], seed: int) -> None:
    partition = Partition.from_labels(labels)
    before = partition.codes.copy()
    after = walk_from(partition, 1, rng=np.random.default_rng(seed))
    assert transfer_distance_by_transfers(after.codes.tolist(), labels) == 1
    assert (partition.codes == before).all()


@pytest.mark.unwatched
def test_a_long_walk_is_drawn_in_parts_and_keeps_its_books(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("unveil.metrics.partitions.guessing._STEPS_AT_ONCE", 7)
    partition = Partition.from_labels("aabb", items=list("wxyz"))
    rng = np.random.default_rng(11)
    ends = seen(2_000, lambda: walk_from(partition, 20, rng=rng))
    assert fits(ends, walk_probabilities((0, 0, 1, 1), 20))
    assert walk_from(partition, 20, rng=rng).items is partition.items


def test_compiled_and_plain_steps_are_the_same() -> None:
    rng = np.random.default_rng(12)
    partition = uniform_partition(20_000, rng=rng)
    item, luck = rng.integers(0, partition.n, 30_000), rng.random(30_000)
    ends = []
    for steps in (_random_steps, unwrap(_random_steps)):
        codes, sizes = partition.codes.copy(), np.zeros(partition.n, np.int32)
        sizes[: partition.cluster_count] = partition.sizes
        steps(codes, sizes, item, luck)
        assert (np.bincount(codes, minlength=partition.n) == sizes).all()
        ends.append(codes)
    assert (ends[0] == ends[1]).all()


def test_one_item_has_nowhere_to_go() -> None:
    assert walk_from(Partition.from_labels("a"), 5, rng=np.random.default_rng(1)).sizes.tolist() == [1]


def test_the_same_seed_gives_the_same_partition() -> None:
    for draw in (uniform_partition, growing_partition):
        for n in (50, 500):
            first, second = (draw(n, rng=np.random.default_rng(3)).codes for _ in range(2))
            assert (first == second).all()


def test_bad_numbers_are_refused() -> None:
    rng = np.random.default_rng(1)
    for draw in (uniform_partition, growing_partition):
        with pytest.raises(InputError, match="n is 0; a partition needs at least one item"):
            draw(0, rng=rng)
    with pytest.raises(InputError, match="steps is -1; it must be at least 0"):
        walk_from(Partition.from_labels("ab"), -1, rng=rng)
