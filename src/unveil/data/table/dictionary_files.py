"""Read data dictionaries and write an editable one."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unveil.data.files.documents import read_json, read_toml
from unveil.data.files.write import write_text
from unveil.data.table.dictionaries import Dictionary, DictionaryEntry, checked_range, code_text, markers_of_labels
from unveil.data.table.forms import KINDS, Kind
from unveil.data.table.kinds import ROLES
from unveil.data.table.markers import MARKER_KINDS
from unveil.data.table.words import MarkerKind
from unveil.errors import InputError, did_you_mean

if TYPE_CHECKING:
    from unveil.data.table.table import Table

_FRICTIONLESS: dict[str, Kind] = {
    "integer": "number",
    "number": "number",
    "boolean": "boolean",
    "date": "date",
    "datetime": "date",
    "time": "date",
    "year": "number",
}
_CSVW: dict[str, Kind] = {
    "boolean": "boolean", "date": "date", "dateTime": "date", "datetime": "date", "dateTimeStamp": "date",
    "time": "date", "gYear": "number", "number": "number", "integer": "number", "int": "number", "long": "number",
    "short": "number", "byte": "number", "decimal": "number", "double": "number", "float": "number",
    "nonNegativeInteger": "number", "positiveInteger": "number", "nonPositiveInteger": "number",
    "negativeInteger": "number", "unsignedInt": "number", "unsignedLong": "number", "unsignedShort": "number",
    "unsignedByte": "number",
}  # fmt: skip


def read_dictionary(path: str | os.PathLike[str]) -> Dictionary:
    r"""Return the data dictionary in a file.

    Read are a TOML file as `write_kinds` writes it, a Frictionless Table Schema (or a Data Package with one), metadata
    of CSV on the Web, and JSON that gives for each column a ``description`` and ``values``: what each code means, and
    ``min`` and ``max`` of numbers, as the dictionaries of census excerpts by NIST do.

    Raises
    ------
    InputError
        If the file cannot be read, is none of these, names a kind that does not exist or a range that runs backwards.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "kinds.toml")
    ...     _ = file.write_text('[columns.age]\ntype = "number"\nmarkers = {"-1" = "missing"}\n')
    ...     read_dictionary(file).columns["age"].markers
    {'-1': 'missing'}
    """
    path = Path(path)
    name = path.name
    if path.suffix.lower() == ".toml":
        return _own(read_toml(path), path)
    told = read_json(path)
    if isinstance(told, Mapping):
        for fields, read in (
            (told.get("fields"), _frictionless),
            (_inside(_inside(told, "resources", 0), "schema", "fields"), _frictionless),
            (_inside(told, "tableSchema", "columns"), _csvw),
            (_inside(told, "tables", 0, "tableSchema", "columns"), _csvw),
        ):
            if isinstance(fields, list):
                return Dictionary(name, read(fields, told, name))
        if told and all(isinstance(each, Mapping) and {"description", "values"} & set(each) for each in told.values()):
            return Dictionary(name, {str(column): _nist(str(column), each, name) for column, each in told.items()})
    raise InputError(
        f"the file {name} is not a data dictionary. Use TOML as unveil writes it, a Frictionless Table Schema, CSVW "
        "metadata, or JSON with description and values of each column"
    )


def _inside(node: Any, *keys: str | int) -> Any:
    """Return the object at a key path, or None."""
    for key in keys:
        if isinstance(key, int):
            node = node[key] if isinstance(node, list) and len(node) > key else None
        else:
            node = node.get(key) if isinstance(node, Mapping) else None
    return node


def _nist(column: str, fields: Mapping[str, Any], name: str) -> DictionaryEntry:
    values = fields.get("values")
    values = values if isinstance(values, Mapping) else {}
    description = str(fields.get("description", ""))
    labels = {code_text(code): str(label) for code, label in values.items() if code not in ("min", "max")}
    low = high = None
    if "min" in values or "max" in values:
        low, high = checked_range(values.get("min"), values.get("max"), column, name)
    coded = "coded" if labels else "category" if "code" in description.casefold() else None
    return DictionaryEntry(
        kind="number" if low is not None else coded,  # type: ignore[arg-type]
        labels=labels,
        markers=markers_of_labels(labels),
        low=low,
        high=high,
        description=description,
    )


def _named(fields: list[Any], name: str) -> list[tuple[str, Mapping[str, Any]]]:
    """Return each described column with its name."""
    named = []
    for place, each in enumerate(fields, 1):
        called = each.get("name") if isinstance(each, Mapping) else None
        if called is None and isinstance(each, Mapping) and isinstance(each.get("titles"), (str, list)):
            titles = each["titles"]
            called = titles if isinstance(titles, str) else next(iter(titles), None)
        if not isinstance(called, str):
            raise InputError(
                f"every column in {name} must have a name, but number {place} has none. Add its name, or leave it out"
            )
        named.append((called, each))
    return named


def _texts(node: Any) -> list[str]:
    """Return texts from one text, a list, or a list of mappings."""
    node = [node] if isinstance(node, str) else node if isinstance(node, list) else []
    return [code_text(each.get("value") if isinstance(each, Mapping) else each) for each in node]


def _missing(texts: list[str]) -> dict[str, MarkerKind]:
    """Return texts as markers of a missing value; the empty one needs no mention."""
    return {text: "missing" for text in texts if text.strip()}


def _frictionless(fields: list[Any], document: Mapping[str, Any], name: str) -> dict[str, DictionaryEntry]:
    missing = _texts(document.get("missingValues") or _inside(document, "resources", 0, "schema", "missingValues"))
    entries = {}
    for column, each in _named(fields, name):
        constraints = each.get("constraints") if isinstance(each.get("constraints"), Mapping) else {}
        values = _texts(each.get("categories")) or _texts(constraints.get("enum"))  # type: ignore[union-attr]
        listed = each.get("categories")
        labels = {
            code_text(one["value"]): str(one["label"])
            for one in (listed if isinstance(listed, list) else [])
            if isinstance(one, Mapping) and "label" in one and "value" in one
        }
        ordered = each.get("categoriesOrdered") is True
        gone = _missing(_texts(each.get("missingValues") or missing))
        entries[column] = DictionaryEntry(
            kind="category" if values else _FRICTIONLESS.get(str(each.get("type"))),
            levels=tuple(dict.fromkeys(values)) if values and ordered else (),
            labels=labels,
            markers=markers_of_labels(labels) | gone,
            description=str(each.get("description", "")),
        )
    return entries


def _csvw(fields: list[Any], _told: Mapping[str, Any], name: str) -> dict[str, DictionaryEntry]:
    entries = {}
    for column, each in _named(fields, name):
        datatype = each.get("datatype")
        base = datatype.get("base", "string") if isinstance(datatype, Mapping) else datatype
        listed = base == "string" and isinstance(datatype, Mapping) and "format" in datatype
        kind = "category" if listed else _CSVW.get(str(base))
        entries[column] = DictionaryEntry(kind=kind, markers=_missing(_texts(each.get("null"))))
    return entries


#: The keys of a column in a file as `write_kinds` writes it; ``kind`` is the old name of ``type``.
_KEYS = ("type", "levels", "markers", "role", "name", "missing", "exact", "hierarchy", "kind")


def _own(fields: Mapping[str, Any], path: Path) -> Dictionary:
    """Return the dictionary in a file as `write_kinds` writes it."""
    columns, name = fields.get("columns"), path.name
    if not isinstance(columns, Mapping) or set(fields) != {"columns"}:
        raise InputError(
            f"{name} is no dictionary: it may only have one table [columns.NAME] for each column. Write it with "
            "'unveil columns --write-dictionary', and edit that"
        )
    entries: dict[str, DictionaryEntry] = {}
    rename: dict[str, str] = {}
    missing: dict[str, tuple[str, ...]] = {}
    exact: list[str] = []
    hierarchies: dict[str, Path] = {}
    for written, each in columns.items():
        if not isinstance(each, Mapping):
            raise InputError(f"columns.{written} in {name} is no table. Write [columns.{json.dumps(written)}] above it")
        for key in each:
            if key not in _KEYS:
                raise InputError(
                    f"Unknown key {key!r} of column {written!r} in {name}.{did_you_mean(key, _KEYS[:-1])} Available: "
                    f"{', '.join(_KEYS[:-1])}"
                )
        column = str(each.get("name", written))
        if column != written:
            rename[written] = column
        if {"type", "kind", "levels", "markers", "role"} & set(each):
            entries[column] = _own_entry(column, each, name)
        if texts := _missing(_texts(each.get("missing"))):
            missing[column] = tuple(texts)
        if each.get("exact") is True:
            exact.append(column)
        if "hierarchy" in each:
            hierarchies[column] = _hierarchy_file(path, str(each["hierarchy"]), column)
    return Dictionary(name, entries, rename=rename, missing=missing, exact=tuple(exact), hierarchies=hierarchies)


def _hierarchy_file(path: Path, name: str, column: str) -> Path:
    """Return a hierarchy in the folder of the dictionary: a foreign dictionary could name any file."""
    found = path.parent / name
    if Path(name).name != name or name in ("", ".", "..") or found.is_symlink():
        raise InputError(
            f"Column {column!r} in {path.name}: the hierarchy is no plain file name. Put the file into the folder "
            "of the dictionary, and write its name alone"
        )
    return found


def _own_entry(column: str, each: Mapping[str, Any], name: str) -> DictionaryEntry:
    kind, role = each.get("type", each.get("kind")), each.get("role")
    _refuse_other(kind, KINDS, f"the type of column {column!r} in {name}")
    _refuse_other(role, ROLES, f"the role of column {column!r} in {name}")
    markers, levels = each.get("markers", {}), each.get("levels", [])
    if not isinstance(markers, Mapping) or not isinstance(levels, list):
        raise InputError(
            f"Column {column!r} in {name}: markers is no table of texts, or levels is no list. Write "
            'markers = {"N" = "not applicable"} and levels = ["low", "high"]'
        )
    for text in markers.values():
        _refuse_other(text, MARKER_KINDS, f"a marker of column {column!r} in {name}")
    return DictionaryEntry(kind=kind, levels=tuple(map(str, levels)), markers=dict(markers), role=role)


def _refuse_other(value: Any, allowed: tuple[str, ...], what: str) -> None:
    if value is not None and value not in allowed:
        raise InputError(f"{what[0].upper()}{what[1:]} is unknown. Available: {', '.join(allowed)}")


def write_kinds(table: "Table", path: str | os.PathLike[str]) -> Path:
    """Write the types, roles, and markers of a table as editable TOML.

    `read_dictionary` reads it, so that ``Table.read(file, dictionary=path)`` takes what was corrected. The file names
    markers and levels as they are in the data: it is as private as the table.
    """
    import polars as pl

    lines = [f"# The columns of {table.name}. Correct wrong entries, and give this file as the dictionary."]
    kinds, roles = ", ".join(KINDS), ", ".join(ROLES)
    lines += [
        f"# type is one of {kinds};",
        f"# role is one of {roles};",
        f"# a marker is {', '.join(MARKER_KINDS[:4])};",
        '# more keys: name = "new name", missing = ["?"], exact = true, hierarchy = "file.csv".',
    ]
    for column in table.columns:
        reason = " ".join(column.reason.split())
        lines += ["", f"# {column.confidence}: {reason}", f"[columns.{_quoted(column.name)}]"]
        lines += [f"type = {_quoted(column.kind)}", f"role = {_quoted(column.role)}"]
        dtype = table.content.schema[column.name]
        if isinstance(dtype, pl.Enum):
            lines.append(f"levels = [{', '.join(map(_quoted, dtype.categories.to_list()))}]")
        if column.markers:
            pairs = (f"{_quoted(marker.text)} = {_quoted(marker.kind_of_marker)}" for marker in column.markers)
            lines.append(f"markers = {{ {', '.join(pairs)} }}")
    return write_text(path, "\n".join(lines) + "\n")


def _quoted(text: str) -> str:
    """Return a text as TOML writes it."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
