"""How a matching attack is shown when nobody said what is true: JSON, limits, table, page and picture."""

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from unveil.metrics.matchings.permanents import Ambiguity
from unveil.questions.matching import words
from unveil.questions.matching.charts import exposure_chart
from unveil.questions.matching.findings import AmbiguityFindings
from unveil.questions.matching.tables import MOST_ENTRIES, flat_number, matching_numbers, release_table
from unveil.questions.matching.view import (
    as_quantities,
    end_of,
    meanings,
    release_section,
)
from unveil.questions.matching.words import CERTAIN, amount, certainty
from unveil.questions.result import PLAIN, PageContext, QuestionView
from unveil.report.blocks import Chart, Number, Page, Section, Side, TableBlock, Tone
from unveil.report.limits import Quantity
from unveil.report.terminal import Figures, Part, opening
from unveil.report.text import about, count, decimal, name, percent, significant

if TYPE_CHECKING:
    from numpy.typing import NDArray


_LEFT: Side = "left"
_RIGHT: Side = "right"


def sure_entries(ambiguity: Ambiguity) -> int:
    """Return for how many entries one token alone is possible."""
    return int((ambiguity.best >= CERTAIN).sum())


def highest(ambiguity: Ambiguity) -> float:
    """Return the most that the expected cracks can be; the upper end where that is a bracket."""
    most = ambiguity.most_cracks
    return most.value + (most.error if most.kind == "bracket" else 0.0)


def headline(ambiguity: Ambiguity) -> str:
    """Return the answer in one sentence: how many matchings are left, and how many entries may be cracked."""
    n = count(ambiguity.n, "entry", "entries")
    if sure_entries(ambiguity) == ambiguity.n:
        return f"One matching of {n} is left: if the adversary is right, it cracks {_all(ambiguity.n)}."
    few = [decimal(each, places=2) for each in (ambiguity.least_cracks.value, highest(ambiguity))]
    span = few[0] if few[0] == few[1] else f"{few[0]} to {few[1]}"
    return f"{_left(ambiguity)}; if the truth is one of them, the adversary is expected to crack {span} of {n}."


def _left(ambiguity: Ambiguity) -> str:
    d = decimal(ambiguity.d.value)
    if ambiguity.permanent is not None and ambiguity.flat:
        return f"{count(ambiguity.permanent, 'matching is', 'matchings are')} left, all equally likely (d = {d})"
    more = " or more" if ambiguity.d.kind == "bracket" else ""
    return f"Matchings are left that give a degree of anonymity of {d}{more}"


def _all(n: int) -> str:
    return "the only entry" if n == 1 else "both entries" if n == 2 else f"all {count(n)} entries"


def explanation(ambiguity: Ambiguity) -> tuple[str, ...]:
    """Return what is certain."""
    sure = sure_entries(ambiguity)
    drawn = " in any matching that was drawn" if sure and (ambiguity.best_error > 0).any() else ""
    which = "One entry has" if sure == 1 else f"{count(sure)} entries have"
    first = (
        f"{which} one possible token alone{drawn}: if the adversary is right, that is cracked."
        if sure
        else "Every entry may have one of several tokens."
    )
    share = about(ambiguity.believed_cracks.value / ambiguity.n)
    average = f"If the truth is as the adversary believes, it cracks {share} of all entries on average."
    return tuple(
        each
        for each in (words.unequal_sentence(ambiguity).strip(), average, first, words.flat_sentence(ambiguity))
        if each
    )


def tone(ambiguity: Ambiguity) -> Tone:
    """Return how the headline should strike."""
    if ambiguity.n == 1:
        return "neutral"
    if ambiguity.believed_cracks.value >= ambiguity.n / 2:
        return "bad"
    return "warning" if sure_entries(ambiguity) else "neutral"


def crack_numbers(ambiguity: Ambiguity) -> tuple[Number, ...]:
    """Return what the adversary may crack, whatever is true."""
    of = f"of {count(ambiguity.n)}"
    return (
        Number(
            label="Expected cracks if it believes right",
            value=f"{amount(ambiguity.believed_cracks)} {of}",
            meaning="The mean over truths that come up as often as the adversary's own matchings. "
            f"{certainty(ambiguity.believed_cracks)}",
            tone=tone(ambiguity),
        ),
        Number(
            label="At most",
            value=f"{decimal(highest(ambiguity), places=2)} {of}",
            meaning="The expected cracks if the truth is the one of all possible matchings that favours the adversary "
            f"most. {certainty(ambiguity.most_cracks)}",
        ),
        Number(
            label="At least",
            value=f"{decimal(ambiguity.least_cracks.value, places=2)} {of}",
            meaning="The same for the one that favours it least. Below that it is only if the truth was ruled out. "
            f"{certainty(ambiguity.least_cracks)}",
        ),
        Number(
            label="Entries with one token alone",
            value=f"{count(sure_entries(ambiguity))} {of}",
            meaning="Entries for which all matchings that are possible have the same token.",
        ),
        flat_number(ambiguity),
    )


def best_table(ambiguity: Ambiguity, entries: tuple[str, ...], *, at_most: int = MOST_ENTRIES) -> TableBlock:
    """Return the entries whose likeliest token is likeliest; which token that is stays with the adversary."""
    likely = ambiguity.best.round(12).tolist()
    order = sorted(range(ambiguity.n), key=lambda at: (-likely[at], entries[at]))[:at_most]
    sampled = bool((ambiguity.best_error > 0).any())
    columns = ("Entry", "Probability of its likeliest token", *(("Standard error",) if sampled else ()))
    rest = ambiguity.n - len(order)
    return TableBlock(
        caption="Entries of which the adversary is surest",
        columns=columns,
        rows=tuple(
            (
                name(entries[at]),
                "100% (certain)" if ambiguity.best[at] >= CERTAIN else percent(float(ambiguity.best[at])),
                *((significant(float(ambiguity.best_error[at]), digits=2),) if sampled else ()),
            )
            for at in order
        ),
        align=(_LEFT, *(_RIGHT for _ in columns[1:])),
        note=f"Of the other {count(rest, 'entry', 'entries')} it is less sure or as sure; JSON has them all."
        if rest
        else "",
    )


def best_chart(ambiguity: Ambiguity) -> Chart:
    """Return the share of entries per range of the probability of their likeliest token."""
    return exposure_chart(
        ambiguity.best,
        title="How sure the adversary is of entries",
        x_label="probability of an entry's likeliest token",
        caption="The further right, the surer the adversary is of an entry's token, rightly or not.",
    )


def quantities(findings: AmbiguityFindings) -> dict[str, Quantity]:
    """Return the figures that a limit can be set for."""
    inner = findings.ambiguity
    return as_quantities(
        {
            "d": inner.d.value,
            "d.low": end_of(inner.d, -2),
            "believed_share": inner.believed_cracks.value / inner.n,
            "most_cracked_share": highest(inner) / inner.n,
        }
    )


def plot(findings: AmbiguityFindings) -> "NDArray[Any]":
    """Return matplotlib axes with how sure the adversary is of entries."""
    from unveil.report.draw.lines import draw_all

    return draw_all([best_chart(findings.ambiguity)])


def page(findings: AmbiguityFindings, context: PageContext = PLAIN) -> Page:
    """Return the whole report as data."""
    inner = findings.ambiguity
    sections = [
        Section(
            heading="The figures",
            lead="The truth was not told, so they hold for any truth that the adversary holds possible.",
            blocks=(*matching_numbers(inner), *crack_numbers(inner)),
        ),
        Section(
            heading="Of which entries the adversary is surest",
            lead="Its likeliest tokens are left out: names beside tokens would be its key to the release.",
            blocks=(best_table(inner, findings.entries),),
        ),
    ]
    if findings.releases:
        sections.append(release_section(findings.releases, None, inner.d))
    return Page(
        title="What a matching attack leaves open",
        question=f"How many matchings of {count(inner.n, 'entry', 'entries')} and "
        f"{count(inner.token_count, 'token', 'tokens')} does the adversary hold possible?",
        headline=headline(inner),
        explanation=explanation(inner),
        next_steps=(
            "Ask again with the true token of each entry (--truth): only then is it known how many are cracked.",
            "Decide how sure an adversary may be, and set it: --limit d=NUMBER.",
        ),
        picture=(best_chart(inner),),
        tone=tone(inner),
        sections=tuple(sections),
        method=_method(findings),
        limitations=(
            "Which entries are cracked: the truth was not told.",
            "Whether another adversary knows more: only what was given is measured.",
            "Whether the adversary's weights deserve belief: they are taken as they are.",
        ),
        notes=findings.notes,
        seed=context.seed,
        strip=context.strip,
        edition="internal",
    )


def _method(findings: AmbiguityFindings) -> tuple[str, ...]:
    inner = findings.ambiguity
    sentences = [
        words.held_open(findings),
        f"Probabilities of pairs: {_lower(certainty(inner.believed_cracks))}",
        f"Degree of anonymity: {_lower(certainty(inner.d))}",
        "Bounds of the expected cracks: the possible matching whose pairs have the largest or the smallest sum of "
        "probabilities, found as an assignment problem.",
    ]
    if not math.isnan(inner.log_permanent.value):
        sentences.append(f"Permanent: {_lower(words.permanent_certainty(inner.log_permanent))}")
    return (*sentences, "Definitions: degree of anonymity by Edman, Sivrikaya and Yener (2007).")


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]


def ambiguity_brief(findings: AmbiguityFindings, *, top: int) -> Iterator[Part]:
    """Yield what a terminal shows."""
    inner = findings.ambiguity
    yield from opening(page(findings))
    yield ""
    yield Figures((*matching_numbers(inner), *crack_numbers(inner)))
    if findings.releases:
        yield ""
        yield release_table(findings.releases, None, inner.d)
    if top:
        yield ""
        yield best_table(inner, findings.entries, at_most=top)


AMBIGUITY_VIEW: QuestionView[AmbiguityFindings] = QuestionView(
    schema="unveil.matching-without-truth/1",
    findings=AmbiguityFindings,
    about="The answer of `unveil matching` where the true tokens are not known: what lies between the least and the "
    "most.",
    quantities=quantities,
    frame=lambda findings: findings.entry_frame,
    page=page,
    plot=plot,
    meanings=meanings,
)
