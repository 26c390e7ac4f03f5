"""The page that answers: if this table is released, what could an adversary do with it, and how sure is that?"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from unveil._version import __version__
from unveil.ask.answer import View
from unveil.ask.audit import verdict, words
from unveil.ask.audit.attacks.texts import ATTACK_TEXTS
from unveil.ask.audit.charts import attack_chart, charts, comparison_chart
from unveil.ask.audit.figures import SCHEMA, figures_of, rows_of
from unveil.ask.audit.findings import Audit
from unveil.ask.audit.parts import sections as parts
from unveil.ask.audit.parts.candidates import candidate_table
from unveil.ask.audit.quantities import meanings, quantities_of
from unveil.ask.audit.tables import (
    adversary_table,
    attack_table,
    column_table,
    comparison_table,
    key_numbers,
)
from unveil.ask.audit.verdict import sentence
from unveil.show.blocks import Block, Page, Section
from unveil.show.editions import people
from unveil.show.judgement import Judgement
from unveil.show.limits import Quantity
from unveil.show.terminal import Headline, Part
from unveil.show.text import count, name

__all__ = ["adversary_table", "attack_table", "comparison_table", "headline", "key_numbers", "page", "plain_words"]

headline = verdict.headline

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray


def page(audit: Audit, *, seed: int | None = None, version: str | None = None) -> Page:
    """Return the whole report as data; :func:`unveil.show.page.render` turns it into HTML.

    Nothing is measured here, and no row or cell of the tables is in it: only figures and the names of columns.
    """
    sections = [parts.identifiers(audit), _comparison(audit)]
    sections += [section for attack in audit.attacks if (section := _attack(audit, attack)) is not None]
    more = (parts.groups, parts.disclosure, parts.utility, parts.weights, parts.adversaries)
    sections += [section for part in more if (section := part(audit)) is not None]
    sections.append(_columns(audit))
    return Page(
        title="Audit of a release" if len(audit.releases) == 1 else f"Audit of {len(audit.releases)} releases",
        question=_question(audit),
        headline=verdict.headline(audit),
        tone=verdict.tone(audit),
        sections=tuple(sections),
        method=_method(audit),
        untested=tuple(_untested(audit)),
        notes=(words.EVIDENCE, *(() if audit.has_control else (words.NO_CONTROL,)), *audit.notes),
        seed=seed,
        version=__version__ if version is None else version,
    )


def plain_words(audit: Audit) -> list[str]:
    """Return for each release what its worst adversary and its columns mean, for the terminal."""
    said = []
    for release in audit.releases:
        found = verdict.worst(replace(audit, releases=(release,)))
        if found is None:
            continue
        finding = found[1]
        # Columns were weighed for linkability; where nothing is proved, what one seems to be worth is mostly luck.
        own = finding.attack == "linkability" and verdict.is_proved(finding)
        columns = [weight.column for weight in release.weights if own and weight.loss > 0][:3]
        most = f" The columns that help most: {words.listed(columns)}." if columns else ""
        which = f"{name(release.name, 40)}: " if len(audit.releases) > 1 else ""
        said.append(f"{which}{sentence(finding)}{most}")
    return said


def _question(audit: Audit) -> str:
    columns = count(len(audit.columns), "column", "columns")
    if len(audit.releases) == 1:
        which = f"If {name(audit.releases[0].name, 40)!r} is released"
    else:
        which = f"If one of these {len(audit.releases)} tables is released"
    # A release may have any name, but only one place is for the number.
    about = "what could somebody who already knows something about the"
    pattern = f"{which.replace('{}', '{ }')}, {about} {{}} in {columns} do with it?"
    return people(audit.rows, "person", "people", pattern=pattern)


def _comparison(audit: Audit) -> Section:
    several = len(audit.releases) > 1
    beside = " beside people who are not in the data and beside blind chance" if audit.has_control else ""
    lead = "The same attacks with the same targets on each release" if several else "What the attacks reached, in short"
    chart = comparison_chart(audit)
    blocks: list[Block] = [*([] if several else key_numbers(audit))]
    blocks += [chart] if chart is not None else []
    return Section(
        heading="The releases side by side" if several else "The figures",
        lead=f"{lead},{beside or ' beside blind chance'}.",
        blocks=(*blocks, *([comparison_table(audit)] if several else [])),
    )


def _attack(audit: Audit, attack: str) -> Section | None:
    if not any(release.of(attack) for release in audit.releases):
        return None
    chart = attack_chart(audit, attack)
    # With one adversary per release the picture would repeat the first one of the page.
    repeated = attack == "linkability" and all(len(release.of(attack)) == 1 for release in audit.releases)
    blocks: list[Block] = [chart] if chart is not None and not repeated else []
    searched = verdict.search_sentence(audit) if attack == "linkability" else ""
    known = candidate_table(audit, attack)
    return Section(
        heading=ATTACK_TEXTS[attack].question,
        lead=f"{ATTACK_TEXTS[attack].lead} {searched}".rstrip(),
        blocks=(*blocks, attack_table(audit, attack), *([] if known is None else [known])),
    )


def _columns(audit: Audit) -> Section:
    return Section(
        heading="What each column was taken for",
        lead=(
            "Kinds and roles were guessed where nobody told them. A wrong guess makes wrong figures: please look "
            "through them. Identifiers and sensitive columns are not among what an adversary knows beforehand."
        ),
        blocks=(column_table(audit),),
    )


def _method(audit: Audit) -> tuple[str, ...]:
    told = [attack for attack in audit.attacks if ATTACK_TEXTS[attack].about]
    # What is said of ties does not hold where another package's rule is followed.
    sentences = [ATTACK_TEXTS[attack].about for attack in told if not (attack == "linkability" and audit.compatibility)]
    sentences.append(
        "Each rate is the share of tries that succeed, with Wilson's interval at a confidence of 95%. The excess over "
        "control is (attack − control) / (1 − control): what the attack reaches beyond what it reaches on people who "
        "are not in the data, as a share of what was left to reach."
    )
    sentences.append(
        "Each interval is for one figure by itself. The headline takes the worst of all, so that of a dozen one "
        "may look proved by chance; what matters should be measured again on fresh people, with one attack named."
    )
    searches = [release.search for release in audit.releases if release.search is not None]
    if searches:
        splits = ", ".join(count(search.splits) for search in searches)
        sentences.append(
            "The worst adversary was searched for on one half of the targets, starting from random divisions of the "
            f"columns and moving one column at a time (divisions tried: {splits}). The best of many looks better than "
            "it is, so the winner was measured again on the other half, whom the search never saw: those are the "
            "figures shown."
        )
    sentences.append(_COMPATIBLE if audit.compatibility else _BY_CONTENT)
    for what, rows, digest in _files(audit):
        pattern = f"{what.replace('{}', '{ }')}: {{}}{f', {audit.digest_name} {digest}' if digest else ''}."
        sentences.append(people(rows, "row", "rows", pattern=pattern))
    return tuple(sentences)


def _files(audit: Audit) -> Sequence[tuple[str, int, str | None]]:
    files: list[tuple[str, int, str | None]] = [("The original", audit.rows, audit.sha256)]
    files += [(f"Release {name(each.name, 40)!r}", each.rows, each.sha256) for each in audit.releases]
    if audit.control_rows is not None:
        files.append(("The control table", audit.control_rows, audit.control_sha256))
    return files


_BY_CONTENT = (
    "Targets are drawn by content, not by position: shuffling the rows of any table changes no figure but that on row "
    "order."
)
_COMPATIBLE = (
    "Linkability was run as anonymeter 1.1.0 runs it, for comparison with it: ties fall as its sort leaves them, so "
    "that the order of rows changes its figures, and columns that say nothing can seem to link everybody."
)


def _untested(audit: Audit) -> Iterator[str]:
    """Yield what nobody looked at, in sentences."""
    left_out = [text.title.lower() for attack, text in ATTACK_TEXTS.items() if attack not in audit.attacks]
    if left_out:
        yield f"Attacks that were not asked for: {', '.join(left_out)}."
    yield (
        "Adversaries with other knowledge: other columns, other tables, repeated releases, or the means by which the "
        "release was made."
    )
    yield "Whether the worst adversary that was found is the worst that exists: a search can miss it."
    if audit.by is None:
        yield "Groups of people: a rate over everybody can hide a group that is hit much more often (--by)."
    else:
        fewer = f"groups of fewer than {audit.minimum_cell} people"
        yield f"Groups by other columns than {name(audit.by, 40)}, and {fewer}."
    if all(release.utility is None for release in audit.releases):
        yield "Whether the release is still useful for what it was made for."
    else:
        yield "Whether the release is good enough for one purpose: usefulness was measured in general."
    if not any(each.role == "sensitive" for each in audit.columns):
        yield "What is sensitive: no column was named (--sensitive), so every column was tried in turn."


def quantities(audit: Audit) -> dict[str, Quantity]:
    """Return the figures that a limit can be set for, each the worst over releases and adversaries."""
    return quantities_of(audit.releases)


def frame(audit: Audit) -> "pl.DataFrame":
    """Return all figures, one row for each release, attack and adversary; undefined ones are null."""
    import polars as pl

    return pl.DataFrame(rows_of(audit), infer_schema_length=None)


def plot(audit: Audit) -> "NDArray[Any]":
    """Return matplotlib axes: the worst adversary on each release, and what it loses without each column."""
    from unveil.show.draw.lines import draw_all

    return draw_all(charts(audit))


def brief(audit: Audit, *, notes: Sequence[str], judgement: Judgement | None) -> Iterator[Part]:
    """Yield what a terminal shows: the headline, the comparison, what it means, and what was not tested."""
    if judgement is not None:
        yield Headline(judgement.headline, judgement.tone)
    yield Headline(headline(audit), verdict.tone(audit))
    yield from (f"Note: {note}" for note in notes)
    yield ""
    yield comparison_table(audit)
    for text in plain_words(audit):
        yield from ("", text)


VIEW = View(
    schema=SCHEMA,
    figures=figures_of,
    quantities=quantities,
    frame=frame,
    page=page,
    plot=plot,
    meanings=meanings,
)
