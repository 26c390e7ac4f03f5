"""Figures of an answer that a pipeline can set a limit for."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Quantity:
    """One figure that ``--limit`` can watch; more of it is worse.

    Undefined is NaN. Where it is undefined because the harm has already happened, it exceeds every limit.
    """

    name: str
    value: float
    meaning: str
    exceeded_when_undefined: bool
