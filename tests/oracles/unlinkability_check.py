"""Run ``unlinkability`` on a case, in each form its arguments may take, and compare every figure with the oracle."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import Any, Literal

import numpy as np

from tests.oracles import unlinkability_result as oracle
from tests.oracles.unlinkability import Point
from tests.strategies import Case
from unveil.guesses import Partition, View
from unveil.metrics.partitions.unlinkability import Unlinkability, unlinkability

PER_SUBJECT = [
    "size",
    "related",
    "miss",
    "include",
    "error",
    "normalized_error",
    "linked0",
    "mixed0",
    "breached",
    "merges",
    "risk_slope",
    "others",
    "others_evenness",
]
OVERALL = [
    "alpha",
    "beta",
    "miss",
    "include",
    "normalized_error",
    "breached",
    "merges",
    "risk_slope",
    "breached_subjects",
    "breached_share",
]


@dataclass(frozen=True, kw_only=True)
class Form:
    """How the arguments are written; none of this may change the answer."""

    numbers: Literal["fraction", "text", "float"] = "fraction"
    parameters: Literal["sequence", "mapping", "array"] = "sequence"
    named_items: bool = False
    full_weights: bool = False
    shuffle_seed: int | None = None


def expected(case: Case) -> oracle.Result:
    return oracle.unlinkability(
        case.truth,
        case.guesses,
        alpha=case.alpha,
        beta=case.beta,
        contamination=case.contamination,
        item_weights=case.item_weights,
        weights=case.own_weights,
        norm=case.norm,
        at_breach=case.at_breach,
        overall_alpha=case.overall_alpha,
        overall_beta=case.overall_beta,
    )


def measured(case: Case, form: Form | None = None) -> Unlinkability:
    form = form or Form()
    names = [f"item {k}" for k in range(case.n)]
    truth = Partition.from_labels(case.truth, items=names if form.named_items else None)
    partitions = [_guess(labels, names, form) for labels, _ in case.guesses]
    probabilities = [_number(probability, form) for _, probability in case.guesses]
    guess = View(partitions, probabilities) if len(partitions) > 1 else partitions[0]
    return unlinkability(
        guess,
        truth,
        alpha=_parameter(case, [_number(a, form) for a in case.alpha], form),
        beta=_parameter(case, [_number(b, form) for b in case.beta], form),
        contamination_desirable=_parameter(case, case.contamination, form),
        weights=_weights(case, names, form),
        norm=case.norm,
        at_breach=case.at_breach,
        overall_alpha=None if case.overall_alpha is None else _number(case.overall_alpha, form),
        overall_beta=None if case.overall_beta is None else _number(case.overall_beta, form),
    )


def _number(value: Fraction, form: Form) -> Any:
    if form.numbers == "text":
        return str(value)
    # A float is read as it is written, so only a decimal that survives the round trip can be passed as one.
    return float(value) if form.numbers == "float" and Fraction(repr(float(value))) == value else value


def _guess(labels: Sequence[Any], names: Sequence[str], form: Form) -> Partition:
    if not form.named_items:
        return Partition.from_labels(labels)
    order = list(range(len(labels)))
    if form.shuffle_seed is not None:
        random.Random(form.shuffle_seed).shuffle(order)  # noqa: S311 - only the order of rows
    return Partition.from_labels([labels[k] for k in order], items=[names[k] for k in order])


def _parameter(case: Case, values: Sequence[Any], form: Form) -> Any:
    if form.parameters == "mapping":
        return dict(zip(case.subjects, values, strict=True))
    if form.parameters == "array":
        array = np.empty(len(values), dtype=object)
        array[:] = values
        return array
    return values[0] if len(set(values)) == 1 else list(values)


def _weights(case: Case, names: Sequence[str], form: Form) -> Any:
    known = names if form.named_items else list(range(case.n))
    weigh = Fraction if form.numbers == "fraction" else float
    if case.own_weights:
        return {(subject, known[item]): weigh(w) for (subject, item), w in case.own_weights.items()}
    if form.full_weights:
        return [weigh(case.item_weights.get(item, Fraction(1))) for item in range(case.n)]
    return {known[item]: weigh(w) for item, w in case.item_weights.items()} or None


def assert_agrees(case: Case, form: Form | None = None) -> None:
    """Compare every figure with the oracle: to 1e-12, and exactly where it is a decision or a count."""
    want, have = expected(case), measured(case, form)
    assert have.n == want.n
    assert list(have.subjects) == want.names
    _compare(have.alpha, case.alpha, "alpha")
    _compare(have.beta, case.beta, "beta")
    assert list(have.contamination_desirable) == case.contamination
    lengths = [len(subject.points) for subject in want.subjects]
    assert have.graph_start.tolist() == [0, *accumulate(lengths)]
    _compare(have.linked, [y for subject in want.subjects for y, _ in subject.points], "linked graphs")
    _compare(have.mixed, [y for subject in want.subjects for _, y in subject.points], "mixed graphs")
    for name in PER_SUBJECT:
        slack = [
            _slack(name, subject.points, beta, float(subject.merges))
            for subject, beta in zip(want.subjects, case.beta, strict=True)
        ]
        _compare(getattr(have, name), [getattr(subject, name) for subject in want.subjects], name, slack)
    _compare(have.overall.linked, [y for y, _ in want.overall.points], "overall linked graph")
    _compare(have.overall.mixed, [y for _, y in want.overall.points], "overall mixed graph")
    assert have.overall.kind == want.overall.kind
    for name in OVERALL:
        slack = [_slack(name, want.overall.points, want.overall.beta, float(want.overall.merges))]
        _compare([getattr(have.overall, name)], [getattr(want.overall, name)], f"overall {name}", slack)


def _compare(have: Any, want: Sequence[Any], what: str, slack: Sequence[float] | float = 1e-12) -> None:
    assert len(have) == len(want), f"{what}: {len(have)} values, not {len(want)}"
    if want and isinstance(want[0], (bool, int)):
        assert list(have) == list(want), what
        return
    exact = np.array([float(value) for value in want])
    off = np.abs(np.asarray(have, np.float64) - exact)
    # NaN where NaN belongs, and nowhere else.
    wrong = (off > np.maximum(slack, 1e-12 * np.abs(exact))) | (np.isnan(have) != np.isnan(exact))
    first = np.flatnonzero(wrong)[:1]
    assert not wrong.any(), f"{what} at {first}: {np.asarray(have)[first]}, not {exact[first]}"


def _slack(name: str, points: Sequence[Point], beta: Fraction, x: float) -> float:
    """Where a graph rises by next to nothing, x is a quotient of two small differences: no float can be nearer."""
    if name not in ("merges", "risk_slope") or x == 0:
        return 1e-12
    j = next(j for j, (linked, _) in enumerate(points) if linked >= beta)
    rise = float(points[j][0] - points[j - 1][0])
    return 1e-12 + 1e-15 / (rise if name == "merges" else rise * min(1.0, x))
