"""Read published frequency tables in long or wide form."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from unveil.data.counts.codes import band_of, is_total
from unveil.data.counts.percentages import (
    BASE_NAMES,
    PERCENT_NAMES,
    PercentageBound,
    range_of_percent,
    share_of_percent,
)
from unveil.data.counts.settings import CountSettings
from unveil.data.counts.texts import UnreadableError, told_by
from unveil.data.files.settings import FileSettings
from unveil.errors import InputError, did_you_mean, shortened

if TYPE_CHECKING:
    import polars as pl

    from unveil.data.counts.published_counts import PublishedCounts

#: What a column of counts is called, in the order in which one is taken.
COUNT_NAMES = ("count", "counts", "n", "freq", "frequency", "obs_value", "value", "number", "people", "persons")
#: Of these the names that are codes as well: N is North, and a count only where the table looks so.
_CODES_TOO = frozenset({"n", "value", "number", "people", "persons"})
#: What the variable is called whose codes stand in a header, where nothing tells its name.
IN_HEADER = "column"
#: More cells are refused: they would not be worked through in reasonable time.
MOST_CELLS = 1_000_000
_MOST_VARIABLES = 12
#: What a cell says of its count by itself where its percentage is of a hidden number.
_ANY_NUMBER = "0+"
#: How a table is written; percentages beside counts are a table of their own.
Form = Literal["tidy", "wide", "percentages"]


@dataclass(frozen=True, eq=False)
class WrittenTable:
    """Written table: labels, text, and row number of each cell.

    ``shares`` holds what percentages of hidden numbers tell.
    """

    name: str
    form: Form
    variables: tuple[str, ...]
    labels: "pl.DataFrame" = field(repr=False)
    texts: "pl.Series" = field(repr=False)
    rows: "pl.Series" = field(repr=False)
    count: str = ""
    notes: tuple[str, ...] = ()
    shares: tuple[PercentageBound, ...] = ()

    def place(self, at: int) -> str:
        """Return where a cell stands, for people."""
        column = f", column {shortened(str(self.labels[self.variables[-1]][at]))}" if self.form == "wide" else ""
        return f"row {self.rows[at]}{column}"


def read_counts(
    tables: Sequence[Any],
    settings: CountSettings | None = None,
    *,
    files: FileSettings | None = None,
    names: Sequence[str] = (),
) -> "PublishedCounts":
    """Return published frequency tables read from files or frames.

    Parameters
    ----------
    tables
        Files in any format that unveil reads, or frames.
    settings
        What is told about them.
    files
        How text files are written, where that is told.
    names
        What the tables are called; the names of the files, or numbers, unless given.

    Raises
    ------
    InputError
        If a table cannot be read, or a cell is no count; with file and row.

    Examples
    --------
    >>> import polars as pl
    >>> told = read_counts([pl.DataFrame({"ward": ["N", "S", "Total"], "count": ["*", "7", "9"]})])
    >>> told.tables[0].cells, [variable.codes for variable in told.variables]
    (3, [('Total', 'N', 'S')])
    """
    from unveil.data.counts.published_counts import publish

    settings = settings or CountSettings()
    if not tables:
        raise InputError("No frequency table was given. Name at least one file")
    frames = [frame_of(each, files) for each in tables]
    called = list(names) or [_name(each, at) for at, each in enumerate(tables)]
    parts = [part for frame, name in zip(frames, called, strict=True) for part in _single_tables(frame, name)]
    frames, called = [frame for frame, _ in parts], [name for _, name in parts]
    tidy = {at: written for at, frame in enumerate(frames) if (written := _tidy(frame, called[at], settings))}
    known: dict[str, set[str]] = {}
    for each in (each for several in tidy.values() for each in several):
        _learn(known, each.labels, each.variables)
    for at, frame in enumerate(frames):
        if at not in tidy:
            _learn(known, frame, _row_variables(frame, called[at], settings))
    written = []
    for at, frame in enumerate(frames):
        if at in tidy:
            written += tidy[at]
        else:
            written.append(_wide(frame, called[at], settings, known))
            _learn(known, written[-1].labels, written[-1].variables)
    cells = sum(each.texts.len() for each in written)
    if cells > MOST_CELLS:
        raise InputError(
            f"tables must have at most {MOST_CELLS:,} cells together, but have {cells:,}. Pass fewer of them, or "
            "tables of a part of the country"
        )
    return publish(written, settings)


def _learn(known: dict[str, set[str]], labels: "pl.DataFrame", variables: Sequence[str]) -> None:
    """Add the codes that a table has of its variables."""
    for variable in variables:
        known.setdefault(variable, set()).update(labels[variable].unique().to_list())


def _name(table: Any, at: int) -> str:
    return Path(table).name if isinstance(table, str | os.PathLike) else f"table {at + 1}"


def frame_of(table: Any, files: FileSettings | None) -> "pl.DataFrame":
    """Return a table of cell texts, with empty texts for empty cells."""
    import polars as pl

    from unveil.data.files.read import read_table
    from unveil.data.table.cells import texts_of
    from unveil.data.table.native import series_of

    if isinstance(table, str | os.PathLike):
        told = vars(files or FileSettings())
        told = {**told, "header": "yes"} if told["header"] == "detect" else told
        frame = read_table(table, **told)
    else:
        frame = pl.DataFrame([texts_of(column).alias(name) for column, name in _named(series_of(table, table="table"))])
        if frame.height == 0:
            raise InputError("The frequency table has no rows. Pass a table with rows")
    frame = frame.rename({name: name.strip() for name in frame.columns if name != name.strip()})
    return frame.with_columns(pl.all().cast(pl.String).fill_null("").str.strip_chars())


def _single_tables(frame: "pl.DataFrame", name: str) -> list[tuple["pl.DataFrame", str]]:
    """Return the tables of a file with their names: several in a file of `unveil tables --suppress`.

    Read as one table, its cells would be of different people, and what the tables reveal together would be missed.

    >>> import polars as pl
    >>> told = {"table": ["a", "a", "b"], "ward": ["N", "Total", "Total"], "age": ["Total", "Total", "y"]}
    >>> [(part.columns, called) for part, called in _single_tables(pl.DataFrame(told | {"count": "*"}), "file")]
    [(['ward', 'count'], 'a'), (['age', 'count'], 'b')]
    """
    if frame.width < 3 or frame.columns[0] != "table" or frame.columns[-1] != "count" or frame["table"].n_unique() < 2:
        return [(frame, name)]
    parts = []
    for (called,), part in frame.partition_by("table", maintain_order=True, include_key=False, as_dict=True).items():
        own = [column for column in part.columns if (part[column] != "Total").any()]
        parts.append((part.select(own or part.columns), str(called)))
    return parts


def _named(columns: list[tuple["pl.Series", str]]) -> list[tuple["pl.Series", str]]:
    return [(column, column.name) for column, _ in columns]


def _tidy(frame: "pl.DataFrame", name: str, settings: CountSettings) -> list[WrittenTable]:
    """Return a table with one row per cell and a second for percentages."""
    import polars as pl

    count = _count_column(frame.columns, name, settings)
    if count is not None and _is_code(frame, count, settings):
        return []
    percent = _called(frame.columns, PERCENT_NAMES)
    base = _called(frame.columns, BASE_NAMES) if percent is not None else None
    if count is None and percent is None:
        return []
    variables = [column for column in frame.columns if column not in (count, percent, base)]
    _check_variables(variables, name)
    texts: list[tuple[str, Form, str, pl.Series, tuple[PercentageBound, ...]]] = []
    if count is not None:
        texts.append((name, "tidy", count, frame[count].alias("text"), ()))
    if percent is not None:
        told = _percentages(frame, percent, base, name, settings)
        beside = count is not None
        texts.append((f"{name} (percentages)" if beside else name, "percentages" if beside else "tidy", percent, *told))
    return [
        WrittenTable(
            name=called,
            form=form,
            variables=tuple(variables),
            labels=frame.select(variables),
            texts=text,
            rows=pl.Series("row", range(1, frame.height + 1), dtype=pl.Int64),
            count=column,
            shares=shares,
        )
        for called, form, column, text, shares in texts
    ]


def _is_code(frame: "pl.DataFrame", count: str, settings: CountSettings) -> bool:
    """Return whether a column named like counts is one code of many."""
    if settings.count or count.casefold() not in _CODES_TOO:
        return False
    rows = list(settings.rows) or _leading(frame, settings)
    codes = [column for column in frame.columns if column not in rows]
    if len(codes) < 2 or count not in codes or not all(_holds_counts(frame[column], settings) for column in codes):
        return False
    # Rows of a tidy table repeat the codes of each variable; those of a wide one are told apart by what leads them.
    return bool(settings.wide) or bool(frame.select(rows).is_unique().all())


def _called(columns: Sequence[str], names: Sequence[str]) -> str | None:
    folded = {column.casefold(): column for column in reversed(columns)}
    return next((folded[each] for each in names if each in folded), None)


def _percentages(
    frame: "pl.DataFrame", percent: str, base: str | None, name: str, settings: CountSettings
) -> tuple["pl.Series", tuple[PercentageBound, ...]]:
    """Return percentages as count texts, and as shares for suppressed bases."""
    import polars as pl

    if base is None and settings.base is None and settings.percent_of is None:
        raise InputError(
            f"the base of the percentages in {name} is unknown. Add a column 'base', give the number of people, "
            f"give the variables that define a suppressed base, or leave column {percent!r} out"
        )
    of = [str(settings.base or "")] * frame.height if base is None else frame[base].to_list()
    told, shares = [], []
    for row, (text, number) in enumerate(zip(frame[percent].to_list(), of, strict=True), 1):
        plain = number.replace(",", "").replace(" ", "")
        if plain.isascii() and plain.isdecimal() and len(plain) <= 12:
            try:
                told.append(range_of_percent(text, int(plain)))
            except UnreadableError as error:
                must, advice = error.args
                raise InputError(
                    f"{name} must {must}: see row {row} (counted from 1 below the header). {advice}"
                ) from error
        elif settings.percent_of is None:
            raise InputError(
                f"column {base!r} of {name} must hold the number of people behind each percentage, but does not in "
                f"row {row} (counted from 1 below the header). If the base is suppressed, give the variables that "
                "define it, or all"
            )
        else:
            share = share_of_percent(text, row - 1)
            told.append(text if share is None else _ANY_NUMBER)
            shares += [] if share is None else [share]
    return pl.Series("text", told, dtype=pl.String), tuple(shares)


def _count_column(columns: Sequence[str], name: str, settings: CountSettings) -> str | None:
    if settings.count:
        if settings.count in columns:
            return settings.count
        if settings.wide:
            return None
        raise InputError(
            f"the column of counts must be in {name}, but {shortened(settings.count)} is not."
            f"{did_you_mean(settings.count, columns)} Name another column, or the variable whose codes are in "
            "the header"
        )
    return _called(columns, COUNT_NAMES)


def _wide(frame: "pl.DataFrame", name: str, settings: CountSettings, known: dict[str, set[str]]) -> WrittenTable:
    """Return a table with the codes of one variable in its header."""
    import polars as pl

    rows = _row_variables(frame, name, settings)
    codes = [column for column in frame.columns if column not in rows]
    if len(codes) < 2 and not settings.wide:
        raise InputError(
            f"{name} must have a column of counts, such as {', '.join(COUNT_NAMES[:4])}, or the "
            "codes of a variable in its header, but has neither. Name the column of counts, or the header variable"
        )
    variable, guessed = settings.wide or _header_variable(codes, rows, known, name), not settings.wide
    if variable in rows:
        raise InputError(
            f"the header of {name} must hold the codes of another variable than its rows, but both are called "
            f"{shortened(variable)}. Give the header variable another name"
        )
    _check_variables([*rows, variable], name)
    numbered = frame.with_row_index("\0row", offset=1)
    long = numbered.unpivot(on=codes, index=["\0row", *rows], variable_name=variable, value_name="\0text")
    long = long.sort("\0row", maintain_order=True)
    like = _called(codes, COUNT_NAMES)
    other = f"; if column {like!r} holds all counts, name it as the column of counts" if like is not None else ""
    note = f"{name}: its header was read as the codes of {variable!r}, its rows as {', '.join(map(repr, rows))}"
    return WrittenTable(
        name=name,
        form="wide",
        variables=(*rows, variable),
        labels=long.select([*rows, variable]),
        texts=long["\0text"].alias("text"),
        rows=long["\0row"].cast(pl.Int64).alias("row"),
        notes=(f"{note}{other}",) if guessed else (),
    )


def _row_variables(frame: "pl.DataFrame", name: str, settings: CountSettings) -> list[str]:
    if settings.rows:
        lacking = next((column for column in settings.rows if column not in frame.columns), None)
        if lacking is not None:
            raise InputError(
                f"the row variables must be columns of {name}, but {shortened(lacking)} is none."
                f"{did_you_mean(lacking, frame.columns)} Correct the name"
            )
        return list(settings.rows)
    return _leading(frame, settings)


def _leading(frame: "pl.DataFrame", settings: CountSettings) -> list[str]:
    """Return the first column and those after it that hold no counts."""
    rows = frame.columns[:1]
    for column in frame.columns[1:]:
        if _holds_counts(frame[column], settings):
            break
        rows.append(column)
    return rows


def _holds_counts(column: "pl.Series", settings: CountSettings) -> bool:
    """Return whether every text of a column can be a count."""
    figures = False
    for text in column.unique().to_list():
        try:
            figures |= told_by(text, settings, inner=False).told != "symbol"
        except UnreadableError as error:
            if "multiples" not in str(error):
                return False
            figures = True
    return figures


def _header_variable(codes: Sequence[str], rows: Sequence[str], known: dict[str, set[str]], name: str) -> str:
    """Return the variable of another table whose codes this header holds.

    Headers of two tables that share no code are two variables, though nobody has named either.
    """
    others = {variable: labels for variable, labels in known.items() if variable not in rows}
    own = {code for code in codes if not is_total(code)}
    shared = {variable: len(labels & own) for variable, labels in others.items()}
    best = max(shared, key=lambda variable: shared[variable], default="")
    if best and shared[best] >= 2:
        return best
    bands = [variable for variable, labels in others.items() if _are_bands(labels)]
    if len(bands) == 1 and _are_bands(codes):
        return bands[0]
    return IN_HEADER if shared.get(IN_HEADER, 1) else f"{IN_HEADER} of {name}"


def _are_bands(labels: Iterable[str]) -> bool:
    """Return whether all codes except totals are bands of numbers."""
    bands = [band_of(label) for label in labels if not is_total(label)]
    return bool(bands) and all(bands) and any(band is not None and band[1] - band[0] > 1 for band in bands)


def _check_variables(variables: Sequence[str], name: str) -> None:
    if not variables:
        raise InputError(f"{name} has counts but no variable. Pass a table with a column of codes")
    if len(variables) > _MOST_VARIABLES:
        raise InputError(
            f"{name} has {len(variables)} variables; a frequency table may have at most {_MOST_VARIABLES}. If "
            "it holds records of people, pass counts of them. Else leave out columns that are not variables"
        )
    if "" in variables:
        raise InputError(f"each column of {name} must have a name, but one has none. Name it")
