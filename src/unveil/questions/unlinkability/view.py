"""How the findings about a partition are shown: JSON, limits, table, page and pictures."""

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from unveil.metrics.partitions.distances import PartitionDistances
from unveil.metrics.partitions.fairness import FigureSpread
from unveil.metrics.partitions.forecast import Forecast
from unveil.metrics.partitions.guessing import Reference
from unveil.metrics.partitions.policy_grid import PolicyGrid
from unveil.metrics.partitions.unlinkability import Unlinkability
from unveil.questions.result import PageContext, QuestionView
from unveil.questions.unlinkability import words
from unveil.questions.unlinkability.charts import (
    charts,
    forecast_chart,
    linked_histogram,
    others_chart,
    overall_chart,
    slope_chart,
)
from unveil.questions.unlinkability.findings import PartitionFindings, place_of
from unveil.questions.unlinkability.playgrounds import playground, subject_playground
from unveil.questions.unlinkability.tables import (
    at_risk_table,
    common_beta,
    distance_numbers,
    fairness_numbers,
    fairness_table,
    forecast_numbers,
    key_numbers,
    subject_graph_table,
    view_table,
)
from unveil.report.blocks import Page, Section
from unveil.report.terminal import ColumnSubset, Figures, Part, opening
from unveil.report.text import count, decimal, short_percent

if TYPE_CHECKING:
    from numpy.typing import NDArray


def plot(findings: PartitionFindings, subject: Hashable | None = None) -> "NDArray[Any]":
    """Return matplotlib axes: overall linked and mixed graphs, one subject's, and the risk slope against beta.

    ``subject`` is the name of the subject, or its index where no subject is called so; without it the one that was
    asked for, else the one with the steepest risk slope.
    """
    from unveil.report.draw.lines import draw_all

    at = findings.shown if subject is None else place_of(subject, findings.result.subjects.tolist())
    return draw_all(charts(findings.result, findings.grid, subject=at, reference=findings.reference))


def headline(findings: PartitionFindings) -> str:
    """Return the answer in one sentence: how many subjects are already breached."""
    return words.breached_headline(
        findings.result.overall.breached_subjects, int(findings.result.subjects.size), beta=common_beta(findings.result)
    )


@dataclass(frozen=True, kw_only=True)
class UnlinkabilityContext(PageContext):
    """The choices of the report: whether subjects are named, or numbered in the order of ``result.subjects``."""

    show_names: bool = True


def page(findings: PartitionFindings, context: UnlinkabilityContext = UnlinkabilityContext()) -> Page:  # noqa: B008
    """Return the whole report as data; :func:`unveil.report.page.render` turns it into HTML."""
    result, reference = findings.result, findings.reference
    overall, subjects = result.overall, int(result.subjects.size)
    return Page(
        title="Unlinkability of a partition",
        question=(
            f"How well {'is' if subjects == 1 else 'are'} {count(subjects, 'subject', 'subjects')} with "
            f"{count(result.n, 'item', 'items')} hidden in what the adversary thinks belongs together?"
        ),
        headline=headline(findings),
        explanation=words.explanation(
            reference=reference.breached_share,
            mergings=overall.mergings,
            breached=overall.breached,
            guesser=reference.guesser,
        ),
        next_steps=words.next_steps(overall.breached_subjects),
        picture=(linked_histogram(result),),
        tone=words.breached_tone(overall.breached_subjects, subjects, overall_breached=overall.breached),
        sections=(
            _key_section(result, reference),
            _graph_section(findings),
            _forecast_section(findings.forecast),
            _distance_section(findings.distances, reference),
            _subjects_section(findings, context.show_names),
            _fairness_section(result, findings.fairness),
            *_views_section(findings),
            _policy_section(result, findings.grid),
            _playground_section(result, findings.grid),
        ),
        method=_method(findings),
        limitations=_UNTESTED,
        notes=findings.notes,
        seed=context.seed,
        strip=context.strip,
    )


def _key_section(result: Unlinkability, reference: Reference) -> Section:
    lead = f"At α = {decimal(result.overall.alpha)} and β = {short_percent(result.overall.beta)}."
    if common_beta(result) is None or result.alpha.min() != result.alpha.max():
        lead = (
            f"Subjects have policies of their own; overall figures use α = {decimal(result.overall.alpha)} "
            f"and β = {short_percent(result.overall.beta)}."
        )
    lead += f" {words.reference_sentence(reference.guesser, reference.draws)}"
    return Section(heading="The figures", lead=lead, blocks=key_numbers(result, reference))


def _graph_section(findings: PartitionFindings) -> Section:
    result, others = findings.result, findings.others
    return Section(
        heading="What a little more knowledge would do",
        lead=(
            "Whoever learns that two of the adversary's clusters belong together merges them. The picture shows what a "
            "few such mergings would reveal about the average subject, cheapest first."
        ),
        blocks=(
            overall_chart(result, reference=findings.reference),
            *(() if others is None else (others_chart(others, result.overall.mergings),)),
        ),
    )


def _forecast_section(forecast: Forecast) -> Section:
    return Section(
        heading="What the adversary may learn next",
        lead=(
            "Nobody knows in which order evidence comes in. Here it is drawn many times: each piece merges a cluster "
            "with items of the subject, or splits somebody else's items off."
        ),
        blocks=(*forecast_numbers(forecast), forecast_chart(forecast)),
    )


def _views_section(findings: PartitionFindings) -> tuple[Section, ...]:
    if findings.views is None:
        return ()
    return (
        Section(
            heading="How much the adversary's doubt matters",
            lead=(
                "The adversary holds several partitions. The figures above are over all of them; here each is taken "
                "alone, as if the adversary were sure of it."
            ),
            blocks=(view_table(findings.views),),
        ),
    )


def _policy_section(result: Unlinkability, grid: PolicyGrid) -> Section:
    return Section(
        heading="How the answer depends on what you care about",
        lead=(
            "The threshold β and the weight α are a matter of policy, not of measurement. A conclusion that holds for "
            "many of them is worth more than one that holds for one."
        ),
        blocks=(slope_chart(grid, beta=result.overall.beta),),
    )


def _playground_section(result: Unlinkability, grid: PolicyGrid) -> Section:
    return Section(
        heading="Try another policy",
        lead="What would the answer be if everybody had another α and β?",
        blocks=(playground(result, grid),),
    )


def _fairness_section(result: Unlinkability, fairness: tuple[FigureSpread, ...]) -> Section:
    return Section(
        heading="Is everybody hidden alike?",
        lead="An average can look safe while a few subjects are fully exposed.",
        blocks=(*fairness_numbers(result, fairness), fairness_table(fairness)),
    )


def _subjects_section(findings: PartitionFindings, show_names: bool) -> Section:
    return Section(
        heading="Who is most at risk",
        lead=""
        if show_names
        else "Subjects are numbered in the order of the truth; their names are left out on purpose.",
        blocks=(
            at_risk_table(findings.result, show_names=show_names, views=findings.views),
            subject_playground(findings.result, findings.shown, forecast=findings.forecast, show_names=show_names),
        ),
    )


def _distance_section(distances: PartitionDistances, reference: Reference) -> Section:
    return Section(
        heading="How far the guess is from the truth",
        lead=(
            "Distances between two partitions as others use them. They see the whole and no single subject, so read "
            "them after the figures above."
        ),
        blocks=distance_numbers(distances, reference),
    )


def _method(findings: PartitionFindings) -> tuple[str, ...]:
    sentences = list(_ALWAYS)
    if findings.result.mixing != "items":
        sentences.append(
            f"The mixed graph does not count items, as in the paper: it is {words.MIXED[findings.result.mixing]}."
        )
    if findings.weighted:
        sentences.append("Items have weights: shares are of the weight of a subject's items, not of their number.")
    desired = int(findings.result.contamination_desirable.sum())
    if desired:
        who = count(desired, "subject likes", "subjects like")
        sentences.append(f"{who} foreign items in the cluster; the mixed graph is turned round there.")
    sentences.append(words.reference_method(findings.reference.guesser, findings.reference.draws))
    future = findings.forecast
    sentences.append(words.forecast_method(future.linkage, future.split, future.draws))
    return tuple(sentences)


_ALWAYS = (
    "A cluster of the adversary costs α × missed items + (1 − α) × foreign items: α weighs what is missed, 1 − α what "
    "is wrongly included. The cheapest is a subject's most relevant cluster; clusters that cost the same are averaged.",
    "Clusters are merged in the order of that cost, those with fewer foreign items first among equals; "
    "figures that the order of the remaining ties would change are averaged over all their orders.",
    "The point where the linked graph reaches β is found by linear interpolation. The risk slope adds the angle of the "
    "vector to that point, weighed by α, and the angle of the vector to the mixed graph below it, weighed by 1 − α, as "
    "a share of the right angle.",
    "Where β is reached without any merging the subject is breached and has no risk slope; none is made up.",
    "Overall graphs are the mean over all subjects, and one β point is found on them; the overall slope is no mean of "
    "slopes.",
    "If the adversary holds several partitions with probabilities, errors and graphs are averaged over them.",
)
_UNTESTED = (
    "Whether another adversary would do better: only the guess that was given is measured.",
    "Whether subjects can be named: linking items together is not yet knowing whose they are.",
    "What wrong evidence does: the forecast knows true facts only, and none that mixes up two subjects further.",
)


#: What fits a terminal of 80 columns beside a name: breached, linked now, mergings, risk slope, items.
_SHOWN_COLUMNS = range(6)


def brief(findings: PartitionFindings, *, top: int, subject: bool = False) -> Iterator[Part]:
    """Yield what a terminal shows: the headline, the figures with their meaning, who is most at risk.

    With ``subject`` also the graphs of the one that is shown.
    """
    overall, subjects = findings.result.overall, int(findings.result.subjects.size)
    yield from opening(page(findings))
    size = f"{count(findings.result.n, 'item', 'items')} of {count(subjects, 'subject', 'subjects')}"
    yield from ("", f"{size}; overall alpha {overall.alpha:.6g}, beta {overall.beta:.6g}.", "")
    yield Figures(key_numbers(findings.result, findings.reference))
    yield from ("", "How far the guess is from the truth, by measures of partitions in general:")
    yield Figures(distance_numbers(findings.distances, findings.reference), meanings=False)
    yield from ("", "What the adversary may learn next:")
    yield Figures(forecast_numbers(findings.forecast), meanings=False)
    if top:
        yield ""
        yield ColumnSubset(at_risk_table(findings.result, at_most=top), _SHOWN_COLUMNS)
    if subject:
        yield ""
        yield subject_graph_table(findings.result, findings.shown, findings.others)


VIEW: QuestionView[PartitionFindings] = QuestionView(
    schema="unveil.partition/1",
    findings=PartitionFindings,
    about="The answer of `unveil unlinkability`: how well each subject is hidden in what the adversary thinks belongs "
    "together.",
    frame=lambda findings: findings.per_subject,
    page=page,
    plot=plot,
)
