"""The combination: places counted one by one, weights as another optimiser finds them, no order plays a part."""

from statistics import NormalDist

import numpy as np
import pytest
from scipy.optimize import minimize

from unveil._kernels.membership.combine import combine, features


def test_a_place_is_a_quantile_with_two_tails() -> None:
    outsiders = np.sort(np.random.default_rng(1).integers(0, 30, (400, 1)).astype(float), axis=0)
    scores = np.array([-1.0, 3.0, 28.5, 29.0, 99.0])
    for score, found in zip(scores, features(scores[:, None], outsiders), strict=True):
        below, alike = int((outsiders < score).sum()), int((outsiders == score).sum())
        quantile = NormalDist().inv_cdf((below + alike / 2 + 0.5) / 401)
        assert found == pytest.approx([quantile, max(quantile - 1.5, 0), max(quantile - 2.5, 0)])
    many = np.arange(20_000.0)[:, None]
    assert features(np.array([[-1.0], [1e9]]), many)[:, 0] == pytest.approx([-3.719016, 3.719016], abs=1e-5)


def test_weights_minimise_the_loss_with_a_ridge_and_rows_in_any_order_give_them() -> None:
    rng = np.random.default_rng(2)
    members, outsiders = rng.normal([0.5, 0.0, 0.2], 1.2, (150, 3)), rng.normal(size=(120, 3)).round(1)
    found = combine(members, outsiders)
    every = features(np.concatenate([members, outsiders]), np.sort(outsiders, axis=0))
    signs = np.repeat([1.0, -1.0], [150, 120])

    def loss(w: np.ndarray) -> float:
        return float(np.logaddexp(0, -signs * (every @ w[1:] + w[0])).sum() + 5 * (w[1:] ** 2).sum())

    best = minimize(loss, np.zeros(10), method="BFGS", options={"gtol": 1e-8})
    np.testing.assert_allclose(found.coefficients, best.x, atol=1e-5)
    np.testing.assert_allclose(found.score(members), (every @ best.x[1:])[:150], atol=1e-4)
    assert found.weights[1].tolist() == found.coefficients[[2, 5, 8]].tolist()
    again = combine(rng.permutation(members), rng.permutation(outsiders))
    np.testing.assert_array_equal(found.coefficients, again.coefficients)
    assert np.unique(found.score(np.repeat(members[:1], 50, axis=0))).size == 1
