"""The list of attacks: frozen dataclasses with the facts of their decorator."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from unveil._registry import RegistryEntry, lister, name_of_type

Leaves = Literal["Trials", "Candidates", "Partition", "Matching", "Beliefs", "CellIntervals", "RankedRecords"]


#: Whether an attack on graphs grows from the nodes it knows, or compares all nodes at once.
Scope = Literal["local", "global"]


@dataclass(frozen=True, kw_only=True)
class Attack(RegistryEntry):
    """The facts of one attack, as shown by ``unveil list attacks``."""

    method = "run"
    takes = ("released", "knowledge", "rng")
    read = ("on", "leaves")

    #: Of attacks on graphs: whether they grow from the nodes they know or compare all; None for all others.
    scope: Scope | None = None
    #: Of attacks on graphs: whether it can do without any node that the attacker knows.
    without_seeds: bool = False
    #: Of attacks on graphs: whether the probabilities that it leaves are its posterior by a model, and no scores over
    #: their sum. The model holds only if the auxiliary graph is one of the released graph, which is put to the test.
    posterior: bool = False
    #: Settings to try on the people inside unveil (`unveil.data.samples.audit_sample`); empty where none must be given.
    example: str = ""
    #: Whether it needs control people.
    needs_control: bool = False
    #: Whether its values depend on the order of rows, which all others ignore: they break ties at random.
    uses_row_order: bool = False
    #: The settings that name the columns the attacker knows; a study divides among them those that it draws.
    knows: tuple[str, ...] = ()
    #: The setting that says how many of these columns are used at once; a study fills in how many it drew.
    uses: str = ""
    #: The extra of unveil that brings the library it needs.
    extra: str | None = None

    @property
    def leaves(self) -> Leaves:
        """Type of the guess that the attack returns, which decides its metrics."""
        left: Leaves = name_of_type(self._signature.return_annotation)  # type: ignore[assignment]
        return left


_ATTACKS: dict[str, Attack] = {}


#: Every attack by name, in the order in which they are imported.
ATTACKS: Mapping[str, Attack] = MappingProxyType(_ATTACKS)


attack = lister(
    Attack,
    _ATTACKS,
    """List the decorated dataclass as an attack with the facts of `Attack`; leave it unchanged.

    Its fields are the settings; ``run(*, released, knowledge, rng)`` takes the release and returns a guess.
    """,
)
