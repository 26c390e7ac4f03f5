"""Attackers: how well each links two periods, and what linking does to all records of a person."""

from math import isnan

import numpy as np

from unveil.questions.link.findings import LEARNED, LINKED, WITHOUT_TRUTH, LinkEffect, LinkFindings, ProfileAttack
from unveil.questions.link.words import between
from unveil.questions.result import PageContext
from unveil.report.blocks import Chart, Section, Series, TableBlock, sides
from unveil.report.text import about, count, decimal, percent, slope


def section(findings: LinkFindings, context: PageContext) -> Section:
    """Return the attackers with what they claim and what comes true."""
    del context
    people, found = findings.linked_people, findings.two_periods
    if found is None:
        lead = f"The attacker makes {count(people.profiles)} profiles of {count(findings.history.pseudonyms)} items."
        return Section(
            heading="Attackers", question="How well are records linked?", lead=lead, blocks=(_profile_table(findings),)
        )
    attack = found.attacks[0]
    lead = (
        f"One to one, the attacker links {about(attack.linked.value)} of {count(attack.people, 'person', 'people')} "
        f"{between(findings)} (chance {about(attack.chance)}).{_calibration(attack)}{_gain(found.attacks)}"
    )
    return Section(
        heading="Attackers",
        question="How well does each attacker link?",
        lead=lead,
        blocks=(_attack_table(found.attacks),),
        data=(_profile_table(findings),),
    )


def _calibration(attack: ProfileAttack) -> str:
    if isnan(attack.claimed):
        return ""
    return f" It states a probability of {about(attack.claimed)} for its links; {about(attack.came_true)} are correct."


def _gain(attacks: tuple[ProfileAttack, ...]) -> str:
    """Return what learning on other people adds, on the same people."""
    taught = [each for each in attacks if each.attacker == LEARNED]
    if not taught:
        return ""
    return (
        f" Learning on other people changes the share linked from {about(attacks[2].linked.value)} to "
        f"{about(taught[0].linked.value)} of the same people."
    )


def effect_chart(findings: LinkFindings) -> Chart:
    """Return the success of each attacker against chance."""
    rows: list[tuple[str, float, float, float, float]] = []
    if findings.two_periods is not None:
        first = findings.two_periods.attacks[0]
        guess = first.first_guess
        rows.append(("People, best candidate", guess.value, guess.low, guess.high, first.chance))
    order = {(LINKED, WITHOUT_TRUTH): 0, (LINKED, LEARNED): 1}
    effects = sorted(findings.verdict.effects, key=lambda each: order.get((each.name, each.attacker), 2))
    for each in effects:
        rate = each.success
        rows.append((effect_name(each), rate.value, rate.low, rate.high, each.baseline))
    names, *columns = zip(*rows, strict=True)
    value, low, high, baseline = (np.array(column, dtype=np.float64) for column in columns)
    place = np.arange(len(rows), dtype=np.float64)
    best = list(names).index(effect_name(findings.worst))
    return Chart(
        title="Attack success and chance",
        x_label="share linked (95% CI)",
        y_label="",
        series=(
            Series(name="attacker", x=value, y=place, style="first", kind="points", low=low, high=high),
            Series(name="chance", x=baseline, y=place, style="second", kind="points"),
        ),
        rows=tuple(str(each) for each in names),
        caption=f"{names[best]}: {about(float(value[best]))}, chance {about(float(baseline[best]))}.",
        x_kind="share",
    )


def effect_name(effect: LinkEffect) -> str:
    """Return an effect with its attacker, in a few words."""
    if effect.name != LINKED:
        return "Records linked, all periods"
    return "People linked, learned" if effect.attacker == LEARNED else "People linked, two periods"


def _attack_table(attacks: tuple[ProfileAttack, ...]) -> TableBlock:
    rows = []
    for place, each in enumerate(attacks):
        who = each.attacker + (", same people" if place == 2 else "")
        low, high = percent(each.linked.low).removesuffix("%"), percent(each.linked.high)
        rows.append(
            (
                who,
                count(each.people),
                percent(each.first_guess.value),
                f"{percent(each.linked.value)} ({low}–{high})",
                percent(each.chance),
                percent(each.claimed),
                percent(each.came_true),
            )
        )
    return TableBlock(
        caption="Linking two neighboring periods",
        columns=("Attacker", "People", "Best candidate", "One to one (95% CI)", "Chance", "Claimed", "Came true"),
        rows=tuple(rows),
        align=sides("lrrrrrr"),
        note="Claimed: mean probability stated for the links. Came true: share that is correct.",
    )


def _profile_table(findings: LinkFindings) -> TableBlock:
    people = findings.linked_people
    after = " / ".join(percent(each) for each in people.linked_after)
    rows = (
        ("Records linked", percent(people.records_linked.value)),
        ("By the pseudonym alone", percent(people.linked_alone)),
        ("With people exchanged at random", percent(people.chance)),
        ("Own share of a profile", percent(people.own_share.value)),
        ("Profiles", count(people.profiles)),
        (f"People breached (β = {about(findings.beta)})", percent(people.breached_share)),
        ("Miss errors per person", decimal(people.miss, places=2)),
        ("Include errors per person", decimal(people.include, places=2)),
        ("Risk slope of the average person", slope(people.risk_slope)),
        ("Pseudonyms linked after 0 / 1 / 2 merges", after),
        ("Gini index of records linked", decimal(people.gini, places=2)),
    )
    return TableBlock(
        caption="Profiles over all periods",
        columns=("Result", "Value"),
        rows=rows,
        align=sides("lr"),
        note="Errors and merges count pseudonyms, as in the unlinkability report.",
    )
