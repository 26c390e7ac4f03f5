"""Numbers shown as bounds in a redacted report, for few people."""

from math import isnan, nan
from typing import Any


class SuppressedNumber(float):
    """Number shown by two bounds that follow from public totals.

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
        """Return the number, which computes as ``at`` (default: upper bound)."""
        made = super().__new__(cls, most if at is None else at)
        made.least, made.most, made.words = least, most, words
        return made

    def __getnewargs_ex__(self) -> tuple[tuple[float, float], dict[str, Any]]:
        """Return the arguments to copy or pickle the number."""
        return (self.least, self.most), {"at": float(self), "words": self.words}

    @classmethod
    def withheld(cls) -> "SuppressedNumber":
        """Return a completely withheld number."""
        return cls(nan, nan, words="not shown")

    @property
    def told(self) -> bool:
        """True if the bounds are shown."""
        return not isnan(self)

    def is_beyond(self, limit: float, *, more_is_worse: bool) -> bool | None:
        """Return whether the number exceeds a limit; None if open.

        >>> [SuppressedNumber(0.0, 0.02).is_beyond(limit, more_is_worse=True) for limit in (0.05, 0.01)]
        [False, None]
        """
        slack = 1e-12
        ends = [end - limit if more_is_worse else limit - end for end in (self.least, self.most)]
        if max(ends) <= slack:
            return False
        return True if min(ends) > slack else None

    def within(self, lowest: float, highest: float, texts: tuple[str, str]) -> str:
        """Return the bounds in words, given as ``texts``.

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
