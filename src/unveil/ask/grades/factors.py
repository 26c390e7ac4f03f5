"""What explains the scores, in rows: the share of each group of factors, and the fitted models term by term."""

from collections.abc import Mapping

from unveil.grade.factors import Factors
from unveil.show.blocks import Table
from unveil.ask.grades.findings import GradesFindings, words
from unveil.ask.grades.tables import sides
from unveil.show.text import UNDEFINED, percent, significant

#: The groups of factors in words, in the order of the table.
GROUPS: Mapping[str, str] = {
    "metric": "the metric",
    "data": "the data set",
    "protection": "the protection",
    "attack": "the attack",
    "type": "the type of data",
    "setting": "data, protection, attack and type together",
    "statistics": "statistics of the data",
    "scope": "whether the attack is local or global",
    "axis": "what makes the adversary stronger",
    "everything but the metric": "everything but the metric",
    "metric, given the rest": "what the metric adds to that",
    "everything": "everything",
}
#: More terms than these are left to JSON and LaTeX.
MOST_TERMS = 15


def group_table(found: GradesFindings) -> Table | None:
    """Return how much of the variance of each score a group of factors explains; None where nothing was fitted."""
    if not found.factors:
        return None
    have = [group for group in GROUPS if any(group in each.shares for each in found.factors)]
    return Table(
        caption="Share of the variance that is explained (linear R²)",
        columns=("explained by", *(words(each.response) for each in found.factors), "by chance"),
        rows=tuple(
            (GROUPS[group], *(_share(each, group) for each in found.factors), _chance(found.factors[0], group))
            for group in have
        ),
        align=sides(1, len(found.factors) + 1),
        note="By chance: what so many factors would explain on average if they had nothing to do with the score.",
    )


def _share(factors: Factors, group: str) -> str:
    return percent(factors.shares[group].r_squared) if group in factors.shares else UNDEFINED


def _chance(factors: Factors, group: str) -> str:
    return percent(factors.shares[group].chance) if group in factors.shares else UNDEFINED


def term_table(found: GradesFindings, factors: Factors, *, most: int | None = None) -> Table:
    """Return the fitted model of a score, the most important terms first (Tables 4, 5 and 6)."""
    terms = factors.mars.terms[:most]
    over = len(factors.mars.terms) - len(terms)
    more = f" {over} more terms are in JSON and LaTeX." if over else ""
    return Table(
        caption=f"What {words(factors.response)} depends on: a model of {len(factors.mars.terms)} terms that explains "
        f"{percent(factors.mars.r_squared)} of the variance",
        columns=("factor", "adds", "importance"),
        rows=(
            ("(always)", f"{factors.mars.intercept:.3g}", ""),
            *(
                (_named(found, term.text), f"{term.coefficient:+.2g}", significant(term.importance, digits=2))
                for term in terms
            ),
        ),
        align=("left", "right", "right"),
        note="Importance: by how much R² falls without the factor. max(0, …) is a hinge: nothing up to a value, "
        f"and from there on a straight line.{more}",
    )


def _named(found: GradesFindings, text: str) -> str:
    """Return a factor as people write it: an attack or a protection without its settings, where that is enough."""
    group, _, name = text.partition(" ")
    if "max(0" in text or group not in ("metric", "attack", "protection", "data", "type", "scope", "axis"):
        return text
    called = found.attacks[name].called if group == "attack" and name in found.attacks else name
    if group == "protection":
        called = found.protections.get(name, name)
    return f"{group}: {words(called) if group in ('metric', 'axis') else called}"


def factors_sentence(found: GradesFindings) -> str:
    """Return whether the metric or its setting explains more, in one sentence; empty where nothing was fitted."""
    for each in found.factors:
        if each.response == "monotonicity" and {"metric", "setting"} <= each.shares.keys():
            metric, rest = each.shares["metric"].r_squared, each.shares["setting"].r_squared
            which = "more than" if metric > rest else "less than"
            return (
                f"Which metric it is explains {percent(metric)} of the variance of monotonicity, {which} data, "
                f"protection, attack and type of data together ({percent(rest)})."
            )
    return ""
