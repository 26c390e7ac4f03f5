"""From tries on rows to tries on people, where a person can have several rows."""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from unveil.guesses.trials import Attempts, Trials, mean_of_rows

if TYPE_CHECKING:
    from unveil._kernels.types import IntArray
    from unveil.questions.audit.people import PeopleSelection, TargetPool


def per_person(
    trials: Trials,
    people: "TargetPool",
    which: "PeopleSelection" = "attacked",
    *,
    rows: "tuple[IntArray, IntArray] | None" = None,
) -> Trials:
    """Return one try per person: the mean chance over the person's rows.

    Positions of tries are those of a pool, or of ``rows`` of the original and of the control. In what is returned each
    try is at the first position of its person. Where nobody has several rows, or tries are about no row, the trials are
    returned unchanged.
    """
    if not people.has_several_rows or trials.attack.rows is None or trials.attack.chances is None:
        return trials
    members = people.everybody.release.original.rows
    if rows is None:
        every, is_member = people.rows(which), people.is_member(which)
        rows = every[is_member], every[~is_member] - members
    inside, outside = people.everybody.person[rows[0]], people.everybody.person[members + rows[1]]
    attack = _mean(trials.attack, inside)
    return replace(
        trials,
        attack=attack,
        # Blind guesses need not be about a row: then their rate stays.
        naive=_as_many(trials.naive, attack.tries) if trials.naive.rows is None else _mean(trials.naive, inside),
        control=None if trials.control is None else _mean(trials.control, outside),
    )


def _mean(attempts: Attempts, person: "IntArray") -> Attempts:
    if attempts.rows is None or attempts.chances is None:  # attacks on people leave both
        return attempts
    whose = person[attempts.rows]
    _, first = np.unique(whose, return_index=True)
    return Attempts.from_chances(mean_of_rows(attempts.chances, whose), rows=attempts.rows[first])


def _as_many(attempts: Attempts, tries: int) -> Attempts:
    """Return the same rate over another number of tries."""
    low, expected, high = (tries * each / attempts.tries for each in (attempts.low, attempts.expected, attempts.high))
    return Attempts(tries=tries, low=low, expected=max(low, expected), high=min(max(expected, high), tries))
