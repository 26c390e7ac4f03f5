"""Sums over people drawn by lot have the probabilities that counting, or drawing, gives."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles import verdict as oracle
from unveil._kernels.verdict.hypergeometric import hypergeometric_p, normal_p
from unveil._kernels.verdict.labels import labels, member_sums


@given(st.integers(0, 30), st.integers(0, 30), st.data())
def test_it_is_the_share_of_choices(members: int, others: int, data: st.DataObject) -> None:
    hits = data.draw(st.integers(0, members)), data.draw(st.integers(0, others))
    assert hypergeometric_p(*hits, members, others) == pytest.approx(oracle.hypergeometric_p(*hits, members, others))


@pytest.mark.parametrize("case", [(5, 0, 60_000, 600), (700, 650, 40_000, 40_000), (30_000, 30_100, 50_000, 50_000)])
def test_it_is_that_of_scipy_for_many_people(case: tuple[int, int, int, int]) -> None:
    from scipy.stats import hypergeom

    inside, outside, members, others = case
    expected = hypergeom.sf(inside - 1, members + others, inside + outside, members)
    assert hypergeometric_p(*case) == pytest.approx(expected, rel=1e-6)


def test_the_normal_one_is_near_what_draws_give() -> None:
    rng = np.random.default_rng(1)
    scores, is_member = rng.random(300) ** 3, np.arange(300) < 200
    scores[:200] += 0.03
    sums = np.concatenate([member_sums(make(), scores[:, None]) for make in labels(200, 100, 20_000, rng)])
    drawn = float(np.mean(sums >= scores[is_member].sum()))
    assert normal_p(scores, is_member) == pytest.approx(drawn, abs=0.01)
    assert 0.02 < drawn < 0.4
