"""A way of making releases in words: how it was audited, what is said of a release beside it, and of a claim."""

from collections.abc import Iterator
from math import isnan

from unveil.metrics.epsilon.bound import ADJACENCY, SHARES, Design, EpsilonBound
from unveil.metrics.epsilon.claim import Claim
from unveil.metrics.epsilon.power import coins_needed, most_provable
from unveil.questions.audit.attacks import ATTACKS
from unveil.questions.audit.findings import Audit, ReleaseVerdict
from unveil.questions.audit.generator.findings import EpsilonFinding, GeneratorSummary, Oddity
from unveil.questions.audit.verdict_text import number_of, quoted
from unveil.questions.audit.words import percent
from unveil.report.blocks import Block, Section, Side, TableBlock
from unveil.report.text import count, duration, name

_LEFT: Side = "left"
_RIGHT: Side = "right"
_LONGEST = 200
_ABOUT = {"add-remove": "adding or removing one person", "replace": "replacing one person by another"}
_ODD: dict[Oddity, str] = {
    "same table": (
        "The generator wrote the same table whatever people it was given: it does not look at them, or has them from "
        "elsewhere. What is found here says nothing about releases of other people."
    ),
    "people never given": (
        "What the generator wrote holds people who were held out, beyond coincidence: it has them from elsewhere. They "
        "are no control then, and what the release gives away looks smaller than it is. Take its other sources away."
    ),
}


def oddities(audit: Audit) -> tuple[str, ...]:
    """Return what is strange about a generator, which stands above the headline."""
    return () if audit.way is None else tuple(_ODD[each] for each in audit.way.oddities)


def existing_said(audit: Audit) -> tuple[str, ...]:
    """Return what is said of releases beside the way, of whom nobody was held out."""
    if audit.way is None:
        return ()
    return tuple(_existing(each) for each in audit.verdict.releases if each.name != audit.way.release)


def _existing(release: ReleaseVerdict) -> str:
    which, copies = f"This release, {quoted([release.name])}", release.copies
    if release.proved:
        clear = release.proved[0]
        return f"{which}, discloses people's data by itself: {ATTACKS[clear.attack].title.lower()} is significant."
    if release.unmistakable:
        have = "stands" if release.unmistakable == 1 else "stand"
        return f"{which}, copies people: {number_of(release.unmistakable)} {have} in it beyond coincidence."
    said = "nobody was held out of it, so that nothing is proved for or against it by itself"
    if copies is not None and not copies.people_unchanged:
        said = f"nobody stands in it word for word; {said}"
    return f"{which}: {said}."


def epsilon_said(audit: Audit) -> str:
    """Return what is shown of epsilon, and whether a claim is contradicted; nothing where neither was asked for."""
    found = audit.epsilon
    if found is None:
        return ""
    claim, bound = found.claim, found.bound
    if claim is None:
        if bound is None or found.source != "canaries":
            return ""
        return f"Epsilon is {_shown(found, bound)} ({_rests_on(found, bound)})."
    delta = f" and delta {claim.delta:g}" if claim.delta else ""
    which = f"This claim, epsilon {claim.epsilon:g}{delta} ({_ABOUT[claim.adjacency]})"
    if bound is None:
        return f"{which}, was not tested: {_UNTESTED}"
    if found.contradicted:
        return f"{which}, is contradicted: epsilon is {_shown(found, bound)} ({_rests_on(found, bound)})."
    if bound.adjacency == "add-remove" and claim.adjacency == "replace":
        return f"{which}, was not tested: what was planted says nothing about replacing one person."
    shown = f"epsilon is {_shown(found, bound)} ({_rests_on(found, bound)})"
    return f"{which}, is not contradicted, which confirms nothing: {shown}. {_power(found, bound)}".rstrip()


_UNTESTED = (
    "nobody's membership was measured. Have membership among the attacks and at least 60 people outside the data, or "
    "plant canaries (--generator, --canaries)."
)


def coins_said(canaries: int, runs: int, *, pairs: bool, claim: Claim | None) -> str:
    """Return what coins can show at best, before any of them is tossed.

    >>> coins_said(200, 4, pairs=False, claim=None).partition(",")[2]
    ' 4 runs) can show an epsilon of at most 4.5 at 95% confidence, the error divided among 5 numbers of guesses.'
    """
    design: Design = "pairs" if pairs else "coins"
    coins, delta = canaries * runs, 0.0 if claim is None else claim.delta_against(ADJACENCY[design])
    most = most_provable(coins, design=design, delta=delta)
    said = (
        f"{count(coins)} coins ({count(canaries)} canaries, {count(runs, 'run', 'runs')}) can show an epsilon of at "
        f"most {most:.2g} at 95% confidence, the error divided among {len(SHARES[design])} numbers of guesses."
    )
    if claim is None:
        return said
    needed = coins_needed(claim.epsilon, 2 * claim.epsilon, design=design, delta=delta)
    if needed is None:
        return f"{said} No number of coins could show that it is {2 * claim.epsilon:g}."
    return (
        f"{said} If it were {2 * claim.epsilon:g} in place of {claim.epsilon:g}, the best adversary would need about "
        f"{count(needed)}, and one who sees a release alone several times as many."
    )


def _shown(finding: EpsilonFinding, bound: EpsilonBound) -> str:
    """Return how large epsilon is at least, as the claim counts it, and how much could have been shown at best."""
    halved = bound.adjacency == "replace" and (finding.claim is None or finding.claim.adjacency == "add-remove")
    least, most = (each / 2 if halved else each for each in (bound.bound, bound.most))
    could = f"at most {most:.2g} could have been shown"
    return f"at least {least:.2g}; {could}" if least > 0 else f"not shown to be above 0; {could}"


def _rests_on(finding: EpsilonFinding, bound: EpsilonBound) -> str:
    coins = "pairs of people" if finding.source == "two tables" else "coins"
    guessed = ""
    if finding.counts:
        guessed = f", of which {count(bound.guesses)} were guessed and {count(bound.right)} of these rightly"
    runs = f" of {count(bound.runs, 'run', 'runs')}" if finding.source == "canaries" else ""
    sure = f"at {100 * bound.confidence:g}% confidence"
    lot = "" if finding.by_lot else ", if the control was kept apart by lot"
    return f"{sure}, by {count(bound.coins)} {coins}{runs}{guessed}{lot}"


def _power(finding: EpsilonFinding, bound: EpsilonBound) -> str:
    if finding.claim is None:
        return ""
    twice = 2 * finding.claim.epsilon
    if finding.needed is None:
        return f"No number of coins could show that it is {twice:g}."
    fewer = ", more than there were" if finding.needed > bound.coins else ""
    coins = "coins" if finding.source == "canaries" else "pairs"
    return f"If it were {twice:g}, the best adversary would need about {count(finding.needed)} {coins}{fewer}."


def made_said(way: GeneratorSummary) -> str:
    """Return in a sentence how releases were made for the audit."""
    runs = count(way.runs, "run", "runs")
    if way.folds > 1:
        return (
            f"Everybody was held out once, in {way.folds} parts ({runs} of the generator): the verdict is about the "
            "way of making releases, not about one of them."
        )
    number = number_of(way.held_out)
    return (
        f"{number} who were drawn by lot were held out of {runs} of the generator and are the control: the verdict is "
        "about the way of making releases, not about one of them."
    )


def way_section(audit: Audit) -> Section | None:
    """Return how the releases were made that were audited, and what single runs gave."""
    way = audit.way
    if way is None and (audit.epsilon is None or audit.epsilon.claim is None):
        return None
    blocks: list[Block] = []
    if way is not None:
        blocks.append(_facts(way))
        if way.spread:
            blocks.append(_spread(way))
    lead = [*([] if way is None else [made_said(way)]), *existing_said(audit), epsilon_said(audit)]
    return Section(
        heading="How was it made?" if way is not None else "What is shown of epsilon?",
        lead=" ".join(filter(None, lead)),
        blocks=tuple(blocks),
    )


def _facts(way: GeneratorSummary) -> TableBlock:
    rows = [
        ("Generator", name(way.generator, _LONGEST)),
        *((f"{label[:1].upper()}{label[1:]}", name(text, _LONGEST)) for label, text in way.about.items()),
        ("Runs", count(way.runs) if way.attacked == way.runs else f"{count(way.runs)}, one attacked in every way"),
        ("Held out", f"everybody once, in {way.folds} parts" if way.folds > 1 else number_of(way.held_out)),
    ]
    known = [each for each in way.seconds if not isnan(each)]
    if known:
        rows.append(("Time of one run", duration(sum(known) / len(known))))
    return TableBlock(caption="The generator", columns=("", ""), rows=tuple(rows), align=(_LEFT, _LEFT), prose=True)


def _spread(way: GeneratorSummary) -> TableBlock:
    def row(label: str, what: str, values: tuple[float, ...]) -> tuple[str, ...]:
        mean = sum(values) / len(values)
        return (label, what, *(percent(each) for each in (min(values), mean, max(values))))

    shown = {"excess_over_control": "what being in the data adds", "attack_rate": "rate in the data"}
    rows = [row(ATTACKS[each.attack].title, shown[each.shown], each.values) for each in way.spread]
    if way.lost:
        rows.append(row("Usefulness", "lost", way.lost))
    return TableBlock(
        caption="What single runs gave",
        columns=("", "Figure", "Lowest", "Mean", "Highest"),
        rows=tuple(rows),
        align=(_LEFT, _LEFT, _RIGHT, _RIGHT, _RIGHT),
        note=f"Over {count(way.attacked)} runs, by the adversary that is clearest over all of them.",
    )


def sheet_facts(audit: Audit) -> Iterator[tuple[str, str]]:
    """Yield what the sheet to sign states about the generator and the claim."""
    if audit.way is not None:
        yield "Generator", name(audit.way.generator, _LONGEST)
        yield "Audited", made_said(audit.way)
        yield from ((label, name(text, _LONGEST)) for label, text in audit.way.about.items())
    if epsilon_said(audit):
        yield "Epsilon", epsilon_said(audit)
