"""The verdict of an audit in words: the headline, what each finding means beside it, and what it does not say."""

from collections.abc import Iterator
from math import floor, isnan

from unveil.ask.audit.attacks import ATTACKS
from unveil.ask.audit.findings import (
    Audit,
    AuditedRelease,
    Finding,
    JudgedFigure,
    ReleaseVerdict,
    is_proved,
    severity,
    too_blunt,
    worst_of,
)
from unveil.ask.audit.words import LONGEST_NAME, listed, percent, rate_text
from unveil.measure.trials.risk import Measured, measured
from unveil.measure.verdict.control import ColumnDifference
from unveil.show.blocks import Tone
from unveil.show.bounded import Bounded
from unveil.show.text import count, decimal, name

_MOST_GROUPS = 3
#: From this low end of an excess on most people are given away, which is the only red without a limit.
MOST = 0.5
ADVICE = (
    "Keep a random fifth of the people (at least 200) out when the release is made, and audit with these as the "
    "control. If the release exists already, make it again from the other four fifths in the same way and audit that; "
    "with five such runs, each fifth being the control once, everybody is tested: this judges the way of making it."
)


def sentence(finding: Finding) -> str:
    """Return what the finding means: one attack, one adversary, in words for somebody who never saw such a figure."""
    attack = ATTACKS[finding.attack]
    if not finding.risk.attack_rate.defined:
        said = "" if attack.without_rate is None else attack.without_rate(finding)
        return said or finding.remark or f"{attack.title} could not be measured here."
    said = "" if attack.meaning is None else attack.meaning(finding)
    said = f"{said[:1].upper()}{said[1:]}"
    return " ".join(each for each in (said, comparison(finding), judgement(finding)) if each)


def comparison(finding: Finding) -> str:
    """Return what the rate must be read beside: people who are not in the data, and blind chance."""
    risk = finding.risk
    chance = f"Blind chance gives {percent(risk.naive_rate.value)}." if risk.naive_rate.defined else ""
    if not risk.control_rate.defined:
        return chance
    outside = f"For people who are not in the data it is {rate_text(risk.control_rate)}."
    return " ".join(each for each in (outside, chance, excess_meaning(finding)) if each)


def excess_meaning(finding: Finding) -> str:
    """Return what the excess over control says, or why there is none."""
    excess = finding.risk.excess_over_control
    if not excess.defined:
        return f"No excess can be given: {excess.why}." if excess.why else ""
    if too_blunt(finding):
        return f"These are {Measured.TOO_BLUNT}."
    return f"Being in the data adds {rate_text(excess)}."


def judgement(finding: Finding) -> str:
    """Return what the verdict says of one finding; nothing where it was not judged.

    >>> from unveil.ask.audit.trials import NOTHING
    >>> judgement(Finding(attack="copies", targets=9, risk=NOTHING, p=0.2, p_adjusted=0.6))
    'Not proved (adjusted p 0.6).'
    """
    if is_proved(finding):
        clear = "" if isnan(finding.p_adjusted) else f" (adjusted p {p_text(finding.p_adjusted)})"
        return f"Proved{clear}."
    if not isnan(finding.p_adjusted):
        return f"Not proved (adjusted p {p_text(finding.p_adjusted)})."
    return f"Not judged: {finding.why_not_judged}." if finding.why_not_judged else ""


def p_text(p: float) -> str:
    """Return a probability as short as it can be: two digits, and none below 0.0001.

    >>> p_text(0.04321), p_text(0.00002), p_text(1.0)
    ('0.043', '<0.0001', '1')
    """
    return "<0.0001" if p < 0.0001 else f"{p:.2g}"


def worst(audit: Audit) -> tuple[AuditedRelease, Finding] | None:
    """Return the clearest finding of all, with its release: proved first, then by its adjusted p."""
    found = [
        (release, finding)
        for release in audit.releases
        for attack in audit.attacks
        if (finding := worst_of(release, attack)) is not None
    ]
    return max(found, key=lambda each: severity(each[1]), default=None)


def headline(audit: Audit) -> str:
    """Return the verdict in a few sentences: what was found, beside what, and what could not have been found."""
    if not audit.attacks:
        return "No attack was asked for: the figures are of the release itself and say nothing about adversaries."
    verdict = audit.verdict
    if verdict.outcome == "found":
        return _found(audit)
    if verdict.outcome == "copies":
        return " ".join(each for each in (_copies(audit), _control(audit)) if each)
    if all(worst_of(release, attack) is None for release in audit.releases for attack in audit.attacks):
        return "Nothing could be measured: none of the attacks asked for can be run on these tables."
    if verdict.outcome == "nothing_found":
        return _nothing_found(audit)
    return _control(audit) if audit.has_control else _no_control(audit)


def tone(audit: Audit) -> Tone:
    """Return how the headline should strike: bad where most people are given away, care where anybody is.

    Nothing found is neutral, never good: other attacks and other adversaries were not tried.
    """
    if audit.verdict.outcome == "found":
        return "bad" if _hits_most(_clearest(audit)[1]) else "warning"
    return "warning" if audit.verdict.outcome == "copies" else "neutral"


def tone_of(finding: Finding) -> Tone:
    """Return how one finding should strike."""
    if not is_proved(finding):
        return "neutral"
    return "bad" if finding.risk.excess_over_control.low > MOST and not too_blunt(finding) else "warning"


def control_notes(audit: Audit) -> tuple[str, ...]:
    """Return what has to be known of the control beside the headline."""
    control, said = audit.verdict.control, []
    if control.is_noted:
        said.append(
            f"The control differs a little from the original: {_difference(control.differences[0])}. Figures stay, "
            "because so small a difference changes them little."
        )
    if control.outcome == "usable" and control.is_small:
        fewest = audit.verdict.fewest_copies_provable
        proof = (
            f"counting can prove no fewer than {count(fewest)} copied people" if fewest else "counting proves no copies"
        )
        said.append(f"The control is small ({count(control.others, 'person', 'people')}): {proof}.")
    if audit.verdict.outcome in ("found", "copies") and control.outcome == "overlap":
        said.append(_control(audit))
    return tuple(said)


def _clearest(audit: Audit) -> tuple[ReleaseVerdict, JudgedFigure]:
    """Return the figure that the headline is about, and its release.

    It is the clearest that is proved; a group only where its people are hit measurably more often than everybody.
    """
    every = [(release, figure) for release in audit.verdict.releases for figure in release.proved]
    groups = [each for each in every if _stands_out(*each)]

    def clear(each: tuple[ReleaseVerdict, JudgedFigure]) -> tuple[float, bool, float]:
        figure = each[1]
        excess = figure.excess_over_control
        p = 0.0 if isnan(figure.p_adjusted) else float(figure.p_adjusted)
        return p, not _can_be_told(figure), -float(excess.value) if excess.defined else 1.0

    return min(groups or [each for each in every if not each[1].group] or every, key=clear)


def _stands_out(release: ReleaseVerdict, figure: JudgedFigure) -> bool:
    """Return whether the people of a group are hit measurably more often than everybody by the same attack."""
    same = ("attack", "adversary", "secret")
    whole = [
        each
        for each in release.findings
        if not each.group and all(getattr(each, part) == getattr(figure, part) for part in same)
    ]
    return bool(figure.group) and all(figure.attack_rate.low > each.attack_rate.high for each in whole)


def _can_be_told(figure: JudgedFigure) -> bool:
    """Return whether there is an excess that is worth a number, or nothing to compare with."""
    sure = measured(figure.excess_over_control, figure.control_rate)
    return figure.attack_rate.defined and sure in (Measured.YES, Measured.NO_CONTROL)


def _hits_most(figure: JudgedFigure) -> bool:
    return not figure.group and _can_be_told(figure) and figure.excess_over_control.low > MOST


def _number(number: float, one: str = "person", many: str = "people") -> str:
    """Return how many there are; a few of them a shareable report tells by a bound."""
    if isinstance(number, Bounded):
        return f"{number.words} {many}".rstrip()
    return count(round(number), one, many).rstrip()


def _which(audit: Audit, release: str) -> str:
    return f"The release {name(release, LONGEST_NAME)!r}" if len(audit.releases) > 1 else "The release"


def _found(audit: Audit) -> str:
    release, figure = _clearest(audit)
    which = _which(audit, release.name)
    if figure.group:
        number = _number(figure.people)
        said = f"{which} gives away people of one group: {name(figure.group, 80)} ({number})."
    else:
        said = f"{which} gives {'most people' if _hits_most(figure) else 'people'} away."
    # Where most people are copied, groups among them say nothing.
    more = "" if not release.unmistakable else _unmistakable(release, groups=not _hits_most(figure))
    return " ".join(each for each in (said, _succeeds(figure, audit), _luck(figure, audit), more) if each)


def _succeeds(figure: JudgedFigure, audit: Audit) -> str:
    attack = ATTACKS[figure.attack]
    if not figure.attack_rate.defined:
        who = f" ({figure.adversary})" if figure.adversary else ""
        return f"{attack.title}{who} tells people in the data from others."
    rate, beside = figure.attack_rate, figure.control_rate
    if not attack.controlled:
        # Whoever is not in the data has no record to be linked: luck stands in the place of strangers.
        beside = next(
            (
                finding.risk.naive_rate
                for each in audit.releases
                for finding in each.of(figure.attack)
                if finding.risk.attack_rate == rate
            ),
            beside,
        )
    if not beside.defined:
        return (
            f"{attack.title}: {percent(rate.value)} of descriptions fit exactly one person, and no description made "
            "without the data fits exactly one person that often."
        )
    title = f"{attack.title} of {listed([figure.secret])}" if figure.secret else attack.title
    said = attack.succeeds.format(title=title, a=percent(rate.value), c=percent(beside.value))
    if figure.group:
        said = f"Among them: {said[:1].lower()}{said[1:]}"
    excess = figure.excess_over_control
    if not excess.defined:
        return f"{said}."
    if not _can_be_told(figure):
        return f"{said}; that is {Measured.TOO_BLUNT}."
    return f"{said}; being in the data adds {percent(excess.value)} ({percent(excess.low)} to {percent(excess.high)})."


def _luck(figure: JudgedFigure, audit: Audit) -> str:
    if isnan(figure.p_adjusted):
        return ""
    among = f"among {count(audit.verdict.figures)}, " if audit.verdict.figures > 1 else ""
    return (
        f"In a harmless release a figure as clear as this, {among}comes up in fewer than 1 of "
        f"{count(floor(1 / figure.p_adjusted))} audits."
    )


def _copies(audit: Audit) -> str:
    release = max(audit.verdict.releases, key=lambda each: each.unmistakable)
    where = f"In the release {name(release.name, LONGEST_NAME)!r}: " if len(audit.releases) > 1 else ""
    return f"{where}{_unmistakable(release)}"


def _unmistakable(release: ReleaseVerdict, *, groups: bool = True) -> str:
    copies = release.copies
    if copies is None:
        return ""
    stand = "stands" if copies.unmistakable == 1 else "stand"
    whose = "and the record is" if copies.unmistakable == 1 else "and their records are"
    said = (
        f"{_number(copies.unmistakable)} {stand} in the release word for word, {whose} too unusual "
        f"for coincidence (fewer than {p_text(max(copies.coincidences, 0.0001))} such coincidences are expected)."
    )
    gathered = [
        name(f"{each.column}: {'missing' if each.value is None else each.value}", LONGEST_NAME)
        for each in copies.groups
    ]
    more = f" and {len(gathered) - _MOST_GROUPS} more groups" if len(gathered) > _MOST_GROUPS else ""
    where = f" They gather in {', '.join(gathered[:_MOST_GROUPS])}{more}." if gathered and groups else ""
    return f"{said}{where} Look at them first: --show-records."


def _nothing_found(audit: Audit) -> str:
    verdict = audit.verdict
    if not verdict.figures:
        return "No figure had enough tries to be judged, so nothing was found and nothing ruled out."
    fewest = verdict.fewest_copies_provable
    blind = (
        f"Fewer than {count(fewest)} copied people could not have been proved by counting with this control."
        if fewest
        else "No number of copied people could have been proved by counting with this control."
    )
    return (
        "No attack did better on people in the data than on others, in "
        f"{count(verdict.figures, 'figure', 'figures')}. {blind} Others were not tried."
    )


def _control(audit: Audit) -> str:
    """Return what is wrong with the control and what to do about it; nothing where it is usable or there is none."""
    control = audit.verdict.control
    if control.outcome == "other_people":
        differs = _difference(control.differences[0])
        return (
            f"The control is of other people: {differs}. No comparison is made. Take people of the same kind, or split "
            "the original before the release is made."
        )
    if control.outcome == "overlap":
        is_equal = control.p_overlap <= control.p_near
        number = control.overlap_estimate if is_equal else control.near_estimate
        are = "are in the original too" if is_equal else "are almost equal to people of the original"
        return (
            f"About {_number(max(number, 1), '', '')} of {_number(control.others, '', '')} control people {are}. What "
            "was found stands; that nothing was found would mean nothing. Remove them at the source, not by comparing "
            "the tables."
        )
    if control.outcome == "too_small":
        return (
            f"The control has {_number(control.others)}, and with fewer than 20 no figure has a "
            "test. No comparison is made. Pass at least 200 people who were kept apart when the release was made."
        )
    return ""


def _difference(each: ColumnDifference) -> str:
    """Return how the two tables differ in one column."""
    column = name(each.column, LONGEST_NAME)
    if isnan(each.here):
        return f"{column} differs"
    if each.figure == "share":
        value = "missing" if each.value is None else repr(name(each.value, LONGEST_NAME))
        return f"{column} is {value} for {percent(each.here)} here and for {percent(each.there)} there"
    what = {"mean": "", "spread": "the spread of ", "place": "the place of ", "place_spread": "the spread of "}
    return f"{what[each.figure]}{column} is {decimal(each.here)} here and {decimal(each.there)} there"


def _no_control(audit: Audit) -> str:
    return " ".join(
        ("Without people who are not in the data nobody can say what being in it changes.", *_facts(audit), ADVICE)
    )


def _facts(audit: Audit) -> Iterator[str]:
    """Yield what holds without a control, of one release."""
    if len(audit.releases) > 1:
        return
    release, said = audit.releases[0], audit.verdict.releases[0]
    if said.copies is not None:
        number = said.copies.people_unchanged
        who = f"{_number(number)} {'stands' if number == 1 else 'stand'}" if number else "Nobody stands"
        yield f"{who} in the release word for word{', which coincidence may explain' if number else ''}."
    if release.kind == "masked" and release.disclosure is not None:
        alike = _number(release.disclosure.k_anonymity, "row", "rows")
        yield f"The smallest class of rows that look alike has {alike}."
