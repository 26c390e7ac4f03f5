"""Limits that somebody has published, each with its source: which figure they bind, and whether it is kept.

No profile applies unless it is asked for by name: which limit is right depends on the regime and on who gets the data.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from unveil.errors import InputError, did_you_mean

#: The kind of release that a limit is about.
Applies = Literal["masked", "synthetic", "any"]
#: How binding the figure is where it comes from.
Standing = Literal["guidance", "policy", "precedent"]
#: How many people stand in a release word for word with records that no coincidence explains.
COPIED = "copies.unmistakable"


@dataclass(frozen=True, kw_only=True)
class ProfileLimit:
    """The most that one figure may be, on which kind of release, and why the source is read so."""

    quantity: str
    limit: float
    applies_to: Applies
    #: What connects the figure with the source; says so where that is a reading of ours.
    why: str
    #: Whether holding this figure to the limit is our idea: alone it cannot show that the source's limit is kept.
    ours: bool = False


@dataclass(frozen=True, kw_only=True)
class Profile:
    """A published limit: who set it, where, what the source says in our words, and the figures it binds here."""

    name: str
    title: str
    #: Who set the limit, as a headline names them.
    who: str
    #: The document: title, version and date, part.
    source: str
    #: What of this was not compared with the document itself; nothing where it was.
    unverified: str
    standing: Standing
    text: str
    #: The limit as the source writes it.
    written: str
    limits: tuple[ProfileLimit, ...]

    @property
    def cited(self) -> str:
        """The source, and what was not verified against the original."""
        return f"{self.source}{f'; not verified against the original: {self.unverified}' if self.unverified else ''}"


_CLASSES = (
    "The source speaks of the chance that a record is tied to its person, or of the fewest people who may look alike: "
    "1 / size of the smallest class on the known columns is the highest such chance."
)
_LINKED = (
    "Our reading, not the source's: the share of records that an adversary ties to the right person. It is a mean, and "
    "cannot show that the highest chance is kept."
)
_SYNTHETIC = (
    "Our reading, not the source's: no released record stems from one person, so the source's chance does not exist; "
    "what being in the data adds to this attack is held to the same figure."
)
_UNMISTAKABLE = (
    "Our reading, not the source's: whoever stands in the release word for word, with a record that no coincidence "
    "explains, is found with a chance of 1, which is above any limit."
)
#: The attacks whose excess over control a synthetic release is held to.
_EXCESSES = ("linkability", "membership", "attribute_disclosure", "copies")


def _limits(share: float, people: int) -> tuple[ProfileLimit, ...]:
    """Return the figures that a limit on the chance of re-identification binds.

    A class of 11 has a chance of 0.0909, which those who write 0.09 mean to allow: classes are held to the number of
    people, rates to the figure as it is written.
    """
    return (
        ProfileLimit(quantity="disclosure.highest_risk", limit=1 / people, applies_to="masked", why=_CLASSES),
        ProfileLimit(quantity="record_linkage.attack_rate", limit=share, applies_to="masked", why=_LINKED, ours=True),
        *(
            ProfileLimit(
                quantity=f"{attack}.excess_over_control", limit=share, applies_to="synthetic", why=_SYNTHETIC, ours=True
            )
            for attack in _EXCESSES
        ),
        ProfileLimit(quantity=COPIED, limit=0.0, applies_to="any", why=_UNMISTAKABLE, ours=True),
    )


_PRECEDENTS = "K. El Emam, Guide to the De-Identification of Personal Health Information, 2013, 'Cell Size Precedents'"
_ABSTRACT_ALONE = "all but the abstract of the chapter"

_ALL = (
    Profile(
        name="ema",
        title="European Medicines Agency, Policy 0070",
        who="the European Medicines Agency",
        source=(
            "External guidance on the implementation of the European Medicines Agency policy on the publication of "
            "clinical data for medicinal products for human use, EMA/90915/2016, version 1.5 of 14 May 2025, chapter 3"
        ),
        unverified="version, date and the figure of 0.09",
        standing="guidance",
        text=(
            "For clinical reports that are published for everybody, the guidance leaves two ways: to show that nobody "
            "can be singled out, linked or inferred about, or to measure the risk of re-identification. For the second "
            "it recommends a threshold of 0.09. It is guidance for applicants, not law."
        ),
        written="0.09",
        limits=_limits(0.09, 11),
    ),
    Profile(
        name="health-canada",
        title="Health Canada, Public Release of Clinical Information",
        who="Health Canada",
        source=(
            "Public Release of Clinical Information: guidance document, version 1.0 of 12 March 2019, on the "
            "anonymization of clinical data"
        ),
        unverified="the figure of 0.09, and whether there is a later version",
        standing="guidance",
        text=(
            "For clinical information that is published after a decision on a drug or a device, the guidance names a "
            "threshold of 0.09 for the measured risk of re-identification, as the European Medicines Agency does. It "
            "is guidance for manufacturers, not law."
        ),
        written="0.09",
        limits=_limits(0.09, 11),
    ),
    Profile(
        name="cell-3",
        title="Cells of at least 3 people",
        who="custom among data custodians",
        source=_PRECEDENTS,
        unverified=_ABSTRACT_ALONE,
        standing="precedent",
        text=(
            "Some custodians release tables in which every cell holds at least 3 people, which is a chance of 1/3 that "
            "a record is the person looked for. It is the loosest of the customs, and no law."
        ),
        written="3 people",
        limits=_limits(1 / 3, 3),
    ),
    Profile(
        name="cell-5",
        title="Cells of at least 5 people",
        who="custom among data custodians",
        source=_PRECEDENTS,
        unverified=_ABSTRACT_ALONE,
        standing="precedent",
        text=(
            "What health data custodians have done most, historically: every cell holds at least 5 people, a chance of "
            "1/5. The rule was made for tables of counts and carried over to records. It is a custom, and no law."
        ),
        written="5 people",
        limits=_limits(1 / 5, 5),
    ),
    Profile(
        name="cell-11",
        title="Cells of at least 11 people",
        who="the US Centers for Medicare & Medicaid Services",
        source="CMS Cell Size Suppression Policy, version of 26 January 2024 (Research Data Assistance Center)",
        unverified="",
        standing="policy",
        text=(
            "Nothing made from the agency's research files may show a cell of 1 to 10 people, or let one be worked out "
            "from other figures; 0 may be shown. The policy is about tables; holding records to classes of 11, a "
            "chance of 1/11, is US precedent for public files."
        ),
        written="11 people",
        limits=_limits(1 / 11, 11),
    ),
    Profile(
        name="cell-20",
        title="Cells of at least 20 people",
        who="precedents for public health data in Canada and the United States",
        source=_PRECEDENTS,
        unverified=_ABSTRACT_ALONE,
        standing="precedent",
        text=(
            "The strictest of the customs, for data about patients that anybody may have: every class holds at least "
            "20 people, a chance of 1/20. It is a precedent, and no law."
        ),
        written="20 people",
        limits=_limits(1 / 20, 20),
    ),
)
#: Every profile by its name.
PROFILES: Mapping[str, Profile] = MappingProxyType({each.name: each for each in _ALL})


def profile(name: str) -> Profile:
    """Return the profile of this name.

    >>> profile("ema").written
    '0.09'
    """
    if name not in PROFILES:
        hint = did_you_mean(name, PROFILES) or f" Choose from {', '.join(PROFILES)}."
        raise InputError(f"there is no profile of limits called {name[:60]!r}.{hint}")
    return PROFILES[name]
