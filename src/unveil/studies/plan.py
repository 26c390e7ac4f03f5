"""Study plan: data, protections, attacks, attacker strengths, and replications."""

import hashlib
import json
import math
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any

from unveil._figure import derived, figure
from unveil.errors import InputError, did_you_mean, share, whole_number
from unveil.studies._toml import fields_of_text, study_fields, to_toml
from unveil.studies.index import REST, with_sources
from unveil.studies.scenario import DataSet, Scenario, number_text

_WRITTEN = "as written on the command line: a listed name with settings, or `package.module:Class`."

__all__ = ["AXES", "Axis", "DataSet", "Replications", "Study"]


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


def _check_level(axis: str, level: object) -> None:
    """Refuse a level that is no number within the limits of its axis."""
    least, most, whole = _LIMITS.get(axis, (-math.inf, math.inf, False))
    good = isinstance(level, (int, float)) and not isinstance(level, bool) and abs(level) <= sys.float_info.max
    if not good or not least <= float(level) <= most or (whole and not float(level).is_integer()):  # type: ignore[arg-type]
        kind = "whole numbers" if whole else "numbers"
        span = f"from {number_text(least)}" + ("" if most == math.inf else f" to {number_text(most)}")
        raise InputError(f"the levels of the axis {axis!r} must be {kind} {span}, but one is {level!r}. Change it")


@dataclass(frozen=True)
class Axis:
    """Axis of attacker strength, with levels from weak to strong.

    For graphs ``seed_pairs`` (how many nodes the attacker knows), ``overlap`` (which share of the edges) and
    ``node_share`` (which share of the nodes it has heard of); for tables ``known_columns`` (how many columns, drawn by
    lot) and ``known_share`` (which share of the original rows) or, of attacks that leave trials, ``leaked_share``
    (which share of the people are in the release at all).
    """

    name: str
    levels: tuple[float, ...]

    def __post_init__(self) -> None:
        if not self.levels:
            raise InputError(f"the axis {self.name!r} must have at least one level, but has none. Add some")
        for level in self.levels:
            _check_level(self.name, level)
        object.__setattr__(self, "levels", tuple(float(level) for level in self.levels))
        if any(one >= other for one, other in zip(self.levels, self.levels[1:], strict=False)):
            shown = ", ".join(number_text(level) for level in self.levels)
            raise InputError(f"the levels of the axis {self.name!r} must increase, but are {shown}. Sort them")


@dataclass(frozen=True)
class Replications:
    """Number of replications: fixed, or until a relative error is reached.

    Attributes
    ----------
    number
        A fixed number; None to go on until ``relative_error`` is reached.
    relative_error
        Half the width of the 95 % interval of a metric's mean, as a share of that mean, that every metric must reach.
        It is looked at after 10 replications and every 10 from then on.
    cap
        The most replications, reached where a metric stays too uncertain (such as one whose mean is 0).
    """

    number: int | None = figure("Fixed number; null to repeat until `relative_error` is reached.", default=None)
    relative_error: float | None = figure(
        "Largest half-width of a metric's 95% CI, as a share of its mean. It is checked every 10 replications.",
        default=None,
    )
    cap: int = figure(
        "Largest number of replications, if a metric stays too uncertain (such as one with mean 0).", default=1000
    )

    def __post_init__(self) -> None:
        if (self.number is None) == (self.relative_error is None):
            raise InputError(
                "replications must be a number or end at a relative_error, one of the two. Write number = 100, or "
                "relative_error = 0.05 and a cap"
            )
        for name, value in (("number", self.number), ("cap", self.cap)):
            if value is not None:
                whole_number(value, f"{name} of replications")
        if self.relative_error is not None:
            share(self.relative_error, "relative_error", zero=False, one=False)

    @property
    def most(self) -> int:
        """The most replications that there can be."""
        return self.cap if self.number is None else self.number


@dataclass(frozen=True, kw_only=True)
class Study:
    """Inputs that determine the results of a study, except the version.

    Attributes
    ----------
    name, seed
        How reports call it, and where all randomness starts.
    data
        The data sets, all graphs or all tables.
    protections, attacks
        As they are written on the command line: a listed name with settings, or ``package.module:Class``.
    axes
        Each is varied on its own, while the others stay at their level in ``fixed``.
    replications
        How often each scenario is repeated.
    metrics
        Names of metrics of what the attacks leave, candidates or trials; empty for all of them. On graphs also those of
        claims about edges and of the bound by symmetry, which are computed only where they are named.
    fixed
        The level of an axis while another one varies. By default 50 seed pairs, an overlap of 0.85 and all nodes; all
        known columns, all rows and all people.
    releases
        How many releases each protection makes of each data set; replications take turns with them.
    calibrate, calibrate_draws
        Of graphs, whether every metric is also taken of probabilities that the attacker learned by attacking the
        released graph once more ("simulate", so many times) or from seed pairs that it kept back ("seeds"); columns
        are then there twice, as ``entropy`` and ``calibrated.entropy``. None, as usual, for raw probabilities alone.
    node_values
        Whether the values of nodes (of tables, of rows) are kept too, as a sketch of each metric; no number depends on
        it.

    Examples
    --------
    >>> study = Study(name="try", seed=1, data=(DataSet("sample", "graph", "sample:generated-graph"),),
    ...               protections=("id-removal",), attacks=("NS",),
    ...               axes=(Axis("seed_pairs", (5, 10)),), replications=Replications(number=3))
    >>> [scenario.key for scenario in study.scenarios()][0]
    'sample | id-removal | NS | seed_pairs=5 | overlap=0.85'
    """

    name: str = figure("Name of the study in reports.")
    seed: int = figure("Random seed of the study.")

    @derived('Type of all data sets: "graph" or "table".')
    def kind(self) -> str:
        """Type of all data sets: "graph", "table", or "release"."""
        return self.data[0].kind

    data: tuple[DataSet, ...]

    @derived("Data sets, all graphs or all tables.", name="data")
    def data_names(self) -> tuple[str, ...]:
        """The names of the data sets."""
        return tuple(each.name for each in self.data)

    protections: tuple[str, ...] = figure(f"Protections, {_WRITTEN}")
    attacks: tuple[str, ...] = figure(f"Attacks, {_WRITTEN}")
    axes: tuple[Axis, ...]

    @derived("Axes, varied one at a time; the rest stay at their level in `fixed`.", name="axes")
    def levels(self) -> Mapping[str, tuple[float, ...]]:
        """The levels of each axis by its name."""
        return {axis.name: axis.levels for axis in self.axes}

    @derived(
        "Level of an axis while another one varies (default: 50 seed pairs, edge overlap 0.85, and all nodes; "
        "all quasi-identifiers, rows, and people).",
        name="fixed",
    )
    def constant_levels(self) -> Mapping[str, float]:
        """The levels that :meth:`fixed_levels` returns."""
        return self.fixed_levels()

    releases: int = figure(
        "Number of releases per protection and data set; replications alternate between them.", default=1
    )
    replications: Replications = figure("Number of repetitions per scenario.")
    metrics: tuple[str, ...] = ()
    fixed: Mapping[str, float] = field(default_factory=dict)
    calibrate: str | None = None
    calibrate_draws: int = 1
    node_values: bool = True

    def __post_init__(self) -> None:
        _check_grid(self)
        _check_axes(self)
        _check_calibration(self)
        for name, value, least in (("seed", self.seed, 0), ("releases", self.releases, 1)):
            whole_number(value, f"the {name} of a study", at_least=least)

    @classmethod
    def read(cls, path: str | os.PathLike[str], *, check: bool = True) -> "Study":
        """Return the study in a TOML file, with paths relative to it.

        With ``check`` False, for the file beside results, no code and no other file is loaded: it is not tried whether
        its protections, attacks and metrics can be had here, and an index is refused.
        """
        path = Path(path)
        made = cls._of_fields(study_fields(path, index=check))
        made = replace(made, data=tuple(_beside(each, path.parent) for each in made.data))
        if check:
            made.check()
        return made

    @classmethod
    def from_toml(cls, text: str) -> "Study":
        """Return the study of a :meth:`to_toml` text, without checking its parts."""
        return cls._of_fields(fields_of_text(text))

    @classmethod
    def _of_fields(cls, fields: dict[str, Any]) -> "Study":
        fields["data"] = tuple(each if isinstance(each, DataSet) else DataSet(**each) for each in fields["data"])
        fields["axes"] = tuple(Axis(name, tuple(levels)) for name, levels in fields["axes"].items())
        fields["replications"] = Replications(**fields["replications"])
        return cls(**fields)

    def check(self) -> None:
        """Reject protections, attacks, and metrics that are unavailable or unsuitable."""
        from unveil.studies._parts import check_parts

        check_parts(self)

    def at_absolute_paths(self) -> "Study":
        """Return the study with absolute paths."""
        return replace(self, data=tuple(_beside(each, Path.cwd()) for each in self.data))

    def fixed_levels(self) -> dict[str, float]:
        """Return the fixed level of each limited axis."""
        usual = {name: level for name, level in AXES[self.kind].items() if level is not None}
        return {**usual, **{name: float(level) for name, level in self.fixed.items()}}

    def scenarios(self, *, version: str | None = None) -> tuple[Scenario, ...]:
        """Return every scenario, ordered by release, for a package ``version``."""
        depends = self._numbers_depend_on(version)
        stamps = {each.name: self._hash({**depends, **_given_of(each)}) for each in self.data}
        strengths = self._strengths()
        found = []
        for data, protect, attack in product(self.data, self.protections, self.attacks):
            own: list[Scenario] = []
            for axis, level, fixed, earlier in strengths:
                same = None if earlier is None else own[earlier]
                own.append(Scenario(data, protect, attack, axis, level, fixed, stamps[data.name], same))
            found += own
        return tuple(found)

    def _strengths(self) -> list[tuple[str, float, tuple[tuple[str, float], ...], int | None]]:
        """Return each attacker's axis, level, fixed levels, and earlier equal one."""
        found: list[tuple[str, float, tuple[tuple[str, float], ...], int | None]] = []
        first: dict[frozenset[tuple[str, float]], int] = {}
        for axis in self.axes:
            fixed = tuple((name, level) for name, level in self.fixed_levels().items() if name != axis.name)
            for level in axis.levels:
                earlier = first.setdefault(frozenset([(axis.name, level), *fixed]), len(found))
                found.append((axis.name, level, fixed, earlier if earlier < len(found) else None))
        return found

    def to_toml(self) -> str:
        """Return the study as a TOML file that :meth:`read` understands."""
        return to_toml(self)

    def identity(self, *, version: str | None = None) -> str:
        """Return a hash of the inputs that determine the numbers.

        That the data are the same is told by their own hashes. Their types are labels, on which no number depends.
        """
        grid = {
            "name": self.name,
            "data": [[each.name, each.kind, *_given_of(each).values()] for each in self.data],
            "protections": self.protections,
            "attacks": self.attacks,
            "axes": [[axis.name, axis.levels] for axis in self.axes],
            "fixed": sorted(self.fixed_levels().items()),
        }
        return self._hash({**self._numbers_depend_on(version), **grid})

    def _numbers_depend_on(self, version: str | None) -> dict[str, Any]:
        """Return the further inputs that determine a scenario's numbers."""
        if version is None:
            from unveil._version import __version__ as version
        return {
            "version": version,
            "seed": self.seed,
            # Of each release its own file tells, so that it is the same in every study.
            "known": [] if self.kind == "release" else [each.known for each in self.data],
            "replications": [self.replications.number, self.replications.relative_error, self.replications.cap],
            "metrics": self.metrics,
            "releases": self.releases,
            # Left out where there is none, so that studies of versions before it are still read.
            **({"calibrate": [self.calibrate, self.calibrate_draws]} if self.calibrate else {}),
        }

    @staticmethod
    def _hash(fields: dict[str, Any]) -> str:
        return hashlib.sha256(json.dumps(fields).encode()).hexdigest()


def _given_of(data: DataSet) -> dict[str, Any]:
    """Return the further inputs that determine a release's numbers."""
    given = data.given
    if given is None:
        return {}
    control = given.control if given.control in ("", REST) else "file"
    return {"given": [given.original_name, control, given.made, bool(given.dictionary)]}


def _beside(data: DataSet, folder: Path) -> DataSet:
    """Return the data set with absolute sources where they are plain paths."""
    return with_sources(
        data, lambda source: source if source.startswith(("sample:", "$")) else str((folder / source).absolute())
    )


def _check_grid(study: Study) -> None:
    """Reject an empty study, duplicates, or graphs mixed with tables."""
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
            raise InputError(f"the data {each.name!r} is a graph, which has no quasi-identifiers. Leave 'known' out")


#: How an attacker of a study learns what its scores are worth; see `unveil.attacks.graph.calibration`.
CALIBRATIONS = ("simulate", "seeds")


def _check_calibration(study: Study) -> None:
    """Reject an unknown or unsuitable calibration method."""
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


def _check_axes(study: Study) -> None:
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
        _check_level(name, level)
    object.__setattr__(study, "fixed", dict(study.fixed))
