"""Whom mergings bring along, against counting the subjects of the items that are merged."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles import unlinkability as paper
from unveil._kernels import _compile
from unveil.errors import InputError
from unveil.guess import Partition, View
from unveil.measure import others_graphs, over_views, policy_grid, unlinkability
from unveil.measure.partitions._contingency import contingency
from unveil.measure.partitions._mixing import crowds
from unveil.measure.partitions.others import others_work

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
def test_others_along_mergings_and_in_the_slope_follow_the_definition(labels: list[tuple[str, ...]]) -> None:
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
    table = contingency(guess, truth)
    plain = crowds(table, np.arange(table.count.size))
    monkeypatch.setattr(_compile, "PLAIN_UP_TO", 0)
    compiled = crowds(table, np.arange(table.count.size))
    assert (plain[0] == compiled[0]).all()
    np.testing.assert_allclose(plain[1], compiled[1], atol=1e-9)
    assert others_work(Partition.from_labels("xxy"), Partition.from_labels("aba")) == 2**2 + 1


def test_mixing_is_one_of_three() -> None:
    with pytest.raises(InputError, match="'items', 'others' or 'even'"):
        unlinkability(Partition.from_labels("xy"), Partition.from_labels("ab"), mixing="people")  # type: ignore[arg-type]
