"""What hiding more does to tables of counts, in plain sentences: what it costs, what is left, what else there is."""

from unveil.metrics.counts.count_disclosure import CountFigures
from unveil.questions.tables.findings import RepairFindings, TablesFindings
from unveil.report.text import count


def counts_word(number: int) -> str:
    """Return the word for so many counts."""
    return "count" if number == 1 else "counts"


def small_counts(number: int) -> str:
    """Return so many small counts in words."""
    return f"{count(number)} small {counts_word(number)}"


def begin(text: str) -> str:
    """Return a text with a capital letter, as a sentence begins."""
    return text[:1].upper() + text[1:]


def undecided(figures: CountFigures) -> int:
    """Return of how many counts it was not settled whether they can be worked out."""
    return figures.undecided + figures.unlisted_undecided


def repair_steps(findings: TablesFindings) -> list[str]:
    """Return what to do with the repaired tables."""
    repair = findings.repair
    if repair is None:
        return []
    hidden = f"{count(repair.hidden_after)} of {count(repair.listed)} counts are hidden there"
    if repair.after.small:
        left = f"{small_counts(repair.after.small)} can still be worked out"
        return [f"Merge codes or round as well: in the repaired tables {left}."]
    if undecided(repair.after):
        return [f"Ask again with more --work before you publish the repaired tables: {hidden}, and not all is settled."]
    kept = f", each with at least {repair.keep} values left" if repair.keep > 2 and not repair.tight else ""
    return [f"Publish the repaired tables in their place: {hidden}, and no small count can be worked out{kept}."]


def repair_sentences(findings: TablesFindings) -> list[str]:
    """Return what hiding more does: what it costs, what is left, and what rounding would leave."""
    repair = findings.repair
    if repair is None:
        return []
    said = [
        f"With {count(repair.hidden_after)} of {count(repair.listed)} counts hidden ({count(repair.hidden_before)} "
        f"before), the same attack finds {count(repair.after.small) if repair.after.small else 'no'} small "
        f"{counts_word(repair.after.small)}{_helpless(repair)}. Fewer might do: it is no least set.",
        *_width(repair),
    ]
    if repair.after.narrow:
        hint = "" if repair.keep > findings.values else f"; --keep {findings.values + 1} hides for more"
        said.append(
            f"{begin(count(repair.after.narrow))} hidden {counts_word(repair.after.narrow)} "
            f"{'has' if repair.after.narrow == 1 else 'have'} at most {findings.values} values left then{hint}."
        )
    if repair.rounding:
        each = [
            f"base {one.base}: {count(one.worked_out)}{' or more' if one.undecided else ''}" for one in repair.rounding
        ]
        said.append(f"Rounded at random instead, counts that could be worked out: {'; '.join(each)}.")
    return said


def _helpless(repair: RepairFindings) -> str:
    if not repair.helpless:
        return ""
    return (
        f"; for {count(repair.helpless)} of them it is proven that hiding others cannot help, because no other count "
        "fits: merge codes or round"
    )


def _width(repair: RepairFindings) -> list[str]:
    """Return whether each small count keeps as many values as was asked for, by the attack on what is repaired."""
    if repair.keep == 2:
        return []
    if not repair.tight:
        return [f"Every small count keeps at least {repair.keep} values."]
    short = f"; {count(repair.short)} cannot, whatever is hidden" if repair.short else ""
    return [f"{begin(small_counts(repair.tight))} {_keeps(repair.tight)} fewer than {repair.keep} values{short}."]


def _keeps(number: int) -> str:
    return "keeps" if number == 1 else "keep"
