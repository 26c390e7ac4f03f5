"""Attacker's knowledge about published counts."""

from dataclasses import dataclass

from unveil.data.counts.settings import Range

#: What whoever knows nothing reads: any number.
ANY: Range = (0, None)


@dataclass(frozen=True, kw_only=True)
class CountKnowledge:
    """Attacker's reading of each suppression symbol, in the tables' order.

    Symbols beyond those that are told say nothing: any number.

    >>> CountKnowledge(reading=((1, 4),)).of(2)
    ((1, 4), (0, None))
    """

    reading: tuple[Range, ...] = ()

    def of(self, symbols: int) -> tuple[Range, ...]:
        """Return the readings of N symbols."""
        return (*self.reading[:symbols], *(ANY,) * (symbols - len(self.reading)))
