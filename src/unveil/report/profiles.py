"""Limits that somebody has published, each with its source: which figure they bind, and whether it is kept.

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

#: The kind of release that a limit is about.
Applies = Literal["masked", "synthetic", "any"]
#: How binding the figure is where it comes from.
Standing = Literal["guidance", "law", "policy", "precedent"]
#: How many people stand in a release word for word with records that no coincidence explains.
COPIED = "copies.unmistakable"


@dataclass(frozen=True, kw_only=True)
class ProfileLimit:
    """The most that one figure may be, on which kind of release, and why the source is read so."""

    quantity: str = figure("The figure, as `--limit help` names it.")
    limit: float = figure("The limit, in the unit of the figure.")
    applies_to: Applies
    #: What connects the figure with the source; says so where that is a reading of ours.
    why: str
    #: Whether holding this figure to the limit is our idea: alone it cannot show that the source's limit is kept.
    ours: bool = False


@dataclass(frozen=True, kw_only=True)
class Clause:
    """One thing that a source asks for, and what of an audit answers it: figures, a part of the report, or nothing."""

    where: str = figure("The place in the source, such as a section.")
    asks: str = figure("What it asks, in our words.")
    #: The figures of an audit that answer it, by name.
    figures: tuple[str, ...] = ()
    #: What else of the report answers it, or is the place to write the answer down.
    part: str = ""


@dataclass(frozen=True, kw_only=True)
class Profile:
    """A published limit: who set it, where, what the source says in our words, and the figures it binds here."""

    name: str = figure("The name of the limits.", name="profile")
    title: str
    #: As a headline names them.
    who: str = figure("Who published these limits.")
    #: The document: title, version and date, part.
    source: str
    #: What of this was not compared with the document itself; nothing where it was.
    unverified: str
    standing: Standing
    text: str

    @derived("The publication in which they stand.", name="source")
    def cited(self) -> str:
        """The source, and what was not verified against the original."""
        return f"{self.source}{f'; not verified against the original: {self.unverified}' if self.unverified else ''}"

    #: The limit as the source writes it.
    written: str = figure("What is written there, in our words.")
    limits: tuple[ProfileLimit, ...]
    #: What the source asks for, one thing after the other.
    clauses: tuple[Clause, ...]
    #: Whether the source names a figure; where it names none, nothing can show that it is kept.
    names_figure: bool = True


#: The attacks whose excess over control a synthetic release is held to.
_EXCESSES = ("linkability", "membership", "attribute_disclosure", "copies")


def _load() -> Iterator[Profile]:
    """Yield the profiles of the file next to this module, in its order."""
    written = tomllib.loads((files("unveil.report") / "profiles.toml").read_text(encoding="utf-8"))
    for entry in written["profiles"]:
        people, clauses = entry.pop("people", None), entry.pop("clauses")
        limits = _limits(written["why"], entry.pop("share", 1 / people if people else 0.0), people)
        yield Profile(
            limits=limits,
            clauses=tuple(Clause(**{**each, "figures": tuple(each.get("figures", ()))}) for each in clauses),
            names_figure=people is not None,
            **entry,
        )


def _limits(why: Mapping[str, str], share: float, people: int | None) -> tuple[ProfileLimit, ...]:
    """Return the figures that a limit on the chance of re-identification binds.

    A class of 11 has a chance of 0.0909, which those who write 0.09 mean to allow: classes are held to the number of
    people, rates to the figure as it is written. Records that no coincidence explains are above any limit, also where
    the source names no number of people.
    """
    copied = ProfileLimit(quantity=COPIED, limit=0.0, applies_to="any", why=why["unmistakable"], ours=True)
    if people is None:
        return (copied,)
    return (
        ProfileLimit(quantity="disclosure.highest_risk", limit=1 / people, applies_to="masked", why=why["classes"]),
        ProfileLimit(
            quantity="record_linkage.attack_rate", limit=share, applies_to="masked", why=why["linked"], ours=True
        ),
        *(
            ProfileLimit(
                quantity=f"{attack}.excess_over_control",
                limit=share,
                applies_to="synthetic",
                why=why["synthetic"],
                ours=True,
            )
            for attack in _EXCESSES
        ),
        copied,
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
