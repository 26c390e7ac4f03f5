"""Linking records of the same person as a study scenario: its results as numbers.

Studies lie below questions and find this by its name (`unveil.studies._parts`); nothing imports it.
"""

from dataclasses import dataclass, fields
from math import nan
from typing import TYPE_CHECKING

import numpy as np

from unveil.metrics.trials.risk import Rate
from unveil.questions.link.answer import link
from unveil.questions.link.findings import LINKED, RECORDS_LINKED, LinkFindings

if TYPE_CHECKING:
    from unveil.studies.existing_release import ExistingTables

_ENDS = ("", ".low", ".high")
#: Known records whose unicity is a number of the study.
_KNOWN = (1, 2, 4)


@dataclass(frozen=True, kw_only=True)
class LinkedRecords:
    """The attacks of `unveil link` on one release, which holds the column that identifies people.

    Attributes
    ----------
    person
        The column that identifies a person; the attacker never sees it.
    time, lifetime, period, pseudonym
        How long a pseudonym lives, as in `unveil link`.
    people, draws
        Most people to attack, and permutations behind the p-value.
    """

    person: str
    time: str = ""
    lifetime: str = ""
    period: str = ""
    pseudonym: str = ""
    people: int = 4_000
    draws: int = 400

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of all numbers, whichever of them a release has."""
        rates = (LINKED, RECORDS_LINKED, f"{LINKED}.excess", f"{RECORDS_LINKED}.excess", "own_share")
        ends = [f"{name}{end}" for name in rates for end in _ENDS]
        p = [f"{name}.p" for name in (LINKED, RECORDS_LINKED)]
        return (*ends, *p, "linked_alone", *(f"unicity.{known}" for known in _KNOWN))

    def measure(self, tables: "ExistingTables", *, rng: np.random.Generator) -> dict[str, float]:
        """Return what linking finds in the release, as far as it is defined."""
        settings = {each.name: getattr(self, each.name) for each in fields(self)}
        stated = {name: value for name, value in settings.items() if value != ""}
        answer = link(tables.released, points=",".join(map(str, _KNOWN)), threads=1, rng=rng, **stated)
        return numbers_of(answer.findings)


def numbers_of(findings: LinkFindings) -> dict[str, float]:
    """Return the numbers of one release, by column."""
    found: dict[str, float] = {}
    for name in (LINKED, RECORDS_LINKED):
        effect = next((each for each in findings.verdict.effects if each.name == name), None)
        if effect is not None:
            excess = effect.excess
            found |= _ends(name, effect.success)
            found |= _ends(f"{name}.excess", Rate(excess.value, excess.low, excess.high))
            found[f"{name}.p"] = effect.adjusted_p
    found |= _ends("own_share", findings.linked_people.own_share)
    found["linked_alone"] = findings.linked_people.linked_alone
    for known in _KNOWN:
        values = (each.unicity for each in findings.unicity if each.unicity.points_known == known)
        found[f"unicity.{known}"] = next((each.unicity for each in values), nan)
    return found


def _ends(name: str, rate: Rate) -> dict[str, float]:
    return {f"{name}{end}": each for end, each in zip(_ENDS, (rate.value, rate.low, rate.high), strict=True)}
