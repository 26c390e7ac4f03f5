"""What an adversary knows about published counts beside what is published."""

from dataclasses import dataclass

from unveil.data.counts.settings import Range

#: What whoever knows nothing reads: any number.
ANY: Range = (0, None)


@dataclass(frozen=True, kw_only=True)
class CountKnowledge:
    """How an adversary reads each symbol that stands in place of a count, in the order of the tables' symbols.

    Symbols beyond those that are told say nothing: any number.

    >>> CountKnowledge(reading=((1, 4),)).of(2)
    ((1, 4), (0, None))
    """

    reading: tuple[Range, ...] = ()

    def of(self, symbols: int) -> tuple[Range, ...]:
        """Return how each of so many symbols is read."""
        return (*self.reading[:symbols], *(ANY,) * (symbols - len(self.reading)))
