"""What a report says about each attack of an audit: one entry each, and nowhere else a list of them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from unveil.ask.audit.findings import Finding
from unveil.ask.audit.words import listed, percent_of

#: The three questions of the Article 29 Working Party in its opinion 216 on anonymisation.
Question = Literal["singling out", "linkability", "inference"]


@dataclass(frozen=True, kw_only=True)
class AttackText:
    """The words for one attack."""

    title: str
    question: str
    #: What somebody who never heard of the attack has to know before its figures.
    lead: str
    #: How it was measured, for the end of the report; empty where another attack says it.
    about: str = ""
    #: What the axis of its picture counts, and what stands below the picture.
    x_label: str
    caption: str = ""
    #: Whether people outside the data can be put through it too.
    controlled: bool = True
    #: Whether it cannot even be tried without such people.
    needs_control: bool = False
    #: Whether there is a blind guess to compare with.
    has_chance: bool = True
    #: Whether each try is about one person, so that groups of people have rates of their own.
    per_person: bool = True
    #: What a rate means: one sentence, without what it has to be compared with.
    meaning: Callable[[Finding], str] | None = None
    #: The same as part of a headline; the second argument is how the release is called there.
    headline: Callable[[Finding, str], str] | None = None
    #: Which of the three questions of opinion 216 it answers.
    answers: Question | None = None


def _singling_out(finding: Finding) -> str:
    share = percent_of(finding.risk.attack_rate, "descriptions that fit one released record")
    return f"{share[:1].upper()}{share[1:]} fit exactly one person in the data."


def _singling_out_headline(finding: Finding, which: str) -> str:
    share = percent_of(finding.risk.attack_rate, "descriptions taken from it")
    return f"{which} lets anyone isolate people in the data: {share} fit exactly one person"


def _linkability(finding: Finding) -> str:
    rate = finding.risk.attack_rate
    scenario = finding.scenario
    same = f"can tell for {percent_of(rate, 'people')} that both are about the same person"
    if scenario is None or scenario.origin == "random":
        return (
            f"On average over divisions of the columns, whoever holds one part of them from each of two sources {same}."
        )
    return f"Whoever holds {listed(scenario.first)} from one source and {listed(scenario.second)} from another {same}."


def _linkability_headline(finding: Finding, which: str) -> str:
    who = finding.scenario
    held = "two parts of the columns from two sources"
    if who is not None and who.first:
        held = f"{listed(who.first)} from one source and {listed(who.second)} from another"
    share = percent_of(finding.risk.attack_rate, "people")
    return f"{which} lets anyone who holds {held} tell that both are about the same person for {share}"


def _held(finding: Finding) -> str:
    who = finding.scenario
    return listed(who.first) if who is not None and who.first else "the other columns"


def _inference(finding: Finding) -> str:
    if finding.scenario is not None and finding.scenario.origin == "random":
        share = percent_of(finding.risk.attack_rate, "people")
        return f"On average over the columns, whoever knows all others guesses the value of one right for {share}."
    share = percent_of(finding.risk.attack_rate, "people")
    return f"Whoever knows {_held(finding)} guesses {listed([finding.secret])} right for {share}."


def _inference_headline(finding: Finding, which: str) -> str:
    share = percent_of(finding.risk.attack_rate, "people")
    return f"{which} lets anyone who knows {_held(finding)} guess {listed([finding.secret])} right for {share}"


def _disclosure(finding: Finding) -> str:
    share = percent_of(finding.risk.attack_rate, "people")
    if finding.scenario is not None and finding.scenario.origin == "random":
        return f"On average over the columns, records that match a person exactly tell one more column for {share}."
    return (
        f"Whoever knows {_held(finding)} and reads {listed([finding.secret])} off released records that match exactly "
        f"is right for {share}."
    )


def _disclosure_headline(finding: Finding, which: str) -> str:
    share = percent_of(finding.risk.attack_rate, "people")
    return (
        f"records of {which} that match a person in {_held(finding)} give {listed([finding.secret])} away for {share}"
    )


def _membership(finding: Finding) -> str:
    share = percent_of(finding.risk.attack_rate, "people in the data")
    return f"Whoever holds a person's record calls {share} members of the data, rightly."


def _membership_headline(finding: Finding, which: str) -> str:
    share = percent_of(finding.risk.attack_rate, "people in the data")
    return f"{which} lets anyone who holds a record tell that its person is in the data for {share}"


def _record_linkage(finding: Finding) -> str:
    rate = percent_of(finding.risk.attack_rate, "released records")
    return f"Whoever compares released records with what is known of people names the right person for {rate}."


def _linkage_headline(finding: Finding, which: str) -> str:
    share = percent_of(finding.risk.attack_rate, "records")
    return f"{which} lets anyone who knows the people in the data name the right person for {share}"


def _copies(finding: Finding) -> str:
    return f"{percent_of(finding.risk.attack_rate, 'released records')} are exact copies of a record in the data."


def _copies_headline(finding: Finding, which: str) -> str:
    return f"in {which} {percent_of(finding.risk.attack_rate, 'records')} are exact copies of a record in the data"


def _row_order(finding: Finding) -> str:
    share = percent_of(finding.risk.attack_rate, "released rows")
    return f"{share} stand where the same person stands in the original."


def _order_headline(finding: Finding, which: str) -> str:
    share = percent_of(finding.risk.attack_rate, "rows")
    return f"in {which} {share} stand where the same person stands in the original"


#: Every attack of an audit by name, in the order of the report.
ATTACK_TEXTS: Mapping[str, AttackText] = MappingProxyType(
    {
        "singling_out": AttackText(
            title="Singling out",
            question="Singling out: can a person be isolated?",
            lead=(
                "Somebody reads off the release a description that fits one record only, such as a rare value or a "
                "combination of values, and claims that exactly one person in the data fits it."
            ),
            about=(
                "Singling out: descriptions are made from the release alone and succeed where exactly one person of "
                "the original fits. Fewer rows are easier to single out from, so the excess compares both tables at "
                "the same number of rows, by exact hypergeometric chances. The interval is over descriptions: it says "
                "what further descriptions of this kind would reach on the same people."
            ),
            x_label="share of descriptions that fit exactly one person",
            caption="Descriptions made blindly, without looking for rare ones, show what is reached by chance.",
            meaning=_singling_out,
            headline=_singling_out_headline,
            answers="singling out",
        ),
        "linkability": AttackText(
            title="Linkability",
            question="Linkability: can facts from two sources be put together?",
            lead=(
                "Two sources each know something else about the same person. The release helps to put the two together "
                "when the records nearest to one half of what is known are also among those nearest to the other half."
            ),
            about=(
                "Linkability: for each target the k nearest released records are found by one group of columns and "
                "again by the other; the target is linked when the two share a record. Where records are equally near, "
                "the exact chance under random tie-breaking is used, so that columns that say nothing link nobody "
                "beyond chance."
            ),
            x_label="share of people whose facts are put together",
            caption=(
                "The worst split is measured on people whom the search for it never saw. The mean is what an adversary "
                "who holds any columns reaches."
            ),
            meaning=_linkability,
            headline=_linkability_headline,
            answers="linkability",
        ),
        "inference": AttackText(
            title="Inference",
            question="Inference: can an unknown value be guessed?",
            lead=(
                "Somebody knows some columns of a person, looks up the released record nearest to them, and takes the "
                "value there for the person's own. What holds for everybody can be guessed about people outside the "
                "data too; only what is guessed better about those inside was given away by their records."
            ),
            about=(
                "Inference: the value of the nearest released record, ties broken by lot with exact chances. A number "
                "is right within the tolerance around the true value, anything else where it is equal."
            ),
            x_label="share of people whose value is guessed right",
            caption="Blind chance takes the value of any released record.",
            meaning=_inference,
            headline=_inference_headline,
            answers="inference",
        ),
        "attribute_disclosure": AttackText(
            title="Attribute disclosure",
            question="Attribute disclosure: what do records say that match a person exactly?",
            lead=(
                "Somebody looks for released records that are equal to a person in all columns that are known, and "
                "reads the missing column off them. People without such a record are not guessed."
            ),
            about=(
                "Attribute disclosure: released records equal to the target in all known columns; where they differ in "
                "the sensitive one, the guess is drawn by lot among them. Targets without a match count as failures."
            ),
            x_label="share of people whose value is read off matching records",
            caption="Blind chance takes the value of any released record.",
            meaning=_disclosure,
            headline=_disclosure_headline,
        ),
        "membership": AttackText(
            title="Membership",
            question="Membership: can it be told who is in the data?",
            lead=(
                "Somebody holds a person's record and asks whether it was among the data, because the release lies "
                "closer to it than to people outside. Being in the data can itself be a secret, as in a study of a "
                "disease. This can raise an alarm; it never gives an all-clear."
            ),
            about=(
                "Membership: the threshold is set on one part of the control table so that a small share of people "
                "outside would be called members, and the attack is tried on people in the data and on the other part."
            ),
            x_label="share of people called members",
            caption="People outside the data who are called members are false alarms of the adversary.",
            needs_control=True,
            meaning=_membership,
            headline=_membership_headline,
        ),
        "record_linkage": AttackText(
            title="Record linkage",
            question="Record linkage: whose record is it?",
            lead=(
                "Each released record is compared with everything known about each person in the data. The nearest "
                "person is the adversary's guess at whose record it is."
            ),
            about="Record linkage: the original record nearest to each released one, ties broken by lot.",
            x_label="share of released records whose person is named",
            caption="People outside the data have no record in the release, so only blind chance stands beside it.",
            controlled=False,
            meaning=_record_linkage,
            headline=_linkage_headline,
        ),
        "copies": AttackText(
            title="Exact copies",
            question="Exact copies: are people released as they are?",
            lead=(
                "A record that leaves the house exactly as it came in hides nothing. Common records are copied by "
                "coincidence, which is why the control table matters."
            ),
            about="Exact copies: an original record that also stands in the release, in all columns they share.",
            x_label="share of records that equal somebody in the data",
            caption="Common records are copied by coincidence; people who are not in the data show how often.",
            has_chance=False,
            per_person=False,
            meaning=_copies,
            headline=_copies_headline,
        ),
        "closest_record": AttackText(
            title="Distance to closest record",
            question="Closest records: does the release keep too close to people in the data?",
            lead=(
                "Records that keep closer to people in the data than to others of the same kind have learned these "
                "people by heart. This can raise an alarm; it never gives an all-clear."
            ),
            about="Distances add up over columns: numbers by their share of the range, categories by 0 or 1.",
            x_label="distance: 0 is a copy, 1 differs in every column",
        ),
        "neighbour_ratio": AttackText(
            title="Nearest-neighbour distance ratio",
            question="Distance ratios: does the release single out people in the data?",
            lead=(
                "If one released record is much nearer to a person than the next, it may have been made from that "
                "person. This can raise an alarm; it never gives an all-clear."
            ),
            x_label="ratio: 0 stands by one person, 1 by two alike",
        ),
        "row_order": AttackText(
            title="Row order",
            question="Row order: does the order of the rows give people away?",
            lead=(
                "If a release keeps the order of the original, everybody who has another table in that order can name "
                "its rows, whatever was done to the cells."
            ),
            about="Row order: row i of the release compared with row i of the original.",
            x_label="share of rows that stand where their person stands",
            caption="People outside the data have no place in the order, so only blind chance stands beside it.",
            controlled=False,
            per_person=False,
            meaning=_row_order,
            headline=_order_headline,
        ),
    }
)
#: The attacks whose figures are distances and no rates.
DISTANCES = ("closest_record", "neighbour_ratio")
