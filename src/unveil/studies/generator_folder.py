"""The runs of a generator in a folder: whose they are, one sealed file for each, and what the generator printed."""

import base64
import io
import json
import shutil
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from math import nan
from pathlib import Path
from types import MappingProxyType, TracebackType

import numpy as np

from unveil._kernels.types import IntArray
from unveil.data.files.source import shown
from unveil.data.files.whole_files import read_unlinked, replace_file
from unveil.errors import InputError
from unveil.protections.generators import GeneratedRelease, Generator, scripts_of
from unveil.protections.generators.processes import remove_left
from unveil.studies.releases import facts_of_table, marks_of_table, table_of_facts
from unveil.work.results import ResultFolder
from unveil.work.seal import Seal, SealKey, sealed
from unveil.work.task import version

MANIFEST, RUNS, LOGS, WORK, TIMES = "made.json", "runs", "logs", "work", "times.jsonl"
#: What is said of runs that are not those asked for, by what differs; of all else, that a setting does.
_OTHER = MappingProxyType(
    {
        "generator": "of another generator",
        "scripts": "of a generator whose scripts have changed since",
        "people": "of other people",
        "seed": "with another seed",
        "version": "of another version of unveil",
    }
)


@dataclass(frozen=True, eq=False)
class PlannedRun:
    """A run to be made: its number, from 1, where its randomness starts from, and the rows that are given."""

    number: int
    seed: int
    rows: IntArray

    @property
    def name(self) -> str:
        """What its files are called."""
        return f"run-{self.number:04}"


class GeneratorFolder(ResultFolder):
    """The folder with the runs of a generator."""

    manifest, parts, files = MANIFEST, (RUNS, LOGS, WORK), (TIMES,)
    what, own, advice = "runs", "runs of this generator", "Name another folder (--made)"
    other = _OTHER

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        remove_left(self.folder / WORK)
        self.give_up()
        super().__exit__(kind, error, trace)

    def give_up(self) -> None:
        """Let generators on other machines see that they are not wanted any more."""
        shutil.rmtree(self.folder / WORK, ignore_errors=True)

    def _claim(self) -> None:
        super()._claim()
        self.give_up()  # what runs that were killed may have left

    def seal(self, run: PlannedRun) -> Seal:
        """Return what the file of a run says about itself."""
        rows = np.ascontiguousarray(run.rows, "<i8").tobytes()
        told = json.dumps([self.identity, run.number, run.seed], sort_keys=True).encode()
        return Seal(f"{run.name}.parquet", sha256(told + rows).hexdigest(), "fine")

    def has(self, run: PlannedRun) -> bool:
        """Return whether a run is done, and its file as it was written."""
        return self.content(run) is not None

    def content(self, run: PlannedRun) -> bytes | None:
        """Return the file of a run, or None where it is not there, a link, damaged, or another one's."""
        return self.sealed_content(RUNS, self.seal(run))

    def note_seconds(self, run: PlannedRun, seconds: float) -> None:
        """Note how long a run took, once its file is there; a worker elsewhere may have another disk."""
        if not (self.folder / RUNS / f"{run.name}.parquet").is_file():
            raise InputError(
                f"a worker wrote a run to {shown(self.folder)} that is not seen here. All workers must share this "
                "folder: name one that they do share (--made)"
            )
        self.note(TIMES, {"run": run.number, "seconds": round(seconds, 6)})

    def seconds(self) -> dict[int, float]:
        """Return how long each run took, as far as that is known."""
        found: dict[int, float] = {}
        try:
            lines = read_unlinked(self.folder / TIMES).decode().splitlines()
        except (OSError, ValueError):
            return found
        for line in lines:
            try:
                told = json.loads(line)
                found[int(told["run"])] = float(told["seconds"])
            except (ValueError, KeyError, TypeError):  # half a line, where a disk was full
                continue
        return found


def identity_of(generator: Generator, declared: Mapping[str, object]) -> dict[str, object]:
    """Return all that runs depend on: the generator with its scripts, the version, and what the caller tells."""
    return {"generator": generator.written, "scripts": scripts_of(generator), **declared, "version": version()}


def write_log(folder: Path, run: PlannedRun, log: bytes) -> None:
    """Keep what the generator printed in a run."""
    if log:
        replace_file(log_of(folder, run), log, lasting=False)


def log_of(folder: Path, run: PlannedRun) -> Path:
    """Return where the messages of a run are kept."""
    return folder / LOGS / f"{run.name}.txt"


def content_of_made(generated: GeneratedRelease, seal: Seal, key: SealKey) -> bytes:
    """Return the file of a run: the release as Parquet, with all else that is known of it beside its rows.

    How long it took is not in it: a generator that does the same again makes the same bytes.
    """
    released = generated.released
    told = {
        **facts_of_table(released),
        "marks": _packed(marks_of_table(released).tobytes()),
        "truth": None if generated.truth is None else _packed(np.asarray(generated.truth, "<i8").tobytes()),
        "sha256": released.sha256,
        "table notes": released.notes,
        "kind": generated.kind,
        "notes": generated.notes,
    }
    return sealed(released.frame, seal, {"made": json.dumps(told)}, key=key)


def made_of_content(content: bytes, seconds: float = nan) -> GeneratedRelease:
    """Return what a run made, out of its file."""
    import polars as pl

    told = json.loads(pl.read_parquet_metadata(io.BytesIO(content))["made"])
    frame = pl.read_parquet(io.BytesIO(content))
    marks = np.frombuffer(_unpacked(told["marks"]), np.uint8).reshape(len(told["marked"]), frame.height)
    table = table_of_facts(told, frame, marks)
    truth = told["truth"]
    return GeneratedRelease(
        replace(table, sha256=told["sha256"], notes=tuple(told["table notes"])),
        None if truth is None else np.frombuffer(_unpacked(truth), "<i8").astype(np.int64),
        told["kind"],
        seconds,
        tuple(told["notes"]),
    )


def _packed(content: bytes) -> str:
    return base64.b64encode(zlib.compress(content)).decode("ascii")


def _unpacked(text: str) -> bytes:
    return zlib.decompress(base64.b64decode(text))
