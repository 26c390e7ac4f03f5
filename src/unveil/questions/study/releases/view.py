"""How the findings of a study of given releases are shown: JSON, table, page and pictures."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from unveil.errors import InputError
from unveil.questions.result import PLAIN, PageContext, QuestionView
from unveil.questions.study.releases.charts import epsilon_charts, safety_chart, trade_chart
from unveil.questions.study.releases.findings import ReleasesFindings
from unveil.questions.study.releases.tables import cell_table, family_table, grade_table, release_table
from unveil.questions.study.releases.words import epsilon_sentences, explanation, headline, next_steps, ranking_sentence
from unveil.questions.study.words import failed, tone
from unveil.report.blocks import Block, Number, Page, Section
from unveil.report.terminal import Part, opening
from unveil.report.text import duration

if TYPE_CHECKING:
    from numpy.typing import NDArray


def plot(findings: ReleasesFindings) -> "NDArray[Any]":
    """Return matplotlib axes: risk against usefulness, then both against epsilon."""
    from unveil.report.draw.lines import draw_all

    trade = trade_chart(findings)
    charts = (*([trade] if trade else []), *epsilon_charts(findings))
    if not charts:
        raise InputError("there is nothing to draw: fewer than two techniques have results. Run the study first")
    return draw_all(charts)


def page(findings: ReleasesFindings, context: PageContext = PLAIN) -> Page:
    """Return the whole report as data."""
    best = safety_chart(findings)
    return Page(
        title="Releases that others made",
        question=f"Which releases of the study {findings.study.name!r} keep most for the least risk?",
        headline=headline(findings),
        explanation=explanation(findings),
        next_steps=next_steps(findings),
        picture=(best,) if best else (),
        tone=tone(findings.counts),
        sections=tuple(_sections(findings)),
        method=_METHOD,
        limitations=_UNTESTED,
        seed=findings.study.seed if context.seed is None else context.seed,
        strip=context.strip,
        version=findings.version,
    )


def _sections(findings: ReleasesFindings) -> Iterator[Section]:
    if findings.releases:
        yield Section(heading="Technique and epsilon", lead="", blocks=(cell_table(findings),))
        ranked, trade = list(findings.ranked()), trade_chart(findings)
        blocks: tuple[Block, ...] = (*([trade] if trade else []), family_table(findings))
        if ranked:
            yield Section(heading="Risk against usefulness", lead=ranking_sentence(ranked), blocks=blocks)
        charts = epsilon_charts(findings)
        if charts:
            yield Section(
                heading="What epsilon buys and costs",
                lead=" ".join(epsilon_sentences(findings)),
                blocks=charts,
            )
        yield Section(
            heading="Which figures can be trusted to order releases",
            lead="A figure that deserves trust shows more risk for a greater epsilon, and for more people copied.",
            blocks=(grade_table(findings),),
        )
        yield Section(heading="All releases", lead="", blocks=(release_table(findings),))
    if findings.failures:
        yield Section(heading="What failed", lead=" ".join(failed(findings.failures)), blocks=())
    yield Section(heading="What was computed", lead="", blocks=_numbers(findings))


def _numbers(findings: ReleasesFindings) -> tuple[Number, ...]:
    counts = findings.counts
    return (
        Number(
            label="Audits with results", value=f"{counts.fine:,} of {counts.total:,}", meaning="One for each release."
        ),
        Number(
            label="CPU time",
            value=duration(findings.seconds) if findings.spent else "unknown",
            meaning="Added up over all workers.",
        ),
    )


_METHOD = (
    "Each release was audited with all attacks, against the columns of the original that it holds. Where people of the "
    "original are not released, they are the control; elsewhere there is none.",
    "The clearest risk is the highest lower end of all figures that compare with strangers: with a control what being "
    "in the data adds; without one copies too unusual for coincidence, secrets guessed better than by whoever is best "
    "when taught by other people of the data, descriptions that fit one person more often than any made without the "
    "data, and rows that stand where their person stands more often than by luck. Its interval is at 95% for all "
    "figures of a release together.",
    "Linked is how often a person's two records are found to belong together, by the split of columns that links most: "
    "how far anybody gets, in the data or not. It orders releases with the same columns, and accuses none.",
    "Intervals over releases are the middle 95% of means of releases drawn anew; those of grades, of groups of "
    "comparable releases drawn anew.",
    "All randomness starts from the seed: the same study gives the same files, byte for byte, on any number of "
    "workers.",
)
_UNTESTED = (
    "What being in the data adds to linking, guessing and membership, where a release has no control.",
    "Whether another release of the same technique would do as well: most techniques are here with few settings.",
)


def brief(findings: ReleasesFindings) -> Iterator[Part]:
    """Yield what a terminal shows: the finding, technique and epsilon, techniques beside one another, and grades."""
    yield from opening(page(findings))
    if findings.releases:
        for table in (cell_table(findings), family_table(findings), grade_table(findings)):
            yield ""
            yield table
    if findings.failures:
        yield from ("", f"{findings.counts.failed:,} failed:")
        yield from failed(findings.failures)


VIEW: QuestionView[ReleasesFindings] = QuestionView(
    schema="unveil.study-releases/1",
    findings=ReleasesFindings,
    about="What `unveil study report --json` prints of a study of releases that were made already.",
    frame=lambda findings: findings.frame,
    page=page,
    plot=plot,
)
