"""Runs of a generator as sibling releases for the people they did not see."""

from collections.abc import Sequence
from dataclasses import replace
from math import nan

import numpy as np

from unveil._kernels.types import BoolArray, FloatArray
from unveil.attacks.table.sibling_calibration import nearness_to_releases
from unveil.data.table import Table
from unveil.data.table.column import listed
from unveil.data.table.release import Release
from unveil.errors import InputError
from unveil.metrics.trials.membership import area_under_curve
from unveil.metrics.verdict.siblings import FEWEST_OF_ASSIGNMENT, assignment_test, smallest_assignment_p
from unveil.questions.audit.generator.design import Design, GeneratorRun
from unveil.questions.audit.generator.findings import RunSiblings
from unveil.questions.audit.inputs import PreparedAudit, PreparedRelease
from unveil.questions.audit.reference.calibration import CalibrationReleases, z_of_people
from unveil.questions.audit.reference.siblings import compared_columns


def with_siblings(
    prepared: PreparedAudit, generated: Sequence[Table], run: GeneratorRun, design: Design
) -> PreparedAudit:
    """Return the prepared audit of a run, with the other runs that calibrate membership scores.

    ``generated`` are the releases of all runs as they were generated: they are read next to the people of this run.
    """
    if not design.siblings:
        return prepared
    siblings, first = design.siblings_of(run), prepared.releases[0]
    person = design.person[np.concatenate([run.inside, run.outside])]
    calibration = CalibrationReleases(
        releases=tuple(_read(generated[each.number], first, each.number) for each in siblings),
        compared=np.column_stack([design.is_held_out(each)[person] for each in siblings]),
    )
    return replace(prepared, releases=(replace(first, siblings=calibration),))


def _read(generated: Table, first: PreparedRelease, number: int) -> Table:
    """Return the release of another run, read like that of the first; refuse one without a column."""
    release = first.release
    lacking = [name for name in first.known + first.sensitive if name not in generated.column_names]
    if lacking:
        raise InputError(
            f"Run {number + 1} of the generator left out {listed(lacking)}, which other runs have. Let it write the "
            "same columns in each run"
        )
    return Release(release.original, generated, release.control, kind=release.kind, name=release.name).released


def run_siblings(
    prepared: PreparedAudit, generated: Sequence[Table], table: Table, design: Design, *, rng: np.random.Generator
) -> RunSiblings | None:
    """Return what the runs show as sibling releases; None where the same people are held out in all of them.

    Given the people of all runs, releases that disclose nothing are exchangeable, so that every assignment of releases
    to the people of runs is equally likely. It does not matter that runs share people: effects of people and of
    releases cancel. ``prepared`` is the audit of the first run.
    """
    if design.folds == 1:
        return None
    rows = np.flatnonzero(np.isin(design.person, design.attacked))
    held_out = np.column_stack([design.is_held_out(each)[design.person[rows]] for each in design.runs])
    first = prepared.releases[0].release
    scores = nearness_to_releases(
        [first.released, *generated[1:]],
        table.take(rows),
        compared_columns(first),
        ranks=[1],
        masked=first.kind == "masked",
    )[:, :, 0]
    is_tested = len(design.runs) >= FEWEST_OF_ASSIGNMENT
    nearness = np.array([scores[~own].mean(axis=0) for own in held_out.T])
    given = ~held_out[:, 0]
    people_z: tuple[tuple[int, float], ...] = ()
    if design.siblings:
        places = [each.number for each in design.siblings_of(design.runs[0])]
        seen = ~held_out[given][:, places]
        people_z = z_of_people(rows[given], scores[given, 0], scores[given][:, places], seen, rng=rng)
    return RunSiblings(
        number=design.siblings,
        people_z=people_z,
        p=assignment_test(nearness, rng=rng) if is_tested else nan,
        smallest_p=smallest_assignment_p(len(design.runs)) if is_tested else nan,
        auc=_area(scores, held_out),
        auc_calibrated=_area(_calibrated(scores, held_out, design), held_out) if design.siblings else nan,
    )


def _calibrated(scores: FloatArray, held_out: BoolArray, design: Design) -> FloatArray:
    """Return scores minus their means over the sibling runs of each run, at [row, run]."""
    found = scores.copy()
    for run in design.runs:
        places = [each.number for each in design.siblings_of(run)]
        found[:, run.number] -= (scores * held_out)[:, places].sum(axis=1) / design.siblings
    return found


def _area(scores: FloatArray, held_out: BoolArray) -> float:
    """Return the mean AUC over runs of people given against people held out."""
    pairs = zip(scores.T, held_out.T, strict=True)
    return float(np.mean([area_under_curve(each[~out], each[out]).value for each, out in pairs]))
