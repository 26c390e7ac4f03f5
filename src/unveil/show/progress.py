"""How a question says how far it has come."""

from collections.abc import Callable

#: What a long computation calls now and then: the name of the step, and which share of it is done.
Progress = Callable[[str, float], None]


def silent(step: str, share: float) -> None:
    """Report no progress."""
