"""Checks of the settings that attacks on all nodes of a graph share."""

import math
from collections.abc import Mapping

import numpy as np

from unveil.errors import InputError


def check_theta(theta: object) -> None:
    """Refuse a threshold that no score can be compared with; one that no score reaches is fine."""
    if not _is_number(theta) or math.isnan(theta):  # type: ignore[arg-type]
        raise InputError(f"theta must be a number, the least score to accept, but is {theta!r}. Write 0 to accept all")


def check_chunk(chunk: object) -> None:
    """Refuse a size of chunks in which nothing can be compared."""
    if chunk is not None:
        check_count(chunk, what="chunk", least=1, otherwise="None compares all nodes at once")


def check_count(value: object, *, what: str, least: int, otherwise: str = "Correct it") -> None:
    """Refuse what is not a whole number of at least ``least``."""
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not whole or value < least:  # type: ignore[operator]
        raise InputError(f"{what} must be a whole number of at least {least}, but is {value!r}. {otherwise}")


def check_accept(accept: object) -> None:
    """Refuse a share with which no round would ever accept a pair, or which is none."""
    if not _is_number(accept) or not 0 < accept <= 1:  # type: ignore[operator]
        raise InputError(f"accept must be a share above 0 and at most 1, but is {accept!r}. Write half as 0.5")


def check_weights(weights: Mapping[str, object]) -> None:
    """Refuse weights that are negative, or do not sum to 1."""
    for name, weight in weights.items():
        if not _is_number(weight) or not 0 <= weight <= 1:  # type: ignore[operator]
            raise InputError(f"{name} must be a number from 0 to 1, but is {weight!r}. Correct it")
    total = math.fsum(weights.values())  # type: ignore[arg-type]
    if abs(total - 1) > 1e-9:
        raise InputError(f"{', '.join(weights)} must sum to 1, but sum to {total:.6g}. Divide each by their sum")


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
