"""A study: which data, protections and attacks are tried with one another, how strong adversaries are, how often."""

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any

from unveil._figure import derived, figure
from unveil.errors import InputError, share, whole_number
from unveil.studies._checks import AXES, check_axes, check_calibration, check_grid, check_level
from unveil.studies._toml import fields_of_text, study_fields, to_toml
from unveil.studies.index import REST, with_sources
from unveil.studies.scenario import DataSet, Scenario, number_text

_WRITTEN = "as they are written on the command line: a listed name with settings, or `package.module:Class`."

__all__ = ["AXES", "Axis", "DataSet", "Replications", "Study"]


@dataclass(frozen=True)
class Axis:
    """What makes the adversary stronger, and its levels from weak to strong.

    For graphs ``seed_pairs`` (how many nodes the adversary knows), ``overlap`` (which share of the edges) and
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
            check_level(self.name, level)
        object.__setattr__(self, "levels", tuple(float(level) for level in self.levels))
        if any(one >= other for one, other in zip(self.levels, self.levels[1:], strict=False)):
            shown = ", ".join(number_text(level) for level in self.levels)
            raise InputError(f"the levels of the axis {self.name!r} must increase, but are {shown}. Sort them")


@dataclass(frozen=True)
class Replications:
    """How often each scenario is repeated: a fixed number, or until every metric is known well enough.

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

    number: int | None = figure("A fixed number; null to go on until `relative_error` is reached.", default=None)
    relative_error: float | None = figure(
        "Half the width of the 95 % interval of a metric's mean, as a share of that mean, that every metric must "
        "reach. It is looked at after 10 replications and every 10 from then on.",
        default=None,
    )
    cap: int = figure(
        "The most replications, reached where a metric stays too uncertain (such as one whose mean is 0).", default=1000
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
    """Everything that the results of a study depend on, except the version of the package.

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
        Of graphs, whether every metric is also taken of probabilities that the adversary learned by attacking the
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

    name: str = figure("The name by which reports call the study.")
    seed: int = figure("Where all randomness starts.")

    @derived('What all data sets are: "graph" or "table".')
    def kind(self) -> str:
        """What all data sets are: "graph", "table" or "release"."""
        return self.data[0].kind

    data: tuple[DataSet, ...]

    @derived("The data sets, all graphs or all tables.", name="data")
    def data_names(self) -> tuple[str, ...]:
        """The names of the data sets."""
        return tuple(each.name for each in self.data)

    protections: tuple[str, ...] = figure(f"The protections, {_WRITTEN}")
    attacks: tuple[str, ...] = figure(f"The attacks, {_WRITTEN}")
    axes: tuple[Axis, ...]

    @derived("Each is varied on its own, while the others stay at their level in `fixed`.", name="axes")
    def levels(self) -> Mapping[str, tuple[float, ...]]:
        """The levels of each axis by its name."""
        return {axis.name: axis.levels for axis in self.axes}

    @derived(
        "The level of an axis while another one varies. By default 50 seed pairs, an overlap of 0.85 and all nodes; "
        "all known columns, all rows and all people.",
        name="fixed",
    )
    def constant_levels(self) -> Mapping[str, float]:
        """The levels that :meth:`fixed_levels` returns."""
        return self.fixed_levels()

    releases: int = figure(
        "How many releases each protection makes of each data set; replications take turns with them.", default=1
    )
    replications: Replications = figure("How often each scenario is repeated.")
    metrics: tuple[str, ...] = ()
    fixed: Mapping[str, float] = field(default_factory=dict)
    calibrate: str | None = None
    calibrate_draws: int = 1
    node_values: bool = True

    def __post_init__(self) -> None:
        check_grid(self)
        check_axes(self)
        check_calibration(self)
        for name, value, least in (("seed", self.seed, 0), ("releases", self.releases, 1)):
            whole_number(value, f"the {name} of a study", at_least=least)

    @classmethod
    def read(cls, path: str | os.PathLike[str], *, check: bool = True) -> "Study":
        """Return the study in a TOML file; relative paths in it start from its folder.

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
        """Return the study that :meth:`to_toml` wrote; it is not tried whether its parts can be had here."""
        return cls._of_fields(fields_of_text(text))

    @classmethod
    def _of_fields(cls, fields: dict[str, Any]) -> "Study":
        fields["data"] = tuple(each if isinstance(each, DataSet) else DataSet(**each) for each in fields["data"])
        fields["axes"] = tuple(Axis(name, tuple(levels)) for name, levels in fields["axes"].items())
        fields["replications"] = Replications(**fields["replications"])
        return cls(**fields)

    def check(self) -> None:
        """Refuse protections, attacks and metrics that cannot be had, or do not suit the data."""
        from unveil.studies._parts import check_parts

        check_parts(self)

    def at_absolute_paths(self) -> "Study":
        """Return the same study with paths that do not depend on the folder a worker starts in."""
        return replace(self, data=tuple(_beside(each, Path.cwd()) for each in self.data))

    def fixed_levels(self) -> dict[str, float]:
        """Return the level of each axis while another one varies; one that is not limited is left out."""
        usual = {name: level for name, level in AXES[self.kind].items() if level is not None}
        return {**usual, **{name: float(level) for name, level in self.fixed.items()}}

    def scenarios(self, *, version: str | None = None) -> tuple[Scenario, ...]:
        """Return every scenario, those of one release after one another; ``version`` is that of this package."""
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
        """Return axis, level and levels of the others of each adversary, and the place of an equal one before it."""
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
        """Return a hash of all that numbers depend on, with the package version; but not of where the data lie.

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
        """Return what the numbers of a scenario depend on beside the scenario itself."""
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
    """Return what the numbers of a release depend on beside its files."""
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
