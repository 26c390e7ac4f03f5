"""From what an attack achieved to a finding of the report: rates, hits, and the same for groups of people."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from unveil.ask.audit.findings import UNDEFINED, Finding, Links
from unveil.ask.audit.people import DrawnPeople, Part, People
from unveil.guess.trials import Attempts, Trials
from unveil.measure.trials.groups import Groups, group_rates
from unveil.measure.trials.risk import Rate, Risk, risk

NOTHING = Risk(attack_rate=UNDEFINED, naive_rate=UNDEFINED, control_rate=UNDEFINED, excess_over_control=UNDEFINED)


def finding_of(attack: str, trials: Trials, **more: Any) -> Finding:
    """Return the finding of an attack with these trials; ``more`` are further fields of it."""
    attempts = trials.attack
    return Finding(
        attack=attack,
        targets=attempts.tries,
        risk=risk(trials),
        links=Links(expected=attempts.expected, low=attempts.low, high=attempts.high),
        **more,
    )


def not_run(attack: str, why: str, **more: Any) -> Finding:
    """Return the finding of an attack that could not be run, with the reason as a sentence."""
    return Finding(attack=attack, targets=0, risk=NOTHING, remark=why, figures={"not_run": math.nan}, **more)


def remarked(notes: Sequence[str]) -> str:
    """Return what an attack noted as sentences.

    >>> remarked(["fewer were there", "all were tried"])
    'Fewer were there. All were tried.'
    """
    return " ".join(f"{note[:1].upper()}{note[1:].rstrip('.')}." for note in notes)


def grouped(trials: Trials, drawn: DrawnPeople, inside: Part | None, outside: Part | None) -> Groups | None:
    """Return the rates of groups, or None where nobody asked for groups or tries are about nobody in particular.

    ``inside`` and ``outside`` say which people of the original and of the control table were attacked; None is
    everybody.
    """
    if drawn.groups is None or trials.attack.rows is None:
        return None
    labels = _of(drawn.groups[0], drawn.people, inside)
    others = None
    if drawn.groups[1] is not None and drawn.outsiders is not None:
        others = _of(drawn.groups[1], drawn.outsiders, outside)
    return group_rates(
        trials,
        labels,
        others,
        everybody=drawn.groups[0],
        minimum=drawn.minimum_cell,
        looks=drawn.looks,
    )


def _of(labels: tuple[str | None, ...], people: People, part: Part | None) -> tuple[str | None, ...]:
    return labels if part is None else tuple(labels[row] for row in getattr(people, part))


def ranked(rates: Risk) -> Rate:
    """Return what adversaries are ranked by: the excess over control, or the rate itself where there is no excess."""
    return rates.excess_over_control if rates.excess_over_control.defined else rates.attack_rate


def mean_of(trials: Sequence[Trials]) -> Trials:
    """Return the mean attempt over several attacks on the same people: as sure as one attack on them, not more."""

    def pooled(each: Callable[[Trials], Attempts | None]) -> Attempts | None:
        parts = [part for one in trials if (part := each(one)) is not None]
        if not parts:
            return None
        # Attacks that leave people out are weighed alike, as tries of the smallest of them.
        tries = min(part.tries for part in parts)
        low, expected, high = (
            float(np.mean([getattr(part, name) / part.tries for part in parts])) * tries
            for name in ("low", "expected", "high")
        )
        high = min(high, tries)
        return Attempts(tries=tries, low=min(low, high), expected=min(max(expected, low), high), high=high)

    attack, naive = pooled(lambda one: one.attack), pooled(lambda one: one.naive)
    if attack is None or naive is None:  # there is always at least one attack
        raise ValueError("nothing to take the mean of")
    return Trials(attack=attack, naive=naive, control=pooled(lambda one: one.control), what=trials[0].what)
