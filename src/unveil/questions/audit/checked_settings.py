"""Check the settings of an audit before reading any table."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from unveil.errors import InputError, did_you_mean, share, whole_number
from unveil.questions.audit.attacks import ATTACKS
from unveil.questions.audit.findings import AttackScenario
from unveil.questions.reading import TableReading

if TYPE_CHECKING:
    from unveil.data.table import Table
    from unveil.metrics.epsilon.claim import Claim

ReleaseKind = Literal["masked", "synthetic"]

#: In place of an identifier: each row is another person, whatever the columns look like.
ONE_ROW_EACH = "none"
#: What is measured beside attacks: on the release, on its worth, and on the original as if it were released.
MEASURES: Mapping[str, str] = MappingProxyType(
    {
        "disclosure": "Rows that look alike (disclosure)",
        "utility": "What the release is still worth",
        "before": "The same questions asked of the original itself",
    }
)


#: Nearest released rows that count in linkability; in a release of no more rows they would be all, and link everybody.
USUAL_NEIGHBOURS = 10


def usual_neighbours(rows: int) -> int:
    """Return how many nearest rows count in linkability unless told: 1 in a tiny release.

    >>> usual_neighbours(500), usual_neighbours(3)
    (10, 1)
    """
    return USUAL_NEIGHBOURS if rows > USUAL_NEIGHBOURS else 1


@dataclass(frozen=True, kw_only=True)
class AuditSettings:
    """The settings of an audit, checked."""

    #: None tries divisions of the columns that are drawn by lot.
    scenarios: tuple[AttackScenario, ...] | None
    attacks: Sequence[str] | None
    targets: int | Literal["auto"] | None
    #: None for the usual number, which depends on the rows of a release.
    neighbours: int | None
    guesses: int
    tolerance: float
    model: Any
    kind: ReleaseKind | Mapping[str, ReleaseKind] | None
    known: tuple[str, ...] | None
    sensitive: tuple[str, ...]
    identifiers: tuple[str, ...]
    reading: TableReading
    by: str | None
    weight: str | None
    household: str | None
    population_size: int | None
    minimum_cell: int
    #: What is told about released cells: hierarchies by column, and columns whose numbers are as they seem.
    hierarchies: Mapping[str, Any] = field(default_factory=dict)
    exact: tuple[str, ...] = ()
    #: How many threads attacks take, one per processor if None; no number depends on it.
    threads: int | None = None
    #: What is said of the epsilon of the release.
    claim: "Claim | None" = None
    #: Columns that were left out of a release on purpose, by its name: no adversary can use them there.
    lacking: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        numbers = ("targets", "neighbours", "guesses", "population_size", "minimum_cell", "threads")
        for name in numbers:
            number = getattr(self, name)
            if number is not None and (name, number) != ("targets", "auto"):
                whole_number(number, name)
        share(self.tolerance, "tolerance", one=False)
        if self.minimum_cell < 2:
            raise InputError(
                "minimum_cell must be at least 2, but is 1: a group of one person is never shown. Raise it"
            )
        self._check_roles()

    def _check_roles(self) -> None:
        roles = [
            *((name, "sensitive") for name in self.sensitive),
            *((name, "identifiers") for name in self.identifiers),
            *((name, "known") for name in self.known or ()),
            *((name, what) for name, what in ((self.weight, "the weight"), (self.household, "the household")) if name),
        ]
        for name in {name for name, _ in roles}:
            said = sorted({role for column, role in roles if column == name})
            if len(said) > 1:
                raise InputError(f"column {name!r} is said to be {' and '.join(said)}. Give it one role")

    def neighbours_in(self, rows: int) -> int:
        """Return how many nearest rows of a release with this many rows count in linkability."""
        return self.neighbours or usual_neighbours(rows)

    def identifiers_of(self, table: "Table") -> tuple[str, ...]:
        """Return the columns that identify people; none where each row was said to be another person."""
        return identifiers_of(table, self.identifiers)

    @property
    def parts(self) -> tuple[str, ...]:
        """The attacks and measures that were asked for, in the order of the report; all unless some are named."""
        every = (*ATTACKS, *MEASURES)
        if self.attacks is None:
            return every
        wanted = [attack.strip().replace("-", "_") for attack in self.attacks]
        for attack, said in zip(wanted, self.attacks, strict=True):
            if attack not in every:
                raise InputError(f"Unknown attack {said!r}.{attack_hint(said)} Available: {', '.join(every)}")
        if not wanted:
            raise InputError(f"at least one attack must be chosen. Choose from {', '.join(every)}")
        return tuple(attack for attack in every if attack in wanted)


def attack_hint(text: str) -> str:
    """Return a question that suggests the attack meant by a name of the field or a slip, or nothing.

    >>> attack_hint("MIA"), attack_hint("attribute-inference attack"), attack_hint("LinkabilityEvaluator")
    (" Did you mean 'membership'?", " Did you mean 'inference'?", " Did you mean 'linkability'?")
    """
    also = {_plain(other): attack.name for attack in ATTACKS.values() for other in (attack.name, *attack.also_called)}
    meant = also.get(_plain(text))
    return f" Did you mean {meant!r}?" if meant else did_you_mean(text, (*ATTACKS, *MEASURES))


def _plain(name: str) -> str:
    return "".join(letter for letter in name.casefold() if letter.isalnum()).removesuffix("attack")


def identifiers_of(table: "Table", columns: Sequence[str]) -> tuple[str, ...]:
    """Return the columns that identify people; ``none`` is no column unless the table has one of that name."""
    return () if tuple(columns) == (ONE_ROW_EACH,) and ONE_ROW_EACH not in table.column_names else tuple(columns)
