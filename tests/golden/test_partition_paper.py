"""The numbers printed in the paper on evaluating adversarial partitions, and its errata with their correction."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from unveil.guesses import Partition, View
from unveil.metrics.partitions.policy_grid import ALPHAS, policy_grid
from unveil.metrics.partitions.unlinkability import Unlinkability, unlinkability

ALICE_AND_BOB = Partition.from_labels("ooooo" + "••")
#: The three partitions of the introduction, and the one before them that has Alice right.
FIRST = Partition.from_labels("aaaab" + "bb")
SECOND = Partition.from_labels("aaabb" + "ac")
THIRD = Partition.from_labels("aaabc" + "dd")
ALICE_RIGHT = Partition.from_labels("aaaaa" + "bc")

SHAPES = ("triangle", "square", "circle", "star")
#: Section 4, 24 items: rows are the adversary's clusters, columns triangles, squares, circles, stars.
CONSERVATIVE = [(0, 0, 1, 3), (0, 0, 1, 2), (1, 4, 0, 1), (0, 0, 3, 0), (1, 0, 0, 0), (1, 0, 1, 0), (3, 2, 0, 0)]
LIBERAL = [(0, 0, 5, 3), (1, 4, 1, 1), (5, 2, 0, 2)]


def figure_four(rows: Sequence[tuple[int, ...]], **settings: Any) -> Unlinkability:
    """Return the result for one of the partitions of Fig. 4."""
    truth = [shape for counts in rows for shape, k in zip(SHAPES, counts, strict=True) for _ in range(k)]
    guess = [row for row, counts in enumerate(rows) for _ in range(sum(counts))]
    return unlinkability(Partition.from_labels(guess), Partition.from_labels(truth), **settings)


def of(result: Unlinkability, subject: str) -> int:
    return list(result.subjects).index(subject)


def test_remark_2_errors_are_not_symmetric() -> None:
    together, apart = Partition.from_labels("aaa"), Partition.from_labels("aab")
    one, reversed_ = unlinkability(apart, together).overall, unlinkability(together, apart).overall
    assert (one.miss, one.include) == (1, 0)
    assert (reversed_.miss, reversed_.include) == (0, 3)
    assert (one.kind, reversed_.kind) == ("conservative", "liberal")


def test_introduction_alice_is_linked_perfectly_and_bob_is_not() -> None:
    result = unlinkability(ALICE_RIGHT, ALICE_AND_BOB)
    alice, bob = of(result, "o"), of(result, "•")
    assert (result.miss[alice], result.include[alice], result.linked0[alice]) == (0, 0, 1)
    assert (result.miss[bob], result.include[bob], result.linked0[bob]) == (1, 0, 0.5)


@pytest.mark.parametrize(
    ("guess", "linked", "risk_slope"),
    [
        (FIRST, [4 / 5, 1], 0.6772),
        (SECOND, [3 / 5, 1], 0.5577),
        (THIRD, [3 / 5, 4 / 5, 1], 0.3440),
    ],
)
def test_introduction_from_the_viewpoint_of_linking_alone(
    guess: Partition, linked: list[float], risk_slope: float
) -> None:
    result = unlinkability(guess, ALICE_AND_BOB, alpha=1, beta=0.9)
    alice = of(result, "o")
    assert result.graphs(alice)[0] == pytest.approx(linked, abs=1e-12)
    assert result.risk_slope[alice] == pytest.approx(risk_slope, abs=5e-5)


def test_introduction_from_the_viewpoint_of_mixing_alone() -> None:
    # "Π'1 mixes two of Bob's items with some of Alice's, Π'2 only one, Π'3 none": once Alice is all linked.
    alice = list(ALICE_AND_BOB.clusters).index("o")
    mixed = [unlinkability(guess, ALICE_AND_BOB, alpha=0).graphs(alice)[1] for guess in (FIRST, SECOND, THIRD)]
    assert [graph[-1] for graph in mixed] == [1, 0.5, 0]


def test_tied_clusters_are_averaged_for_errors_but_the_plot_starts_with_fewer_foreign() -> None:
    result = unlinkability(SECOND, ALICE_AND_BOB, alpha="1/2")
    alice = of(result, "o")
    assert (result.miss[alice], result.include[alice]) == (5 / 2, 1 / 2)
    assert result.linked0[alice] == 2 / 5
    assert result.mixed0[alice] == 0
    # Bob's item is in one of the two tied clusters.
    assert result.others[alice] == 1 / 2
    assert result.others_evenness[alice] == 1


def test_section_4_primary_errors() -> None:
    one, two = figure_four(CONSERVATIVE), figure_four(LIBERAL)
    assert [one.miss[of(one, shape)] for shape in SHAPES] == [4, 2, 3, 3]
    assert (one.overall.miss, one.overall.include, one.overall.kind) == (12, 4, "conservative")
    assert (two.overall.miss, two.overall.include, two.overall.kind) == (7, 15, "liberal")


@pytest.mark.parametrize(
    ("rows", "beta", "linked_part", "mixed_part", "risk_slope", "percent"),
    [(CONSERVATIVE, 0.9, 0.364, 0.100, 0.23197, 23.20), (LIBERAL, 0.7, 0.361, 0.340, 0.35028, 35.03)],
)
def test_section_4_risk_slope_of_the_stars(
    rows: Sequence[tuple[int, ...]],
    beta: float,
    linked_part: float,
    mixed_part: float,
    risk_slope: float,
    percent: float,
) -> None:
    # The text prints Δ(Π, Π', …); the numbers are those of the star cluster, Δ(stars, Π', …).
    result = figure_four(rows, beta=beta)
    star = of(result, "star")
    assert result.risk_slope[star] == pytest.approx(risk_slope, abs=5e-6)
    assert round(100 * result.risk_slope[star], 2) == percent
    # The two arctangents that the paper adds up are the risk slope for linking alone and for mixing alone, on the
    # graphs of alpha = 1/2.
    x = result.merges[star]
    mixed = np.interp(x, np.arange(result.graphs(star)[1].size), result.graphs(star)[1])
    assert 2 / np.pi * np.arctan(beta / x) == pytest.approx(linked_part, abs=5e-4)
    assert 2 / np.pi * np.arctan(mixed / x) == pytest.approx(mixed_part, abs=5e-4)


def test_erratum_section_4_prints_the_symbols_of_the_overall_slope_for_the_stars() -> None:
    # Taken at its word, Δ(Π, Π'1, .9, 1/2) is the overall risk slope: .183 and not .232. Δ(Π, Π'2, .7, 1/2) does not
    # exist at all, as the average subject of the reconstruction has more than 70 % of its items together already.
    one, two = figure_four(CONSERVATIVE, beta=0.9).overall, figure_four(LIBERAL, beta=0.7).overall
    assert one.risk_slope == pytest.approx(0.18290, abs=5e-6)
    assert (two.breached, two.linked[0]) == (True, pytest.approx(17 / 24))
    assert np.isnan(two.risk_slope)


def test_erratum_alpha_weighs_linking_though_the_prose_says_the_opposite() -> None:
    # Section 3.1's prose: α = 0 "cares exclusively about the extent to which the elements are linked". The formulas
    # rule: α = 0 prefers the pure fragment, α = 1 the large impure cluster.
    truth, guess = Partition.from_labels("aaaa" + "bbb"), Partition.from_labels("xyyy" + "yyy")
    careless, linking = unlinkability(guess, truth, alpha=0), unlinkability(guess, truth, alpha=1)
    assert (careless.miss[0], careless.include[0]) == (3, 0)
    assert (linking.miss[0], linking.include[0]) == (1, 3)


def test_erratum_the_overall_graph_runs_over_the_adversarys_clusters() -> None:
    # Fig. 2 prints j = 0 … |Π| - 1: with one subject in three clusters that is one point, which never reaches 1.
    result = unlinkability(Partition.from_labels("xyz"), Partition.from_labels("aaa"))
    assert result.overall.linked == pytest.approx([1 / 3, 2 / 3, 1], abs=1e-12)
    assert figure_four(CONSERVATIVE).overall.linked.size == len(CONSERVATIVE)


def test_erratum_a_priority_of_one_over_zero_is_a_perfect_cluster() -> None:
    result = unlinkability(Partition.from_labels("xxy"), Partition.from_labels("aab"))
    assert not result.error.any()


@pytest.mark.parametrize("alpha", ["0", "1/3", "1/2", "2/3", "1"])
def test_figure_4_has_every_alpha_that_the_page_draws(alpha: str) -> None:
    # Rows three and four of Fig. 4: α = 0, 1/3, 1/2, 2/3, 1 are on the grid, exactly.
    shapes = [SHAPES[k] for counts in CONSERVATIVE for k, many in enumerate(counts) for _ in range(many)]
    guess = [row for row, counts in enumerate(CONSERVATIVE) for _ in range(sum(counts))]
    truth, guessed = Partition.from_labels(shapes), Partition.from_labels(guess)
    grid = policy_grid(guessed, truth)
    at = [str(each) for each in ALPHAS].index(alpha)
    overall = unlinkability(guessed, truth, alpha=alpha, beta=0.9).overall
    assert grid.linked[at] == pytest.approx(overall.linked, abs=1e-12)
    assert grid.risk_slope[at, 90] == pytest.approx(overall.risk_slope, abs=1e-9)


@pytest.mark.parametrize(("norm", "mixed"), [("weight", 1.0), ("literal", 0.3)])
def test_reading_8_the_linked_graph_ends_at_1_under_both_norms(norm: Any, mixed: float) -> None:
    # Nothing is missed once all clusters are merged, so 1 - m / |C| is 1, whatever |C| weighs; the mixed graph, with
    # n - |C| below the line, need not get there.
    truth, guess = Partition.from_labels("aaabb"), Partition.from_labels("xyyyy")
    result = unlinkability(guess, truth, weights=[0.2, 0.5, 0.1, 0.3, 0.3], norm=norm)
    assert result.graphs(0)[0][-1] == 1
    assert result.graphs(0)[1][-1] == pytest.approx(mixed)


def test_erratum_the_contamination_bit_also_reaches_the_overall_graph() -> None:
    # Figs 2 and 3 leave b out of their inputs. With |C| = n nothing foreign exists: y = 0, and 1 - y = 1.
    everything = unlinkability(Partition.from_labels("xxy"), Partition.from_labels("aaa"), contamination_desirable=True)
    assert everything.graphs(0)[1].tolist() == [1, 1]
    assert everything.overall.mixed.tolist() == [1, 1]


def test_erratum_the_overall_slope_is_undefined_where_the_average_subject_is_breached() -> None:
    result = unlinkability(ALICE_RIGHT, ALICE_AND_BOB, beta=0.7)
    assert result.overall.linked[0] == 0.75
    assert result.overall.breached
    assert np.isnan(result.overall.risk_slope)
    assert (result.overall.breached_subjects, result.overall.breached_share) == (1, 0.5)


def test_the_worst_case_of_the_normalized_error() -> None:
    # α = 0, |C| = 1 and Π' of a single cluster: n - 1 errors, e* = 1.
    result = unlinkability(Partition.from_labels("xxxxx"), Partition.from_labels("abbbb"), alpha=0)
    assert (result.miss[0], result.include[0], result.normalized_error[0]) == (0, 4, 1)


def test_the_risk_slope_of_one_subject_does_not_fall_with_the_threshold() -> None:
    # C of ten items in clusters of 1, 1 and 8 + 8 foreign ones; n = 18.
    truth, guess = Partition.from_labels("a" * 10 + "b" * 8), Partition.from_labels("xy" + "z" * 16)
    slopes = [unlinkability(guess, truth, alpha="1/2", beta=beta).risk_slope[0] for beta in (0.2, 0.5, 0.9)]
    assert slopes == pytest.approx([0.063, 0.196, 0.281], abs=5e-4)


def test_at_breach_the_limit_stands_upright() -> None:
    result = unlinkability(FIRST, ALICE_AND_BOB, alpha="1/4", beta=0.5, at_breach="limit")
    alice, bob = of(result, "o"), of(result, "•")
    # Alice's cluster of four is pure: only the linked vector is upright. Bob's holds one of Alice's: both are.
    assert (result.risk_slope[alice], result.risk_slope[bob]) == (0.25, 1)


def test_views_average_the_graphs_and_not_the_slopes() -> None:
    truth = Partition.from_labels("aaaa")
    guesses = [Partition.from_labels("wxyz"), Partition.from_labels("xxxx")]
    result = unlinkability(View(guesses, ["1/2", "1/2"]), truth, alpha=1, beta=0.9)
    assert result.graphs(0)[0] == pytest.approx([0.625, 0.75, 0.875, 1], abs=1e-12)
    assert result.merges[0] == pytest.approx(2.2, abs=1e-12)
    # The slope of the second partition alone is undefined, so there is no mean of slopes.
    assert result.risk_slope[0] == pytest.approx(2 / np.pi * np.arctan(0.9 / 2.2), abs=1e-12)
    assert (result.miss[0], result.related[0]) == (1.5, 2.5)


@pytest.mark.parametrize(
    ("norm", "linked", "mixed"),
    [("weight", [1 / 3, 1], [0, 1]), ("literal", [1 / 2, 1], [0, 1 / 4])],
)
def test_weights_are_shares_of_weight_or_literally_of_items(norm: Any, linked: list[float], mixed: list[float]) -> None:
    # Two items of a weigh 1/2 and 1; two foreign ones 1/2 and 0, both with the heavier.
    truth, guess = Partition.from_labels("aabb"), Partition.from_labels("xyyy")
    result = unlinkability(guess, truth, alpha=0, weights=[0.5, 1, 0.5, 0], norm=norm)
    assert result.graphs(0)[0] == pytest.approx(linked, abs=1e-12)
    assert result.graphs(0)[1] == pytest.approx(mixed, abs=1e-12)
    assert (result.miss[0], result.include[0]) == (1, 0)
