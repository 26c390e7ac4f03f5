"""The page that answers: how many entries does the adversary give their true token?"""

import math
from collections.abc import Sequence
from importlib.metadata import version as installed_version

from unveil.ask.matching.charts import crack_chart, entries_chart
from unveil.ask.matching.tables import (
    MOST_ENTRIES,
    at_risk_table,
    group_numbers,
    group_table,
    heuristic_numbers,
    key_numbers,
)
from unveil.ask.matching.words import certainty, headline, method_words, owner_sentence, tone
from unveil.measure.cracks import Cracks
from unveil.show.blocks import Block, Page, Section
from unveil.show.scale import FloatArray
from unveil.show.text import count

__all__ = [
    "at_risk_table",
    "crack_chart",
    "entries_chart",
    "group_table",
    "headline",
    "heuristic_numbers",
    "key_numbers",
    "page",
]


def page(
    found: Cracks,
    *,
    entries: Sequence[str],
    blind: FloatArray,
    held: str,
    notes: Sequence[str] = (),
    seed: int | None = None,
    version: str | None = None,
) -> Page:
    """Return the whole report as data; :func:`unveil.show.page.render` turns it into HTML.

    Nothing is measured here. Entries are named, so the page is for whoever holds the data; tokens are not, because a
    name beside its token is the key to the whole release. ``blind`` is the distribution of cracks for an adversary who
    knows nothing, ``held`` says in a sentence what this one holds, ``notes`` what the reader must know of the input.
    """
    sections = [_key_section(found, blind), _distribution_section(found, blind), _entries_section(found, entries)]
    if found.groups is not None:
        sections.append(_group_section(found))
    sections.append(_heuristic_section(found))
    return Page(
        title="Cracks of a matching attack",
        question=f"To how many of {count(found.n, 'entry', 'entries')} does the adversary give their true token?",
        headline=headline(found),
        tone=tone(found),
        sections=tuple(sections),
        method=_method(found, held),
        untested=_UNTESTED,
        notes=tuple(notes),
        seed=seed,
        version=installed_version("unveil") if version is None else version,
        edition="internal",
    )


def _key_section(found: Cracks, blind: FloatArray) -> Section:
    return Section(heading="The figures", lead=owner_sentence(found), blocks=key_numbers(found, blind))


def _distribution_section(found: Cracks, blind: FloatArray) -> Section:
    return Section(
        heading="How bad it can get",
        lead="The adversary takes one matching, and does not know how many entries of it are right. By luck these may "
        "be more than expected, and a safety level should leave room for that.",
        blocks=(crack_chart(found, blind),),
    )


def _entries_section(found: Cracks, entries: Sequence[str]) -> Section:
    many = found.n > MOST_ENTRIES
    blocks: tuple[Block, ...] = (*((entries_chart(found),) if many else ()), at_risk_table(found, entries))
    return Section(
        heading="Which entries are most at risk",
        lead="Names of entries are for whoever holds the data. Their tokens are left out: names beside tokens would be "
        "the key to the release.",
        blocks=blocks,
    )


def _group_section(found: Cracks) -> Section:
    return Section(
        heading="Groups of entries",
        lead="Where entries of a group reveal the same, a token of the right group is as bad as the right token.",
        blocks=(*group_numbers(found), group_table(found)),
    )


def _heuristic_section(found: Cracks) -> Section:
    return Section(
        heading="The heuristic beside the metric",
        lead="Where whole matchings cannot be counted, expected cracks are estimated from the matrix alone. Reports of "
        "others may do so.",
        blocks=heuristic_numbers(found),
    )


def _method(found: Cracks, held: str) -> tuple[str, ...]:
    sentences = [
        held,
        "A matching gives each entry one token and each token to one entry. An entry is cracked when it is given its "
        f"true token. The adversary's matching is taken at random, {_likely(found)}.",
        f"Crack probabilities and expected cracks: {_lower(certainty(found.expected_cracks))}",
        f"Distribution of cracks: {_distribution_method(found)}",
        f"Degree of anonymity: {_lower(certainty(found.d))}",
        "Random guessing takes any matching of entries and tokens, all equally likely.",
    ]
    if not math.isnan(found.heuristic.value):
        sentences.append(f"The heuristic H adds up the true pairs of the {found.heuristic.method}.")
    return (*sentences, f"Definitions: {_SOURCE}.")


def _likely(found: Cracks) -> str:
    listed = math.isnan(found.log_permanent.value)
    return "each as likely as was said" if listed else "each as likely as the product of its weights"


def _distribution_method(found: Cracks) -> str:
    by = method_words(found.crack_distribution_method)
    if (found.crack_distribution_error > 0).any():
        largest = float(found.crack_distribution_error.max())
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
