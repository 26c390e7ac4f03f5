"""Tables and people: rows per person, keys, and which table leaks by which attack."""

from collections.abc import Iterator
from math import isnan

from unveil.metrics.verdict.levels import LEVEL_WORDS
from unveil.questions.audit.children.findings import PEOPLE, PeopleTables
from unveil.questions.audit.decision.findings import AttackEffect, ReleaseDecision
from unveil.questions.audit.decision.text import effect_name, excess_text, is_hidden, leading_release
from unveil.questions.audit.findings import Audit
from unveil.questions.audit.report_context import AuditContext
from unveil.questions.audit.words import LONGEST_NAME, number_of, percent
from unveil.report.blocks import Section, TableBlock, sides
from unveil.report.suppressed_number import SuppressedNumber
from unveil.report.text import count, fixed, name

_ONE_ROW = "one row per person"


def section(audit: Audit, context: AuditContext) -> Section | None:
    """Return the tables behind one row per person, or None where each row is a person anyhow."""
    tables, release = audit.tables, leading_release(audit.decision)
    if tables is None or release is None:
        return None
    transitions = _transitions(tables)
    return Section(
        heading="Tables and people",
        question="Which table leaks, and are its people complete?",
        lead=" ".join(_sentences(tables, release)),
        blocks=(_matrix(tables, release),),
        data=(_facts(tables), *([] if transitions is None else [transitions])),
    )


def _sentences(tables: PeopleTables, release: ReleaseDecision) -> Iterator[str]:
    """Yield which tables leak, how they were joined, and what is wrong with their keys."""
    leaking = [each for each in release.effects if each.is_significant and each.excess.is_tested]
    where: dict[str, list[str]] = {}
    for each in leaking:
        where.setdefault(_shown(tables.table_of(each.attacker)), []).append(effect_name(each, of=False))
    found = "; ".join(f"{table} ({', '.join(dict.fromkeys(attacks))})" for table, attacks in where.items())
    yield f"Significant: {found}." if found else "Nothing is significant in any table."
    parent = "the columns of the people table and " if tables.has_parent else ""
    yield (
        f"Most attacks see one row per person: {parent}summaries of {_listed(tables)} (number of rows, first time and "
        "mean gap, mean, most frequent value)."
    )
    yield from (f"{each}." for each in tables.problems())


def _listed(tables: PeopleTables) -> str:
    return ", ".join(name(each, LONGEST_NAME) for each in tables.names)


def _shown(table: str) -> str:
    return _ONE_ROW if table == PEOPLE else name(table, LONGEST_NAME)


def _matrix(tables: PeopleTables, release: ReleaseDecision) -> TableBlock:
    """Return the strongest result of each attack on each table."""
    cells: dict[tuple[str, str], AttackEffect] = {}
    for effect in release.effects:
        place = tables.table_of(effect.attacker), effect_name(effect, of=False)
        if place not in cells or _rank(effect) > _rank(cells[place]):
            cells[place] = effect
    attacks = list(dict.fromkeys(attack for _, attack in cells))
    found = dict.fromkeys(table for table, _ in cells)
    seen = [each for each in (PEOPLE, *tables.names) if each in found]
    seen += [each for each in found if each not in seen]
    return TableBlock(
        caption="What leaks, by attack and table",
        columns=("Attack", *map(_shown, seen)),
        rows=tuple((attack, *(_cell(cells.get((table, attack)), tables) for table in seen)) for attack in attacks),
        align=sides("l" * (len(seen) + 1)),
        note=(
            "The strongest attacker of each: level, excess risk in points (at least, at most), and its view of the "
            "table. ● significant, ○ not significant, – not tested."
        ),
        prose=True,
    )


def _rank(effect: AttackEffect) -> tuple[bool, bool, float]:
    value = effect.excess.value
    shown = 0.0 if isinstance(value, SuppressedNumber) or isnan(value) else float(value)
    return effect.excess.is_tested, effect.is_significant, shown


def _cell(effect: AttackEffect | None, tables: PeopleTables) -> str:
    if effect is None:
        return ""
    if not effect.excess.is_tested:
        return "–"
    level = LEVEL_WORDS[effect.level] if effect.level else "not significant"
    excess = "" if is_hidden(effect) else f", {excess_text(effect)}"
    view = tables.view_of(effect.attacker).partition(",")[2].strip()
    return f"{'●' if effect.is_significant else '○'} {level}{excess}{f' ({view})' if view else ''}"


def _facts(tables: PeopleTables) -> TableBlock:
    """Return rows and people of each table, before and after."""
    people = count(tables.people), count(tables.released_people)
    parent = ((PEOPLE, *people, *people, "1", "1", "–"),) if tables.has_parent else ()
    rows = (
        (
            name(each.name, LONGEST_NAME),
            count(each.rows),
            count(each.released_rows),
            number_of(each.people, "", ""),
            count(each.released_people),
            fixed(each.rows_per_person, places=1),
            fixed(each.released_rows_per_person, places=1),
            each.time or "–",
        )
        for each in tables.tables
    )
    return TableBlock(
        caption=f"Tables with the person key {name(tables.key, LONGEST_NAME)}",
        columns=(
            "Table", "Rows, original", "Rows, released", "People, original", "People, released",
            "Rows per person, original", "Rows per person, released", "Time column",
        ),
        rows=(*parent, *rows),
        align=sides("lrrrrrrl"),
        note="People with at least one row.",
        terminal_columns=(0, 1, 2, 5, 6),
    )  # fmt: skip


def _transitions(tables: PeopleTables) -> TableBlock | None:
    """Return how far the steps from one value to the next lie from those of the original."""
    rows = tuple(
        (
            name(table.name, LONGEST_NAME),
            name(each.column, LONGEST_NAME),
            percent(each.distance),
            "–" if isnan(each.control) else percent(each.control),
        )
        for table in tables.tables
        for each in table.transitions
    )
    if not rows:
        return None
    return TableBlock(
        caption="Utility: transitions between consecutive values",
        columns=("Table", "Column", "Release", "Control group"),
        rows=rows,
        align=sides("llrr"),
        note=(
            "Total variation distance from the transitions of the original: 0% is the same, 100% has nothing in "
            "common. The control group shows what chance alone makes."
        ),
    )
