"""What a question about re-identification is made of: the release, whose each row is, what is known, the attacks."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unveil.ask.reidentify.run import Case
from unveil.attack.specification import Attacks, attack_from, attack_text
from unveil.attack.table.bayes import Bayes
from unveil.attack.table.candidate_set import CandidateSet
from unveil.attack.table.rank_intersection import RankIntersection
from unveil.data.mechanism import Mechanism
from unveil.data.release import Release
from unveil.data.table import Table
from unveil.errors import InputError
from unveil.guess.candidates import NOBODY
from unveil.guess.partition import exact_fraction
from unveil.protect import Protects, protection_from

Integers = NDArray[np.int64]

# In so many rows an order is no coincidence.
_LONG = 5

_ORDER_TOLD = "in the order in which they were named"
_ORDER_FOUND = "the most telling first, by the entropy of the original column"


@dataclass(frozen=True, kw_only=True, eq=False)
class Made:
    """A release: the table, whose each row is, how it was made if that is known, and notes."""

    released: Table
    truth: Any
    mechanism: Mechanism | None = None
    notes: tuple[str, ...] = ()


def with_known(people: Table, known: Sequence[str] | None) -> tuple[Table, tuple[str, ...]]:
    """Return the people with the role of the columns that were told to be known, and a note on what was guessed.

    A protection leaves out what it takes for an identifier, so that this comes before it.
    """
    if known is not None:
        if not known or len(set(known)) < len(known):
            raise InputError("known must name at least one column, and each once. Correct it")
        for name in known:
            people.column(name)
        told = set(known)
        columns = tuple(
            replace(each, role="known", role_told=True) if each.name in told else each for each in people.columns
        )
        return replace(people, columns=columns), ()
    taken = [repr(each.name) for each in people.columns if each.role == "identifier" and not each.role_told]
    if not taken:
        return people, ()
    return people, (f"Taken for identifiers and left out: {', '.join(taken)}. Name them as known if that is wrong.",)


def made_release(
    people: Table, released: Any, truth: Any, protect: str | Protects | None, rng: np.random.Generator
) -> tuple[Made, Protects | None]:
    """Return the release, made here or elsewhere, and the protection that made it."""
    if (released is None) == (protect is None):
        seen = "neither" if released is None else "both"
        raise InputError(f"either a release or a protection that makes one must be given, but {seen} was. Pass one")
    if protect is not None:
        protection = protection_from(protect) if isinstance(protect, str) else protect
        made = protection.apply(people, rng=rng)
        if made.truth is None:
            raise InputError(
                "a protection must make each released row from one original row, but this one makes rows that are "
                "nobody's. Choose one of kind masked ('unveil list protections')"
            )
        return Made(released=made.released, truth=made.truth, mechanism=made.mechanism, notes=made.notes), protection
    if isinstance(released, Release):
        own = released.truth if truth is None else truth
        return Made(released=released.released, truth=own, mechanism=released.mechanism, notes=released.notes), None
    table = released if isinstance(released, Table) else Table.from_frame(released, name="release")
    return Made(released=table, truth=truth), None


def checked_truth(release: Made, originals: int) -> Integers:
    """Return the original row of each released one, -1 for none."""
    rows = release.released.rows
    if release.truth is None:
        raise InputError(
            "it must be known which original row each released row was made from, but it is not. Pass truth "
            "(--truth FILE, or --id COLUMN)"
        )
    numbers = np.asarray(release.truth)
    if numbers.shape != (rows,) or numbers.dtype.kind not in "iu":
        raise InputError(
            f"the truth must be one whole number for each of the {rows} released rows, -1 for none. Correct it"
        )
    numbers = numbers.astype(np.int64)
    if ((numbers < NOBODY) | (numbers >= originals)).any():
        raise InputError(f"the truth must name original rows from 0 to {originals - 1}, or -1 for none. Correct it")
    some = numbers[numbers != NOBODY]
    if np.unique(some).size < some.size:
        raise InputError(
            f"no two released rows may come from one original row, but {some.size - np.unique(some).size} do. "
            "Correct the truth"
        )
    return numbers


def case_of(people: Table, release: Made, truth: Integers, known: Sequence[str] | None) -> tuple[Case, str]:
    """Return both tables with the columns that the adversary knows, in the order in which they are learnt."""
    if known is not None:
        for name in known:
            release.released.column(name)
        names, order = list(known), _ORDER_TOLD
    else:
        there = set(release.released.column_names)
        names = [each.name for each in people.columns if each.role == "known" and each.name in there]
        if not names:
            raise InputError(
                f"the {people.name} and the {release.released.name} must share a column that an adversary knows, but "
                "share none with that role. Name columns as known (--known)"
            )
        names.sort(key=lambda name: -_entropy(people, name))
        order = _ORDER_FOUND
    tables = [_all_known(table.select(names)) for table in (people, release.released)]
    return Case(original=tables[0], released=tables[1], truth=truth, mechanism=release.mechanism), order


def _entropy(table: Table, name: str) -> float:
    count = table.frame.get_column(name).value_counts(name="how often")["how often"].to_numpy() / table.rows
    # Rounded, so that equal columns keep the order of the table.
    return round(float(-(count * np.log(count)).sum()), 9)


def _all_known(table: Table) -> Table:
    return replace(table, columns=tuple(replace(each, role="known", role_told=True) for each in table.columns))


def chosen_attacks(
    told: Sequence[str | Attacks], protection: Protects | None, mechanism: Mechanism | None, case: Case
) -> dict[str, Attacks]:
    """Return the attacks by how they are written, with what somebody knows who knows the protection."""
    if not told:
        raise InputError("at least one attack must be named. Add one ('unveil list attacks' shows them)")
    chosen: dict[str, Attacks] = {}
    for each in told:
        attack = attack_from(each, leaves=("Beliefs", "Candidates")) if isinstance(each, str) else each
        name = each.strip() if isinstance(each, str) else attack_text(attack)
        if isinstance(attack, RankIntersection) and attack.p is None:
            p = _percentage(protection)
            if p is not None:
                attack = replace(attack, p=p)
                name += f"{',' if ':' in name else ':'}p={p:g}"
        if isinstance(attack, Bayes) or (isinstance(attack, CandidateSet) and not attack.reach):
            attack = replace(attack, mechanism=attack.mechanism or mechanism)
        if name in chosen:
            raise InputError(f"the attack {name!r} is named twice. Name each once, or change a setting")
        for column in getattr(attack, "columns", None) or ():
            if column not in case.original.column_names:
                raise InputError(
                    f"the attack {name!r} uses column {column!r}, which is not among those that the adversary knows: "
                    f"{', '.join(map(repr, case.original.column_names))}. Correct one of the two"
                )
        chosen[name] = attack
    return chosen


def _percentage(protection: Protects | None) -> float | None:
    """Return how far values move by a protection, in percent of the ranks, if it says so."""
    p, share = getattr(protection, "p", None), getattr(protection, "share", None)
    if p is not None:
        return float(p)
    return None if share is None else float(exact_fraction(share, what="share") * 100)


def keeps_order(truth: Integers) -> bool:
    """Return whether the released rows are in the order of the original: too long a coincidence to be one."""
    some = truth[truth != NOBODY]
    return bool(some.size >= _LONG and (np.diff(some) > 0).all())


def simulated_note(mechanism: Mechanism | None) -> tuple[str, ...]:
    """Return a note where the true probabilities are simulated, or nothing."""
    error = getattr(mechanism, "error", None)
    size = float(error()) if callable(error) else 0.0
    if not size:
        return ()
    return (f"The true probabilities rest on simulated swaps, with a relative standard error of up to {size:.2g}.",)
