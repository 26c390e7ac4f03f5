"""Read files of SPSS, Stata and SAS through pyreadstat, with what they say about their columns."""

import io
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from unveil._optional import need
from unveil.data.files._columns import far_moment
from unveil.data.files._panics import polars_errors, without_panic_text
from unveil.data.files.settings import FileSettings
from unveil.data.files.source import Source
from unveil.errors import InputError

if TYPE_CHECKING:
    import polars as pl

#: A value as a column holds it.
Code = int | float | str
#: What pyreadstat reads each format with, and what people call it.
_READERS = {"sav": "read_sav", "dta": "read_dta", "xpt": "read_xport", "sas7bdat": "read_sas7bdat"}
_FORMATS = {"sav": "SPSS", "dta": "Stata", "xpt": "SAS", "sas7bdat": "SAS"}
_UNKNOWN = "unknown"
#: Whole numbers up to here are exact as the doubles in which these programs keep all numbers.
_EXACT = 2.0**53


@dataclass(frozen=True, kw_only=True)
class FileLabels:
    """What a file says about its columns beside their names, each by the name of the column.

    Attributes
    ----------
    labels
        What each value stands for, such as ``{"sex": {1: "male", 2: "female"}}``.
    measures
        "nominal", "ordinal" or "scale"; columns of which the file does not say it are left out.
    missing
        Values that stand for no answer, as ranges from the lowest to the highest, both included, as in
        ``{"sex": ((9, 9),)}``. Letters that Stata and SAS use for this are written ``.a``.
    """

    labels: Mapping[str, Mapping[Code, str]] = field(default_factory=dict)
    measures: Mapping[str, str] = field(default_factory=dict)
    missing: Mapping[str, tuple[tuple[Code, Code], ...]] = field(default_factory=dict)


def statistical_columns(source: Source, settings: FileSettings) -> list[str]:
    """Return the names of the columns."""
    names: list[str] = _read(source, settings, metadataonly=True)[1].column_names
    return names


def statistical_rows(
    source: Source, chosen: Sequence[str], settings: FileSettings
) -> tuple["pl.DataFrame", FileLabels]:
    """Return the chosen columns with the types they have in the file, and what it says about them.

    Values that stand for no answer are kept as they are written; `without_missing` takes them out. Numbers that are all
    whole become whole numbers, because these programs know no others.
    """
    import polars as pl

    frame, about = _read(source, settings, usecols=list(chosen))
    frame = pl.DataFrame({name: _plain(frame.get_column(name)) for name in chosen})
    labels = {
        name: {_code(code): str(label) for code, label in each.items()}
        for name, each in about.variable_value_labels.items()
        if name in frame.columns
    }
    ranges = {
        name: tuple(sorted((_code(each["lo"]), _code(each["hi"])) for each in ranges))
        for name, ranges in about.missing_ranges.items()
    }
    letters = {name: tuple((f".{each}",) * 2 for each in values) for name, values in about.missing_user_values.items()}
    measures = {name: str(each) for name, each in about.variable_measure.items() if each != _UNKNOWN}
    return frame, FileLabels(labels=labels, measures=measures, missing={**ranges, **letters})


def without_missing(column: "pl.Series", about: FileLabels) -> "pl.Series":
    """Return a column with null where its file declares that a value stands for no answer.

    >>> import polars as pl
    >>> without_missing(pl.Series("sex", [1, 2, 9]), FileLabels(missing={"sex": ((9, 9),)})).to_list()
    [1, 2, None]
    """
    for low, high in about.missing.get(column.name, ()):
        column = column.set(column.is_between(low, high).fill_null(value=False), None)
    return column


def _plain(column: "pl.Series") -> "pl.Series":
    """Return a column of one type: whole numbers where all are, and text where letters stand among numbers."""
    import polars as pl

    if column.dtype == pl.Object:
        cells = [f".{cell}" if isinstance(cell, str) else cell for cell in column.to_list()]
        return pl.Series(column.name, [None if cell is None else str(_code(cell)) for cell in cells], dtype=pl.String)
    if column.dtype.is_float():
        column = column.fill_nan(None)
        if bool(((column.floor() == column) & (column.abs() <= _EXACT)).all()):
            return column.cast(pl.Int64)
    return column


def _code(value: Any) -> Code:
    """Return a value as its column holds it.

    >>> _code(2.0), _code(2.5), _code("a")
    (2, 2.5, 'a')
    """
    if isinstance(value, float) and value.is_integer() and abs(value) <= _EXACT:
        return int(value)
    return value if isinstance(value, (int, float)) else str(value)


def _read(source: Source, settings: FileSettings, **more: Any) -> tuple["pl.DataFrame", Any]:
    pyreadstat = need("pyreadstat", extra="files")
    read: Callable[..., Any] = getattr(pyreadstat, _READERS[source.kind])
    if settings.encoding != "detect":
        more["encoding"] = settings.encoding
    if source.kind != "xpt":
        more["user_missing"] = True
    content = source.all_bytes()

    def rows(**settings: Any) -> tuple["pl.DataFrame", Any]:
        with without_panic_text():
            frame, about = read(io.BytesIO(content), output_format="polars", **{**more, **settings})
        return frame, about

    damages = (ValueError, TypeError, LookupError, ArithmeticError)  # a column without a name, a date without an end
    failures = (pyreadstat.ReadstatError, pyreadstat.PyreadstatError, *damages, *polars_errors())
    why = None
    try:
        if not _is_cut(content):
            return rows()
    except failures:
        with suppress(*failures):
            why = _far_date(source, rows, failures)
    raise why or InputError(  # what the libraries say can hold a cell
        f"the {_FORMATS[source.kind]} file {source.name} is cut short or damaged, or of a kind that cannot be "
        "read. Copy or write it again; where only its words are wrong, say its encoding with --read encoding=NAME"
    )


def _far_date(
    source: Source, rows: Callable[..., tuple["pl.DataFrame", Any]], failures: tuple[type[BaseException], ...]
) -> InputError | None:
    """Return the error for a date that cannot be converted, if the file can be read without converting dates."""
    for column in rows(disable_datetime_conversion=True)[0]:
        try:
            rows(usecols=[column.name])
        except failures:
            # The cell that is too far from all others is the one that fails.
            return far_moment(column.name, source.name, int(column.abs().arg_max() or 0))
    return None


def _is_cut(content: bytes) -> bool:
    """Return whether the end is missing that pyreadstat does not look for: Stata closes its marks, SAS fills lines."""
    if content.startswith(b"<stata_dta>"):
        return not content.rstrip(b"\0").endswith(b"</stata_dta>")
    return content.startswith(b"HEADER RECORD") and len(content) % 80 != 0
