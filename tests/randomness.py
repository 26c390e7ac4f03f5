"""The generators that everybody shares: nothing of unveil may draw from them."""

import random

import numpy as np


def shared_state() -> str:
    """Return the state of Python's and of numpy's own generators, which any draw from them changes."""
    return repr((random.getstate(), np.random.get_state(legacy=False)))  # noqa: NPY002
