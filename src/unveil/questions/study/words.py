"""What a study found, in plain sentences: what protections leave to attacks, what is missing, and what to do next."""

import shlex
from collections.abc import Iterable, Iterator, Sequence
from math import isnan

from unveil.questions.study.findings import EXCESS, Effect, Failures, StudyFindings, bounds_of, is_share, words_of
from unveil.report.blocks import Tone
from unveil.report.scale import value_text
from unveil.report.studies import AXES, labels
from unveil.report.text import about, count, significant, together
from unveil.studies.results import Counts

#: Whoever finds less than this share finds nothing.
_NOTHING = 0.01
#: So many protections, or attacks, are named one by one in a headline.
_MOST_NAMED = 3


def headline(found: StudyFindings) -> str:
    """Return the finding in one sentence: what each protection leaves to the attack that gets farthest."""
    strongest = [best for protect in found.study.protections if (best := found.strongest_attack(protect))]
    if not strongest:
        return computed(found.counts)
    if not is_share(found.metrics[0]):
        return _by_metric(found, strongest)
    bare = next((each for each in strongest if each.protect == found.unprotected), None)
    if len(strongest) == 1:
        return _alone(found, strongest[0])
    if bare is None:
        least, most = (choose(strongest, key=lambda each: each.mean) for choose in (min, max))
        return (
            f"Attacks find least after {_protection(found, least)}, where {_reach(found, least)}, and most after "
            f"{_protection(found, most)}, where {_reach(found, most)}{_repeated(found)}."
        )
    others = sorted((each for each in strongest if each is not bare), key=lambda each: each.mean)
    said = together_and(list(_left(found, others, bare)))
    return f"Without protection {_reach(found, bare)}{_repeated(found)}; {said}."


def _left(found: StudyFindings, others: Sequence[Effect], bare: Effect) -> Iterator[str]:
    """Yield what protections leave of what is found without them, the strongest effect first."""
    nothing = [each for each in others if _is_nothing(each)]
    lower = [each for each in others if each not in nothing and each.mean < bare.mean and each.differs_from(bare)]
    more = [each for each in others if each not in nothing and each.mean > bare.mean and each.differs_from(bare)]
    same = [each for each in others if each not in (*nothing, *lower, *more)]
    if nothing:
        yield f"{_named(found, nothing)} {_verb(nothing, 'leaves', 'leave')} nothing to find"
    for each in lower[:_MOST_NAMED]:
        whom = "" if each.attack == bare.attack else f"{_attack(found, each)} "
        yield f"{_protection(found, each)} leaves {whom}{within(found, each)}"
    if lower[_MOST_NAMED:]:
        yield f"{_named(found, lower[_MOST_NAMED:])} less than no protection"
    if same:
        yield f"{_named(found, same)} {_verb(same, 'changes', 'change')} nothing that shows"
    if more:
        yield f"after {_named(found, more)} even more is found"


def _is_nothing(effect: Effect) -> bool:
    return effect.mean < _NOTHING and not effect.high >= _NOTHING


def _alone(found: StudyFindings, best: Effect) -> str:
    known = [each for each in found.effects if each.protect == best.protect and not isnan(each.mean)]
    rest = sorted((each for each in known if each is not best), key=lambda each: -each.mean)
    also = "".join(f", {_attack(found, each)} {within(found, each)}" for each in rest[: _MOST_NAMED - 1])
    return f"After {_protection(found, best)}, {_reach(found, best)}{also}{_repeated(found)}."


def _by_metric(found: StudyFindings, strongest: Sequence[Effect]) -> str:
    """Return where a metric that is no share of people says most and least privacy."""
    metric = words_of(found.metrics[0])
    sign = 1 if found.more_is_private else -1
    best, worst = (choose(strongest, key=lambda each: sign * each.mean) for choose in (max, min))
    if best is worst:
        return (
            f"After {_protection(found, best)}, the {metric} that {_attack(found, best)} leaves is "
            f"{within(found, best)}{_repeated(found)}."
        )
    return (
        f"By {metric}, {_protection(found, best)} hides people best, {within(found, best)} against "
        f"{_attack(found, best)}, and {_protection(found, worst)} worst, {within(found, worst)} against "
        f"{_attack(found, worst)}{_repeated(found)}."
    )


def _reach(found: StudyFindings, effect: Effect) -> str:
    whom = "targets"
    if found.targets is not None:
        fewest, most = found.targets
        whom = f"{fewest:,} targets" if fewest == most else f"{fewest:,} to {most:,} targets"
    if found.metrics[0] == EXCESS:
        return f"{_attack(found, effect)} reaches {within(found, effect)} of {whom} beyond what it reaches of strangers"
    rate = found.metrics[0].endswith("adversary_success_rate")
    of, verb = ("its attempts", "is right in") if rate else (whom, "finds")
    return f"{_attack(found, effect)} {verb} {within(found, effect)} of {of}"


def within(found: StudyFindings, effect: Effect) -> str:
    """Return a mean with its interval, with few digits."""
    form = about if is_share(found.metrics[0]) else significant
    if isnan(effect.half):
        return form(effect.mean)
    low, high = effect.low, effect.high
    if is_share(found.metrics[0]):
        low, high = max(low, bounds_of(found.metrics[0])[0]), min(high, 1.0)
    said = form(effect.mean)
    return said if form(low) == said == form(high) else f"{said} ({form(low)} to {form(high)})"


def _repeated(found: StudyFindings) -> str:
    number = found.replications // max(found.counts.fine, 1)
    roughly = "about " if found.study.replications.number is None else ""
    return f" ({roughly}{count(number, 'repetition', 'repetitions')})"


def _protection(found: StudyFindings, effect: Effect) -> str:
    return labels(found.study.protections)[effect.protect]


def _attack(found: StudyFindings, effect: Effect) -> str:
    return labels(found.study.attacks)[effect.attack]


def _named(found: StudyFindings, effects: Sequence[Effect]) -> str:
    names = [_protection(found, each) for each in effects]
    return together_and(names) if len(names) <= _MOST_NAMED else together(names, _MOST_NAMED)


def together_and(said: Sequence[str]) -> str:
    """Return pieces of a sentence in a row, the last one after "and".

    >>> together_and(["a"]), together_and(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return " and ".join([", ".join(said[:-1]), said[-1]] if len(said) > 1 else said)


def _verb(effects: Sequence[Effect], one: str, many: str) -> str:
    return one if len(effects) == 1 else many


def explanation(found: StudyFindings) -> tuple[str, ...]:
    """Return what the figures of the headline are, and what is missing."""
    missing = (computed(found.counts),) if found.counts.left else ()
    if not found.counts.fine:
        return ()
    words, kind = AXES[found.study.axes[0].name]
    sets = len(found.study.data)
    over = f" over {sets} data sets" if sets > 1 else ""
    return (
        *missing,
        f"Each figure is a mean{over} with its 95% interval, for the strongest adversary of the study: "
        f"{value_text(found.study.axes[0].levels[-1], kind)} {words}; of several attacks the one that gets farthest "
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


def next_steps(found: StudyFindings) -> tuple[str, ...]:
    """Return how to compute what is left, what a protection costs, and whether metrics can be trusted."""
    counts, where = found.counts, "--sample" if found.is_example else shlex.quote(found.folder)
    steps = []
    if counts.left and not found.is_summary:
        again = f"'unveil study run {where}/study.toml --out {where} --resume'"
        those = (
            "the scenario that has no results" if counts.left == 1 else f"the {counts.left:,} scenarios without results"
        )
        steps.append(f"{again} computes {those}, and leaves the others as they are.")
    if counts.fine:
        cost = "unveil anonymize" if found.study.kind == "graph" else "unveil audit"
        steps.append(f"Before you choose a protection, see what it costs in usefulness: '{cost}'.")
        steps.append(f"'unveil grade-metrics {where}' says which metrics these results let you trust.")
    return tuple(steps)


def failed(failures: Iterable[Failures]) -> Iterator[str]:
    """Yield a line for each kind of failure: how many scenarios, why, and where."""
    for each in failures:
        parts = {"data": each.data, "protection": each.protections, "attack": each.attacks}
        where = "; ".join(f"{what}: {together(names)}" for what, names in parts.items())
        yield f"  {each.scenarios:,} × {each.error} ({where})"
