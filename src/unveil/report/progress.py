"""Progress reports of a command."""

from collections.abc import Callable

#: What a long computation calls now and then: the name of the step, and which share of it is done.
Progress = Callable[[str, float], None]


def silent(step: str, share: float) -> None:
    """Report no progress."""


#: What is told a sentence that must be read before a long computation goes on.
Say = Callable[[str], None]


def unsaid(sentence: str) -> None:
    """Discard a progress report."""
