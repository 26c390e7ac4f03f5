"""Sets: items that are resolved together, items that reveal the same, and several releases."""

from collections.abc import Sequence

from unveil.metrics.matchings.cracks import Cracks, EstimatedValue
from unveil.metrics.matchings.itemsets import Itemsets
from unveil.questions.matching.estimates import amount, certainty, chance_text, degree_text
from unveil.questions.matching.findings import ReleaseAlone
from unveil.report.blocks import Section, Side, TableBlock
from unveil.report.text import about, count, decimal, name, percent, significant

_RIGHT: Side = "right"
_MOST_SETS = 20


def section(cracks: Cracks) -> Section | None:
    """Return the sets and groups of items that the attack resolves; None where none were given."""
    groups, sets = cracks.groups, cracks.itemsets
    if groups is None and sets is None:
        return None
    sentences, blocks = [], []
    if sets is not None:
        sentences += _set_sentences(sets)
        blocks.append(set_table(sets))
    if groups is not None:
        sentences.append(
            f"{amount(groups.expected)} of {count(cracks.n)} items are expected to get a pseudonym of their group "
            f"(baseline {decimal(groups.by_chance)})."
        )
        blocks.append(group_table(cracks))
    return Section(
        heading="Sets",
        question="Which items are resolved together, or up to their group?",
        lead=" ".join(sentences),
        blocks=tuple(blocks),
    )


def _set_sentences(itemsets: Itemsets) -> list[str]:
    """Return the expected resolved sets, the worst set, and any set."""
    total, some, sets = itemsets.expected, itemsets.any_found, itemsets.sets
    most = max(sets, key=lambda each: each.found.value)
    any_found = percent(some.value)
    if some.kind == "bracket":
        any_found = f"{percent(some.value)} to {percent(some.value + some.error)}"
    baseline = decimal(sum(each.by_chance for each in sets))
    return [
        f"{amount(total)} of {count(len(sets), 'set is', 'sets are')} expected to be resolved (baseline {baseline}).",
        f"Most at risk: {name(most.name, 40)}, {about(most.found.value)} (baseline {about(most.by_chance)}).",
        f"P(any set) {any_found}. {certainty(total)}",
    ]


def set_table(itemsets: Itemsets) -> TableBlock:
    """Return the probability that each set is resolved, the highest first."""
    order = sorted(itemsets.sets, key=lambda each: (-round(each.found.value, 12), each.name))
    sampled = any(not each.found.exact for each in order)
    error = ("Standard error",) if sampled else ()
    columns = ("Set", "Items", "P(set resolved)", *error, "Baseline", "P(every item resolved)")
    left = len(order) - _MOST_SETS
    return TableBlock(
        caption="Sets resolved as a whole",
        columns=columns,
        rows=tuple(
            (
                name(each.name),
                count(each.size),
                _small_chance(each.found.value),
                *(("exact" if each.found.exact else significant(each.found.error, digits=2),) if sampled else ()),
                _small_chance(each.by_chance),
                _small_chance(each.cracked.value),
            )
            for each in order[:_MOST_SETS]
        ),
        align=("left", *(_RIGHT for _ in columns[1:])),
        note="A set is resolved if its items get exactly its pseudonyms, in any order."
        + (f" {count(left, 'more set is', 'more sets are')} in the JSON output." if left > 0 else ""),
    )


def _small_chance(value: float) -> str:
    return significant(value, digits=2) if 0 < value < 0.0005 else chance_text(value)


def group_table(cracks: Cracks) -> TableBlock:
    """Return the expected number of items of each group that get a pseudonym of the group."""
    categories = () if cracks.groups is None else cracks.groups.categories
    return TableBlock(
        caption="Groups resolved",
        columns=("Group", "Items", "Group resolved", "Baseline", "Items resolved"),
        rows=tuple(
            (
                name(each.name),
                count(each.size),
                amount(each.expected),
                decimal(each.by_chance),
                amount(each.items_cracked),
            )
            for each in sorted(categories, key=lambda each: (-round(each.expected.value / each.size, 12), each.name))
        ),
        align=("left", _RIGHT, _RIGHT, _RIGHT, _RIGHT),
        note="Expected numbers of items.",
    )


def release_section(
    releases: Sequence[ReleaseAlone], resolved: EstimatedValue | None, d: EstimatedValue
) -> Section | None:
    """Return the results of each of several releases alone; None where there is only one."""
    if not releases:
        return None
    rows = [(name(each.name), each.expected_cracks, each.d) for each in releases] + [("all together", resolved, d)]
    columns = ("Release", *(("Expected resolved",) if resolved is not None else ()), "Degree of anonymity d")
    table = TableBlock(
        caption="Each release alone, and all together",
        columns=columns,
        rows=tuple(
            (label, *((amount(figure),) if figure is not None else ()), degree_text(degree))
            for label, figure, degree in rows
        ),
        align=("left", *(_RIGHT for _ in columns[1:])),
    )
    return Section(
        heading="Several releases",
        question="How much do releases with the same pseudonyms add?",
        lead=f"Together the releases have a degree of anonymity of {degree_text(d)}.",
        blocks=(table,),
    )
