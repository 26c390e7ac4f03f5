"""What must hold in a study, whatever it computes: a grid that is not empty, axes that the data have."""

import math
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

from unveil.errors import InputError, did_you_mean, whole_number
from unveil.studies.scenario import number_text

if TYPE_CHECKING:
    from unveil.studies.plan import Study

#: The axes of each kind of data, and the level of each while another one varies (None: everything there is).
AXES: Mapping[str, Mapping[str, float | None]] = {
    "graph": {"seed_pairs": 50.0, "overlap": 0.85, "node_share": None},
    "table": {"known_columns": None, "known_share": 1.0, "leaked_share": None},
    # A release that was made already is as it is: its one level says so.
    "release": {"given": None},
}
# Least and greatest level, and whether levels are whole numbers.
_LIMITS = {
    "seed_pairs": (0.0, math.inf, True),
    "overlap": (0.0, 1.0, False),
    "node_share": (0.0, 1.0, False),
    "known_columns": (1.0, math.inf, True),
    "known_share": (0.0, 1.0, False),
    "leaked_share": (0.0, 1.0, False),
    "given": (1.0, 1.0, True),
}


def check_level(axis: str, level: object) -> None:
    """Refuse a level that is no number within the limits of its axis."""
    least, most, whole = _LIMITS.get(axis, (-math.inf, math.inf, False))
    good = isinstance(level, (int, float)) and not isinstance(level, bool) and abs(level) <= sys.float_info.max
    if not good or not least <= float(level) <= most or (whole and not float(level).is_integer()):  # type: ignore[arg-type]
        kind = "whole numbers" if whole else "numbers"
        span = f"from {number_text(least)}" + ("" if most == math.inf else f" to {number_text(most)}")
        raise InputError(
            f"the levels of the axis {axis!r} must be {kind} {span}, but one is {level!r}. Change that level"
        )


def check_grid(study: "Study") -> None:
    """Refuse a study in which there is nothing to compute, or something twice, or graphs beside tables."""
    for what in ("data", "protections", "attacks", "axes"):
        if not getattr(study, what):
            raise InputError(f"a study must have something to compute, but its {what} are empty. Add at least one")
    for what in ("protections", "attacks", "metrics"):
        texts = [text.strip() for text in getattr(study, what)]
        object.__setattr__(study, what, tuple(texts))
        _check_once(texts, what)
    _check_once([each.name for each in study.data], "data")
    for each in study.data:
        if each.kind not in AXES:
            raise InputError(
                f"the kind of the data {each.name!r} must be graph or table, but is {each.kind!r}. Write one of them"
            )
        if each.kind != study.kind:
            raise InputError(
                f"the data of a study must be all graphs or all tables, but {study.data[0].name!r} is a {study.kind} "
                f"and {each.name!r} a {each.kind}. Make two studies of it"
            )
        if each.known and each.kind == "graph":
            raise InputError(f"the data {each.name!r} is a graph, which has no known columns. Leave 'known' out")


#: How an adversary of a study learns what its scores are worth; see `unveil.attacks.graph.calibration`.
CALIBRATIONS = ("simulate", "seeds")


def check_calibration(study: "Study") -> None:
    """Refuse a way to calibrate that there is none of, or of data for which there is none."""
    if study.calibrate == "none":
        object.__setattr__(study, "calibrate", None)
    if study.calibrate is not None and study.calibrate not in CALIBRATIONS:
        raise InputError(
            f"calibrate must be simulate, seeds or none, but is {study.calibrate!r}."
            f"{did_you_mean(str(study.calibrate), CALIBRATIONS)} Choose one of them"
        )
    if study.calibrate is not None and study.kind != "graph":
        raise InputError(
            "attacks on graphs can be calibrated, but the data of this study are tables. Leave calibrate out"
        )
    whole_number(study.calibrate_draws, "calibrate_draws")
    if not isinstance(study.node_values, bool):
        raise InputError(f"node_values must be true or false, but is {study.node_values!r}. Write one of them")


def _check_once(names: list[str], what: str) -> None:
    twice = next((name for place, name in enumerate(names) if name in names[:place]), None)
    if twice is not None:
        raise InputError(f"the {what} of a study must be different, but {twice!r} is there twice. Keep one")


def check_axes(study: "Study") -> None:
    """Refuse axes and levels that the data of the study do not have."""
    have = AXES[study.kind]
    _check_once([axis.name for axis in study.axes], "axes")
    for name in [*(axis.name for axis in study.axes), *study.fixed]:
        if name not in have:
            raise InputError(
                f"a study of {study.kind}s has the axes {', '.join(have)}, but {name!r} is named."
                f"{did_you_mean(name, have)} Rename it"
            )
    for name, level in study.fixed.items():
        check_level(name, level)
    object.__setattr__(study, "fixed", dict(study.fixed))
