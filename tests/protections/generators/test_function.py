"""Functions and protections as generators: what they are given, what they make, and what they may do wrong."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from tests.protections.generators.people import SECRET, typed
from unveil.data.table import Table
from unveil.data.table.release import Release
from unveil.errors import InputError
from unveil.protections import GaussianCopula, Shuffle
from unveil.protections.generators import ProtectionGenerator, RunError, SourceTable, about, generator_from

ROWS = np.array([4, 4, 0, 29])
FRAME = typed()


def given(frame: Any = FRAME) -> SourceTable:
    return SourceTable(Table.from_frame(FRAME), frame)


def made(function: Any, frame: Any = FRAME, seed: int = 7) -> Any:
    return generator_from(function).make(given(frame), ROWS, seed=seed, folder=Path("nowhere"))


def resampled(frame: Any, rng: np.random.Generator) -> Any:
    """Return rows drawn from a frame of polars or pandas."""
    sys.stdout.write("drawing\n")
    places = rng.integers(len(frame), size=50)
    return frame[places] if isinstance(frame, pl.DataFrame) else frame.iloc[places]


@pytest.mark.parametrize(
    "frame",
    [
        FRAME,
        FRAME.to_pandas(),
        FRAME.to_pandas().set_index(pd.Index(range(100, 130))),
        FRAME.to_arrow(),
        FRAME.to_dict(as_series=False),
        FRAME.to_dicts(),
    ],
    ids=["polars", "pandas", "labels", "pyarrow", "mapping", "records"],
)
def test_a_function_gets_a_copy_in_the_library_of_its_user(frame: Any) -> None:
    seen = []

    def looks(rows: Any, rng: np.random.Generator) -> Any:
        seen.append((type(rows), rng.integers(2**62)))
        if isinstance(rows, pd.DataFrame):
            assert rows.index.tolist() == [0, 1, 2, 3]
            rows["age"] = -1
        elif isinstance(rows, dict):
            rows["age"][0] = -1
        elif isinstance(rows, list):
            rows[0]["age"] = -1
        elif isinstance(rows, pl.DataFrame):
            rows[0, "age"] = -1
        return rows

    result = made(looks, frame)
    assert seen == [(type(frame), np.random.default_rng(7).integers(2**62))]
    assert result.released.rows == 4
    assert result.released.frame["town"].to_list() == ["t0", "t0", "t0", "t1"]
    assert (result.truth, result.kind) == (None, None)
    unchanged = pl.DataFrame(frame if isinstance(frame, dict | list) else pa.table(frame).select(["age", "town"]))
    assert unchanged.equals(FRAME)


def test_a_function_is_found_by_name_and_its_seed_is_its_randomness(capfd: pytest.CaptureFixture[str]) -> None:
    name = f"{__name__}:resampled"
    generator = generator_from(name, kind="synthetic")
    one, again, other = (generator.make(given(), ROWS, seed=seed, folder=Path()) for seed in (1, 1, 2))
    assert one.released.frame.equals(again.released.frame)
    assert not one.released.frame.equals(other.released.frame)
    assert (one.kind, one.log, generator.written, generator.kind) == ("synthetic", b"drawing\n", name, "synthetic")
    assert "".join(capfd.readouterr()) == ""
    told = about(generator)
    assert set(told) == {"generator", f"script {Path(__file__).name}", "python", "system"}
    assert told["python"].startswith(f"{sys.version_info[0]}.{sys.version_info[1]}.")


class Callable:
    """A generator that is an object, and does nothing right."""

    def __call__(self, *_: Any) -> Any:
        """Leave."""
        sys.exit(SECRET)


@pytest.mark.parametrize(
    ("function", "match"),
    [
        (
            lambda *_: 1 / 0,
            r"error in your function tests\..*:<lambda>: ZeroDivisionError in <lambda>, line \d+ of test_function\.py",
        ),
        (lambda *_: [][int(SECRET[-1:])], r"error in your function .*: IndexError in"),
        (Callable(), r"error in your class tests\..*:Callable: SystemExit in __call__"),
        (lambda *_: None, "the generator returned nothing instead of a frame"),
        (lambda *_: SECRET, "the generator returned a str instead of a frame"),
        (lambda *_: 7, "the generator returned an unreadable table: the table must be a DataFrame"),
        (lambda frame, _: frame[:0], "the generator returned an unreadable table: the table must have at least"),
        (
            lambda frame, _: frame.rename({"age": "alter", "town": "ort"}),
            "the generator released none of the attacked columns 'age', 'town'",
        ),
        (lambda frame: frame, "the generator raised TypeError when it was called"),
    ],
)
def test_what_a_function_does_wrong_is_one_sentence(function: Any, match: str) -> None:
    with pytest.raises(RunError, match=match) as caught:
        made(function)
    assert SECRET not in str(caught.value)
    assert str(caught.value).startswith("the generator ")
    if "error in your" in match:
        assert caught.value.log.startswith(b"Traceback")
        assert b"src/unveil" not in caught.value.log
        assert SECRET not in caught.value.trace
        assert caught.value.trace.count("test_function.py") == 1


def test_a_protection_keeps_who_is_who() -> None:
    generator = generator_from("shuffle")
    result = generator.make(given(), ROWS, seed=3, folder=Path())
    alone = Shuffle().apply(given().table.take(ROWS), rng=np.random.default_rng(3))
    assert alone.truth is not None
    assert result.truth is not None
    assert result.truth.tolist() == alone.truth.tolist()
    assert result.released.frame.equals(alone.released.frame)
    assert (result.kind, generator.kind, generator.written) == ("masked", "masked", "shuffle")
    copula = generator_from(GaussianCopula())
    assert (copula.kind, copula.written) == ("synthetic", "gaussian-copula")
    assert copula.make(given(), np.arange(30), seed=3, folder=Path()).truth is None


@dataclass(frozen=True)
class Own:
    """A protection of a user."""

    how: str = "fine"

    def apply(self, original: Table, *, rng: np.random.Generator) -> Release:
        """Do as told."""
        if self.how == "raises":
            raise ValueError(SECRET)
        if self.how == "refuses":
            raise InputError("there must be more people. Add some")
        return "nothing" if self.how == "nothing" else Shuffle().apply(original, rng=rng)  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("how", "match"),
    [
        (
            "raises",
            r"error in your class tests\..*:Own: ValueError in apply, line \d+ of test_function\.py",
        ),
        ("refuses", "cannot protect these people: there must be more people. Add some"),
        ("nothing", "the generator cannot protect these people: the method apply of"),
    ],
)
def test_what_a_protection_does_wrong_is_one_sentence(how: str, match: str) -> None:
    generator = generator_from(f"{__name__}:Own:how={how}")
    with pytest.raises(RunError, match=match) as caught:
        generator.make(given(), ROWS, seed=1, folder=Path())
    assert SECRET not in str(caught.value)


def test_a_class_of_a_user_is_a_protection() -> None:
    generator = generator_from(f"{__name__}:Own")
    assert isinstance(generator, ProtectionGenerator)
    assert (generator.kind, generator.written) == (None, f"{__name__}:Own")
    assert generator.make(given(), ROWS, seed=1, folder=Path()).kind == "masked"


@pytest.mark.parametrize(
    ("told", "match"),
    [
        ("mondrain:k=5", "there is no protection 'mondrain'. Did you mean 'mondrian'?"),
        ("id-removal", "the protection 'id-removal' is for a graph, not for a table"),
        ("no.such.module:function", r"the module 'no\.such\.module' of your generator cannot be imported \(ModuleNot"),
        (f"{__name__}:resample", "has no function 'resample'. Did you mean 'resampled'?"),
        (f"{__name__}:FRAME", "has no function 'FRAME'"),
        (7, "the generator is a int"),
        (Own, "the generator is the class Own"),
    ],
)
def test_what_is_no_generator_is_refused(told: Any, match: str) -> None:
    with pytest.raises(InputError, match=match):
        generator_from(told)
