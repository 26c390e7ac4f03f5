"""Whom merges bring along, against counting the subjects of the items that are merged."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracles import unlinkability as paper
from unveil._kernels import _compile
from unveil._kernels.partitions import crowds as crowd_loops
from unveil.errors import InputError
from unveil.guesses import Partition, View
from unveil.metrics import others_graphs, over_views, policy_grid, unlinkability
from unveil.metrics.partitions._evaluate import rank
from unveil.metrics.partitions._mixing import crowds
from unveil.metrics.partitions._tally import tallies
from unveil.metrics.partitions.crowds import others_work
from unveil.metrics.partitions.unlinkability import policy_of

LABELS = st.lists(
    st.tuples(st.sampled_from("abcde"), st.sampled_from("wxyz"), st.sampled_from("wx")), min_size=2, max_size=14
)
ALPHA, SHARES = Fraction(1, 2), (Fraction(1, 4), Fraction(3, 4))


def expected(labels: list[tuple[str, ...]], subject: str) -> tuple[list[float], list[float], list[paper.Point]]:
    """Return the others, their effective number and the paper's points after each merging, over a view of two."""
    truth, *guesses = ([row[k] for row in labels] for k in range(3))
    cluster, weights = paper.clusters_of(truth)[subject], paper.equal_weights(len(truth))
    crowds, points = [], []
    for guess in guesses:
        linked_to = paper.related(cluster, paper.clusters_of(guess), guess)
        crowds.append(paper.others_after(cluster, linked_to, ALPHA, weights, truth))
        points.append(paper.plot_for_cluster(cluster, linked_to, ALPHA, False, weights, "weight"))
    length = max(map(len, crowds))
    means = [
        [
            sum(float(p) * graph[min(j, len(graph) - 1)][k] for p, graph in zip(SHARES, crowds, strict=True))
            for j in range(length)
        ]
        for k in (0, 1)
    ]
    return means[0], means[1], paper.plot_for_cluster_given_view(points, SHARES)


@given(LABELS)
def test_others_along_merges_and_in_the_slope_follow_the_definition(labels: list[tuple[str, ...]]) -> None:
    truth, *guesses = (Partition.from_labels(list(column)) for column in zip(*labels, strict=True))
    view = View(guesses, SHARES)
    found = others_graphs(view, truth)
    everybody = max(1, truth.cluster_count - 1)
    for place, subject in enumerate(truth.clusters):
        others, effective, points = expected(labels, subject)
        np.testing.assert_allclose(found.graphs(place)[0], others, atol=1e-12)
        np.testing.assert_allclose(found.graphs(place)[1], effective, atol=1e-9)
        for mixing, crowd in (("others", others), ("even", effective)):
            result = unlinkability(view, truth, alpha=ALPHA, beta="7/10", mixing=mixing)  # type: ignore[arg-type]
            exact = [(linked, Fraction(c) / everybody) for (linked, _), c in zip(points, crowd, strict=True)]
            np.testing.assert_allclose(result.graphs(place)[1], [float(y) for _, y in exact], atol=1e-9)
            slope = paper.risk_slope(exact, ALPHA, Fraction(7, 10))
            assert float(result.risk_slope[place]) == pytest.approx(slope, abs=1e-9, nan_ok=True)


@given(LABELS, st.sampled_from(["others", "even"]))
def test_grid_and_views_count_others_as_the_measure_does(labels: list[tuple[str, ...]], mixing: str) -> None:
    truth, *guesses = (Partition.from_labels(list(column)) for column in zip(*labels, strict=True))
    view = View(guesses, SHARES)
    result = unlinkability(view, truth, beta="7/10", mixing=mixing)  # type: ignore[arg-type]
    grid = policy_grid(view, truth, mixing=mixing)  # type: ignore[arg-type]
    np.testing.assert_allclose(grid.mixed[11], result.overall.mixed, atol=1e-12)
    assert grid.risk_slope[11, 70] == pytest.approx(result.overall.risk_slope, abs=1e-9, nan_ok=True)
    alone = [unlinkability(guess, truth, beta="7/10", mixing=mixing).overall.risk_slope for guess in guesses]  # type: ignore[arg-type]
    over = over_views(view, truth, beta="7/10", mixing=mixing).range_of("risk_slope")  # type: ignore[arg-type]
    known = [(s, float(p)) for s, p in zip(alone, SHARES, strict=True) if not math.isnan(s)]
    mean = sum(s * p for s, p in known) / sum(p for _, p in known) if known else math.nan
    assert over.mean == pytest.approx(mean, abs=1e-9, nan_ok=True)


def test_ten_items_of_ten_people_blur_more_than_ten_of_one() -> None:
    # Alice has two clusters; with the second come ten foreign items, of one other person or of ten.
    guess = Partition.from_labels(["x", "x", "y"] + ["y"] * 10 + ["z"] * 10)
    one = Partition.from_labels(["Alice"] * 3 + ["Bob"] * 10 + [f"p{k}" for k in range(10)])
    ten = Partition.from_labels(["Alice"] * 3 + [f"p{k}" for k in range(10)] + ["Bob"] * 10)
    items = [unlinkability(guess, truth).risk_slope[0] for truth in (one, ten)]
    assert items[0] == items[1]
    assert [float(others_graphs(guess, truth).graphs(0)[1][1]) for truth in (one, ten)] == pytest.approx([1, 10])
    even = [unlinkability(guess, truth, mixing="even").risk_slope[0] for truth in (one, ten)]
    assert even[0] < even[1]


def test_the_compiled_loop_counts_the_same_people(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(2)
    truth, guess = (Partition.from_labels(rng.integers(0, 60, 400)) for _ in range(2))
    counted = tallies(guess, truth, None)
    order = rank(counted.guesses[0], counted, policy_of(truth, {}).alpha).order
    plain = crowds(counted.guesses[0], order)
    monkeypatch.setattr(_compile, "_MOST_AT_ONCE", 0)
    compiled = crowds(counted.guesses[0], order)
    assert (plain[0] == compiled[0]).all()
    np.testing.assert_allclose(plain[1], compiled[1], atol=1e-9)
    assert others_work(Partition.from_labels("xxy"), Partition.from_labels("aba")) == 2**2 + 1


def test_mixing_is_one_of_three() -> None:
    with pytest.raises(InputError, match="'items', 'others' or 'even'"):
        unlinkability(Partition.from_labels("xy"), Partition.from_labels("ab"), mixing="people")  # type: ignore[arg-type]


@settings(deadline=None, max_examples=40)
@given(
    st.integers(2, 5).flatmap(
        lambda each: st.lists(st.lists(st.sampled_from("bcdef"), min_size=each, max_size=each), min_size=2, max_size=5)
    )
)
def test_many_tied_clusters_are_averaged_without_looking_at_every_order(crowd: list[list[str]]) -> None:
    # One item of a in each cluster, with equally many foreign ones: all clusters tie.
    truth = [label for cluster in crowd for label in ("a", *cluster)]
    guess = [k for k, cluster in enumerate(crowd) for _ in ("a", *cluster)]
    subject, weights = paper.clusters_of(truth)["a"], paper.equal_weights(len(truth))
    exact = paper.others_after(subject, list(paper.clusters_of(guess).values()), ALPHA, weights, truth)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(crowd_loops, "ENUMERATED", 1)
        patch.setattr(_compile, "_pays", lambda *_: False)
        patch.setattr(_compile, "LEDGER", _compile.LoopLedger())
        others, even = others_graphs(Partition.from_labels(guess), Partition.from_labels(truth)).graphs(0)
    np.testing.assert_allclose(others, [number for number, _ in exact], atol=1e-12)
    means = [mean for _, mean in exact]
    np.testing.assert_allclose(even[[0, -1]], [means[0], means[-1]], atol=1e-9)
    np.testing.assert_allclose(even, means, rtol=0.15)
    assert (even <= others + 1e-12).all()
