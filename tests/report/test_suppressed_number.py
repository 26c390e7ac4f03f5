"""Numbers that are given by their bounds stay what they are in copies and in other processes."""

import pickle
from copy import deepcopy
from math import isnan

from unveil.report.suppressed_number import SuppressedNumber


def test_a_copy_has_the_same_value_bounds_and_words() -> None:
    number = SuppressedNumber(0.1, 0.4, at=0.2, words="few")
    for copied in (deepcopy(number), pickle.loads(pickle.dumps(number))):  # noqa: S301
        assert isinstance(copied, SuppressedNumber)
        assert (float(copied), copied.least, copied.most, copied.words) == (0.2, 0.1, 0.4, "few")
    withheld = pickle.loads(pickle.dumps(SuppressedNumber.withheld()))  # noqa: S301
    assert isnan(withheld)
    assert withheld.words == "not shown"
