"""What a study found, in plain sentences: what protections leave to attacks, what is missing, and what to do next."""

import shlex
from collections.abc import Iterable, Iterator, Sequence
from math import isnan

from unveil.questions.study.findings import EXCESS, Effect, Failures, StudyFindings, bounds_of, is_share, words_of
from unveil.report.blocks import Tone
from unveil.report.scale import value_text
from unveil.report.text import AXES, about, count, labels, significant, together
from unveil.studies.results import Counts

#: Whoever finds less than this share finds nothing.
_NOTHING = 0.01
#: So many protections, or attacks, are named one by one in a headline.
_MOST_NAMED = 3


def headline(findings: StudyFindings) -> str:
    """Return the finding in one sentence: what each protection leaves to the attack that gets farthest."""
    strongest = [best for protect in findings.study.protections if (best := findings.strongest_attack(protect))]
    if not strongest:
        return computed(findings.counts)
    if not is_share(findings.metrics[0]):
        return _by_metric(findings, strongest)
    bare = next((each for each in strongest if each.protect == findings.unprotected), None)
    if len(strongest) == 1:
        return _alone(findings, strongest[0])
    if bare is None:
        least, most = (choose(strongest, key=lambda each: each.mean) for choose in (min, max))
        return (
            f"Attacks find least after {_protection(findings, least)}, where {_reach(findings, least)}, and most after "
            f"{_protection(findings, most)}, where {_reach(findings, most)}{_repeated(findings)}."
        )
    others = sorted((each for each in strongest if each is not bare), key=lambda each: each.mean)
    said = together_and(list(_left(findings, others, bare)))
    return f"Without protection {_reach(findings, bare)}{_repeated(findings)}; {said}."


def _left(findings: StudyFindings, others: Sequence[Effect], bare: Effect) -> Iterator[str]:
    """Yield what protections leave of what is found without them, the strongest effect first."""
    nothing = [each for each in others if _is_nothing(each)]
    lower = [each for each in others if each not in nothing and each.mean < bare.mean and each.differs_from(bare)]
    more = [each for each in others if each not in nothing and each.mean > bare.mean and each.differs_from(bare)]
    same = [each for each in others if each not in (*nothing, *lower, *more)]
    if nothing:
        yield f"{_named(findings, nothing)} {_verb(nothing, 'leaves', 'leave')} nothing to find"
    for each in lower[:_MOST_NAMED]:
        whom = "" if each.attack == bare.attack else f"{_attack(findings, each)} "
        yield f"{_protection(findings, each)} leaves {whom}{within(findings, each)}"
    if lower[_MOST_NAMED:]:
        yield f"{_named(findings, lower[_MOST_NAMED:])} less than no protection"
    if same:
        yield f"{_named(findings, same)} {_verb(same, 'changes', 'change')} nothing that shows"
    if more:
        yield f"after {_named(findings, more)} even more is found"


def _is_nothing(effect: Effect) -> bool:
    return effect.mean < _NOTHING and not effect.high >= _NOTHING


def _alone(findings: StudyFindings, best: Effect) -> str:
    known = [each for each in findings.effects if each.protect == best.protect and not isnan(each.mean)]
    rest = sorted((each for each in known if each is not best), key=lambda each: -each.mean)
    also = "".join(f", {_attack(findings, each)} {within(findings, each)}" for each in rest[: _MOST_NAMED - 1])
    return f"After {_protection(findings, best)}, {_reach(findings, best)}{also}{_repeated(findings)}."


def _by_metric(findings: StudyFindings, strongest: Sequence[Effect]) -> str:
    """Return where a metric that is no share of people says most and least privacy."""
    metric = words_of(findings.metrics[0])
    sign = 1 if findings.more_is_private else -1
    best, worst = (choose(strongest, key=lambda each: sign * each.mean) for choose in (max, min))
    if best is worst:
        return (
            f"After {_protection(findings, best)}, the {metric} that {_attack(findings, best)} leaves is "
            f"{within(findings, best)}{_repeated(findings)}."
        )
    return (
        f"By {metric}, {_protection(findings, best)} hides people best, {within(findings, best)} against "
        f"{_attack(findings, best)}, and {_protection(findings, worst)} worst, {within(findings, worst)} against "
        f"{_attack(findings, worst)}{_repeated(findings)}."
    )


def _reach(findings: StudyFindings, effect: Effect) -> str:
    whom = "targets"
    if findings.targets is not None:
        fewest, most = findings.targets
        whom = f"{fewest:,} targets" if fewest == most else f"{fewest:,} to {most:,} targets"
    if findings.metrics[0] == EXCESS:
        return (
            f"{_attack(findings, effect)} reaches {within(findings, effect)} of {whom} beyond what it reaches of "
            f"strangers"
        )
    rate = findings.metrics[0].endswith("adversary_success_rate")
    of, verb = ("its attempts", "is right in") if rate else (whom, "finds")
    return f"{_attack(findings, effect)} {verb} {within(findings, effect)} of {of}"


def within(findings: StudyFindings, effect: Effect) -> str:
    """Return a mean with its interval, with few digits."""
    form = about if is_share(findings.metrics[0]) else significant
    if isnan(effect.half):
        return form(effect.mean)
    low, high = effect.low, effect.high
    if is_share(findings.metrics[0]):
        low, high = max(low, bounds_of(findings.metrics[0])[0]), min(high, 1.0)
    said = form(effect.mean)
    return said if form(low) == said == form(high) else f"{said} ({form(low)} to {form(high)})"


def _repeated(findings: StudyFindings) -> str:
    number = findings.replications // max(findings.counts.fine, 1)
    roughly = "about " if findings.study.replications.number is None else ""
    return f" ({roughly}{count(number, 'repetition', 'repetitions')})"


def _protection(findings: StudyFindings, effect: Effect) -> str:
    return labels(findings.study.protections)[effect.protect]


def _attack(findings: StudyFindings, effect: Effect) -> str:
    return labels(findings.study.attacks)[effect.attack]


def _named(findings: StudyFindings, effects: Sequence[Effect]) -> str:
    names = [_protection(findings, each) for each in effects]
    return together_and(names) if len(names) <= _MOST_NAMED else together(names, _MOST_NAMED)


def together_and(sentences: Sequence[str]) -> str:
    """Return pieces of a sentence in a row, the last one after "and".

    >>> together_and(["a"]), together_and(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return " and ".join([", ".join(sentences[:-1]), sentences[-1]] if len(sentences) > 1 else sentences)


def _verb(effects: Sequence[Effect], one: str, many: str) -> str:
    return one if len(effects) == 1 else many


def explanation(findings: StudyFindings) -> tuple[str, ...]:
    """Return what the figures of the headline are, and what is missing."""
    missing = (computed(findings.counts),) if findings.counts.left else ()
    if not findings.counts.fine:
        return ()
    words, kind = AXES[findings.study.axes[0].name]
    sets = len(findings.study.data)
    over = f" over {sets} data sets" if sets > 1 else ""
    return (
        *missing,
        f"Each figure is a mean{over} with its 95% interval, for the strongest adversary of the study: "
        f"{value_text(findings.study.axes[0].levels[-1], kind)} {words}; of several attacks the one that gets farthest "
        "counts.",
    )


def computed(counts: Counts) -> str:
    """Return how much of a study is there and what failed, in one sentence.

    >>> computed(Counts(total=8, fine=8, failed=0, damaged=0, missing=0))
    'All 8 scenarios are computed, and none failed.'
    >>> computed(Counts(total=8, fine=5, failed=2, damaged=0, missing=1))
    '5 of 8 scenarios are computed; 2 failed and 1 is missing.'
    """
    if counts.fine == counts.total:
        who = "The only scenario is" if counts.total == 1 else f"All {counts.total:,} scenarios are"
        return f"{who} computed, and none failed."
    what = {"failed": counts.failed, "are damaged": counts.damaged, "are missing": counts.missing}
    said = [
        f"{number:,} {words.replace('are', 'is') if number == 1 else words}" for words, number in what.items() if number
    ]
    verb = "is" if counts.fine == 1 else "are"
    return f"{counts.fine:,} of {count(counts.total, 'scenario', 'scenarios')} {verb} computed; {together_and(said)}."


def tone(counts: Counts) -> Tone:
    """Return how the headline should strike."""
    return "neutral" if counts.fine == counts.total else "warning"


def next_steps(findings: StudyFindings) -> tuple[str, ...]:
    """Return how to compute what is left, what a protection costs, and whether metrics can be trusted."""
    counts, where = findings.counts, "--sample" if findings.is_example else shlex.quote(findings.folder)
    steps = []
    if counts.left and not findings.is_summary:
        again = f"'unveil study run {where}/study.toml --out {where} --resume'"
        those = (
            "the scenario that has no results" if counts.left == 1 else f"the {counts.left:,} scenarios without results"
        )
        steps.append(f"{again} computes {those}, and leaves the others as they are.")
    if counts.fine:
        cost = "unveil protect-graph" if findings.study.kind == "graph" else "unveil audit"
        steps.append(f"Before you choose a protection, see what it costs in usefulness: '{cost}'.")
        steps.append(f"'unveil grade-metrics {where}' says which metrics these results let you trust.")
    return tuple(steps)


def failed(failures: Iterable[Failures]) -> Iterator[str]:
    """Yield a line for each kind of failure: how many scenarios, why, and where."""
    for each in failures:
        parts = {"data": each.data, "protection": each.protections, "attack": each.attacks}
        where = "; ".join(f"{what}: {together(names)}" for what, names in parts.items())
        yield f"  {each.scenarios:,} × {each.error} ({where})"
