"""How well means are known, against numbers of a table of Student's distribution."""

import numpy as np
import pytest

from unveil.studies.precision import enough, half_width, relative_errors


def test_the_interval_is_that_of_student() -> None:
    # 12.706, 4.303 and 2.262 are printed in every table: 97.5 % at 1, 2 and 9 degrees of freedom.
    found = half_width(np.ones(4), np.array([2, 3, 10, 1]))
    assert found[:3] == pytest.approx([12.7062 / 2**0.5, 4.3027 / 3**0.5, 2.2622 / 10**0.5], rel=1e-4)
    assert np.isnan(found[3])


def test_relative_errors_of_what_varies_what_does_not_and_what_is_undefined() -> None:
    values = np.array(
        [
            [1.0, 0.1, -1.0, np.nan, np.nan, -5.0],
            [2.0, 0.1, 1.0, np.nan, 3.0, -5.5],
            [3.0, 0.1, 0.0, np.nan, np.nan, np.nan],
        ]
    )
    errors = relative_errors(values)
    assert errors[0] == pytest.approx(4.3027 / 3**0.5 / 2, rel=1e-4)
    assert errors[1] == 0
    assert errors[2] == np.inf
    assert np.isnan(errors[3])
    assert np.isnan(errors[4])
    assert errors[5] == pytest.approx(12.7062 * 0.25 * 2**0.5 / 2**0.5 / 5.25, rel=1e-4)
    assert not enough(values, 0.05)
    assert enough(values[:, [1, 3]], 0.05)
    assert not enough(values[:, [1, 4]], 0.05)
    assert not enough(values[:, [2]], 0.99)


def test_the_promise_is_kept_about_as_often_as_it_should() -> None:
    rng = np.random.default_rng(1)
    kept = 0
    for _ in range(300):
        values = rng.normal(10, 3, (500, 1))
        size = next(n for n in range(10, 501, 10) if enough(values[:n], 0.05))
        kept += abs(values[:size].mean() - 10) <= 0.05 * 10
    # Looking again and again costs a little of the 95 %.
    assert 0.85 <= kept / 300 <= 0.97
