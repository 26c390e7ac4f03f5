"""A protection, an attack and a metric of one's own: nothing here is registered anywhere."""

from roundly.attacks import SameValues
from roundly.metrics import sure_share
from roundly.protections import Rounding

__all__ = ["Rounding", "SameValues", "sure_share"]
