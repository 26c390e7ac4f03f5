"""Figures of an answer that a pipeline can set a limit for."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Quantity:
    """One figure that ``--limit`` can watch.

    It exceeds its limit when it is greater, or when it is less and more of it is better. Undefined is NaN. Where it is
    undefined because the harm has already happened, it exceeds every limit.
    """

    name: str
    value: float
    meaning: str
    exceeded_when_undefined: bool
    more_is_worse: bool = True
