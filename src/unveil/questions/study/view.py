"""How the findings of a study are shown: JSON, table, page and pictures."""

import shlex
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from unveil.errors import InputError
from unveil.questions.result import PLAIN, PageContext, QuestionView
from unveil.questions.study.charts import effect_chart, leak_chart, strength_charts
from unveil.questions.study.findings import StudyFindings
from unveil.questions.study.tables import effect_table, failure_table, mean_tables, time_table
from unveil.questions.study.words import explanation, failed, headline, next_steps, tone
from unveil.report.blocks import Number, Page, Section
from unveil.report.scale import value_text
from unveil.report.terminal import Part, opening
from unveil.report.text import AXES, count, duration, together
from unveil.studies import Study
from unveil.studies.summary import STEPS

if TYPE_CHECKING:
    from numpy.typing import NDArray


def plot(findings: StudyFindings) -> "NDArray[Any]":
    """Return matplotlib axes, side by side: the first metric by strength, for the first few protections."""
    from unveil.report.draw.lines import draw_all

    charts, _ = strength_charts(findings, at_most=4)
    if not charts:
        raise InputError("there is nothing to draw: no axis of the study has results at two levels. Run it first")
    return draw_all(charts)


def page(findings: StudyFindings, context: PageContext = PLAIN) -> Page:
    """Return the whole report as data; :func:`unveil.report.page.render` turns it into HTML.

    The seed is that of the study unless another is given.
    """
    return Page(
        title="A study",
        question=f"What did the study {findings.study.name!r} find?",
        headline=headline(findings),
        explanation=explanation(findings),
        next_steps=next_steps(findings),
        picture=(leak_chart(findings) or effect_chart(findings) or effect_table(findings),)
        if findings.counts.fine
        else (),
        tone=tone(findings.counts),
        sections=(*_results(findings), *_failed(findings), _computed(findings)),
        method=_method(findings),
        limitations=_UNTESTED,
        seed=findings.study.seed if context.seed is None else context.seed,
        strip=context.strip,
        version=findings.version,
    )


def _computed(findings: StudyFindings) -> Section:
    spent = time_table(findings)
    return Section(
        heading="What was computed",
        lead=_grid(findings),
        blocks=(*count_numbers(findings), *([spent] if spent else [])),
    )


def count_numbers(findings: StudyFindings) -> tuple[Number, ...]:
    """Return how many scenarios there are, how many failed, and what it took."""
    counts = findings.counts
    rest = counts.damaged + counts.missing
    damaged = f" The files of {counts.damaged:,} are damaged." if counts.damaged else ""
    left = [
        ("Failed", counts.failed, "An error kept them from having results; the part on failures says which."),
        ("Not computed", rest, f"They have no results yet.{damaged}"),
    ]
    return (
        Number(
            label="Scenarios with results",
            value=f"{counts.fine:,} of {counts.total:,}",
            meaning="A scenario is one attack on one protected data set, by an adversary of one strength.",
        ),
        *(
            Number(label=label, value=f"{number:,}", meaning=meaning, tone="warning")
            for label, number, meaning in left
            if number
        ),
        Number(
            label="Replications",
            value=f"{findings.replications:,}",
            meaning="Each draws anew what the adversary knows.",
        ),
        Number(
            label="CPU time",
            value=duration(findings.seconds) if findings.spent else "unknown",
            meaning="Added up over all workers.",
        ),
    )


def _grid(findings: StudyFindings) -> str:
    study = findings.study
    sizes = (
        count(len(study.data), "data set", "data sets"),
        count(len(study.protections), "protection", "protections"),
        count(len(study.attacks), "attack", "attacks"),
    )
    axes = " and ".join(f"{len(axis.levels)} levels of {axis.name.replace('_', ' ')}" for axis in study.axes)
    return f"{sizes[0]} × {sizes[1]} × {sizes[2]}, each at {axes}."


def _results(findings: StudyFindings) -> list[Section]:
    if not findings.counts.fine:
        return []
    charts, possible = strength_charts(findings)
    more = f" The first {len(charts)} of {possible} pictures are shown." if possible > len(charts) else ""
    drawn = Section(
        heading="Stronger adversaries",
        lead="Each line is an attack, each point a mean over replications with its 95% interval; a gap has no "
        f"results.{more}",
        blocks=charts,
    )
    tables, left_out = mean_tables(findings)
    cut = (
        f" {count(left_out, 'more table is', 'more tables are')} left out here; JSON has everything."
        if left_out
        else ""
    )
    rows = Section(
        heading="Means and intervals",
        lead="The mean over replications ± half the width of its 95% interval (in percentage points where the mean is "
        f"in percent). A dash stands for a scenario without results.{cut}",
        blocks=tables,
    )
    return [drawn, rows] if charts else [rows]


def _failed(findings: StudyFindings) -> list[Section]:
    table = failure_table(findings)
    lead = "No other scenario was stopped by these. Resuming the study tries them again."
    return [Section(heading="What failed", lead=lead, blocks=(table,))] if table else []


def _method(findings: StudyFindings) -> tuple[str, ...]:
    study, wanted = findings.study, findings.study.replications
    often = f"{wanted.number:,} times"
    if wanted.number is None:
        error = value_text(wanted.relative_error or 0.0, "share")
        often = (
            f"until half the 95% interval of every metric's mean was below {error} of it, at most {wanted.cap:,} times"
        )
    fixed = [
        f"{name.replace('_', ' ')} = {value_text(level, AXES[name][1])}" for name, level in study.fixed_levels().items()
    ]
    releases = "once" if study.releases == 1 else f"{study.releases:,} times"
    same = " on the same release: they do not tell how much another release would differ" if study.releases == 1 else ""
    divided = (
        "In each replication the people were divided by lot into three parts of one size: members, others and the "
        "control. The release holds the rows of the members who leaked, and rows of others in the place of the rest.",
    )
    return (
        f"Each data set was protected {releases} by each of {together(study.protections, 20)}; all attacks met the "
        "same releases, and the same knowledge of the adversary.",
        *(divided if findings.of_people else ()),
        f"The attacks are {together(study.attacks, 20)}.",
        *_calibrated(study),
        f"Each scenario was replicated {often}.",
        f"While one strength varied, the other stayed: {', '.join(fixed)}.",
        f"Intervals are those of Student's distribution, over replications{same}.",
        "All randomness starts from the seed: the same study gives the same files, byte for byte, on any number of "
        "workers.",
        f"This is a summary: numbers are rounded to {STEPS:,} steps between the lowest and the highest of a case."
        if findings.is_summary
        else "The files in 'results', one per scenario, hold every replication; with --json the command "
        "prints means and intervals for machines.",
    )


def _calibrated(study: Study) -> Iterator[str]:
    if study.calibrate is None:
        return
    how = {
        "simulate": f"it took the released graph for an original, protected and attacked it in the same way "
        f"({count(study.calibrate_draws, 'time', 'times')} per replication)",
        "seeds": "it kept back a fifth of its seed pairs at a time",
    }[study.calibrate]
    yield (
        f"Calibrated metrics are of probabilities that the adversary learned: {how}, and saw how often it was right. "
        "They are over all targets; one that was not attempted may be anybody who is left. Where nothing could be "
        "learned they are undefined."
    )


_UNTESTED = (
    "Attacks and protections that the study does not name, and adversaries who know more than its highest levels.",
    "Whether a metric can be trusted: that is a question about the results of a study.",
)


#: So many rows of means are printed, and no more.
_MOST_ROWS = 60


def brief(findings: StudyFindings) -> Iterator[Part]:
    """Yield what a terminal shows: the finding, what each attack reaches, means by level, and what failed."""
    yield from opening(page(findings))
    if findings.counts.fine:
        yield ""
        yield effect_table(findings)
        tables, left_out = mean_tables(findings, at_most=_MOST_ROWS)
        for table in tables:
            yield ""
            yield table
        yield from ("", "Mean over replications ± half the width of its 95% interval; – has no results.")
        if left_out:
            where = shlex.quote(findings.folder)
            yield f"{left_out:,} more tables: 'unveil study report {where} --json' has everything."
    if findings.failures:
        yield from ("", f"{findings.counts.failed:,} failed:")
        yield from failed(findings.failures)


VIEW: QuestionView[StudyFindings] = QuestionView(
    schema="unveil.study/1",
    findings=StudyFindings,
    about="The answer of `unveil study report`: what many scenarios show.",
    frame=lambda findings: findings.summary,
    page=page,
    plot=plot,
)
