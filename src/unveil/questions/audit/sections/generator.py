"""Generator and differential privacy: runs, and the claimed ε."""

from collections.abc import Iterator
from math import isnan

from unveil.metrics.epsilon.bound import EpsilonBound
from unveil.questions.audit.attacks import ATTACKS
from unveil.questions.audit.decision.text import p_text
from unveil.questions.audit.findings import Audit, ReleaseVerdict
from unveil.questions.audit.generator.findings import EpsilonFinding, GeneratorSummary, Oddity
from unveil.questions.audit.reference.control_options import RUNS_WORTH
from unveil.questions.audit.report_context import AuditContext
from unveil.questions.audit.words import number_of, percent, quoted
from unveil.report.blocks import NextStep, Section, TableBlock
from unveil.report.text import count, duration, name

_LONGEST = 200
#: A run of fewer seconds is quick: more of them are suggested.
QUICK = 60.0
_ABOUT = {"add-remove": "add/remove, unbounded DP", "replace": "replace, bounded DP"}
_ODD: dict[Oddity, str] = {
    "same table": (
        "The generator wrote the same table for different input. It ignores the input or has the people from another "
        "source, so these results say nothing about other people."
    ),
    "people never given": (
        "The output of the generator contains held-out records, beyond chance. It has them from another source, so the "
        "held-out people are no control group and the risk is underestimated. Remove that source."
    ),
}


def oddities(audit: Audit) -> tuple[str, ...]:
    """Return what is wrong with a generator, to show above the headline."""
    return () if audit.way is None else tuple(_ODD[each] for each in audit.way.oddities)


def existing_sentences(audit: Audit) -> tuple[str, ...]:
    """Return the result on each existing release, without held-out records."""
    if audit.way is None:
        return ()
    return tuple(_existing(each) for each in audit.verdict.releases if each.name != audit.way.release)


def _existing(release: ReleaseVerdict) -> str:
    which, copies = f"Existing release {quoted([release.name])}", release.copies
    if release.proved:
        return f"{which}: {ATTACKS[release.proved[0].attack].title.lower()} is significant."
    if release.unmistakable:
        return f"{which}: {number_of(release.unmistakable)} with a record copied beyond chance."
    said = "no people were held out of it, so most effects cannot be tested"
    if copies is not None and not copies.people_unchanged:
        said = f"no exact copies; {said}"
    return f"{which}: {said}."


def epsilon_sentence(audit: Audit) -> str:
    """Return the empirical lower bound on ε and the claim's result."""
    found = audit.epsilon
    if found is None:
        return ""
    claim, bound = found.claim, found.bound
    if claim is None:
        if bound is None or found.source != "canaries":
            return ""
        return f"Empirical lower bound on ε: {_bound(found, bound)} ({_basis(found, bound)})."
    delta = f", δ = {claim.delta:g}" if claim.delta else ""
    which = f"The claim ε = {claim.epsilon:g}{delta} ({_ABOUT[claim.adjacency]})"
    if bound is None:
        return f"{which} was not tested: {_UNTESTED}"
    if found.contradicted:
        return f"{which} is refuted: ε is {_bound(found, bound)} ({_basis(found, bound)})."
    if bound.adjacency == "add-remove" and claim.adjacency == "replace":
        return f"{which} was not tested: canaries say nothing about replacing one record."
    shown = f"ε is {_bound(found, bound)} ({_basis(found, bound)})"
    return f"{which} is not refuted, which does not confirm it: {shown}. {_power(found, bound)}".rstrip()


_UNTESTED = (
    "membership was not measured. Run the membership attack with at least 60 control people, or audit the generator "
    "with canaries."
)


def _bound(finding: EpsilonFinding, bound: EpsilonBound) -> str:
    """Return the lower bound in the claim's terms, and its maximum."""
    halved = bound.adjacency == "replace" and (finding.claim is None or finding.claim.adjacency == "add-remove")
    least, most = (each / 2 if halved else each for each in (bound.bound, bound.most))
    possible = f"largest bound possible here: {most:.2g}"
    return f"at least {least:.2g}; {possible}" if least > 0 else f"not significantly above 0; {possible}"


def _basis(finding: EpsilonFinding, bound: EpsilonBound) -> str:
    what = "pairs of people" if finding.source == "two tables" else "canary decisions"
    guessed = f", {count(bound.guesses)} guessed, {count(bound.right)} correct" if finding.counts else ""
    runs = f" in {count(bound.runs, 'run', 'runs')}" if finding.source == "canaries" else ""
    split = "" if finding.by_lot else ", if the control group was split off at random"
    return f"{100 * bound.confidence:g}% confidence, {count(bound.coins)} {what}{runs}{guessed}{split}"


def _power(finding: EpsilonFinding, bound: EpsilonBound) -> str:
    if finding.claim is None:
        return ""
    twice = 2 * finding.claim.epsilon
    if finding.needed is None:
        return f"No sample size would detect ε = {twice:g}."
    fewer = ", more than there were" if finding.needed > bound.coins else ""
    what = "canary decisions" if finding.source == "canaries" else "pairs"
    return f"To detect ε = {twice:g}, the best attacker needs about {count(finding.needed)} {what}{fewer}."


def runs_sentence(way: GeneratorSummary) -> str:
    """Return how releases were made for the audit."""
    runs = count(way.runs, "run", "runs")
    if way.folds > 1:
        times = "once" if way.runs <= way.folds else "once in each round"
        how = f"Each person was held out {times}, in {way.folds} folds ({runs} of the generator)."
        if _gives_halves(way):
            how = f"Each of {runs} of the generator was given a random half of the people."
        return f"{how} The result is about the generator, not about one release."
    return (
        f"{number_of(way.held_out)}, chosen at random, were held out of {runs} of the generator and are the control "
        "group. The result is about the generator, not about one release."
    )


def siblings_sentences(audit: Audit) -> Iterator[str]:
    """Yield what the runs were used for besides the tests of people."""
    found = None if audit.way is None else audit.way.siblings
    if found is None:
        return
    if found.number:
        siblings = count(found.number, "run", "runs")
        yield f"Membership scores of each person are calibrated by {siblings} without this person (sibling releases)."
        yield f"AUC of the DCR score: {found.auc:.2f}, calibrated {found.auc_calibrated:.2f}."
    if not isnan(found.p):
        state = "significant" if found.p <= audit.verdict.alpha else "not significant"
        yield (
            f"Test with the run as unit (is each run nearer to its own people?): p {p_text(found.p)} ({state}). "
            "The tests of people decide."
        )


def section(audit: Audit, context: AuditContext) -> Section | None:
    """Return the runs, their results, and the ε bound."""
    way = audit.way
    if way is None and (audit.epsilon is None or audit.epsilon.claim is None):
        return None
    lead = [
        *([] if way is None else [runs_sentence(way)]),
        *siblings_sentences(audit),
        *existing_sentences(audit),
        epsilon_sentence(audit),
    ]
    return Section(
        heading="Generator" if way is not None else "Differential privacy",
        question="How were the releases made?" if way is not None else "Is the claimed ε refuted?",
        lead=" ".join(filter(None, lead)),
        blocks=(),
        data=() if way is None else (_facts(way), *([_spread(way)] if way.spread else [])),
    )


def _facts(way: GeneratorSummary) -> TableBlock:
    rows = [
        ("Generator", name(way.generator, _LONGEST)),
        *((f"{label[:1].upper()}{label[1:]}", name(text, _LONGEST)) for label, text in way.about.items()),
        ("Runs", count(way.runs) if way.attacked == way.runs else f"{count(way.runs)}, all attacks on one of them"),
        ("Held out", _held_out(way)),
        *([] if way.siblings is None else [("Sibling runs per person", count(way.siblings.number))]),
    ]
    known = [each for each in way.seconds if not isnan(each)]
    if known:
        rows.append(("Time per run", duration(sum(known) / len(known))))
    return TableBlock(caption="The generator", columns=("", ""), rows=tuple(rows), align=("left", "left"), prose=True)


def _gives_halves(way: GeneratorSummary) -> bool:
    return way.folds == 2 and way.runs > 2


def _held_out(way: GeneratorSummary) -> str:
    if _gives_halves(way):
        return "a random half in each run"
    return f"each person once, in {way.folds} folds" if way.folds > 1 else number_of(way.held_out)


def _spread(way: GeneratorSummary) -> TableBlock:
    def row(label: str, what: str, values: tuple[float, ...]) -> tuple[str, ...]:
        mean = sum(values) / len(values)
        return (label, what, *(percent(each) for each in (min(values), mean, max(values))))

    shown = {"normalized_excess": "normalized excess", "attack_rate": "attack success"}
    rows = [row(ATTACKS[each.attack].title, shown[each.shown], each.values) for each in way.spread]
    if way.lost:
        rows.append(row("Utility", "utility loss", way.lost))
    return TableBlock(
        caption="Single runs",
        columns=("", "Result", "Lowest", "Mean", "Highest"),
        rows=tuple(rows),
        align=("left", "left", "right", "right", "right"),
        note=f"Over {count(way.attacked)} runs, for the strongest attacker over all of them.",
    )


def next_steps(audit: Audit) -> Iterator[NextStep]:
    """Yield that more runs find smaller leaks, where nothing was found and a run is quick."""
    way, decision = audit.way, audit.decision
    if way is None or way.attacked < way.runs or way.runs >= RUNS_WORTH or decision.decision == "pass":
        return
    known = [each for each in way.seconds if not isnan(each)]
    if decision.level in ("none_found", "inconclusive") and known and max(known) < QUICK:
        # With folds, runs are counted for each of them.
        each = way.folds if way.folds > 2 else 1
        number = max(-(-RUNS_WORTH // each), 2)
        yield NextStep(
            f"Run the generator {number * each} times: more runs find smaller leaks.", option=f"--runs {number}"
        )


def sheet_facts(audit: Audit) -> Iterator[tuple[str, str]]:
    """Yield what the sign-off sheet states about the generator and the claim."""
    if audit.way is not None:
        yield "Generator", name(audit.way.generator, _LONGEST)
        yield "Audited", runs_sentence(audit.way)
        yield from ((label, name(text, _LONGEST)) for label, text in audit.way.about.items())
    if epsilon_sentence(audit):
        yield "ε", epsilon_sentence(audit)
