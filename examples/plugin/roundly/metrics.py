"""A metric is a plain function of a guess; the decorator lists its facts, and returns it unchanged."""

import numpy as np

from unveil import Candidates
from unveil.metrics import metric


@metric(category="certainty", per="release", more_means="less private", bounds=(0.0, 1.0), source="this example")
def sure_share(guess: Candidates) -> float:
    """Return the share of targets that have exactly one candidate left.

    0 means that nobody is alone, 1 that everybody is. NaN where there is no target.

    >>> sure_share(Candidates([0, 1, 3], [4, 5, 6], [1.0, 0.5, 0.5]))
    0.5
    """
    sizes = np.diff(guess.start)
    return float(np.mean(sizes == 1)) if sizes.size else float("nan")
