"""Secondary suppression: the further cells to suppress, and what can be recovered then."""

from unveil.metrics.counts.count_disclosure import CellDisclosure
from unveil.questions.result import PageContext
from unveil.questions.tables.findings import SuppressionFindings, TablesFindings
from unveil.report.blocks import NextStep, Section, TableBlock
from unveil.report.text import count


def undecided(figures: CellDisclosure) -> int:
    """Return for how many cells it is not settled whether they can be recovered."""
    return figures.undecided + figures.unlisted_undecided


def section(findings: TablesFindings, context: PageContext) -> Section | None:
    """Return the effect of secondary suppression; None where it was not requested."""
    del context
    if findings.repair is None:
        return None
    return Section(
        heading="Secondary suppression",
        question="Which further cells must be suppressed?",
        lead=" ".join(effects(findings.repair)),
        blocks=(repair_table(findings.repair, findings),),
    )


def effects(repair: SuppressionFindings) -> list[str]:
    """Return the cost of secondary suppression, what remains, and what rounding would leave."""
    small = count(repair.after.small, "small cell", "small cells")
    sentences = [
        f"With {count(repair.suppressed_after)} of {count(repair.listed)} cells suppressed "
        f"({count(repair.suppressed_before)} before), the same attack recovers {small}. A smaller set may suffice."
    ]
    if repair.helpless:
        sentences.append(
            f"For {count(repair.helpless)} of them no suppression helps, because no other count fits: merge codes or "
            "round."
        )
    if repair.keep > 2:
        short = f"; {count(repair.short)} cannot, whatever is suppressed" if repair.short else ""
        fewer = count(repair.tight, "small cell has", "small cells have")
        sentences.append(
            f"{fewer} fewer than {repair.keep} possible values{short}."
            if repair.tight
            else f"Every small cell has at least {repair.keep} possible values."
        )
    if repair.rounding:
        each = [
            f"base {one.base}: {count(one.recovered)}{' or more' if one.undecided else ''}" for one in repair.rounding
        ]
        sentences.append(f"Recovered cells after random rounding instead: {'; '.join(each)}.")
    return sentences


def repair_steps(findings: TablesFindings) -> list[str]:
    """Return what to do with the tables with secondary suppression."""
    repair = findings.repair
    if repair is None:
        return []
    if repair.after.small:
        left = count(repair.after.small, "small cell", "small cells")
        return [f"Merge codes or round as well: {left} can be recovered after secondary suppression."]
    if undecided(repair.after):
        return [
            NextStep(
                "Allow more solver steps before you publish the suppressed tables.",
                option="solver_steps in the settings file",
            )
        ]
    return ["Publish the tables with secondary suppression: no small cell can be recovered from them."]


def repair_table(repair: SuppressionFindings, findings: TablesFindings) -> TableBlock:
    """Return the results before and after secondary suppression, by the same attack."""
    before, after = findings.figures, repair.after
    rows = (
        ("Suppressed", count(repair.suppressed_before), count(repair.suppressed_after)),
        ("Recovered", count(before.recovered), count(after.recovered)),
        ("Small cells recovered", count(before.small), count(after.small)),
        ("Approximate", count(before.approximate), count(after.approximate)),
        ("Known to be small", count(before.known_small), count(after.known_small)),
        *([(f"Small cells with fewer than {repair.keep} values", "", count(repair.tight))] if repair.keep > 2 else []),
    )
    return TableBlock(
        caption="Before and after secondary suppression",
        columns=("Cells", "Before", "After"),
        rows=rows,
        align=("left", "right", "right"),
    )
