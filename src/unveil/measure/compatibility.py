"""Whether a guess can be right under the masking that was used: compatible with the true probability, or not.

A belief function is compatible with the true probability if nothing is believed beyond it (Definition 7); a probability
is if it is the pignistic one of a compatible belief function (Definition 14). An attack whose guesses are not compatible
proves nothing about the release. Neither relation may be chained: a guess that is compatible with a second one, which is
compatible with the truth, need not be compatible with the truth.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import nan
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from unveil.errors import InputError
from unveil.guess import Candidates
from unveil.guess.beliefs import Beliefs
from unveil.guess.mass_function import MassFunction, Probability, checked_probability
from unveil.measure._belief_flow import Worst, worst_set
from unveil.measure._coupling import TOLERANCE, decide
from unveil.measure._listing import metric
from unveil.measure._validity_words import of_belief, of_probability, of_release

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Level = Literal["record", "file"]

SOURCE = "Torra and Stokes, reidentification and belief functions, Definitions 7 and 14"
#: Pairs of groups of equal records in a linear program: one to three seconds. Beyond, the answer is "undecided".
MOST_PAIRS = 22_500
