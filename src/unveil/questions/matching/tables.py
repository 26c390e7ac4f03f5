"""The figures of a matching attack as text: the same on the page and in the terminal."""

import math
from collections.abc import Sequence

import numpy as np

from unveil._kernels.types import FloatArray
from unveil.metrics.matchings.cracks import Cracks, EstimatedFigure
from unveil.metrics.matchings.itemsets import Itemsets
from unveil.metrics.matchings.permanents import Ambiguity
from unveil.questions.matching.findings import ReleaseAlone
from unveil.questions.matching.words import (
    CERTAIN,
    TAIL,
    amount,
    bias_meaning,
    certainty,
    flat_sentence,
    heuristic_sentence,
    nmape_sentence,
    or_more,
    permanent_certainty,
    permanent_text,
    tone,
)
from unveil.report.blocks import Number, Side, TableBlock
from unveil.report.text import count, decimal, name, percent, significant

#: How many entries the table of those most at risk names.
MOST_ENTRIES = 20
_LEFT: Side = "left"
_RIGHT: Side = "right"


def key_numbers(cracks: Cracks, blind: FloatArray) -> tuple[Number, ...]:
    """Return the figures that matter most, each with one sentence and with how far it may be off.

    ``blind`` is the distribution of cracks for an adversary who knows nothing.
    """
    return (*_crack_numbers(cracks, blind), *matching_numbers(cracks))


def _crack_numbers(cracks: Cracks, blind: FloatArray) -> tuple[Number, ...]:
    n, expected, luck = cracks.n, cracks.expected_cracks, cracks.at_least(TAIL)
    often = float(cracks.crack_distribution[luck.at_least :].sum())
    about = f" That is {percent(often)} of the time; {_none_more(luck.at_least, n)}" if luck.at_least else ""
    return (
        Number(
            label="Expected cracks",
            value=f"{amount(expected)} of {count(n)}",
            meaning=f"Entries to which the adversary gives their true token, on average. {certainty(expected)}",
            reference=decimal(cracks.blind_cracks) if n > 1 else "",
            tone=tone(cracks),
        ),
        Number(
            label="Cracks with a probability of 5%",
            value=or_more(luck.at_least, n),
            meaning=f"What an adversary with some luck cracks at least.{about} {_luck_certainty(cracks)}",
            reference=or_more(_last(blind), n) if n > 1 else "",
        ),
    )


def _none_more(at_least: int, n: int) -> str:
    return "no greater number reaches 5%." if at_least < n else "there are no more."


def _luck_certainty(cracks: Cracks) -> str:
    luck = cracks.at_least(TAIL)
    if (cracks.crack_distribution_error > 0).any():
        sampled = EstimatedFigure(luck.at_least, 0.0, luck.method, cracks.r_hat)
        if luck.low == luck.high:
            return f"Sampled, and the same within two standard errors, {_by(sampled)}."
        return f"Sampled: within two standard errors it is {count(luck.low)} to {count(luck.high)}, {_by(sampled)}."
    return certainty(EstimatedFigure(luck.at_least, 0.0, luck.method))


def _by(figure: EstimatedFigure) -> str:
    return certainty(figure).partition(", ")[2].rstrip(".")


def _last(chance: FloatArray) -> int:
    """Return the largest number that is reached or passed with a probability of 5%."""
    tail = np.cumsum(chance[::-1])[::-1]
    return int(np.flatnonzero(tail >= TAIL - 1e-12).max(initial=0))


def matching_numbers(result: Cracks | Ambiguity) -> tuple[Number, ...]:
    """Return how many matchings are left, on a scale from 0 to 1 and as they are."""
    d = result.d
    value = _degree(d)
    numbers = [
        Number(
            label="Degree of anonymity d",
            value=value,
            meaning="How unsure the adversary is of the whole matching: 0 when one is left, 1 when all are equally "
            f"likely. It does not say how close those that are left come to the truth. {certainty(d)}",
        )
    ]
    log = result.log_permanent
    if not math.isnan(log.value):
        numbers.append(
            Number(
                label="Permanent of the matrix"
                if result.n == result.pairs == result.token_count
                else "Weight of all pairings",
                value=f"{permanent_text(result)}{' or more' if log.kind == 'bracket' else ''}",
                meaning="The weights of all possible matchings, added up; for a matrix of 0 and 1 it is their number. "
                f"{permanent_certainty(log)}",
            )
        )
    return tuple(numbers)


def heuristic_numbers(cracks: Cracks) -> tuple[Number, ...]:
    """Return the heuristic beside what it stands for, and how far off it is for an adversary who is right."""
    bias = cracks.matched_bias
    off = "undefined" if math.isnan(bias.value) else f"{bias.value * 100:+.1f}%"
    off = "0.0%" if off == "-0.0%" or off == "+0.0%" else off
    return (
        Number(
            label="Heuristic H",
            value=decimal(cracks.heuristic.value),
            meaning=heuristic_sentence(cracks),
        ),
        Number(
            label="Matched bias of H",
            value=off,
            meaning=f"{bias_meaning(cracks)} {certainty(bias)}".strip(),
        ),
        Number(
            label="NMAPE of H",
            value="undefined" if math.isnan(cracks.nmape.value) else percent(cracks.nmape.value / 100, places=2),
            meaning=f"{nmape_sentence(cracks)} {certainty(cracks.nmape)}".strip(),
        ),
        flat_number(cracks),
    )


def flat_number(result: Cracks | Ambiguity) -> Number:
    """Return whether all possible matchings are equally likely."""
    return Number(label="Flat", value="yes" if result.flat else "no", meaning=flat_sentence(result))


def at_risk_table(cracks: Cracks, entries: Sequence[str], *, at_most: int = MOST_ENTRIES) -> TableBlock:
    """Return the entries that are cracked most often; tokens are left out, because both together are the key."""
    chance, error = cracks.crack_probability, cracks.crack_probability_error
    sampled = bool((error > 0).any())
    # Rounding must not decide between entries that are equally exposed.
    likely = chance.round(12).tolist()
    order = sorted(range(cracks.n), key=lambda at: (-likely[at], entries[at]))[:at_most]
    groups, unequal = cracks.groups, cracks.pairs < cracks.n
    columns = ["Entry", "Cracked with probability"]
    columns += ["Standard error"] if sampled else []
    columns += ["Group found with probability"] if groups is not None else []
    columns += ["Left without token"] if unequal else []
    rows = []
    for at in order:
        row = [name(entries[at]), _chance(chance[at])]
        row += [significant(float(error[at]), digits=2) if error[at] > 0 else "exact"] if sampled else []
        row += [_chance(groups.probability[at])] if groups is not None else []
        row += [_chance(cracks.no_token[at])] if unequal else []
        rows.append(tuple(row))
    rest = cracks.n - len(rows)
    return TableBlock(
        caption="Entries most at risk" if rest else "Entries by risk",
        columns=tuple(columns),
        rows=tuple(rows),
        align=(_LEFT, *(_RIGHT for _ in columns[1:])),
        note=f"The other {count(rest, 'entry is', 'entries are')} cracked less often or as often; JSON has them all."
        if rest
        else "",
    )


def _chance(value: float) -> str:
    return "100% (certain)" if value >= CERTAIN else percent(float(value))


def group_numbers(cracks: Cracks) -> tuple[Number, ...]:
    """Return how many entries get a token of their own group; nothing where there are no groups."""
    if cracks.groups is None:
        return ()
    expected = cracks.groups.expected
    return (
        Number(
            label="Entries whose group is found",
            value=f"{amount(expected)} of {count(cracks.n)}",
            meaning="Entries that get a token of their own group, on average, be it their own token or not. "
            f"{certainty(expected)}",
            reference=decimal(cracks.groups.by_chance),
        ),
    )


def group_table(cracks: Cracks) -> TableBlock:
    """Return for each group how many of its entries get a token of the group."""
    categories = () if cracks.groups is None else cracks.groups.categories
    return TableBlock(
        caption="Groups found",
        columns=("Group", "Entries", "Group found", "By chance", "Entries cracked"),
        rows=tuple(
            (
                name(each.name),
                count(each.size),
                amount(each.expected),
                decimal(each.by_chance),
                amount(each.entries_cracked),
            )
            for each in sorted(categories, key=lambda each: (-round(each.expected.value / each.size, 12), each.name))
        ),
        align=(_LEFT, _RIGHT, _RIGHT, _RIGHT, _RIGHT),
        note="Expected numbers of entries; the groups that are found most often come first.",
    )


def set_numbers(itemsets: Itemsets) -> tuple[Number, ...]:
    """Return how many sets are found, and how likely one is."""
    total, some, many = itemsets.expected, itemsets.any_found, len(itemsets.sets)
    value = percent(some.value) if some.kind != "bracket" else f"{percent(some.value)} or more"
    bound = "" if some.kind != "bracket" else f" It is at most {percent(some.value + some.error)}, all sets added up."
    return (
        Number(
            label="Sets found",
            value=f"{amount(total)} of {count(many)}",
            meaning="Sets whose entries get exactly the set's tokens, in any order, on average; overlapping sets count "
            f"each by itself. {certainty(total)}",
            reference=decimal(sum(each.by_chance for each in itemsets.sets)),
        ),
        Number(
            label="At least one set is found",
            value=value,
            meaning=f"The probability of that.{bound or ' ' + certainty(some)}",
        ),
    )


def set_table(itemsets: Itemsets, *, at_most: int = MOST_ENTRIES) -> TableBlock:
    """Return for each set how likely it is found, those most at risk first."""
    order = sorted(itemsets.sets, key=lambda each: (-round(each.found.value, 12), each.name))
    sampled = any(not each.found.exact for each in order)
    columns = ("Set", "Entries", "Found", *(("Standard error",) if sampled else ()), "By chance", "Every entry cracked")
    rest = len(order) - at_most
    return TableBlock(
        caption="Sets found as a whole",
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
            for each in order[:at_most]
        ),
        align=(_LEFT, *(_RIGHT for _ in columns[1:])),
        note="A set is found when its entries get exactly its tokens, whichever gets which."
        + (f" The other {count(rest, 'set is', 'sets are')} found less often or as often." if rest > 0 else ""),
    )


def _small_chance(value: float) -> str:
    return significant(value, digits=2) if 0 < value < 0.0005 else _chance(value)


def release_table(alone: Sequence[ReleaseAlone], cracks: EstimatedFigure | None, d: EstimatedFigure) -> TableBlock:
    """Return what each release reaches alone, and all of them together."""
    rows = [(name(each.name), each.expected_cracks, each.d) for each in alone] + [("all together", cracks, d)]
    columns = ("Release", *(("Expected cracks",) if cracks is not None else ()), "Degree of anonymity d")
    return TableBlock(
        caption="Each release alone, and all together",
        columns=columns,
        rows=tuple(
            (label, *((amount(figure),) if figure is not None else ()), _degree(degree))
            for label, figure, degree in rows
        ),
        align=(_LEFT, *(_RIGHT for _ in columns[1:])),
        note="The lower d is, the fewer matchings are left.",
    )


def _degree(figure: EstimatedFigure) -> str:
    return decimal(figure.value) if figure.kind != "bracket" else f"{decimal(figure.value)} or more"
