"""Published thresholds with their sources and the values they bind.

No profile applies unless it is asked for by name: which limit is right depends on the regime and on who gets the data.
"""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from types import MappingProxyType
from typing import Literal

from unveil._figure import derived, figure
from unveil.errors import InputError, did_you_mean

#: How binding the figure is where it comes from.
Standing = Literal["guidance", "law", "policy", "precedent"]
#: How many people stand in a release word for word with records that no coincidence explains.
COPIED = "copies.unmistakable"


@dataclass(frozen=True, kw_only=True)
class Clause:
    """Clause of a source, and the audit values that answer it."""

    where: str = figure("The place in the source, such as a section.")
    asks: str = figure("Requirement, in our words.")
    #: The audit values that answer it, by name.
    figures: tuple[str, ...] = ()
    #: Other part of the report that answers it, or a field for the answer.
    part: str = ""


@dataclass(frozen=True, kw_only=True)
class Profile:
    """Published threshold: publisher, source, summary, and the values it binds."""

    name: str = figure("The name of the limits.", name="profile")
    title: str
    #: As a headline names them.
    who: str = figure("Publisher of the threshold.")
    #: The document: title, version and date, part.
    source: str
    #: What of this was not compared with the document itself; nothing where it was.
    unverified: str
    standing: Standing
    text: str

    @derived("The publication in which they stand.", name="source")
    def cited(self) -> str:
        """Source, with the parts not verified against the original."""
        return f"{self.source}{f'; not verified against the original: {self.unverified}' if self.unverified else ''}"

    #: The limit as the source writes it.
    written: str = figure("Text of the source, in our words.")
    #: The largest acceptable risk; None where the source names no number.
    threshold: float | None
    #: The largest acceptable risk of one person: 1 over the smallest class that the source allows.
    max_risk: float | None
    #: Requirements of the source.
    clauses: tuple[Clause, ...]


def _load() -> Iterator[Profile]:
    """Yield the published thresholds in file order."""
    written = tomllib.loads((files("unveil.report") / "profiles.toml").read_text(encoding="utf-8"))
    for entry in written["profiles"]:
        people, clauses = entry.pop("people", None), entry.pop("clauses")
        max_risk = 1 / people if people else None
        yield Profile(
            threshold=entry.pop("share", max_risk),
            max_risk=max_risk,
            clauses=tuple(Clause(**{**each, "figures": tuple(each.get("figures", ()))}) for each in clauses),
            **entry,
        )


#: Every profile by its name.
PROFILES: Mapping[str, Profile] = MappingProxyType({each.name: each for each in _load()})


def profile(name: str) -> Profile:
    """Return the profile of this name.

    >>> profile("ema").written
    '0.09'
    """
    if name not in PROFILES:
        hint = did_you_mean(name, PROFILES) or f" Choose from {', '.join(PROFILES)}."
        raise InputError(f"there is no profile of limits called {name[:60]!r}.{hint}")
    return PROFILES[name]
