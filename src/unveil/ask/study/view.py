"""How the findings of a study are shown: JSON, table, page and pictures."""

import shlex
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from unveil.ask.answer import View
from unveil.ask.study.charts import strength_charts
from unveil.ask.study.findings import Failures, StudyFindings
from unveil.ask.study.tables import failure_table, mean_tables, strongest_tables, time_table
from unveil.errors import InputError
from unveil.show.blocks import Block, Number, Page, Section, Tone
from unveil.show.limits import Quantity
from unveil.show.scale import value_text
from unveil.show.studies import AXES
from unveil.show.terminal import Headline, Part
from unveil.show.text import count, duration, together
from unveil.study.results import Counts

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray


def quantities(_found: StudyFindings) -> dict[str, Quantity]:
    """Return nothing: a study has many releases, and a limit is for one."""
    return {}


def figures(found: StudyFindings) -> Mapping[str, Any]:
    """Return what JSON holds: the mean and interval of each scenario and metric, and what was computed."""
    return {
        "version": found.version,
        "study": _told(found),
        "scenarios": dict(vars(found.counts)),
        "replications": found.replications,
        "failures": [dict(vars(each)) for each in found.failures],
        "seconds": found.seconds,
        "spent": [dict(vars(each)) for each in found.spent],
        "metrics": list(found.metrics),
        "summary": found.summary,
    }


def _told(found: StudyFindings) -> dict[str, Any]:
    """Return what the study is, without where its data lie."""
    study = found.study
    return {
        "name": study.name,
        "seed": study.seed,
        "kind": study.kind,
        "data": [each.name for each in study.data],
        "protections": list(study.protections),
        "attacks": list(study.attacks),
        "axes": {axis.name: list(axis.levels) for axis in study.axes},
        "fixed": study.fixed_levels(),
        "releases": study.releases,
        "replications": dict(vars(study.replications)),
    }


def frame(found: StudyFindings) -> "pl.DataFrame":
    """Return one row per scenario and shown metric, with its mean and interval."""
    return found.summary


def plot(found: StudyFindings) -> "NDArray[Any]":
    """Return matplotlib axes, side by side: the first metric by strength, for the first few protections."""
    from unveil.show.draw.lines import draw_all

    charts, _ = strength_charts(found, most=4)
    if not charts:
        raise InputError("there is nothing to draw: no axis of the study has results at two levels. Run it first")
    return draw_all(charts)


def page(found: StudyFindings, *, seed: int | None = None) -> Page:
    """Return the whole report as data; :func:`unveil.show.page.render` turns it into HTML.

    The seed is that of the study unless another is given.
    """
    sections = [
        Section(heading="What was computed", lead=_grid(found), blocks=count_numbers(found)),
        *_results(found),
        *_failed(found),
    ]
    spent = time_table(found)
    if spent is not None:
        sections.append(Section(heading="Time", lead="", blocks=(spent,)))
    sections.append(Section(heading="How to go on", lead=going_on(found.counts, found.folder), blocks=()))
    return Page(
        title="A study",
        question=f"What did the study {found.study.name!r} find?",
        headline=headline(found.counts),
        tone=tone(found.counts),
        sections=tuple(sections),
        method=_method(found),
        untested=_UNTESTED,
        seed=found.study.seed if seed is None else seed,
        version=found.version,
    )


def headline(counts: Counts) -> str:
    """Return how much of a study is there and what failed, in one sentence.

    >>> headline(Counts(total=8, fine=8, failed=0, damaged=0, missing=0))
    'All 8 scenarios are computed, and none failed.'
    >>> headline(Counts(total=8, fine=5, failed=2, damaged=0, missing=1))
    '5 of 8 scenarios are computed; 2 failed and 1 is missing.'
    """
    if counts.fine == counts.total:
        who = "The only scenario is" if counts.total == 1 else f"All {counts.total:,} scenarios are"
        return f"{who} computed, and none failed."
    what = {"failed": counts.failed, "are damaged": counts.damaged, "are missing": counts.missing}
    said = [
        f"{number:,} {words.replace('are', 'is') if number == 1 else words}" for words, number in what.items() if number
    ]
    rest = f"{', '.join(said[:-1])} and {said[-1]}" if len(said) > 1 else said[0]
    verb = "is" if counts.fine == 1 else "are"
    return f"{counts.fine:,} of {count(counts.total, 'scenario', 'scenarios')} {verb} computed; {rest}."


def tone(counts: Counts) -> Tone:
    """Return how the headline should strike."""
    return "neutral" if counts.fine == counts.total else "warning"


def going_on(counts: Counts, folder: str) -> str:
    """Return how to compute what is left, and where every number is."""
    where = shlex.quote(folder)
    again = f"'unveil study run {where}/study.toml --out {where} --resume'"
    first = "Every scenario has results."
    if counts.left:
        those = (
            "the scenario that has no results" if counts.left == 1 else f"the {counts.left:,} scenarios without results"
        )
        first = f"{again} computes {those}, and leaves the others as they are."
    return (
        f"{first} The files in 'results' hold every replication (Parquet, one file per scenario), and 'unveil study "
        f"report {where} --json' prints means and intervals for machines."
    )


def count_numbers(found: StudyFindings) -> tuple[Number, ...]:
    """Return how many scenarios there are, how many failed, and what it took."""
    counts = found.counts
    rest = counts.damaged + counts.missing
    damaged = f" The files of {counts.damaged:,} are damaged." if counts.damaged else ""
    kept = (
        "An error kept them from having results; below is which." if counts.failed else "No scenario ended in an error."
    )
    return (
        Number(
            label="Scenarios with results",
            value=f"{counts.fine:,} of {counts.total:,}",
            meaning="A scenario is one attack on one protected data set, by an adversary of one strength.",
        ),
        Number(
            label="Failed",
            value=f"{counts.failed:,}",
            meaning=kept,
            tone="warning" if counts.failed else "neutral",
        ),
        Number(
            label="Not computed",
            value=f"{rest:,}",
            meaning=f"They have no results yet.{damaged}" if rest else "Every scenario was tried.",
            tone="warning" if rest else "neutral",
        ),
        Number(
            label="Replications",
            value=f"{found.replications:,}",
            meaning="Each draws anew what the adversary knows.",
        ),
        Number(
            label="CPU time",
            value=duration(found.seconds) if found.spent else "unknown",
            meaning="Added up over all workers.",
        ),
    )


def _grid(found: StudyFindings) -> str:
    study = found.study
    sizes = (
        count(len(study.data), "data set", "data sets"),
        count(len(study.protections), "protection", "protections"),
        count(len(study.attacks), "attack", "attacks"),
    )
    axes = " and ".join(f"{len(axis.levels)} levels of {axis.name.replace('_', ' ')}" for axis in study.axes)
    return f"{sizes[0]} × {sizes[1]} × {sizes[2]}, each at {axes}."


def _results(found: StudyFindings) -> list[Section]:
    if not found.counts.fine:
        return []
    charts, possible = strength_charts(found)
    more = f" The first {len(charts)} of {possible} pictures are shown." if possible > len(charts) else ""
    drawn = Section(
        heading="Stronger adversaries",
        lead=f"Each line is an attack, each point a mean over replications; a gap has no results.{more}",
        blocks=charts,
    )
    tables, left_out = mean_tables(found)
    cut = (
        f" {count(left_out, 'more table is', 'more tables are')} left out here; JSON has everything."
        if left_out
        else ""
    )
    several = len(found.study.data) * len(found.study.protections) > 1
    overview: tuple[Block, ...] = strongest_tables(found) if several else ()
    rows = Section(
        heading="Means and intervals",
        lead="The mean over replications ± half the width of its 95% interval (in percentage points where the mean is "
        f"in percent). A dash stands for a scenario without results.{cut}",
        blocks=(*overview, *tables),
    )
    return [drawn, rows] if charts else [rows]


def _failed(found: StudyFindings) -> list[Section]:
    table = failure_table(found)
    lead = "No other scenario was stopped by these. Resuming the study tries them again."
    return [Section(heading="What failed", lead=lead, blocks=(table,))] if table else []


def _method(found: StudyFindings) -> tuple[str, ...]:
    study, wanted = found.study, found.study.replications
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
    return (
        f"Each data set was protected {releases} by each of {together(study.protections, 20)}; all attacks met the "
        "same releases, and the same knowledge of the adversary.",
        f"The attacks are {together(study.attacks, 20)}.",
        f"Each scenario was replicated {often}.",
        f"While one strength varied, the other stayed: {', '.join(fixed)}.",
        f"Intervals are those of Student's distribution, over replications{same}.",
        "All randomness starts from the seed: the same study gives the same files, byte for byte, on any number of "
        "workers.",
    )


_UNTESTED = (
    "Attacks and protections that the study does not name, and adversaries who know more than its highest levels.",
    "Whether a metric can be trusted: that is a question about the results of a study.",
)


#: So many rows of means are printed, and no more.
_MOST_ROWS = 60


def brief(found: StudyFindings) -> Iterator[Part]:
    """Yield what a terminal shows: the headline, means of the first metric by level, and what failed."""
    yield Headline(headline(found.counts), tone(found.counts))
    if found.counts.fine:
        tables, left_out = mean_tables(found, most=_MOST_ROWS)
        for table in tables:
            yield ""
            yield table
        yield from ("", "Mean over replications ± half the width of its 95% interval; – has no results.")
        if left_out:
            where = shlex.quote(found.folder)
            yield f"{left_out:,} more tables: 'unveil study report {where} --json' has everything."
    if found.failures:
        yield from ("", f"{found.counts.failed:,} failed:")
        yield from failed(found.failures)


def failed(failures: Iterable[Failures]) -> Iterator[str]:
    """Yield a line for each kind of failure: how many scenarios, why, and where."""
    for each in failures:
        parts = {"data": each.data, "protection": each.protections, "attack": each.attacks}
        where = "; ".join(f"{what}: {together(names)}" for what, names in parts.items())
        yield f"  {each.scenarios:,} × {each.error} ({where})"


VIEW = View(schema="unveil.study/1", figures=figures, quantities=quantities, frame=frame, page=page, plot=plot)
