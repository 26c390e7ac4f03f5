"""The verdict of an audit in words: the headline, what each finding means beside it, and what it does not say."""

from collections.abc import Iterator, Sequence
from math import floor, isnan

from unveil.metrics.trials.risk import ExcessStatus, Rate, Risk, measured
from unveil.questions.audit.attacks import ATTACKS
from unveil.questions.audit.control_words import ADVICE, control_said
from unveil.questions.audit.findings import AttackFinding, Audit, AuditedRelease, JudgedFigure, ReleaseVerdict
from unveil.questions.audit.generator.words import of_way
from unveil.questions.audit.ranking import clarity, severity, worst_of
from unveil.questions.audit.sentences import MOST, p_text
from unveil.questions.audit.verdict_text import VerdictText, number_of, of_all, quoted, safe
from unveil.questions.audit.words import LONGEST_NAME, excess_text, finer, listed, percent, rate_text
from unveil.report.blocks import Tone
from unveil.report.suppressed_number import SuppressedNumber
from unveil.report.text import count, name

_MOST_GROUPS = 3


def worst(audit: Audit) -> tuple[AuditedRelease, AttackFinding] | None:
    """Return the clearest finding of all, with its release: proved first, then by its adjusted p."""
    found = [
        (release, finding)
        for release in audit.releases
        for attack in audit.attacks
        if (finding := worst_of(release, attack)) is not None
    ]
    return max(found, key=lambda each: severity(each[1]), default=None)


def said_of(audit: Audit) -> VerdictText:
    """Return the verdict in a few sentences: what was found, beside what, and what could not have been found."""
    if not audit.attacks:
        return VerdictText(
            headline="No attack was asked for: the figures are of the release itself and say nothing about adversaries."
        )
    if audit.way is not None and len(audit.releases) > 1:
        return said_of(of_way(audit))
    verdict = audit.verdict
    if verdict.outcome == "found":
        return _found(audit)
    if verdict.outcome == "copies":
        return _copies(audit)
    if all(worst_of(release, attack) is None for release in audit.releases for attack in audit.attacks):
        return VerdictText(
            headline="Nothing could be measured: none of the attacks asked for can be run on these tables."
        )
    if verdict.outcome == "nothing_found":
        return _nothing_found(audit)
    return control_said(audit) if audit.has_control else _no_control(audit)


def tone(audit: Audit) -> Tone:
    """Return how the headline should strike: bad where most people are given away, care where anybody is.

    Nothing found is neutral, never good: other attacks and other adversaries were not tried.
    """
    if audit.verdict.outcome == "found":
        return "bad" if hits_most(_clearest(audit)[1]) else "warning"
    contradicted = audit.epsilon is not None and audit.epsilon.contradicted
    return "warning" if audit.verdict.outcome == "copies" or contradicted else "neutral"


def _clearest(audit: Audit) -> tuple[ReleaseVerdict, JudgedFigure]:
    """Return the figure of the headline and its release.

    It is the clearest proved figure. A group leads only if nothing proved about everybody is at least as bad.
    """
    every = [(release, figure) for release in audit.verdict.releases for figure in release.proved]
    whole = [each for each in every if not each[1].group]
    groups = [each for each in every if _stands_out(*each, [figure for _, figure in whole])]

    def clear(each: tuple[ReleaseVerdict, JudgedFigure]) -> tuple[float, bool, float]:
        figure = each[1]
        excess = figure.excess_over_control
        p = 0.0 if isnan(figure.p_adjusted) else clarity(float(figure.p_adjusted))
        return p, not _can_be_told(figure), -float(excess.value) if excess.defined else 1.0

    return min(groups or whole or every, key=clear)


def _stands_out(release: ReleaseVerdict, figure: JudgedFigure, proved: Sequence[JudgedFigure]) -> bool:
    """Return whether a group is hit measurably more often than everybody by the same attack, and worse than by any.

    ``proved`` are the proved figures about everybody, of all attacks.
    """
    if not figure.group:
        return False
    same = ("attack", "adversary", "secret")
    whole = [
        each
        for each in release.findings
        if not each.group and all(getattr(each, part) == getattr(figure, part) for part in same)
    ]
    return all(figure.attack_rate.low > each.attack_rate.high for each in whole) and not any(
        hits_most(each) or (_can_be_told(each) and _effect(each) >= _effect(figure)) for each in proved
    )


def _effect(figure: JudgedFigure) -> float:
    """Return what the release adds: the excess, or the rate where strangers cannot be tried."""
    excess = figure.excess_over_control
    return float(excess.value if excess.defined else figure.attack_rate.value)


def _can_be_told(figure: JudgedFigure) -> bool:
    """Return whether there is an excess that is worth a number, or nothing to compare with."""
    sure = measured(figure.excess_over_control, figure.control_rate)
    return figure.attack_rate.defined and sure in (ExcessStatus.YES, ExcessStatus.NO_CONTROL)


def hits_most(figure: JudgedFigure) -> bool:
    """Return whether a proved figure gives most people away, surely."""
    return not figure.group and _can_be_told(figure) and figure.excess_over_control.low > MOST


def _found(audit: Audit) -> VerdictText:
    release, figure = _clearest(audit)
    # Where most people are given away it says nothing in which groups they are.
    copied = _unmistakable(release, groups=not hits_most(figure)) if release.unmistakable else ""
    told = " ".join(filter(None, (_succeeds(figure, audit, release.name), _luck(figure, audit))))
    return VerdictText(
        headline=_gives_away(audit, release, figure),
        explanation=tuple(filter(None, (told, copied))),
        steps=(_LOOK,) if copied else (),
    )


def _gives_away(audit: Audit, release: ReleaseVerdict, figure: JudgedFigure) -> str:
    """Return who gives whom away, among how many people, and by how much, with the interval."""
    group = safe(f"{name(figure.group, 80)} ({number_of(figure.people)})") if figure.group else ""
    if len(audit.releases) == 1:
        if group:
            return of_all(audit, f"{_what(audit)} gives away people of one group: {group}, of {{}} in the data.")
        otherwise = _otherwise(figure, audit)
        if otherwise is not None:
            return of_all(audit, f"{_what(audit)} {otherwise[0]}.")
        whom = "most people" if hits_most(figure) else "people"
        return of_all(audit, f"{_what(audit)} gives {whom} away: {_added(figure, ' of {}')}.")
    guilty = [each.name for each in audit.verdict.releases if each.outcome in ("found", "copies")]
    clean = [each.name for each in audit.verdict.releases if each.outcome == "nothing_found"]
    many, among = len(audit.releases), f"{len(audit.releases)} releases of {{}}"
    which = f"Of {among} {len(guilty)} {'gives' if len(guilty) == 1 else 'give'}"
    if len(guilty) == many:
        which = "Both releases of {} give" if many == 2 else f"All {among} give"
    otherwise = _otherwise(figure, audit)
    added = _added(figure) if otherwise is None else safe(f"which {otherwise[0].replace('{} ', 'people ')}")
    added = f"among people of one group, {group}, {added}" if group else added
    where = ", where " if otherwise is None else ", "
    clear = f"{'most clearly ' if len(guilty) > 1 else ''}{safe(quoted([release.name]))}{where}{added}"
    rest = f"; nothing is proved against {safe(quoted(clean))}" if clean else ""
    return of_all(audit, f"{which} people away, {clear}{rest}.")


def _what(audit: Audit) -> str:
    return "The release" if audit.way is None else "Your way of making it"


def _added(figure: JudgedFigure, among: str = "") -> str:
    """Return what the clearest figure says, with its interval; ``among`` says of how many people."""
    attack, excess = safe(ATTACKS[figure.attack].title.lower()), figure.excess_over_control
    if not figure.attack_rate.defined:
        return f"{attack} tells people in the data{among} from others"
    if not excess.defined or not _can_be_told(figure):
        return f"{attack} reaches {rate_text(figure.attack_rate)} in the data{among}"
    return f"being in the data{among} adds {rate_text(excess)} to {attack}"


def _succeeds(figure: JudgedFigure, audit: Audit, release: str) -> str:
    """Return what the attack reached on people in the data and on others."""
    said = _reached(figure, audit)
    where = f"For {quoted([release])}, " if len(audit.releases) > 1 else ""
    return f"{where}{said[:1].lower()}{said[1:]}" if where else said


def _reached(figure: JudgedFigure, audit: Audit) -> str:
    attack = ATTACKS[figure.attack]
    if not figure.attack_rate.defined:
        who = f" ({figure.adversary})" if figure.adversary else ""
        return f"{attack.title}{who} tells people in the data from others."
    otherwise = _otherwise(figure, audit)
    if otherwise is not None:
        return f"{otherwise[1]}."
    rate, beside = figure.attack_rate, figure.control_rate
    if not attack.controlled:
        # Whoever is not in the data has no record to be linked: luck stands in the place of strangers.
        beside = _by_luck(figure, audit)
    if not beside.defined:
        return (
            f"{attack.title}: {percent(rate.value)} of descriptions fit exactly one person, and no description made "
            "without the data fits exactly one person that often."
        )
    title = f"{attack.title} of {listed([figure.secret])}" if figure.secret else attack.title
    excess = figure.excess_over_control
    risk = Risk(attack_rate=rate, naive_rate=beside, control_rate=beside, excess_over_control=excess)
    shown = (percent(each.value, more=finer(risk)) for each in (rate, beside))
    said = attack.succeeds.format(title=title, **dict(zip("ac", shown, strict=True)))
    if figure.group:
        said = f"Among them: {said[:1].lower()}{said[1:]}"
    if not excess.defined:
        return f"{said}."
    if not _can_be_told(figure):
        return f"{said}; that is {ExcessStatus.TOO_BLUNT}."
    if isinstance(beside.value, SuppressedNumber):
        # The headline has it, and from bounds nobody can compute it again.
        return f"{said}."
    return f"{said}; being in the data adds {excess_text(risk)}."


def _by_luck(figure: JudgedFigure, audit: Audit) -> Rate:
    """Return what luck gives where there are no strangers to compare with."""
    own = (finding for each in audit.releases for finding in each.of(figure.attack))
    return next(
        (finding.risk.naive_rate for finding in own if finding.risk.attack_rate == figure.attack_rate),
        figure.control_rate,
    )


def _otherwise(figure: JudgedFigure, audit: Audit) -> tuple[str, str] | None:
    """Return what is proved by something else than the rate, where the rate is no better than luck."""
    said, luck = ATTACKS[figure.attack].proved_otherwise, _by_luck(figure, audit)
    return said if said is not None and luck.defined and figure.attack_rate.low <= luck.value else None


#: A chance below this is told as this one: of many people it may be less than any number is, but for 0.
_LEAST_CHANCE = 1e-12


def _luck(figure: JudgedFigure, audit: Audit) -> str:
    if isnan(figure.p_adjusted):
        return ""
    among = f", among {count(audit.verdict.figures)}," if audit.verdict.figures > 1 else ""
    return (
        f"In a harmless release a figure as clear as this{among} comes up in fewer than 1 of "
        f"{count(floor(1 / max(figure.p_adjusted, _LEAST_CHANCE)))} audits."
    )


_LOOK = "Look at the copied records first: --show-records."


def _copies(audit: Audit) -> VerdictText:
    release, wrong = max(audit.verdict.releases, key=lambda each: each.unmistakable), control_said(audit)
    where = f"In the release {quoted([release.name])}: " if len(audit.releases) > 1 else ""
    copied = release.unmistakable if release.copies is None else release.copies.people_unchanged
    stand, whose = ("stands", "the record is") if copied == 1 else ("stand", "their records are")
    if copied != release.unmistakable:
        # Coincidence may explain the others, or nothing can be compared: they are copied all the same.
        are = "record of {} among them is" if release.unmistakable == 1 else "records of {} among them are"
        whose = f"the {are.format(safe(number_of(release.unmistakable)))}"
    number, unusual = safe(number_of(copied)), safe(_unusual(release))
    return VerdictText(
        headline=of_all(
            audit, f"{safe(where)}{number} of {{}} {stand} in the release word for word, and {whose} {unusual}"
        ),
        explanation=(*([wrong.headline] if wrong.headline else []), *wrong.explanation),
        steps=(_LOOK, *wrong.steps),
    )


def _unmistakable(release: ReleaseVerdict, *, groups: bool) -> str:
    """Return how many of all who are copied are so beyond doubt."""
    have = "has a record" if release.unmistakable == 1 else "have records"
    return (
        f"Of those who stand in the release word for word, {number_of(release.unmistakable)} {have} "
        f"{_unusual(release, groups=groups)}"
    )


def _unusual(release: ReleaseVerdict, *, groups: bool = True) -> str:
    """Return how unusual the records of unmistakable copies are, and where they gather."""
    copies = release.copies
    if copies is None:
        return ""
    said = (
        f"too unusual for coincidence (fewer than {p_text(max(copies.coincidences, 0.0001))} such coincidences are "
        "expected)."
    )
    gathered = [
        name(f"{each.column}: {'missing' if each.value is None else each.value}", LONGEST_NAME)
        for each in copies.groups
    ]
    more = f" and {len(gathered) - _MOST_GROUPS} more groups" if len(gathered) > _MOST_GROUPS else ""
    where = f" They gather in {', '.join(gathered[:_MOST_GROUPS])}{more}." if gathered and groups else ""
    return f"{said}{where}"


def _nothing_found(audit: Audit) -> VerdictText:
    verdict = audit.verdict
    if not verdict.figures:
        return VerdictText(
            headline=of_all(audit, "No figure on {} had enough tries to be judged, so nothing was found or ruled out.")
        )
    fewest = verdict.fewest_copies_provable
    blind = (
        f"Fewer than {count(fewest)} copied people could not have been proved by counting with this control."
        if fewest
        else "No number of copied people could have been proved by counting with this control."
    )
    figures = count(verdict.figures, "figure", "figures")
    whose = "No attack" if audit.way is None else "Your way of making it: no attack"
    return VerdictText(
        headline=of_all(
            audit,
            f"{whose} did provably better on people in the data than on others, in {figures} on {{}} in the data.",
        ),
        explanation=(blind, "Others were not tried."),
    )


def _no_control(audit: Audit) -> VerdictText:
    return VerdictText(
        headline=of_all(
            audit, "Without people who are not in the data nobody can say what being in it changes for {}."
        ),
        explanation=tuple(_facts(audit)),
        steps=ADVICE,
    )


def _facts(audit: Audit) -> Iterator[str]:
    """Yield what holds without a control, of one release."""
    if len(audit.releases) > 1:
        return
    release, said = audit.releases[0], audit.verdict.releases[0]
    if said.copies is not None:
        number = said.copies.people_unchanged
        who = f"{number_of(number)} {'stands' if number == 1 else 'stand'}" if number else "Nobody stands"
        yield f"{who} in the release word for word{', which coincidence may explain' if number else ''}."
    if release.kind == "masked" and release.disclosure is not None:
        alike = number_of(release.disclosure.k_anonymity, "row", "rows")
        yield f"The smallest class of rows that look alike has {alike}."
