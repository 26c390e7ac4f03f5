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
Standing = Literal["guidance", "law", "policy", "precedent"]
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
class Clause:
    """One thing that a source asks for, and what of an audit answers it: figures, a part of the report, or nothing."""

    #: Where the source asks it.
    where: str
    #: What it asks, in our words.
    asks: str
    #: The figures of an audit that answer it, by name.
    figures: tuple[str, ...] = ()
    #: What else of the report answers it, or is the place to write the answer down.
    part: str = ""


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
    #: What the source asks for, one thing after the other.
    clauses: tuple[Clause, ...]
    #: Whether the source names a figure; where it names none, nothing can show that it is kept.
    names_figure: bool = True

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
_COPIED = ProfileLimit(quantity=COPIED, limit=0.0, applies_to="any", why=_UNMISTAKABLE, ours=True)
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
        _COPIED,
    )


_SINGLED = ("singling_out.attack_rate", "singling_out.excess_over_control", "disclosure.sample_uniqueness", COPIED)
_CONNECTED = ("linkability.attack_rate", "linkability.excess_over_control", "record_linkage.attack_rate")
_INFERRED = ("inference.attack_rate", "inference.excess_over_control", "attribute_disclosure.excess_over_control")
_ADVERSARIES = "the adversaries of this report, each with what it knows and why (--scenario)"
_TECHNIQUES = "the techniques on the sheet (--technique)"
_MEANS = "the means on the sheet (--context means=TEXT)"
_USEFULNESS = Clause(
    where="on usefulness", asks="What the changes cost in usefulness is described.", figures=("utility.loss",)
)


def _clinical(where: str) -> tuple[Clause, ...]:
    """Return what both agencies ask of clinical data that are published, by our reading."""
    return (
        Clause(
            where=where,
            asks="The highest risk that a record is tied to its person is at most 0.09.",
            figures=("disclosure.highest_risk", "record_linkage.attack_rate"),
        ),
        Clause(where=where, asks="What somebody may know beforehand, and why, is set out.", part=_ADVERSARIES),
        Clause(where=where, asks="What was done to each kind of information is set out.", part=_TECHNIQUES),
        _USEFULNESS,
        Clause(where=where, asks="Free text and scanned pages hold nobody's name."),
    )


def _cells(people: int, *more: Clause) -> tuple[Clause, ...]:
    return (
        Clause(
            where="the rule itself",
            asks=f"No cell, or class of people who look alike, holds fewer than {people} people.",
            figures=("disclosure.k_anonymity", "disclosure.highest_risk"),
        ),
        *more,
        Clause(
            where="the rule itself",
            asks="The columns that define a class are those that others may know.",
            part="what each column was taken for (--known)",
        ),
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
        clauses=(
            Clause(where="chapter 3, first way", asks="Nobody can be singled out.", figures=_SINGLED),
            Clause(where="chapter 3, first way", asks="Records of one person cannot be linked.", figures=_CONNECTED),
            Clause(where="chapter 3, first way", asks="Nothing can be inferred about a person.", figures=_INFERRED),
            *_clinical("chapter 3, second way"),
        ),
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
        clauses=_clinical("on anonymization"),
    ),
    Profile(
        name="quebec",
        title="Quebec, regulation on anonymization",
        who="Quebec's regulation on anonymization",
        source=(
            "Regulation respecting the anonymization of personal information, chapter A-2.1, r. 0.1 (Order in Council "
            "783-2024), in force since 30 May 2024, its register since 1 January 2025"
        ),
        unverified="sections 4 to 9, which are as others report them",
        standing="law",
        text=(
            "Public bodies, enterprises and professional orders in Quebec that anonymize personal information must "
            "show that the risk that remains is very low, by three criteria: nobody can be told apart "
            "(individualization), data about one person cannot be connected (correlation), and nothing personal can be "
            "worked out (inference). That there is no risk at all need not be shown, and no figure is named: what is "
            "very low is yours to say."
        ),
        written="a very low remaining risk",
        limits=(_COPIED,),
        names_figure=False,
        clauses=(
            Clause(
                where="section 3",
                asks="The purposes are settled before anything is anonymized.",
                part="the purpose on the sheet (--context purpose=TEXT)",
            ),
            Clause(
                where="section 4",
                asks="Somebody qualified supervises it.",
                part="the name and role that sign the sheet",
            ),
            Clause(
                where="section 5",
                asks="What identifies people directly is taken out first.",
                part="the columns that look like direct identifiers",
            ),
            Clause(
                where="section 5",
                asks="The risk is analysed beforehand, by the three criteria.",
                part="the figures before, of the original as if it were released",
            ),
            Clause(
                where="section 6", asks="Techniques are chosen that are accepted as good practice.", part=_TECHNIQUES
            ),
            Clause(
                where="section 6",
                asks="Reasonable measures protect the information.",
                part="the environment on the sheet (--context environment=TEXT)",
            ),
            Clause(
                where="sections 2, 5, 7",
                asks="Individualization: nobody can be isolated or told apart.",
                figures=_SINGLED,
            ),
            Clause(
                where="sections 2, 5, 7",
                asks="Correlation: data sets about one person cannot be connected.",
                figures=_CONNECTED,
            ),
            Clause(
                where="sections 2, 5, 7",
                asks="Inference: nothing personal can be worked out from what there is.",
                figures=_INFERRED,
            ),
            Clause(
                where="sections 5, 7",
                asks="Other information that can reasonably be had, in public above all, counts.",
                part=_ADVERSARIES,
            ),
            Clause(where="section 7", asks="Effort, resources and expertise that it would take count.", part=_MEANS),
            Clause(
                where="section 7",
                asks="Altogether the risk that remains is very low.",
                part="no figure: say with --limit what is very low",
            ),
            Clause(
                where="section 8",
                asks="The analysis is repeated from time to time, as technology moves on.",
                part="the date of review (--review), and what changed since (--compare)",
            ),
            Clause(
                where="section 9",
                asks="A register describes the information that was anonymized.",
                part="the files and columns in the record of this audit",
            ),
            Clause(
                where="section 9",
                asks="The register has purposes, techniques and protective measures.",
                part="purpose, techniques and environment in the record of this audit",
            ),
            Clause(
                where="section 9",
                asks="The register has the dates of the analysis and of its updates.",
                part="the date of this audit in its record",
            ),
        ),
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
        clauses=_cells(3),
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
        clauses=_cells(5),
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
        clauses=_cells(
            11,
            Clause(
                where="the rule itself",
                asks="No smaller cell can be worked out from other figures.",
                part="for tables of counts: unveil tables --profile cell-11",
            ),
        ),
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
        clauses=_cells(20),
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
