"""Result files of a study: JSON and arrays, and data frames of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from unveil._kernels.sketches import BLOCKS, ValueSketch
from unveil._kernels.types import FloatArray
from unveil.data.files.whole_files import SECRET_FOLDER
from unveil.studies.scenario import Scenario
from unveil.work.result_format import ResultFormat, UnreadableResultError
from unveil.work.seal import Seal, SealKey, State, parts_of, sealed_parts, write_bytes

if TYPE_CHECKING:
    import polars as pl

#: The folders of a study that hold replications and the values of nodes.
RESULTS, NODES = "results", "nodes"
#: The format of these files, which is stated in the manifest.
FORMAT = "arrays/1"
#: The columns that tell a scenario.
KEYS = ("data", "protect", "attack", "axis", "level")
_FACTS = ("lowest", "highest", "sum", "squares")


class Row(NamedTuple):
    """Replication: release, attempted and successful targets, and metric values."""

    release: int
    attempted: int
    correct: float
    values: tuple[float, ...]


@dataclass(frozen=True, kw_only=True, eq=False)
class StoredRows:
    """The replications of a scenario, or the error that it ended with.

    ``counts`` has the release and the number of attempted targets of each replication, ``values`` how many were hit and
    each metric; NaN is undefined.
    """

    metrics: tuple[str, ...]
    counts: NDArray[np.uint32]
    values: FloatArray
    error: str | None

    @classmethod
    def of(cls, metrics: Sequence[str], rows: Sequence[Row], error: str | None) -> "StoredRows":
        """Return replications as arrays."""
        return cls(
            metrics=tuple(metrics),
            counts=np.array([(row.release, row.attempted) for row in rows], np.uint32).reshape(-1, 2).T,
            values=np.array([(row.correct, *row.values) for row in rows], np.float64).reshape(-1, 1 + len(metrics)).T,
            # The message of an own class may hold what no text file can.
            error=None if error is None else error.encode(errors="backslashreplace").decode(),
        )

    @property
    def is_whole(self) -> bool:
        """True if types and shapes match replications."""
        size = self.counts.shape[1]
        return (
            _are_texts(self.metrics)
            and _are_texts(() if self.error is None else (self.error,))
            and _has(self.counts, np.uint32, (2, size))
            and _has(self.values, np.float64, (1 + len(self.metrics), size))
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class StoredSketches:
    """Stored sketches of node values by metric, with concatenated ``blocks``."""

    metrics: tuple[str, ...]
    counts: NDArray[np.uint64]
    facts: FloatArray
    blocks: NDArray[np.float32]

    @classmethod
    def of(cls, sketches: Mapping[str, ValueSketch]) -> "StoredSketches":
        """Return sketches as arrays."""
        some = {name: each for name, each in sketches.items() if each.count}
        return cls(
            metrics=tuple(some),
            counts=np.array([each.count for each in some.values()], np.uint64),
            facts=np.array([[getattr(each, name) for each in some.values()] for name in _FACTS], np.float64),
            blocks=np.concatenate([np.empty(0, np.float32), *(each.blocks for each in some.values())]),
        )

    @property
    def is_whole(self) -> bool:
        """True if types and shapes match sketches."""
        size = len(self.metrics)
        return (
            _are_texts(self.metrics)
            and _has(self.counts, np.uint64, (size,))
            and bool((self.counts > 0).all())
            and _has(self.facts, np.float64, (len(_FACTS), size))
            and _has(self.blocks, np.float32, (int(np.minimum(self.counts, BLOCKS).sum()),))
        )


ResultType = TypeVar("ResultType", StoredRows, StoredSketches)
_FORMAT = ResultFormat([StoredRows, StoredSketches])


def _are_texts(names: Any) -> bool:
    # What cannot be encoded raises an error, as half a character does.
    return isinstance(names, tuple) and all(isinstance(each, str) and each.encode() is not None for each in names)


def _has(array: NDArray[Any], dtype: type[np.generic], shape: tuple[int, ...]) -> bool:
    return array.dtype == dtype and array.shape == shape


def write_result(
    stored: StoredRows | StoredSketches, scenario: Scenario, folder: Path, key: SealKey | None, state: State = "fine"
) -> None:
    """Write and seal the file of a scenario in a folder."""
    folder.mkdir(SECRET_FOLDER, parents=True, exist_ok=True)
    seal = Seal(scenario.file_name, scenario.data.digest, state)
    write_bytes(folder / scenario.file_name, sealed_parts(_FORMAT.write(stored), seal, key))


def read_result(content: bytes, kind: type[ResultType]) -> ResultType:
    """Return the content of a result file, or raise `UnreadableResultError`."""
    try:
        stored = _FORMAT.read(parts_of(content))
        if isinstance(stored, kind) and stored.is_whole:
            return stored
    except Exception as error:  # anybody may have written the file, and a value of any type may be anywhere in it
        raise UnreadableResultError("a result cannot be read") from error
    raise UnreadableResultError("a result has another type or shape")


def keys_of(scenarios: Sequence[Scenario], heights: Sequence[int]) -> "pl.DataFrame":
    """Return the scenario columns, repeated for the given numbers of rows."""
    import polars as pl

    schema = {**dict.fromkeys(KEYS[:-1], pl.String), KEYS[-1]: pl.Float64}
    keys = [(each.data.name, each.protect, each.attack, each.axis, each.level) for each in scenarios]
    return pl.DataFrame(keys, schema=schema, orient="row")[np.repeat(np.arange(len(keys)), heights)]


def frame_of(scenarios: Sequence[Scenario], metrics: Sequence[str], stored: Sequence[StoredRows]) -> "pl.DataFrame":
    """Return one row per replication, with one column per metric."""
    import polars as pl

    heights = [each.values.shape[1] for each in stored]
    counts = np.concatenate([np.empty((2, 0), np.uint32), *(each.counts for each in stored)], axis=1)
    values = np.concatenate([np.empty((1 + len(metrics), 0)), *(each.values for each in stored)], axis=1)
    numbers = np.concatenate([np.empty(0, np.int64), *map(np.arange, heights)]).astype(np.uint32)
    return keys_of(scenarios, heights).with_columns(
        pl.Series("replication", numbers),
        pl.Series("release", counts[0]),
        pl.Series("attempted", counts[1]),
        *(pl.Series(name, each, nan_to_null=True) for name, each in zip(("correct", *metrics), values, strict=True)),
        pl.lit(None, pl.String).alias("error"),
    )


def frame_of_nodes(scenarios: Sequence[Scenario], stored: Sequence[StoredSketches]) -> "pl.DataFrame":
    """Return one row per scenario and metric that has values of nodes."""
    import polars as pl

    metrics = [name for each in stored for name in each.metrics]
    counts = np.concatenate([np.empty(0, np.uint64), *(each.counts for each in stored)])
    facts = np.concatenate([np.empty((len(_FACTS), 0)), *(each.facts for each in stored)], axis=1)
    blocks = np.concatenate([np.empty(0, np.float32), *(each.blocks for each in stored)])
    rows = np.repeat(np.arange(counts.size), np.minimum(counts, BLOCKS).astype(np.int64))
    lists = pl.DataFrame({"row": rows, "blocks": blocks}).group_by("row", maintain_order=True).agg("blocks")
    return keys_of(scenarios, [len(each.metrics) for each in stored]).with_columns(
        pl.Series("metric", metrics, pl.String),
        pl.Series("count", counts),
        *(pl.Series(name, each) for name, each in zip(_FACTS, facts, strict=True)),
        lists["blocks"],
    )
