"""How the findings about re-identification are shown: JSON, limits, table, page and pictures."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from unveil.questions.reidentify.charts import attack_chart, charts, learnt
from unveil.questions.reidentify.findings import ReidentifyFindings
from unveil.questions.reidentify.tables import attack_table, clash_table, key_numbers, step_table, witness_table
from unveil.questions.reidentify.words import (
    clash_sentence,
    next_steps,
    sentences,
    spoken_notes,
    tone,
)
from unveil.questions.result import PLAIN, PageContext, QuestionView
from unveil.report.blocks import Page, Section
from unveil.report.terminal import Figures, Part, opening
from unveil.report.text import count, name

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray


def frame(findings: ReidentifyFindings) -> "pl.DataFrame":
    """Return one row per attack, with all columns known."""
    import polars as pl
    from polars import selectors

    rows = [
        {
            "attack": each.attack,
            "leaves": each.leaves,
            "targets": each.targets,
            "attempted": each.attempted,
            "leaves_nobody": each.nobody,
            "is_valid": each.is_valid,
            "valid_record_level": each.record_level.share,
            "valid_file_level": each.file_level.share,
            "hit_rate": each.hit_rate.value,
            "hit_rate_low": each.hit_rate.low,
            "hit_rate_high": each.hit_rate.high,
            "nonspecificity": each.steps[-1].nonspecificity,
            "entropy": each.steps[-1].entropy,
            "confusion": each.confusion,
        }
        for each in findings.attacks
    ]
    return pl.DataFrame(rows, schema_overrides={"is_valid": pl.Boolean}).with_columns(selectors.float().fill_nan(None))


def plot(findings: ReidentifyFindings) -> "NDArray[Any]":
    """Return matplotlib axes with hit rates, and with hit rate and doubt against the number of columns known."""
    from unveil.report.draw.lines import draw_all

    return draw_all([attack_chart(findings), *charts(findings)])


def page(findings: ReidentifyFindings, context: PageContext = PLAIN) -> Page:
    """Return the whole report as data; :func:`unveil.report.page.render` turns it into HTML.

    It holds no value of the data.
    """
    headline, *explanation = sentences(findings)
    sections = [_verdict_section(findings), _known_section(findings)] if findings.attacks else []
    if findings.clashes:
        sections.append(
            Section(
                heading="Attacks that cannot both be valid",
                lead=clash_sentence(findings),
                blocks=(clash_table(findings),),
            )
        )
    return Page(
        title="Is this re-identification valid?",
        question=(
            f"Who is behind each of {count(findings.records, 'released record', 'released records')}, and are the "
            f"attacks "
            "that say so valid?"
        ),
        headline=headline,
        explanation=tuple(explanation),
        next_steps=next_steps(findings),
        picture=(attack_chart(findings),) if findings.attacks else (),
        tone=tone(findings),
        sections=tuple(sections),
        method=_method(findings),
        limitations=_UNTESTED,
        notes=spoken_notes(findings),
        seed=context.seed,
        strip=context.strip,
    )


def _verdict_section(findings: ReidentifyFindings) -> Section:
    method = name(findings.protect or "", 80)
    made = "made elsewhere, nobody says how" if findings.protect is None else f"made by {method}"
    if findings.declared:
        made = f"made elsewhere, and declared to be made by {method}"
        made += ", from which it cannot have come" if findings.against else "; nothing in the file speaks against that"
    lead = (
        f"The release was {made}. A guess is valid if it claims nothing beyond the true probability that the masking "
        "implies. One that is not may still hit, but claims more than the release supports."
    )
    return Section(
        heading="Which attacks are valid",
        lead=lead,
        blocks=(*key_numbers(findings), attack_table(findings), witness_table(findings)),
    )


def _known_section(findings: ReidentifyFindings) -> Section:
    return Section(
        heading="What each piece of information adds",
        lead=(
            f"The adversary knows {count(len(findings.known), 'column', 'columns')} of the original. {learnt(findings)}"
        ),
        blocks=(*charts(findings), step_table(findings)),
    )


def _method(findings: ReidentifyFindings) -> tuple[str, ...]:
    return (
        "Record level: the true probability of each original record given one released record and the columns that "
        "the adversary knows, every original record being as likely beforehand.",
        "File level: the same given all released records at once, of which no two come from one person. It is computed "
        "exactly where that can be; else it is sampled, and a verdict that the error bars do not allow is not shown.",
        "A guess that is a belief on sets is valid if no set is believed beyond its probability (Definition 7); one "
        "that is a probability, if such a belief leads to it (Definition 14).",
        "An attack that leaves nobody possible for a record is wrong about it, whatever is true; that is a miss.",
        "The best bet is the person of the highest pignistic probability. Where several share it, one is drawn by lot "
        "and the hit rate is the expectation, exactly; its interval is Wilson's at 95%.",
        f"Blind chance is one in {count(findings.originals)}: a person of the original picked by lot.",
        "Definitions: Torra and Stokes, A formalization of re-identification in terms of compatible probabilities "
        "(2013); Stokes and Torra, n-Confusion (2012).",
    )


_UNTESTED = (
    "Whether another attack would do better: only those that were named are run.",
    "An adversary who knows only some of the people, or knows them wrongly: here the original itself is known.",
    "What a right match would reveal about the person, and what more releases of the same people would add.",
)


def brief(findings: ReidentifyFindings) -> Iterator[Part]:
    """Yield what a terminal shows: the headline, the attacks side by side, the worst claims, what was learnt."""
    yield from opening(page(findings))
    if not findings.attacks:
        return
    yield ""
    yield Figures(key_numbers(findings))
    yield ""
    yield attack_table(findings)
    yield from (f"{attack}: {sentence}" for attack, sentence in witness_table(findings).rows)
    if findings.clashes:
        yield from ("", clash_sentence(findings))
    yield ""
    yield step_table(findings)


VIEW = QuestionView(
    schema="unveil.reidentify/1",
    findings=ReidentifyFindings,
    about="The answer of `unveil reidentify`: who is behind each masked record, and whether such guesses are valid.",
    frame=frame,
    page=page,
    plot=plot,
)
