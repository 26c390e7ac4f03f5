"""The attacks of an audit that look at whole records: linkage, copies, distances and the order of rows."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from unveil.ask.audit.findings import UNDEFINED, Finding, Links
from unveil.ask.audit.people import Drawn
from unveil.ask.audit.trials import NOTHING, finding_of, grouped, not_run, remarked
from unveil.attack.table.record_linkage import RecordLinkage
from unveil.attack.table.row_order import RowOrder
from unveil.data.table.release import Knowledge, Release
from unveil.guess.candidates import Candidates
from unveil.guess.trials import Attempts, Trials
from unveil.measure.candidates.candidate_metrics import all_metrics
from unveil.measure.releases.closeness import Closeness, distance_to_closest, exact_copies, nearest_distance_ratio
from unveil.measure.trials.groups import Groups
from unveil.measure.trials.risk import Risk

#: The candidate metrics that an audit carries along; all others are one call of `unveil.candidates` away.
_SHOWN = ("anonymity_set_size", "entropy", "incorrectness", "adversary_success_rate", "adversary_overall_success")


@dataclass(frozen=True, kw_only=True)
class Records:
    """One release, and what the attacks on whole records need to know of it."""

    release: Release
    known: tuple[str, ...]
    targets: int | None
    #: The original row of each released row, -1 for none; None where nobody knows.
    truth: NDArray[np.int64] | None
    rng: np.random.Generator
    drawn: Drawn | None = None


def record_linkage(records: Records) -> Finding:
    """Return how often the nearest original record is the right one, or without truth how sure a guess would be."""
    release = records.release
    if release.kind != "masked":
        why = "this release is synthetic, so that it is nobody's"
        if release.kind is None:
            why = "whether this release is masked was not said (--kind masked)"
        return not_run("record_linkage", f"Left out: record linkage asks whose record a released row is, and {why}.")
    attack = RecordLinkage(columns=records.known, targets=records.targets)
    guess = attack.run(released=release.released, knowledge=Knowledge(release.original), rng=records.rng)
    rows = np.arange(guess.target_count) if guess.targets is None else np.asarray(guess.targets, np.int64)
    truth = None if records.truth is None else records.truth[rows]
    figures = _metrics(guess, truth)
    figures["sure"] = float(np.mean(np.diff(guess.start) == 1))
    if truth is None:
        return Finding(
            attack="record_linkage",
            targets=guess.target_count,
            risk=NOTHING,
            figures=figures,
            remark=(
                "Whose record each released row is was not told, so whether a guess is right cannot be said; give both "
                "tables the same identifier column (--id) to find out."
            ),
        )
    attempts = Attempts.from_chances(_chances(guess, truth))
    blind = np.full(guess.target_count, 1 / release.original.rows)
    naive = Attempts.from_chances(blind)
    trials = Trials(attack=attempts, naive=naive, control=None, what="the nearest is the right one")
    return finding_of("record_linkage", trials, figures=figures, groups=_linked_groups(records, attempts, truth))


def _linked_groups(records: Records, attempts: Attempts, truth: NDArray[np.int64]) -> Groups | None:
    """Return the rates of groups of the people whose records were linked; records of nobody belong to none."""
    someone = truth >= 0
    if records.drawn is None or attempts.chances is None or not someone.any():
        return None
    tried = Attempts.from_chances(attempts.chances[someone], rows=truth[someone])
    return grouped(Trials(attack=tried, naive=tried, control=None, what="linked"), records.drawn, None, None)


def _chances(guess: Candidates, truth: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the chance that a candidate drawn from each target's list is the true one."""
    target = np.repeat(np.arange(guess.target_count), np.diff(guess.start))
    hit = guess.candidate == truth[target]
    chances = np.zeros(guess.target_count)
    chances[target[hit]] = guess.probability[hit]
    return chances


def _metrics(guess: Candidates, truth: NDArray[np.int64] | None) -> dict[str, float]:
    measured = {each.metric.name: each.mean for each in all_metrics(guess, truth)}
    return {name: measured[name] for name in _SHOWN if name in measured}


def copies(records: Records) -> Finding:
    """Return the share of released records that equal an original one, beside that of control records."""
    found = exact_copies(records.release)
    figures = {"copied_unique": float(found.copied_unique), "expected_by_coincidence": found.expected}
    remark = ""
    if found.fit_one is not None and found.control_fit_one is not None:
        figures |= {"fit_one": found.fit_one.value, "control_fit_one": found.control_fit_one.value}
        beside = f", and {found.control_fit_one.value:.1%} one of the control" if found.control_fit_one.defined else ""
        remark = f"{found.fit_one.value:.1%} of the released records fit exactly one person of the data{beside}."
    if not found.rows:
        return not_run(
            "copies", f"No released record can be a copy: each has cells that stand for several values. {remark}"
        )
    return Finding(
        attack="copies",
        targets=found.rows,
        risk=Risk(
            attack_rate=found.share,
            naive_rate=UNDEFINED,
            control_rate=found.control_share,
            excess_over_control=found.excess,
        ),
        links=Links(expected=float(found.copied), low=float(found.copied), high=float(found.copied)),
        figures=figures,
        remark=remark,
    )


def closest_record(records: Records) -> Finding:
    """Return how far released records are from the nearest original one, beside control records."""
    found = distance_to_closest(records.release, targets=records.targets, rng=records.rng)
    return _closeness("closest_record", found)


def neighbour_ratio(records: Records) -> Finding:
    """Return how much nearer the nearest original record is than the second, beside control records."""
    found = nearest_distance_ratio(records.release, targets=records.targets, rng=records.rng)
    return _closeness("neighbour_ratio", found)


def _closeness(attack: str, found: Closeness) -> Finding:
    figures = {"median": found.released.median, "low": found.released.low}
    if found.control is not None:
        figures |= {"control_median": found.control.median, "control_low": found.control.low}
    if found.released.undefined:
        figures["undefined"] = float(found.released.undefined)
    blunt = "More than a fifth of the released cells stand for several values, so these figures are blunt."
    remark = blunt if found.blunt else ""
    return Finding(attack=attack, targets=found.released.rows, risk=NOTHING, figures=figures, remark=remark)


def row_order(records: Records) -> Finding:
    """Return how often a released row stands where the same person stands in the original."""
    release = records.release
    if release.released.rows != release.original.rows:
        return not_run("row_order", "Row order was left out: release and original differ in their number of rows.")
    attack = RowOrder(columns=records.known, targets=records.targets)
    trials = attack.run(released=release.released, knowledge=Knowledge(release.original), rng=records.rng)
    return finding_of("row_order", trials, remark=remarked(trials.notes))


#: Every attack on whole records by name; linkability has a file of its own.
RECORD_ATTACKS: Mapping[str, Callable[[Records], Finding]] = MappingProxyType(
    {
        "record_linkage": record_linkage,
        "copies": copies,
        "closest_record": closest_record,
        "neighbour_ratio": neighbour_ratio,
        "row_order": row_order,
    }
)
