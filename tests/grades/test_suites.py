"""Suites: how they are written and checked, their products, their rankings, and a peer's."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from pymcdm.methods import WPM
from pymcdm.normalizations import linear_normalization

from tests.grades.suite_cases import NAMES, drawn, replicated
from tests.oracles import suites as oracle
from unveil._kernels.types import FloatArray
from unveil.errors import InputError
from unveil.grades.evenness import evenness, shared_range
from unveil.grades.replicated_metrics import ReplicatedMetrics
from unveil.grades.suites import SUITES, Suite, equal_suites, rankings, suite_values, suite_zeros

MIXED = Suite("mixed", dict(zip(NAMES, (0.4, 0.3, 0.2, 0.1), strict=True)))


def suite_of(values: ReplicatedMetrics) -> Suite:
    """Return a suite of all metrics there are, with different weights."""
    parts = np.arange(1.0, len(values.metrics) + 1)
    return Suite("drawn", dict(zip(values.metrics, parts / parts.sum(), strict=True)))


class TestWriting:
    def test_the_suites_of_the_paper(self) -> None:
        assert list(SUITES) == ["S1", "S2", "S3", "S4", "S5"]
        assert [len(suite.weights) for suite in SUITES.values()] == [1, 2, 4, 5, 7]
        assert SUITES["S4"].weights["adversary_overall_success"] == 0.35
        assert SUITES["S5"].weights["amount_of_leaked_information"] == 0.25
        assert SUITES["S5"].weights["absolute_error"] == 0.1

    def test_a_suite_is_read_as_it_is_written(self) -> None:
        written = Suite.parse(" mine : entropy = 1/4, pearson_correlation=0.75")
        assert (written.name, dict(written.weights)) == ("mine", {"entropy": 0.25, "pearson_correlation": 0.75})
        for suite in (written, *SUITES.values()):
            assert Suite.parse(str(suite)) == suite
            assert hash(Suite.parse(str(suite))) == hash(suite)
        assert Suite.parse("S3") is SUITES["S3"]
        assert Suite.parse("two:entropy,incorrectness").weights == {"entropy": 0.5, "incorrectness": 0.5}

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("S9", "there is no suite 'S9'. Choose from S1, S2"),
            ("mine:entropie=1", "does not exist. Did you mean 'entropy'"),
            ("mine:loss=1", "See unveil list metrics"),
            ("mine:degree_distance=1", "must measure privacy"),
            ("mine:entropy=0.5,incorrectness=0.4", "sum to 0.9"),
            ("mine:entropy=1.5,incorrectness=-0.5", "above 0, but that of incorrectness in the suite mine is -0.5"),
            ("mine:entropy=1,incorrectness=0", "Leave the metric out"),
            ("mine:entropy=nan", "must be a number such as"),
            ("mine:entropy=1/0", "must be a number such as"),
            ("mine:entropy=0.5,incorrectness", "to all metrics, or to none"),
            ("mine:entropy=0.5,entropy=0.5", "named once"),
            ("mine:", "has no metrics after its colon"),
            (":entropy=1", "the name of a suite"),
        ],
    )
    def test_what_is_wrong_is_said(self, text: str, message: str) -> None:
        with pytest.raises(InputError, match=message.replace("(", r"\(")):
            Suite.parse(text)

    def test_a_suite_keeps_its_weights_to_itself(self) -> None:
        weights = {"entropy": 1.0}
        suite = Suite("mine", weights)
        weights["entropy"] = 0.5
        assert suite.weights == {"entropy": 1.0}
        with pytest.raises(InputError, match="at least one metric"):
            Suite("none", {})
        with pytest.raises(InputError, match="must be above 0"):
            Suite("undefined", {"entropy": float("nan")})

    def test_seven_metrics_make_120_suites(self) -> None:
        suites = equal_suites(SUITES["S5"].metrics)
        assert len(suites) == 120
        assert len({frozenset(suite.metrics) for suite in suites}) == 120
        assert all(len(set(suite.weights.values())) == 1 and len(suite.metrics) > 1 for suite in suites)

    @pytest.mark.parametrize("metrics", [["entropy"], ["entropy", "entropy"], ["entropy"] * 13])
    def test_metrics_of_suites_are_several_and_different(self, metrics: list[str]) -> None:
        with pytest.raises(InputError, match="2 to 12 different metrics"):
            equal_suites(metrics)


class TestProducts:
    @settings(deadline=None, max_examples=60)
    @given(drawn())
    def test_scores_and_rankings_are_the_definition(self, values: ReplicatedMetrics) -> None:
        suite = suite_of(values)
        found = rankings(values, [suite])
        rising = dict(zip(values.metrics, values.rising.tolist(), strict=True))
        for row in range(len(values.cases)):
            means = dict(zip(values.metrics, values.means[row].tolist(), strict=True))
            expected = oracle.products(means, rising, suite.weights, 0.01)
            assert found.scores[0, row] == pytest.approx(expected, rel=1e-11, nan_ok=True)
            assert (found.whole[0, row], found.pairs[0, row]) == pytest.approx(oracle.order(expected), nan_ok=True)

    @settings(deadline=None, max_examples=30)
    @given(drawn())
    def test_single_replications_are_the_definition_over_the_whole_case(self, values: ReplicatedMetrics) -> None:
        suite = suite_of(values)
        found = suite_values(values, [suite])
        assert (found.metrics, found.rising.tolist(), found.levels) == (("drawn",), [False], values.levels)
        rising = dict(zip(values.metrics, values.rising.tolist(), strict=True))
        for row in range(len(values.cases)):
            flat = {name: values.values[row, k].ravel().tolist() for k, name in enumerate(values.metrics)}
            expected = oracle.products(flat, rising, suite.weights, 0.01)
            assert found.values[row, 0].ravel() == pytest.approx(expected, rel=1e-11, nan_ok=True)

    @settings(deadline=None, max_examples=30)
    @given(drawn(positive=True))
    def test_a_quotient_of_scores_is_the_weighted_product_of_quotients(self, values: ReplicatedMetrics) -> None:
        suite = suite_of(values)
        scores = rankings(values, [suite]).scores[0]
        signs = np.where(values.rising, -1.0, 1.0) * list(suite.weights.values())
        ratios = np.prod((values.means / values.means[:, :, :1]) ** signs[None, :, None], axis=1)
        np.testing.assert_allclose(scores / scores[:, :1], ratios, rtol=1e-11)

    @settings(deadline=None, max_examples=30)
    @given(drawn())
    def test_the_unit_of_a_metric_does_not_matter(self, values: ReplicatedMetrics) -> None:
        suite = suite_of(values)
        units = np.array([1e-6, 8.0, 1e5, 0.3])[: len(values.metrics), None, None]
        other = replicated(values.values * units)
        np.testing.assert_allclose(rankings(other, [suite]).scores, rankings(values, [suite]).scores, rtol=1e-9)
        np.testing.assert_allclose(suite_values(other, [suite]).values, suite_values(values, [suite]).values, rtol=1e-9)

    @pytest.mark.parametrize("seed", range(5))
    def test_a_peer_has_the_same_scores(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        values = replicated(rng.lognormal(size=(1, 4, 6, 3)))
        types = np.where(values.rising, -1, 1)
        for suite in (MIXED, Suite("half", dict.fromkeys(NAMES[:2], 0.5))):
            among = [NAMES.index(name) for name in suite.metrics]
            # Without its check, which warns of levels that are best in everything.
            peer = partial(WPM(linear_normalization), types=types[among], validation=False)
            weights = np.array(list(suite.weights.values()))
            expected = peer(values.means[0, among].T, weights)
            np.testing.assert_allclose(rankings(values, [suite]).scores[0, 0], expected, rtol=1e-12)
            expected = peer(values.values[0, among].reshape(len(among), -1).T, weights)
            np.testing.assert_allclose(suite_values(values, [suite]).values.ravel(), expected, rtol=1e-12)

    def test_suites_are_graded_as_metrics_are(self) -> None:
        values = replicated(np.random.default_rng(4).lognormal(size=(5, 4, 3, 8)))
        graded = suite_values(values, [MIXED, Suite("one", {"incorrectness": 1.0})])
        assert evenness(graded).shape == shared_range(graded).shape == (5, 2)
        # The most private value of each case is 1, and nothing is above it.
        assert graded.values[:, 1].max(axis=(1, 2)) == pytest.approx(np.ones(5))
        assert np.all((graded.values > 0) & (graded.values <= 1))


def by_level(*rows: list[float], metrics: tuple[str, ...]) -> ReplicatedMetrics:
    """Return one case, with the means of each metric by level."""
    return replicated([[[[number] for number in row] for row in rows]], metrics)


FALLS = "incorrectness"
RISES = "adversary_overall_success"


class TestRankings:
    def one(self, numbers: list[float], metric: str = FALLS) -> tuple[float, float]:
        found = rankings(by_level(numbers, metrics=(metric,)), [Suite("one", {metric: 1.0})])
        return float(found.whole[0, 0]), float(found.pairs[0, 0])

    def test_falling_numbers_are_in_order_and_others_are_not(self) -> None:
        assert self.one([5, 4, 3, 2, 1, 0.5]) == (1.0, 1.0)
        assert self.one([1, 2, 3, 4, 5, 6]) == (0.0, 0.0)
        assert self.one([1, 2, 3, 4, 5, 6], RISES) == (1.0, 1.0)
        assert self.one([5, 4, 3, 2, 2.5, 1]) == (0.0, 0.8)

    def test_ties_are_not_in_order_also_when_rounding_hides_them(self) -> None:
        assert self.one([3, 3, 2]) == (0.0, 0.5)
        assert self.one([3, 3 * (1 - 1e-14), 2]) == (0.0, 0.5)
        assert self.one([3, 3 * (1 - 1e-10), 2]) == (1.0, 1.0)
        assert self.one([1, 1, 1]) == (0.0, 0.0)

    def test_missing_levels_are_passed_over(self) -> None:
        nan = np.nan
        assert self.one([nan, 4, nan, 3, nan, 3.5]) == (0.0, 0.5)
        assert self.one([nan, 4, nan, nan, 3, nan]) == (1.0, 1.0)
        assert np.isnan(self.one([nan, 4, nan, nan, nan, nan])).all()
        assert np.isnan(self.one([nan] * 6)).all()

    def test_a_level_counts_for_a_suite_where_all_its_metrics_are_defined(self) -> None:
        values = by_level([3, np.nan, 1], [0.1, 0.2, 0.3], metrics=(FALLS, RISES))
        suites = [Suite("both", {FALLS: 0.5, RISES: 0.5}), Suite("one", {RISES: 1.0})]
        found = rankings(values, suites)
        assert np.isnan(found.scores[:, 0]).tolist() == [[False, True, False], [False] * 3]
        assert found.whole.tolist() == [[1.0], [1.0]]
        assert found.ranked.tolist() == [1, 1]

    def test_shares_leave_out_undefined_cases(self) -> None:
        values = replicated(np.array([2, 1, 1, 2, 1, np.nan]).reshape(3, 1, 2, 1), (FALLS,))
        found = rankings(values, [Suite("one", {FALLS: 1.0})])
        assert (found.share.tolist(), found.pair_share.tolist(), found.ranked.tolist()) == ([0.5], [0.5], [2])
        nothing = rankings(by_level([1, np.nan], metrics=(FALLS,)), [Suite("one", {FALLS: 1.0})])
        assert np.isnan(nothing.share).all()

    def test_a_suite_of_metrics_that_are_not_there_is_refused(self) -> None:
        values = by_level([2, 1], metrics=(FALLS,))
        with pytest.raises(InputError, match="S1 needs the metric amount_of_leaked_information, which these results"):
            rankings(values, list(SUITES.values()))
        with pytest.raises(InputError, match="at least one suite"):
            suite_values(values, [])
        with pytest.raises(InputError, match="floor must be above 0"):
            rankings(values, [Suite("one", {FALLS: 1.0})], floor=0)


class TestZeros:
    def scores(self, numbers: list[float], metric: str, floor: float = 0.01) -> FloatArray:
        found = rankings(by_level(numbers, metrics=(metric,)), [Suite("one", {metric: 1.0})], floor=floor)
        return np.asarray(found.scores[0, 0])

    def test_zero_is_the_best_of_what_should_rise_and_the_worst_of_what_should_fall(self) -> None:
        assert self.scores([0, 1, 2], RISES) == pytest.approx([1, 0.02 / 1.02, 0.02 / 2.02])
        assert self.scores([2, 1, 0], FALLS) == pytest.approx([1, 1.02 / 2.02, 0.02 / 2.02])
        assert self.scores([0, 1, 2], RISES, 1e-12) == pytest.approx([1, 2e-12, 1e-12])

    def test_negative_values_count_as_zero(self) -> None:
        assert self.scores([-0.5, 0, 2], "pearson_correlation") == pytest.approx([1, 1, 0.02 / 2.02])
        assert self.scores([-0.5, -0.1], "pearson_correlation") == pytest.approx([1, 1])

    def test_a_metric_that_is_zero_throughout_does_not_count(self) -> None:
        assert self.scores([0, 0, 0], RISES).tolist() == self.scores([0, 0, 0], FALLS).tolist() == [1, 1, 1]
        values = by_level([0, 0, 0], [3, 2, 1], metrics=(RISES, FALLS))
        assert rankings(values, [Suite("both", {RISES: 0.5, FALLS: 0.5})]).whole.tolist() == [[1.0]]

    def test_what_is_zero_but_for_rounding_is_zero(self) -> None:
        assert self.scores([1e-17, 1, 2], RISES) == pytest.approx(self.scores([0, 1, 2], RISES))
        assert self.scores([-1e-17, 1, 2], RISES) == pytest.approx(self.scores([0, 1, 2], RISES))

    def test_what_was_done_is_told_with_counts(self) -> None:
        numbers = [[[[0.0, -1.0], [np.nan, 2.0]], [[1.0, 1.0], [1.0, 1.0]]], [[[1.0] * 2] * 2, [[0.0, 1.0], [1.0] * 2]]]
        values = replicated(numbers, ("pearson_correlation", FALLS))
        suite = Suite("both", {"pearson_correlation": 0.5, FALLS: 0.5})
        zeros = suite_zeros(values, [suite])
        assert {name: tuple(count) for name, count in zeros.counts.items()} == {
            "pearson_correlation": (1, 1, 1, 7),
            FALLS: (1, 0, 1, 8),
        }
        assert "1% of its largest value" in zeros.notes[0]
        assert "pearson correlation (2 of 7, in 1 case)" in zeros.notes[1]
        # The means of the same values hold one negative number, and no zero.
        assert tuple(rankings(values, [suite]).zeros.counts["pearson_correlation"]) == (0, 1, 1, 4)

    def test_nothing_is_told_where_nothing_was_done(self) -> None:
        assert suite_zeros(by_level([2, 1], metrics=(FALLS,)), [Suite("one", {FALLS: 1.0})]).notes == ()
