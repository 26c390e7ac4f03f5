"""How the findings about a matching attack are shown: JSON, limits, table, page and pictures."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from unveil._kernels.types import FloatArray
from unveil.metrics.matchings.cracks import Cracks, EstimatedFigure
from unveil.metrics.matchings.itemsets import Itemsets
from unveil.questions.matching import words
from unveil.questions.matching.charts import crack_chart, entries_chart
from unveil.questions.matching.findings import MatchingFindings, ReleaseAlone
from unveil.questions.matching.tables import (
    MOST_ENTRIES,
    at_risk_table,
    group_numbers,
    group_table,
    heuristic_numbers,
    key_numbers,
    release_table,
    set_numbers,
    set_table,
)
from unveil.questions.matching.words import TAIL, UNSETTLED, certainty, method_words
from unveil.questions.result import PLAIN, PageContext, QuestionView
from unveil.report.blocks import Block, Page, Section
from unveil.report.limits import Quantity
from unveil.report.terminal import Figures, Part, opening
from unveil.report.text import count

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MEANINGS = {
    "cracked_share": "expected share of entries that get their true token, from 0 to 1",
    "cracked_share.high": "the same, two standard errors higher where it was sampled; 1 if chains do not agree",
    "cracks_q95": "how many entries are cracked at least with a probability of 5%",
    "cracks_q95.high": "the same, with sampled probabilities two standard errors higher",
    "highest_crack_probability": "probability that the entry most at risk is cracked",
    "d": "degree of anonymity, from 0 (one matching is left) to 1 (all equally likely). Exceeded when less than VALUE: "
    "more is more private",
    "d.low": "the same, two standard errors lower where it was sampled; 0 if chains do not agree. Exceeded when less "
    "than VALUE",
    "group_found_share": "expected share of entries that get a token of their own group (needs --groups)",
    "group_found_share.high": "the same, two standard errors higher where it was sampled (needs --groups)",
    "set_found": "probability that the set most at risk is found as a whole (needs --sets)",
    "set_found.high": "the same, two standard errors higher where it was sampled (needs --sets)",
    "believed_share": "without the truth: expected share of entries cracked if the truth is as the adversary believes",
    "most_cracked_share": "without the truth: expected share of entries cracked for the truth that favours the "
    "adversary most",
}


def meanings() -> dict[str, str]:
    """Return what each quantity means that a limit can be set for."""
    return dict(_MEANINGS)


def quantities(findings: MatchingFindings) -> dict[str, Quantity]:
    """Return the figures that a limit can be set for."""
    cracks, luck = findings.cracks, findings.cracks.at_least(TAIL)
    values = {
        "cracked_share": cracks.cracked_share.value,
        "cracked_share.high": end_of(cracks.cracked_share, +2),
        "cracks_q95": float(luck.at_least),
        "cracks_q95.high": float(cracks.n if cracks.r_hat > UNSETTLED else luck.high),
        "highest_crack_probability": float(cracks.crack_probability.max()),
        "d": cracks.d.value,
        "d.low": end_of(cracks.d, -2),
    }
    if cracks.groups is not None:
        share = _divided(cracks.groups.expected, cracks.n)
        values |= {"group_found_share": share.value, "group_found_share.high": end_of(share, +2)}
    if cracks.itemsets is not None:
        sets = [each.found for each in cracks.itemsets.sets]
        values |= {
            "set_found": max(each.value for each in sets),
            "set_found.high": max(end_of(each, +2) for each in sets),
        }
    return as_quantities(values)


def as_quantities(values: Mapping[str, float]) -> dict[str, Quantity]:
    """Return figures by name as what a limit can be set for."""
    return {
        name: Quantity(
            name=name,
            value=value,
            meaning=_MEANINGS[name],
            exceeded_when_undefined=False,
            more_is_worse=not name.startswith("d"),
        )
        for name, value in values.items()
    }


def _divided(figure: EstimatedFigure, by: int) -> EstimatedFigure:
    return EstimatedFigure(figure.value / by, figure.error / by, figure.method, figure.r_hat, figure.kind)


def end_of(figure: EstimatedFigure, errors: int) -> float:
    """Return a share so many standard errors away, or the share itself where it is exact or already a bound.

    Chains that do not agree say nothing: a limit must not be kept because of them.
    """
    if figure.r_hat > UNSETTLED:
        return float(errors > 0)
    if figure.kind != "sampled":
        return figure.value
    low, high = (0.0, 1.0) if math.isnan(figure.low) else (figure.low, figure.high)
    return float(min(max(figure.value + errors * figure.error, low), high))


def plot(findings: MatchingFindings) -> "NDArray[Any]":
    """Return matplotlib axes with the distribution of cracks, and how exposed entries are."""
    from unveil.report.draw.lines import draw_all

    return draw_all([crack_chart(findings.cracks, findings.blind), entries_chart(findings.cracks)])


def headline(findings: MatchingFindings) -> str:
    """Return the answer in one sentence: how many entries are cracked, expected and with bad luck."""
    return words.headline(findings.cracks)


def page(findings: MatchingFindings, context: PageContext = PLAIN) -> Page:
    """Return the whole report as data; :func:`unveil.report.page.render` turns it into HTML.

    Entries are named, so the page is for whoever holds the data; tokens are not, because a name beside its token is the
    key to the whole release.
    """
    cracks, blind = findings.cracks, findings.blind
    sections = [_key_section(cracks, blind), _entries_section(cracks, findings.entries)]
    if cracks.groups is not None:
        sections.append(_group_section(cracks))
    if cracks.itemsets is not None:
        sections.append(_set_section(cracks.itemsets))
    if findings.releases:
        sections.append(release_section(findings.releases, cracks.expected_cracks, cracks.d))
    sections.append(_heuristic_section(cracks))
    return Page(
        title="Cracks of a matching attack",
        question=f"To how many of {count(cracks.n, 'entry', 'entries')} does the adversary give their true token?",
        headline=headline(findings),
        explanation=words.explanation(cracks),
        next_steps=words.next_steps(cracks),
        picture=(crack_chart(cracks, blind),),
        tone=words.tone(cracks),
        sections=tuple(sections),
        method=_method(cracks, words.held_sentence(findings)),
        limitations=_UNTESTED,
        notes=findings.notes,
        seed=context.seed,
        strip=context.strip,
        edition="internal",
    )


def _key_section(cracks: Cracks, blind: FloatArray) -> Section:
    return Section(
        heading="The figures",
        lead="Beside each figure stands what an adversary who knows nothing reaches; what is above that, this one owes "
        "to what it holds.",
        blocks=key_numbers(cracks, blind),
    )


def _entries_section(cracks: Cracks, entries: Sequence[str]) -> Section:
    many = cracks.n > MOST_ENTRIES
    blocks: tuple[Block, ...] = (*((entries_chart(cracks),) if many else ()), at_risk_table(cracks, entries))
    return Section(
        heading="Which entries are most at risk",
        lead="Names of entries are for whoever holds the data. Their tokens are left out: names beside tokens would be "
        "the key to the release.",
        blocks=blocks,
    )


def _group_section(cracks: Cracks) -> Section:
    return Section(
        heading="Groups of entries",
        lead="Where entries of a group reveal the same, a token of the right group is as bad as the right token.",
        blocks=(*group_numbers(cracks), group_table(cracks)),
    )


def _set_section(itemsets: Itemsets) -> Section:
    return Section(
        heading="Sets of entries",
        lead="Where a set matters as a whole (products bought together, diagnoses of one kind), it is enough to find "
        "its tokens: which of them is which entry may stay open.",
        blocks=(*set_numbers(itemsets), set_table(itemsets)),
    )


def release_section(releases: Sequence[ReleaseAlone], cracks: EstimatedFigure | None, d: EstimatedFigure) -> Section:
    """Return what each of several releases reaches alone."""
    return Section(
        heading="Several releases under the same tokens",
        lead="Each further release under the same tokens tells the adversary more of which is which.",
        blocks=(release_table(releases, cracks, d),),
    )


def _heuristic_section(cracks: Cracks) -> Section:
    return Section(
        heading="The heuristic beside the metric",
        lead="Where whole matchings cannot be counted, expected cracks are estimated from the matrix alone. Reports of "
        "others may do so.",
        blocks=heuristic_numbers(cracks),
    )


def _method(cracks: Cracks, held: str) -> tuple[str, ...]:
    sentences = [
        held,
        f"A matching gives each {_each(cracks)}. An entry is cracked when it is given its "
        f"true token. The adversary's matching is taken at random, {_likely(cracks)}.",
        f"Crack probabilities and expected cracks: {_lower(certainty(cracks.expected_cracks))}",
        f"Distribution of cracks: {_distribution_method(cracks)}",
        f"Degree of anonymity: {_lower(certainty(cracks.d))}",
        "Random guessing takes any matching of so many pairs of entries and tokens, all equally likely.",
    ]
    if not math.isnan(cracks.heuristic.value):
        sentences.append(f"The heuristic H adds up the true pairs of the {cracks.heuristic.method}.")
    return (*sentences, f"Definitions: {_SOURCE}.")


def _each(cracks: Cracks) -> str:
    if cracks.n == cracks.pairs == cracks.token_count:
        return "entry one token and each token to one entry"
    return "entry at most one token and each token to at most one entry"


def _likely(cracks: Cracks) -> str:
    listed = math.isnan(cracks.log_permanent.value)
    return "each as likely as was said" if listed else "each as likely as the product of its weights"


def _distribution_method(cracks: Cracks) -> str:
    by = method_words(cracks.crack_distribution_method)
    if (cracks.crack_distribution_error > 0).any():
        largest = float(cracks.crack_distribution_error.max())
        return f"sampled, with standard errors of at most {largest:.2g}, by {by}."
    return f"exact, by {by}."


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]


_SOURCE = (
    "cracks by Lakshmanan, Ng and Ramesh (2008) and Bagai, Malik and Jadliwala (2017); degree of anonymity by Edman, "
    "Sivrikaya and Yener (2007)"
)
_UNTESTED = (
    "Whether another adversary knows more: only what was given is measured.",
    "Whether the adversary's weights deserve belief: they are taken as they are.",
    "What a cracked entry reveals about a person, or what further releases with the same tokens would add.",
)


def brief(findings: MatchingFindings, *, top: int) -> Iterator[Part]:
    """Yield what a terminal shows: the headline, the figures with their meaning, the entries most at risk."""
    cracks = findings.cracks
    yield from opening(page(findings))
    yield ""
    yield Figures(key_numbers(cracks, findings.blind))
    yield from ("", words.heuristic_sentence(cracks), words.nmape_sentence(cracks), words.flat_sentence(cracks))
    if cracks.groups is not None:
        yield ""
        yield group_table(cracks)
    if cracks.itemsets is not None:
        yield ""
        yield Figures(set_numbers(cracks.itemsets))
        yield ""
        yield set_table(cracks.itemsets, at_most=max(top, 10))
    if findings.releases:
        yield ""
        yield release_table(findings.releases, cracks.expected_cracks, cracks.d)
    if top:
        yield ""
        yield at_risk_table(cracks, findings.entries, at_most=top)


VIEW: QuestionView[MatchingFindings] = QuestionView(
    schema="unveil.matching/1",
    findings=MatchingFindings,
    about="The answer of `unveil matching` where the true tokens are known.",
    quantities=quantities,
    frame=lambda findings: findings.entry_frame,
    page=page,
    plot=plot,
    meanings=meanings,
)
