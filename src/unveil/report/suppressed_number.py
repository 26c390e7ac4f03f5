"""Show numbers by bounds in a shareable report where the exact value rests on few people."""

from math import isnan, nan
from typing import Any


class SuppressedNumber(float):
    """A number shown by two bounds alone, both known to anyone who knows the totals.

    Whatever computes with it computes with a bound, so that nothing that is made of it says more than the bounds do.
    ``words`` are what stands in its place where the bounds themselves say too little.

    >>> share = SuppressedNumber(0.0, 0.022)
    >>> float(share), share.least, share.most, isnan(SuppressedNumber.withheld())
    (0.022, 0.0, 0.022, True)
    """

    __slots__ = ("least", "most", "words")
    least: float
    most: float
    words: str

    def __new__(cls, least: float, most: float, *, at: float | None = None, words: str = "") -> "SuppressedNumber":
        """Return the number, which is ``at`` (the upper bound unless given) for whoever computes with it."""
        made = super().__new__(cls, most if at is None else at)
        made.least, made.most, made.words = least, most, words
        return made

    def __getnewargs_ex__(self) -> tuple[tuple[float, float], dict[str, Any]]:
        """Return what makes the same number again, so that it can be copied and sent to other processes."""
        return (self.least, self.most), {"at": float(self), "words": self.words}

    @classmethod
    def withheld(cls) -> "SuppressedNumber":
        """Return the number of which nothing is told."""
        return cls(nan, nan, words="not shown")

    @property
    def told(self) -> bool:
        """Whether anything is told of it."""
        return not isnan(self)

    @property
    def complement(self) -> "SuppressedNumber":
        """What is left of 1."""
        return SuppressedNumber(1 - self.most, 1 - self.least, at=1 - self, words=self.words)

    def is_beyond(self, limit: float, *, more_is_worse: bool) -> bool | None:
        """Return whether the number exceeds a limit; None where its bounds leave that open.

        >>> [SuppressedNumber(0.0, 0.02).is_beyond(limit, more_is_worse=True) for limit in (0.05, 0.01)]
        [False, None]
        """
        slack = 1e-12
        ends = [end - limit if more_is_worse else limit - end for end in (self.least, self.most)]
        if max(ends) <= slack:
            return False
        return True if min(ends) > slack else None

    def within(self, lowest: float, highest: float, texts: tuple[str, str]) -> str:
        """Return the number in words: less, more or between its bounds, which ``texts`` are.

        ``lowest`` and ``highest`` are what it cannot leave anyway.

        >>> SuppressedNumber(0.0, 0.022).within(0, 1, ("0%", "2.2%"))
        'less than 2.2%'
        >>> SuppressedNumber(-0.1, 0.2).within(0, 1, ("-10%", "20%"))
        'between -10% and 20%'
        """
        if self.words:
            return self.words
        if self.least == lowest:
            return f"less than {texts[1]}"
        return f"more than {texts[0]}" if self.most == highest else f"between {texts[0]} and {texts[1]}"
