"""A first look at a table that was dropped on the page: its columns, and what they seem to be; never a cell of it."""

from pathlib import Path
from typing import Any

from unveil.errors import InputError, MissingExtraError

#: Roles of more columns than this cannot be chosen one by one on a page.
MOST_COLUMNS = 1_000
_LONGEST = 120


def look(path: Path, name: str) -> dict[str, Any]:
    """Return what a table holds: rows, columns with kind, missing and different values, and a suggested role.

    Parameters
    ----------
    path
        Where the file is, in a private folder.
    name
        What its owner calls it, which is how messages call it.

    Returns
    -------
    dict
        ``rows`` and ``columns``. Each column has ``name``, ``kind`` (as the library supposes it),
        ``missing``, ``distinct`` (different values), ``suggestion`` (the role that an audit would suppose), ``unsure``
        (whether nothing tells the kind for sure), ``why`` (the reason for the kind), and ``warning`` where it looks as
        if it named people. Where the file cannot be used, only ``error``: why.

    Examples
    --------
    >>> from unveil.data import samples
    >>> seen = look(samples.path("partition_truth.csv"), "truth.csv")
    >>> seen["rows"], [(each["name"], each["kind"], each["suggestion"]) for each in seen["columns"]]
    (24, [('item', 'text', 'identifier'), ('cluster', 'category', 'known')])
    """
    try:
        return _look(Path(path), name)
    except (InputError, MissingExtraError) as error:
        return {"error": str(error).replace(str(path), name)}


def _look(path: Path, name: str) -> dict[str, Any]:
    from unveil.data.identifiers.direct import direct_identifiers
    from unveil.data.table import Table

    _refuse_early(path, name)
    table = Table.read(path, name=name)
    flags = {flag.column: flag for flag in direct_identifiers(table)}
    columns = []
    for column in table.columns:
        values = table.series(column.name)
        flag = flags.get(column.name)
        seems = "" if flag is None else f"Looks like {_article(flag.looks_like)}. {flag.reason}"
        columns.append(
            {
                "name": column.name,
                "kind": column.kind,
                "missing": column.missing,
                "distinct": values.drop_nulls().n_unique(),
                "suggestion": column.role,
                "unsure": column.confidence == "unsure",
                "why": _sentence(column.reason.split("; ")[0].removeprefix(f"{column.kind}: ")),
                "warning": seems,
            }
        )
    return {"rows": table.rows, "columns": columns}


def _refuse_early(path: Path, name: str) -> None:
    """Refuse a table that no page can show, or that is not what it seems, before its rows are read."""
    from unveil.data.files.header import is_surely_header
    from unveil.data.files.read import names_of
    from unveil.data.files.settings import FileSettings
    from unveil.data.files.source import open_source

    source = open_source(path)
    columns = names_of(source, FileSettings(header="yes"))
    number = len(columns)
    if not is_surely_header(source, columns):
        raise InputError(
            f"the first line of {name!r} looks like data, not like names of columns. Put a line with names above it "
            "and give the file again, or use the command line, where --header says what it is"
        )
    if number > MOST_COLUMNS:
        raise InputError(
            f"the file {name!r} has {number:,} columns, and this page shows at most {MOST_COLUMNS:,}. Keep those "
            "that matter, or use the command line"
        )


def _article(what: str) -> str:
    return f"{'an' if what[:1].lower() in 'aeiou' else 'a'} {what}"


def _sentence(reason: str) -> str:
    return f"{reason[:1].upper()}{reason[1:_LONGEST]}."
