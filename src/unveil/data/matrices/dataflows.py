"""Read a network of randomizing nodes from a TOML or CSV file."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from unveil.data.files.documents import read_toml
from unveil.data.files.read import read_table, refuse_cells, refuse_repeats
from unveil.data.files.source import shown
from unveil.data.matrices.csv_matrix import written_number
from unveil.data.matrices.matchings import PathLike, column_of_numbers
from unveil.data.matrices.square_matrix import OLD_KEYS, Names
from unveil.errors import InputError, did_you_mean, shortened


class DataflowFile(NamedTuple):
    """Inputs, outputs, and probabilities of each node, and output order."""

    nodes: tuple[tuple[Names, Names, Any], ...]
    items: Names | None = None
    pseudonyms: Names | None = None


def read_dataflow(path: PathLike) -> DataflowFile:
    r"""Return a network of mix nodes from a TOML or CSV file.

    TOML: a ``[[node]]`` each, with ``inputs`` and ``outputs`` (lists of names) and, if it does not draw every order
    alike, ``matrix`` (a row per input of numbers or texts such as "1/3"); ``items`` and ``pseudonyms`` on top give the
    order of rows and columns. CSV: columns ``node``, ``input`` and ``output``, a row for each input and any output of
    the node; with a fourth column ``chance``, a row for each input and output that the input can leave by.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "network.toml")
    ...     _ = file.write_text('[[node]]\ninputs = ["Flu", "Cold"]\noutputs = ["u", "v"]\n')
    ...     read_dataflow(file).nodes
    ((('Flu', 'Cold'), ('u', 'v'), None),)
    """
    return _toml_network(Path(path)) if Path(path).suffix.lower() == ".toml" else _csv_network(path)


def _csv_network(path: PathLike) -> DataflowFile:
    names = ("node", "input", "output", "chance")
    frame = read_table(path, {name: name for name in names}, optional=["chance"], complete=names, numbers=["chance"])
    with_chances = "chance" in frame.columns
    refuse_repeats(frame, path, ["node", "input", "output"])
    if with_chances:
        chance = column_of_numbers(frame, path, "chance")
        refuse_cells((chance < 0) | (chance > 1), path, "chance", "hold numbers from 0 to 1")
        frame = frame.with_columns(chance)
    nodes: list[tuple[Names, Names, Any]] = []
    for part in frame.partition_by("node", maintain_order=True):
        if not with_chances:
            nodes.append((tuple(part["input"]), tuple(part["output"]), None))
            continue
        inputs, outputs = (tuple(part[side].unique(maintain_order=True)) for side in ("input", "output"))
        matrix = np.zeros((len(inputs), len(outputs)))
        row, column = (
            [wires.index(wire) for wire in part[side]] for side, wires in (("input", inputs), ("output", outputs))
        )
        matrix[row, column] = part["chance"].to_numpy()
        nodes.append((inputs, outputs, matrix))
    return DataflowFile(tuple(nodes))


def _toml_network(path: Path) -> DataflowFile:
    told = {OLD_KEYS.get(key, key): value for key, value in read_toml(path).items()}
    _refuse_keys(told, ("node", "items", "pseudonyms"), path, "")
    nodes = told.get("node", [])
    if not isinstance(nodes, list) or not nodes or not all(isinstance(node, dict) for node in nodes):
        raise InputError(f"the file {shown(path)} must have [[node]] for each node, but has none. Add them")
    found = []
    for number, node in enumerate(nodes, start=1):
        where = f" at node {number} (counted from 1)"
        _refuse_keys(node, ("name", "inputs", "outputs", "matrix"), path, where)
        inputs, outputs = (_list_of_names(node.get(side), side, path, where) for side in ("inputs", "outputs"))
        found.append((inputs, outputs, _told_matrix(node.get("matrix"), path, where)))
    order = [
        None if told.get(key) is None else _list_of_names(told[key], key, path, "") for key in ("items", "pseudonyms")
    ]
    return DataflowFile(tuple(found), order[0], order[1])


def _refuse_keys(fields: dict[str, Any], known: tuple[str, ...], path: Path, where: str) -> None:
    for key in fields:
        if key not in known:
            raise InputError(
                f"the file {shown(path)}{where} can have {', '.join(known)}, but has {shortened(key)}."
                f"{did_you_mean(key, known)} Rename or remove it"
            )


def _list_of_names(value: Any, key: str, path: Path, where: str) -> Names:
    if not isinstance(value, list) or not all(isinstance(name, str) and name for name in value):
        raise InputError(f"{key!r} of the file {shown(path)}{where} must be a list of names in quotes. Write it so")
    return tuple(value)


def _told_matrix(value: Any, path: Path, where: str) -> list[list[float]] | None:
    if value is None:
        return None
    try:
        rows = [[written_number(cell) if isinstance(cell, str) else float(cell) for cell in row] for row in value]
    except (TypeError, ValueError):
        rows = [[None]]
    if any(cell is None for row in rows for cell in row):
        raise InputError(f"'matrix' of the file {shown(path)}{where} must be rows of numbers. Write [[1, 0], [0, 1]]")
    return [[cell for cell in row if cell is not None] for row in rows]
