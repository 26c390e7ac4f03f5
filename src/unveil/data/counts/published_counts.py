"""Published counts as one system of variables, codes, and cells."""

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from unveil._kernels.counts.rows import NO_END
from unveil._kernels.types import BoolArray, IntArray
from unveil.data.counts.codes import CountVariable, is_total, overlapping, variable_of
from unveil.data.counts.percentages import PercentageBound
from unveil.data.counts.reading import Form, WrittenTable
from unveil.data.counts.settings import CountSettings
from unveil.data.counts.structural import read_structural
from unveil.data.counts.texts import ParsedCell, UnreadableError, told_by
from unveil.data.files.documents import read_document
from unveil.data.files.source import shown
from unveil.data.table._cell_texts import folded
from unveil.errors import InputError, did_you_mean, shortened

#: What the variable is called that tells apart people of nested populations.
POPULATION = "population"


@dataclass(frozen=True)
class PublishedTable:
    """Published table: name, form, variable numbers, and number of cells."""

    name: str
    form: Form
    variables: tuple[int, ...]
    cells: int


@dataclass(frozen=True, eq=False)
class PublishedShare:
    """Share with a suppressed base: low / whole ≤ count / base ≤ high / whole.

    ``codes`` and ``base`` are the codes of the two cells, ``table`` the number of the table that shows it.
    """

    table: int
    codes: IntArray
    base: IntArray
    low: int
    high: int
    whole: int


@dataclass(frozen=True, eq=False)
class PublishedCounts:
    """Published frequency tables, with one element per cell of each table.

    Attributes
    ----------
    variables, tables
        What counts are divided by, and the tables.
    table, row, codes
        For each entry its table, its row in the file (from 1), and the number of its code in each variable: 0 is the
        total, also of a variable that the table does not have.
    low, high
        What each entry tells, NO_END without an upper end; for a symbol that tells no range 0 and NO_END.
    symbol
        For each entry the number of its symbol, -1 where it is a figure or a range.
    is_shown
        Whether each entry is an exact figure.
    symbols
        The symbols that stand in place of counts.
    notes
        What had to be found out on the way.
    impossible
        Combinations that nobody can have by what they mean, each with a code of every variable, 0 for any; None where
        none are told.
    shares
        Percentages of numbers that are hidden.
    """

    variables: tuple[CountVariable, ...]
    tables: tuple[PublishedTable, ...]
    table: IntArray = field(repr=False)
    row: IntArray = field(repr=False)
    codes: IntArray = field(repr=False)
    low: IntArray = field(repr=False)
    high: IntArray = field(repr=False)
    symbol: IntArray = field(repr=False)
    is_shown: BoolArray = field(repr=False)
    symbols: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    impossible: IntArray | None = field(default=None, repr=False)
    shares: tuple[PublishedShare, ...] = field(default=(), repr=False)

    def label(self, codes: Sequence[int]) -> str:
        """Return the label of a cell: its codes, without redundant totals.

        >>> from unveil.data.counts import read_counts
        >>> told = read_counts([{"ward": ["N", "S"], "sex": ["f", "f"], "count": ["1", "2"]}])
        >>> told.label([1, 1]), told.label([2, 0]), told.label([0, 0])
        ('N, f', 'S', 'Total')
        """
        named = [each.codes[code] for each, code in zip(self.variables, codes, strict=True) if code]
        return ", ".join(named) or "Total"


def publish(written: Sequence[WrittenTable], settings: CountSettings) -> PublishedCounts:
    """Return written tables as one system, after checking the arguments."""
    written = [_one_spelling(table, written) for table in written]
    names = list(dict.fromkeys(variable for table in written for variable in table.variables))
    _check_names(names, settings)
    notes = [note for table in written for note in table.notes]
    totals = {name: _totals(name, written, settings, notes) for name in names}
    variables, places = [], {}
    for name in names:
        labels = _labels(name, written, totals[name], notes)
        if labels:
            groups, order = read_groups(settings.hierarchies[name]) if name in settings.hierarchies else ({}, ())
            variables.append(variable_of(name, labels, groups=groups, order=order, rest=name in settings.rest))
            places[name] = len(variables) - 1
            _note_leaves(variables[-1], notes)
            if name not in settings.hierarchies:
                notes += _overlaps(name, written, totals[name])
    populations = _population(written, settings)
    if populations is not None:
        variables.append(populations)
    parts = [_entries(table, variables, places, totals, settings, populations) for table in written]
    joined = _joined(written, variables, places, parts, populations, notes)
    if settings.structural is None:
        return joined
    return replace(joined, impossible=read_structural(settings.structural, variables))


def _check_names(names: Sequence[str], settings: CountSettings) -> None:
    for what, told in (
        ("totals", settings.totals),
        ("a hierarchy", settings.hierarchies),
        ("a rest", settings.rest),
        ("percent_of", settings.percent_of or ()),
    ):
        for name in told:
            if name not in names:
                raise InputError(
                    f"{what}: {shortened(name)} is not a variable of the tables."
                    f"{did_you_mean(name, names)} Correct the name"
                )


def _one_spelling(table: WrittenTable, tables: Sequence[WrittenTable]) -> WrittenTable:
    """Return a table with variable names spelled as in the first table."""
    first: dict[str, str] = {}
    for each in tables:
        for name in each.variables:
            first.setdefault(_plain(name), name)
    new = {name: first[_plain(name)] for name in table.variables if first[_plain(name)] != name}
    if not new:
        return table
    variables = tuple(new.get(name, name) for name in table.variables)
    if len(set(variables)) < len(variables):
        raise InputError(f"two columns of {table.name} have the same name but for case and blanks. Rename one of them")
    notes = (f"{table.name}: {old!r} was read as {other!r} of another table" for old, other in new.items())
    return replace(table, variables=variables, labels=table.labels.rename(new), notes=(*table.notes, *notes))


def _plain(name: str) -> str:
    return "".join(letter for letter in name.casefold() if letter.isalnum())


def _totals(name: str, tables: Sequence[WrittenTable], settings: CountSettings, notes: list[str]) -> set[str]:
    """Return the folded labels of a variable's totals: given or named as such."""
    told = {folded(label) for label in settings.totals.get(name, ())}
    found = set(told)
    for table in tables:
        if name not in table.variables:
            continue
        labels = table.labels[name].unique(maintain_order=True).to_list()
        likely = [label for label in labels if is_total(label) and folded(label) not in told]
        able = [label for label in likely if _can_be_total(table, name, label, settings)]
        if len(able) < len(likely):
            notes.append(
                f"{table.name}: a code of {name!r} is named like a total, but less than another code. It is read "
                "as a category"
            )
        if len({folded(label) for label in able} | (told & {folded(label) for label in labels})) > 1:
            raise InputError(
                f"variable {name!r} of {table.name} must have one total, but several of its codes are named so. Give "
                f"the total ({name}=CODE), and rename the rest"
            )
        found |= {folded(label) for label in able}
    return found


def _can_be_total(table: WrittenTable, name: str, label: str, settings: CountSettings) -> bool:
    """Return whether a code named as total has the largest counts."""
    import polars as pl

    others = [variable for variable in table.variables if variable != name]
    told = {text: _told_or_none(text, settings) for text in table.texts.unique().to_list()}
    low = table.texts.replace_strict(
        {text: cell.low if cell else 0 for text, cell in told.items()}, return_dtype=pl.Int64
    )
    high = table.texts.replace_strict(
        {text: NO_END if cell is None or cell.high is None else cell.high for text, cell in told.items()},
        return_dtype=pl.Int64,
    )
    frame = table.labels.with_columns(low.alias("\0low"), high.alias("\0high"))
    own = frame.filter(pl.col(name) == label).select(*others, "\0high")
    rest = frame.filter(pl.col(name) != label).select(*others, "\0low")
    if not others:
        return own.height == 0 or rest.height == 0 or bool(rest["\0low"].max() <= own["\0high"].min())  # type: ignore[operator]
    most = rest.group_by(others).agg(pl.col("\0low").max())
    both = own.join(most, on=others, how="inner")
    return bool((both["\0low"] <= both["\0high"]).all())


def _told_or_none(text: str, settings: CountSettings) -> ParsedCell | None:
    try:
        return told_by(text, settings, inner=False)
    except UnreadableError:
        return None


def _labels(name: str, tables: Sequence[WrittenTable], totals: set[str], notes: list[str]) -> list[str]:
    """Return the non-total codes of a variable, as first written."""
    seen: dict[str, str] = {}
    tables_of: Counter[str] = Counter()
    having = [table for table in tables if name in table.variables]
    for table in having:
        labels = table.labels[name].unique(maintain_order=True).to_list()
        if "" in labels and "" not in totals:
            row = int((table.labels[name] == "").arg_true()[0])
            raise InputError(
                f"variable {name!r} of {table.name} must have a code in every row, but has none in {table.place(row)} "
                f'(rows are counted from 1 below the header). If empty means the total, give the total as {name}=""'
            )
        for label in labels:
            if folded(label) not in totals:
                seen.setdefault(folded(label), label)
        tables_of.update({folded(label) for label in labels if folded(label) not in totals})
    single = [key for key in seen if tables_of[key] < len(having)]
    if len(having) > 1 and single and len(single) < len(seen):
        notes.append(
            f"{name!r}: {len(single)} of its {len(seen)} codes are not in every table that has it. If one code has "
            "two spellings, the tables are not linked. Use one spelling"
        )
    return list(seen.values())


def _note_leaves(variable: CountVariable, notes: list[str]) -> None:
    added = [code for code, shown in zip(variable.codes, variable.shown, strict=True) if not shown]
    if added:
        named = ", ".join(added[:6]) + (f" and {len(added) - 6} more" if len(added) > 6 else "")
        notes.append(f"{variable.name!r}: codes that no table shows follow from those that are shown: {named}")


def _overlaps(name: str, tables: Sequence[WrittenTable], totals: set[str]) -> list[str]:
    """Return a note for each table with overlapping bands."""
    having = [table for table in tables if name in table.variables]
    labels = [
        [each for each in table.labels[name].unique().to_list() if folded(each) not in totals] for table in having
    ]
    return [
        f"{table.name}: {both[0]!r} and {both[1]!r} of {name!r} overlap, so the numbers in both count twice. If each "
        "begins where the other ends, write bands that do not share a number"
        for table, own in zip(having, labels, strict=True)
        if (both := overlapping(own)) is not None
    ]


def _population(tables: Sequence[WrittenTable], settings: CountSettings) -> CountVariable | None:
    """Return the variable that distinguishes nested populations, if given."""
    if not settings.populations:
        return None
    names = [table.name for table in tables]
    order = []
    for told in settings.populations:
        last = Path(told).name
        if last not in names:
            raise InputError(
                f"a population must be one of the tables, but {shortened(last)} is none.{did_you_mean(last, names)} "
                "Write earlier.csv<later.csv with the names of the files"
            )
        order.append(last)
    if len(order) < 2:
        raise InputError("populations must be at least two, the smaller first. Write earlier.csv<later.csv")
    if any(POPULATION in table.variables for table in tables):
        raise InputError(f"the variable name {POPULATION!r} is reserved if populations are given. Rename it")
    steps = [f"added by {name}" for name in order[1:]]
    groups = {folded(name): frozenset([folded(order[0]), *map(folded, steps[:at])]) for at, name in enumerate(order)}
    return variable_of(POPULATION, order[:-1], groups=groups, order=steps)


@dataclass(frozen=True, eq=False)
class _Entries:
    """Cells of one table and the information about each."""

    codes: IntArray
    rows: IntArray
    low: IntArray
    high: IntArray
    symbol: list[str]
    shown: BoolArray
    shares: list[tuple[IntArray, IntArray, PercentageBound]]


def _entries(
    table: WrittenTable,
    variables: Sequence[CountVariable],
    places: Mapping[str, int],
    totals: Mapping[str, set[str]],
    settings: CountSettings,
    populations: CountVariable | None,
) -> _Entries:
    codes = np.zeros((table.texts.len(), len(variables)), np.int64)
    for name in table.variables:
        if name in places:
            variable = variables[places[name]]
            number = {folded(code): place for place, code in reversed(list(enumerate(variable.codes)))}
            number |= dict.fromkeys(totals[name], 0)
            unique = {label: number[folded(label)] for label in table.labels[name].unique().to_list()}
            codes[:, places[name]] = table.labels[name].replace_strict(unique).to_numpy()
    if populations is not None and table.name in populations.codes:
        codes[:, len(variables) - 1] = populations.codes.index(table.name)
    own = [places[name] for name in table.variables if name in places]
    inner = np.asarray((codes[:, own] > 0).all(axis=1), np.bool_)
    whose = np.array([variable.name in (POPULATION, *(settings.percent_of or ())) for variable in variables], np.bool_)
    told = _told(table, settings, inner)
    kept = np.array([cell.told != "nothing" for cell in told], np.bool_)
    _refuse_repeats(table, codes, kept)
    cells = [cell for cell, keep in zip(told, kept, strict=True) if keep]
    return _Entries(
        codes=codes[kept],
        rows=table.rows.to_numpy()[kept],
        low=np.array([cell.low for cell in cells], np.int64),
        high=np.array([NO_END if cell.high is None else cell.high for cell in cells], np.int64),
        symbol=[cell.symbol if cell.told == "symbol" else "\0" for cell in cells],
        shown=np.array([cell.told != "symbol" and cell.low == cell.high for cell in cells], np.bool_),
        shares=[(codes[each.entry], np.where(whose, codes[each.entry], 0), each) for each in table.shares],
    )


def _told(table: WrittenTable, settings: CountSettings, inner: BoolArray) -> list[ParsedCell]:
    """Return the bounds of each cell, reading each distinct text once."""
    known: dict[tuple[str, bool], ParsedCell] = {}
    told = []
    for place, (text, own) in enumerate(zip(table.texts.to_list(), inner.tolist(), strict=True)):
        if (text, own) not in known:
            try:
                known[text, own] = told_by(text, settings, inner=own)
            except UnreadableError as error:
                must, advice = error.args
                raise InputError(
                    f"{table.name} must {must}, but does not in {table.place(place)} (rows are counted from 1 below "
                    f"the header). {advice}"
                ) from error
        told.append(known[text, own])
    return told


def _refuse_repeats(table: WrittenTable, codes: IntArray, kept: BoolArray) -> None:
    found = np.flatnonzero(kept)
    _, first, inverse = np.unique(codes[found], axis=0, return_index=True, return_inverse=True)
    again = np.flatnonzero(first[inverse.ravel()] != np.arange(found.size))
    if again.size:
        one, other = found[first[inverse.ravel()[again[0]]]], found[again[0]]
        rows = ", name all row variables" if table.form == "wide" else ""
        raise InputError(
            f"each cell of {table.name} must be there once, but {table.place(int(other))} has the codes of "
            f"{table.place(int(one))} (rows are counted from 1 below the header; such cells: {again.size:,}). Keep one "
            f"of each{rows}, or give the code of the total (VARIABLE=CODE)"
        )


def _joined(
    written: Sequence[WrittenTable],
    variables: Sequence[CountVariable],
    places: Mapping[str, int],
    parts: Sequence[_Entries],
    populations: CountVariable | None,
    notes: Sequence[str],
) -> PublishedCounts:
    more = (len(variables) - 1,) if populations is not None else ()
    tables = tuple(
        PublishedTable(
            name=table.name,
            form=table.form,
            variables=tuple(sorted(places[name] for name in table.variables if name in places)) + more,
            cells=part.rows.size,
        )
        for table, part in zip(written, parts, strict=True)
    )
    symbols = list(dict.fromkeys(symbol for part in parts for symbol in part.symbol if symbol != "\0"))
    number = {symbol: at for at, symbol in enumerate(symbols)} | {"\0": -1}
    return PublishedCounts(
        variables=tuple(variables),
        tables=tables,
        table=np.repeat(np.arange(len(parts)), [part.rows.size for part in parts]),
        row=np.concatenate([part.rows for part in parts]),
        codes=np.concatenate([part.codes for part in parts]),
        low=np.concatenate([part.low for part in parts]),
        high=np.concatenate([part.high for part in parts]),
        symbol=np.array([number[symbol] for part in parts for symbol in part.symbol], np.int64),
        is_shown=np.concatenate([part.shown for part in parts]),
        symbols=tuple(symbols),
        notes=tuple(notes),
        shares=tuple(
            PublishedShare(at, codes, base, share.low, share.high, share.whole)
            for at, part in enumerate(parts)
            for codes, base, share in part.shares
            if (codes != base).any()
        ),
    )


# Which codes are sums of which others, as a file says: pairs of child and parent, or a value and its wider labels.


def read_groups(path: str | os.PathLike[str]) -> tuple[dict[str, frozenset[str]], tuple[str, ...]]:
    """Return the leaves of each sum code, and their original spelling.

    The file has the columns child and parent, a code below another in each row, also for several groupings of the
    same leaves; or it has a leaf and its wider labels in each line, with semicolons, as for the audit.
    """
    from unveil.data.files.read import read_table
    from unveil.data.table.hierarchy import Hierarchy

    first = read_document(Path(path)).partition("\n")[0].casefold()
    if "child" in first and "parent" in first:
        frame = read_table(path, {"child": "child", "parent": "parent"})
        return _closed(frame.rows(), Path(path))
    hierarchy = Hierarchy.read(Path(path))
    labels = {label for line in hierarchy.lines for label in line[1:]}
    groups = {label: hierarchy.below(label) or frozenset() for label in labels}
    leaves = [line[0] for line in hierarchy.lines]
    return {label: own for label, own in groups.items() if own != {label}}, tuple(leaves)


def _closed(rows: list[tuple[str | None, str | None]], path: Path) -> tuple[dict[str, frozenset[str]], tuple[str, ...]]:
    """Return the leaves below every parent."""
    below: dict[str, list[str]] = {}
    written: dict[str, str] = {}
    for number, (child, parent) in enumerate(rows, 1):
        if not child or not parent or folded(child) == folded(parent):
            raise InputError(
                f"each row of {shown(path)} must hold a code and another one above it, but row {number} does not "
                "(counted from 1 below the header). Fill in child and parent"
            )
        below.setdefault(folded(parent), []).append(folded(child))
        written.setdefault(folded(child), child)
    found: dict[str, frozenset[str]] = {}

    def leaves(code: str, above: tuple[str, ...]) -> frozenset[str]:
        if code in above:
            raise InputError(
                f"the codes of {shown(path)} must not contain a cycle, but one code is its own ancestor. Remove one "
                "of its rows"
            )
        if code not in below:
            return frozenset({code})
        if code not in found:
            found[code] = frozenset().union(*(leaves(child, (*above, code)) for child in below[code]))
        return found[code]

    for parent in below:
        leaves(parent, ())
    return found, tuple(label for key, label in written.items() if key not in below)
