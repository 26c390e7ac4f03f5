"""Suggested changes: generalize or drop columns, then audit again."""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from itertools import islice
from math import ceil

import numpy as np

from unveil.data.table import Table
from unveil.data.table.release import Release
from unveil.errors import whole_number
from unveil.metrics.releases.utility import Utility, loss_summary
from unveil.questions.audit.findings import Audit, AuditedRelease, ChangeKind, SuggestedChange, Suggestions
from unveil.questions.audit.inputs import PreparedAudit, PreparedRelease
from unveil.questions.audit.settings import AuditSettings

#: A column is made coarser until each value that is shown stands for at least this share of the rows; where that
#: changes nothing, for the second.
SHARES = (0.1, 0.3)
#: The kinds of columns whose values can be put together.
_KINDS = ("number", "ordered", "date", "category")
#: An adversary must be left with something to know, or nothing can be measured.
_FEWEST_COLUMNS = 2
#: What audits changed releases with these settings, on the same people as before.
AuditAgain = Callable[[Mapping[str, Release], AuditSettings], Audit]


def suggest(
    audit: Audit, prepared: PreparedAudit, number: int, *, held: Collection[str], audit_again: AuditAgain
) -> Suggestions:
    """Return tested changes of each significantly disclosing release.

    Repeated are the attacks that were proved, and what is ``held`` to a limit (the first parts of the names of such
    figures); where something is held, releases that nothing is proved against are changed too. As all changed releases
    are audited in one, each adjusted p allows for all of them.
    """
    whole_number(number, "suggest")
    against = {each.name: {figure.attack for figure in each.proved} for each in audit.verdict.releases}
    against |= {each.name: against[each.name] | {"copies"} for each in audit.verdict.releases if each.unmistakable}
    repeated = {*held, *(attack for own in against.values() for attack in own)}
    parts = tuple(part for part in prepared.parts if part in repeated)
    changes: list[SuggestedChange] = []
    made: dict[str, Release] = {}
    for found, own in zip(audit.releases, prepared.releases, strict=True):
        if parts and (held or against.get(found.name)):
            for change, table in islice(_changed(found, own), number):
                label = f"{found.name}, change {len(changes) + 1}"
                utility = _utility(prepared, own, change) if "utility" in prepared.parts else None
                changes.append(replace(change, name=label, utility=utility))
                made[label] = Release(prepared.original, table, kind=own.release.kind, name=label, truth=own.truth)
    if not made:
        return Suggestions(attacks=parts)
    settings = replace(
        prepared.settings,
        attacks=parts,
        # Each release says itself of which kind it is.
        release_type=None,
        lacking={each.name: each.columns for each in changes if each.how == "left out"},
    )
    return Suggestions(attacks=parts, changes=tuple(changes), again=audit_again(made, settings))


def _changed(release: AuditedRelease, own: PreparedRelease) -> Iterator[tuple[SuggestedChange, Table]]:
    """Yield changes: the most important column, the next, both, and so on."""
    order = _most_telling(release, own)
    coarser = [name for name in order if _group_size(own.release, name) is not None]
    seen = set()
    for size in range(1, len(order) + 1):
        for columns in (order[size - 1 : size], order[:size]):
            able = tuple(name for name in columns if name in coarser)
            ways: list[tuple[ChangeKind, tuple[str, ...]]] = [("coarser", able), ("left out", columns)]
            for how, names in ways:
                enough = how == "coarser" or len(order) - len(names) >= _FEWEST_COLUMNS
                if names and enough and (how, names) not in seen:
                    seen.add((how, names))
                    change = SuggestedChange(name="", release=release.name, columns=names, how=how)
                    yield change, _apply(own.release, change, cells=own.release.kind == "masked")


def _most_telling(release: AuditedRelease, own: PreparedRelease) -> tuple[str, ...]:
    """Return the quasi-identifiers, by importance, then by number of values."""
    losses = {weight.column: weight.loss for weight in release.weights if weight.loss > 0}
    released = own.release.released
    values = {name: released.series(name).n_unique() for name in own.known}
    return tuple(sorted(own.known, key=lambda name: (-losses.get(name, 0.0), -values[name], name)))


def _group_size(release: Release, name: str) -> int | None:
    """Return rows per value for generalization; 0 for given labels.

    None where it cannot be made coarser by itself: two values put together would leave none.
    """
    column, values = release.original.column(name), release.released.series(name)
    if column.hierarchy is not None and release.kind == "masked":
        return 0
    if column.kind not in _KINDS or release.released.coarse([name]) or values.drop_nulls().n_unique() <= 2:
        return None
    counts = values.drop_nulls().value_counts()["count"]
    # A value that few rows show is what makes them stand out.
    sizes = [max(2, ceil(share * release.released.rows)) for share in SHARES]
    return next((size for size in sizes if bool((counts < size).any())), None)


def _apply(release: Release, change: SuggestedChange, *, cells: bool) -> Table:
    """Return the changed table, with ranges and sets or their middle."""
    from unveil.protections import Generalization

    table = release.released
    if change.how == "left out":
        return table.select([name for name in table.column_names if name not in change.columns])
    sizes = {name: _group_size(release, name) for name in change.columns}
    grouped = {name: size for name, size in sizes.items() if size}
    if grouped:
        mask = Generalization(columns=tuple(grouped), k=tuple(grouped.values()), shuffle=False, cells=cells)
        # Other columns may hold ranges already, which no protection takes for values of people.
        made = mask.apply(table.select(list(grouped)), rng=np.random.default_rng(0)).released
        table = _with_columns(table.select([each.name for each in table.columns if each.role != "identifier"]), made)
    for name in (name for name in change.columns if name not in grouped):
        hierarchy = release.original.column(name).hierarchy
        if hierarchy is not None:
            wider = hierarchy.wider(table.series(name))
            columns = tuple(replace(each, kind="category") if each.name == name else each for each in table.columns)
            table = replace(table, content=table.content.with_columns([wider]), columns=columns, cells=None)
    return table


def _with_columns(table: Table, changed: Table) -> Table:
    """Return a table with some columns replaced."""
    own = {each.name: each for each in changed.columns}
    return replace(
        table,
        columns=tuple(own.get(each.name, each) for each in table.columns),
        content=table.content.with_columns(changed.frame.get_columns()),
        marked={**table.marked, **changed.marked},
        cells=None,
    )


def _utility(prepared: PreparedAudit, own: PreparedRelease, change: SuggestedChange) -> Utility:
    """Return what the changed release has lost.

    A range that holds the value is no loss by the measure, which is for whoever can use ranges; a column that is made
    coarser on purpose is a loss, so the middle of each range is compared.
    """
    table = _apply(own.release, change, cells=False)
    lost = len(change.columns) if change.how == "left out" else 0
    return loss_summary(
        Release(prepared.original, table, name=table.name),
        rng=own.rng("utility"),
        columns_left_out=own.columns_left_out + lost,
    )
