"""Settings checks shared by attacks on all nodes."""

import math
from collections.abc import Mapping

import numpy as np

from unveil.errors import InputError, share, whole_number


def check_theta(theta: object) -> None:
    """Validate the score threshold; an unreachable one is allowed."""
    if not _is_number(theta) or math.isnan(theta):  # type: ignore[arg-type]
        raise InputError(f"theta is {theta!r}; it must be a number, the least score to accept. Write 0 to accept all")


def check_chunk(chunk: object) -> None:
    """Refuse a size of chunks in which nothing can be compared."""
    if chunk is not None:
        whole_number(chunk, "chunk", advice="Leave it out to compare all nodes at once")


def compared_at_a_time(attack: object) -> int | None:
    """Return the number of nodes compared at a time, or None."""
    chunk = getattr(attack, "compared_at_a_time", getattr(attack, "chunk", None))
    return chunk if isinstance(chunk, int) else None


def check_weights(weights: Mapping[str, object]) -> None:
    """Refuse weights that are negative, or do not sum to 1."""
    for name, weight in weights.items():
        share(weight, name)
    total = math.fsum(weights.values())  # type: ignore[arg-type]
    if abs(total - 1) > 1e-9:
        raise InputError(f"{', '.join(weights)} sum to {total:.6g}, not 1. Divide each by their sum")


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
