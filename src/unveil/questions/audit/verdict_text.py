"""Put the verdict of an audit into words."""

from collections.abc import Sequence
from dataclasses import dataclass

from unveil.questions.audit.findings import Audit
from unveil.questions.audit.words import LONGEST_NAME
from unveil.report.editions import people
from unveil.report.suppressed_number import SuppressedNumber
from unveil.report.text import count, name


@dataclass(frozen=True, kw_only=True)
class VerdictText:
    """The verdict in words: headline, explanation, and next steps."""

    headline: str
    explanation: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()

    @property
    def whole(self) -> str:
        """All of it as one text."""
        return " ".join((self.headline, *self.explanation, *self.steps))


def quoted(names: Sequence[str], *, at_most: int = 3) -> str:
    """Return the names of releases as a sentence lists them; of many, the first ones.

    >>> quoted(["a"]), quoted(["a", "b"]), quoted(list("abcde"))
    ("'a'", "'a' and 'b'", "'a', 'b' and 3 more")
    """
    shown = [repr(name(each, LONGEST_NAME)) for each in names]
    if len(shown) > at_most:
        shown = [*shown[: at_most - 1], f"{len(shown) - at_most + 1} more"]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def of_all(audit: Audit, sentence: str) -> str:
    """Return a sentence with how many people there are in place of the first {}."""
    return people(audit.people or audit.rows, "person", "people", pattern=sentence)


def safe(text: str) -> str:
    """Return a text for :func:`of_all` that may hold any name: only one place is for the number."""
    return text.replace("{}", "{ }")


def number_of(number: float, one: str = "person", many: str = "people") -> str:
    """Return how many there are; a few of them a shareable report tells by a bound."""
    if isinstance(number, SuppressedNumber):
        return f"{number.words} {many}".rstrip()
    return count(round(number), one, many).rstrip()
