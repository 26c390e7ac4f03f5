"""Write docs/research/atlas.md and its pictures from the results of the study of releases that others made.

    python examples/atlas/atlas_page.py
    python examples/atlas/atlas_page.py --atlas atlas --controlled atlas-controlled --out somewhere

Every number on the page comes from the two studies, their folders or the summaries that the project keeps, and from the
audits of `paths.py`.
"""
# ruff: noqa: E501 (sentences of the page, which are as wide as the pages of the guide)

import argparse
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from math import isnan
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from unveil.grades.releases import GradedRelease, Order, order_of, releases_of
from unveil.questions.study.releases.findings import AuditedFile, ReleasesFindings, TechniqueFindings
from unveil.questions.study.releases.run import run, spread_of
from unveil.questions.study.releases.sections.epsilon import epsilon_charts, grade_table
from unveil.questions.study.releases.sections.techniques import (
    cell_table,
    comparison_table,
    rate_text,
    safety_chart,
    spread_text,
    summary_table,
    trade_chart,
)
from unveil.questions.study.releases.view import headline, least_lost
from unveil.report.blocks import Chart, TableBlock
from unveil.report.text import count, percent
from unveil.studies import Results
from unveil.studies.audit_columns import COMPARED, LINKED, PROVED, RISK

ROOT = Path(__file__).resolve().parents[2]
KEPT = ROOT / "studies" / "results"
#: Figures that need no control, of which is asked how far they follow what a control shows.
ALONE = (
    LINKED,
    "linkability.mean_rate",
    "inference.mean_rate",
    "attribute_disclosure.mean_rate",
    "copies.attack_rate",
    "closest_record.median",
    "neighbour_ratio.median",
    "disclosure.sample_uniqueness",
    "utility.loss",
    RISK,
)
#: Less of these is worse.
FALLS = ("closest_record.median", "neighbour_ratio.median", "utility.loss")
#: Two releases differ in what being in the data adds from here on.
DIFFERS = 0.02


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--atlas", type=Path, default=KEPT / "atlas.parquet")
    parser.add_argument("--controlled", type=Path, default=KEPT / "atlas-controlled.parquet")
    parser.add_argument("--paths", type=Path, default=KEPT / "atlas-paths.csv")
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "research")
    told = parser.parse_args()
    atlas, controlled = run(Results.read(told.atlas)), releases_of(Results.read(told.controlled))
    told.out.mkdir(parents=True, exist_ok=True)
    write_pictures(atlas, told.out / "images" / "atlas")
    (told.out / "atlas.md").write_text(
        "\n".join(page(atlas, controlled, pl.read_csv(told.paths))) + "\n", encoding="utf-8"
    )


def write_pictures(found: ReleasesFindings, folder: Path) -> None:
    """Write the pictures of the page."""
    import matplotlib as mpl

    mpl.use("Agg")
    mpl.rcParams["svg.hashsalt"] = "atlas"  # so that the same results are the same file
    from matplotlib import pyplot

    from unveil.report.draw.lines import draw, draw_all

    folder.mkdir(parents=True, exist_ok=True)
    drawn: dict[str, Chart | None] = {"trade": trade_chart(found), "techniques": safety_chart(found)}
    for name, chart in drawn.items():
        if chart is not None:
            axes = draw(chart)
            if not chart.rows:  # many marks of two colours: each has its name beside it
                legends = [each for each in (axes.get_legend(), *pyplot.gcf().legends) if each is not None]
                for legend in legends:
                    legend.remove()
                pyplot.gcf().set_size_inches(9, 6)
                write_names(axes, {each.name: (float(each.x[0]), float(each.y[0])) for each in chart.series})
            pyplot.gcf().savefig(folder / f"{name}.svg", bbox_inches="tight", metadata={"Date": None})
    if charts := epsilon_charts(found):
        draw_all(charts)
        pyplot.gcf().savefig(folder / "epsilon.svg", bbox_inches="tight", metadata={"Date": None})
    pyplot.close("all")


def write_names(axes: Any, places: Mapping[str, tuple[float, float]]) -> None:
    """Write each name beside its mark, on the first side where it covers no mark and no other name."""
    marks = [axes.transData.transform(place) for place in places.values()]
    taken: list[Any] = []
    for name, place in places.items():
        for step, side in product((3, -11, 14, -22, 25, -33), ("left", "right")):
            across = 7 if side == "left" else -7
            text = axes.annotate(name, place, (across, step), textcoords="offset points", fontsize=8, ha=side)
            box = text.get_window_extent()
            if not any(box.overlaps(each) for each in taken) and not any(box.contains(*mark) for mark in marks):
                break
            text.remove()
        else:
            text = axes.annotate(name, place, (7, 3), textcoords="offset points", fontsize=8)
        taken.append(text.get_window_extent())


def page(found: ReleasesFindings, controlled: Sequence[GradedRelease], paths: pl.DataFrame) -> Iterator[str]:
    """Yield the lines of the page."""
    files = found.releases
    yield "# The atlas: releases that others made"
    yield ""
    yield f"**{headline(found)}** {' '.join(least_lost(found))}"
    yield ""
    yield (
        f"{len(files)} de-identified versions of census excerpts (people around Boston and Dallas, and of the nation) that "
        f"vendors and research teams made with {len(found.families)} techniques for the Collaborative Research Cycle of the "
        "National Institute of Standards and Technology (Task, Bhagat and Howarth 2023, doi 10.18434/mds2-3024), each audited "
        "with all attacks of `unveil audit`. This page is written by `examples/atlas/atlas_page.py` from the results of "
        "`studies/atlas.toml`; every number in it is one of theirs."
    )
    yield ""
    yield "* " + "\n* ".join(findings(found, controlled))
    yield ""
    yield from pictures(found)
    yield "## Technique and epsilon"
    yield ""
    yield from markdown(cell_table(found))
    yield "## Who keeps most for the least risk"
    yield ""
    yield from markdown(summary_table(found))
    yield from markdown(comparison_table(found))
    yield from what_a_control_adds(controlled)
    yield from what_other_files_add(paths)
    yield "## Which figures order releases"
    yield ""
    yield from graded(found)
    yield from surprises(found)
    yield from NOT_RUN
    yield from REPRODUCE


def findings(found: ReleasesFindings, controlled: Sequence[GradedRelease]) -> Iterator[str]:
    """Yield the findings, each a sentence or two with its figures."""
    by_name = {each.technique: each for each in found.families}
    whole = [each for each in found.releases if each.compared]
    if whole:
        least = min(whole, key=lambda each: each.risk.low)
        yield (
            f"**A subsample is the worst release of all.** {len(whole)} releases hold 40 % of the people unchanged, beside "
            f"the other 60 % as control: all {sum(each.proved for each in whole)} are found out, and being in the data adds at "
            f"least {percent(least.risk.low)} to the clearest attack of each."
        )
    kept = [each for each in found.releases if each.asked == "who" and each.risk.low > 0 and not each.compared]
    if kept:
        worst = max(kept, key=lambda each: each.risk.low)
        yield (
            f"**The order of rows gives people away** in {count(len(kept), 'release', 'releases')} ({listed(kept)}): in the "
            f"worst, `{worst.name}`, {rate_text(worst.risk)} of rows stand where their person stands, beyond luck."
        )
    by_luck = accused_by_luck(found)
    alone = sum(not each.compared for each in found.releases)
    yield (
        f"**Accused by luck**: {count(len(by_luck), 'release', 'releases')} of techniques that are mostly not accused "
        f"({listed(by_luck)}) {'is' if len(by_luck) == 1 else 'are'} accused without a figure that is beyond strangers. At an "
        f"error of 4.5 % that is as many as luck gives: {0.045 * alone:.1f} of {alone}."
    )
    copied = [each for each in found.releases if each.unmistakable and not each.compared]
    yield (
        f"**Unmistakable copies**: {count(len(copied), 'release', 'releases')} of {sum(not e.compared for e in found.releases)} "
        f"without a control {'holds' if len(copied) == 1 else 'hold'} people whose records are too unusual for coincidence"
        + (f" ({listed(copied)})." if copied else ".")
    )
    remembered = [each for each in found.releases if each.asked == "secret" and each.risk.low > 0 and not each.compared]
    yield (
        f"**Remembered secrets**: in {count(len(remembered), 'release', 'releases')} without a control a secret is guessed "
        "better than by whoever is best when taught by other people of the data"
        + (f" ({listed(remembered)})." if remembered else ".")
    )
    for each in found.levels:
        first, last = f"{each.epsilons[0]:g}", f"{each.epsilons[-1]:g}"
        yield (
            f"**{each.technique}, epsilon {first} to {last}**: what is lost changes from {spread_text(each.loss[0])} to "
            f"{spread_text(each.loss[-1])}, records linked from {spread_text(each.linked[0])} to "
            f"{spread_text(each.linked[-1])} ({each.groups} groups of the same columns and people)."
        )
    private, others = divided(found)
    if private and others:
        yield (
            f"**With an epsilon and without**: {len(private)} releases with differential privacy link "
            f"{text(private, 'linked')} of records and lose {text(private, 'loss')}; {len(others)} synthetic ones without "
            f"link {text(others, 'linked')} and lose {text(others, 'loss')}."
        )
    if "cart" in by_name:
        cart = by_name["cart"]
        yield (
            f"**CART is not safe because nothing is found.** It keeps most (loses {spread_text(cart.loss)}), and "
            f"{spread_text(cart.copied)} of people stand in its releases word for word, which coincidence may explain as long "
            f"as there is no control.{own_cart(controlled)}"
        )
    yield from control_sentence(controlled)


def own_cart(controlled: Sequence[GradedRelease]) -> str:
    """Return what a control shows of trees that we grew ourselves."""
    own = [(one, other) for one, other in Pairs(controlled).both if one.technique == "cart:leaf=5"]
    if not own:
        return ""
    proved = sum(one.figures[PROVED] == 1 for one, _ in own)
    return (
        f" Of {len(own)} releases by trees of our own, with a control {proved} are found out, and being in the data adds "
        f"{mean_text([one.figures[RISK] for one, _ in own])} to the clearest attack; without one the same audits find "
        f"{sum(other.figures[PROVED] == 1 for _, other in own)}."
    )


def accused_by_luck(found: ReleasesFindings) -> list[AuditedFile]:
    """Return releases that are accused, though no figure is beyond strangers and most of their technique are not."""
    mostly = {each.technique for each in found.families if each.proved > each.releases / 2}
    return [
        each
        for each in found.releases
        if each.proved and not each.compared and not each.risk.low > 0 and each.technique not in mostly
    ]


def divided(found: ReleasesFindings) -> tuple[list[AuditedFile], list[AuditedFile]]:
    """Return the releases with an epsilon, and the synthetic ones without."""
    masked = ("subsample_40pcnt", "kanonymity", "pram")
    private = [each for each in found.releases if not isnan(each.epsilon)]
    return private, [each for each in found.releases if isnan(each.epsilon) and each.technique not in masked]


def text(files: Sequence[AuditedFile], what: str) -> str:
    """Return a mean over releases with its interval."""
    values = [each.linked.value if what == "linked" else each.loss for each in files]
    return spread_text(spread_of(values, 1))


def listed(files: Sequence[AuditedFile]) -> str:
    """Return how many releases there are of each technique."""
    number: dict[str, int] = {}
    for each in files:
        number[each.technique] = number.get(each.technique, 0) + 1
    return ", ".join(f"{name} {times}" for name, times in sorted(number.items(), key=lambda item: -item[1]))


def pictures(found: ReleasesFindings) -> Iterator[str]:
    """Yield the pictures with their captions."""
    for name, chart in (("trade", trade_chart(found)), ("techniques", safety_chart(found))):
        if chart is not None:
            yield from (f"![{chart.title}](images/atlas/{name}.svg)", "", f"*{chart.title}.* {chart.caption}", "")
    if charts := epsilon_charts(found):
        yield from ("![Risk and loss against epsilon](images/atlas/epsilon.svg)", "")
        yield from (f"*Risk and loss against epsilon.* {charts[0].caption}", "")


class Pairs:
    """Releases that we made ourselves, each audited with a control and without."""

    def __init__(self, releases: Sequence[GradedRelease]) -> None:
        named = {each.name: each for each in releases}
        self.both = [
            (each, named[without])
            for name, each in named.items()
            if name.endswith(" with") and (without := f"{name.removesuffix(' with')} without") in named
        ]

    def order(self, figure: str) -> Order:
        """Return how often a figure without control orders releases as the clearest risk with one does."""
        sign = -1.0 if figure in FALLS else 1.0
        alone = {each.name: sign * without.figures[figure] for each, without in self.both}
        return order_of(
            [each for each, _ in self.both],
            lambda each: alone[each.name],
            lambda each: max(each.figures[f"{RISK}.low"], 0.0),
            lambda each: each.same_columns,
            differs=DIFFERS,
            rng=np.random.default_rng(1),
        )


def control_sentence(controlled: Sequence[GradedRelease]) -> Iterator[str]:
    pairs = Pairs(controlled)
    if not pairs.both:
        return
    usable = [(one, other) for one, other in pairs.both if one.figures[COMPARED] == 1]
    found_with = sum(one.figures[PROVED] == 1 for one, _ in usable)
    found_without = sum(other.figures[PROVED] == 1 for _, other in usable)
    yield (
        f"**What a control would add**: of {len(usable)} releases that we made ourselves, {found_with} are found out with a "
        f"control and {found_without} without one. But how often records are linked without a control puts "
        f"{order_text(pairs.order(LINKED))} of pairs in the order of their risk with one: who is safer can be told, how safe "
        "cannot."
    )


def what_a_control_adds(controlled: Sequence[GradedRelease]) -> Iterator[str]:
    """Yield how far figures without a control are from what a control shows."""
    pairs = Pairs(controlled)
    if not pairs.both:
        return
    yield "## What a control would add"
    yield ""
    yield (
        "The releases of others have no control, so what being in the data adds to linking, guessing and membership stays "
        "open. How much is missed was measured on releases that we made of a half of the people of Massachusetts in the "
        "same three feature sets, with the other half as control (`examples/atlas/controlled.py`, "
        "`studies/atlas-controlled.toml`): each audited with the control and without it."
    )
    yield ""
    rows = []
    for technique in dict.fromkeys(each.technique for each, _ in pairs.both):
        own = [(one, other) for one, other in pairs.both if one.technique == technique]
        rows.append(
            (
                technique,
                f"{sum(one.figures[PROVED] == 1 for one, _ in own)} of {len(own)}",
                f"{sum(other.figures[PROVED] == 1 for _, other in own)} of {len(own)}",
                mean_text([one.figures[RISK] for one, _ in own]),
                mean_text([other.figures[RISK] for _, other in own]),
                mean_text([one.figures["linkability.excess_over_control"] for one, _ in own]),
                mean_text([other.figures[LINKED] for _, other in own]),
            )
        )
    heads = ("made by", "proved with", "proved without", "risk with", "risk without", "linking adds", "linked")
    yield from markdown(TableBlock(caption="With a control and without", columns=heads, rows=tuple(rows), align=()))
    yield (
        "Risk is the clearest excess beyond strangers, negative ones counted as 0; *linking adds* is what being in the data "
        "adds to linking, and *linked* the rate that stands in its place without a control. Means over the feature sets."
    )
    yield ""
    yield "Which figure without a control puts two releases of the same columns in the order that the risk with one does:"
    yield ""
    orders = sorted(((name, pairs.order(name)) for name in ALONE), key=lambda each: -np.nan_to_num(each[1].share))
    yield from markdown(
        TableBlock(
            caption="Order without a control",
            columns=("figure", "pairs in the right order", "pairs"),
            rows=tuple((f"`{name}`", order_text(each), f"{each.pairs:,}") for name, each in orders),
            align=(),
        )
    )


def mean_text(values: Sequence[float]) -> str:
    """Return the mean of shares, negative ones as 0."""
    known = [max(each, 0.0) for each in values if not isnan(each)]
    return percent(sum(known) / len(known)) if known else "–"


def order_text(order: Order) -> str:
    """Return a share of pairs with its interval."""
    return "–" if not order.pairs else f"{percent(order.share)} ({percent(order.low)} to {percent(order.high)})"


def graded(found: ReleasesFindings) -> Iterator[str]:
    """Yield the grades, and what they say of distances."""
    marks = {each.figure: each for each in found.grades}
    yield (
        "Of two releases of one technique with the same columns of the same people, the one with the greater epsilon was made "
        "with less noise; of two with the same columns, one may hold more people word for word. A figure that deserves trust "
        "puts them in that order. `unveil audit` shows these grades beside its figures."
    )
    yield ""
    trusted = [each.figure for each in found.grades if each.verdict == "use"]
    refused = [each.figure for each in found.grades if each.verdict == "do not rank by it"]
    if trusted:
        yield f"To be trusted: {', '.join(f'`{name}`' for name in trusted)}."
        yield ""
    if refused:
        yield f"No better than a coin in one of both: {', '.join(f'`{name}`' for name in refused)}."
        yield ""
    said = [
        f"`{name}` orders {order_text(each.epsilon)} of pairs by epsilon and {order_text(each.copied)} by people copied "
        f"({each.verdict})"
        for name in ("closest_record.median", "closest_record.low", "neighbour_ratio.median", "neighbour_ratio.low")
        if (each := marks.get(name)) is not None
    ]
    if said:
        yield (
            f"**Distances** are graded like all others: {'; '.join(said)}. A good order among releases of one technique is no "
            "verdict on one of them: [why distances do not decide](decision-measured.md#why-distances-do-not-decide)."
        )
        yield ""
    yield from markdown(grade_table(found))


def surprises(found: ReleasesFindings) -> Iterator[str]:
    """Yield what nobody expected, as far as these results show it."""
    families: dict[str, TechniqueFindings] = {each.technique: each for each in found.families}
    yield "## What surprised"
    yield ""
    for technique, sentence in SURPRISES.items():
        own = families.get(technique)
        if own is not None:
            worst = own.worst
            yield "* " + sentence.format(
                releases=own.releases,
                proved=own.proved,
                name=worst.name,
                risk=rate_text(worst.risk),
                copied=spread_text(own.copied),
                linked=spread_text(own.linked),
                loss=spread_text(own.loss),
                beaten=spread_text(own.beaten),
            )
    marks = {each.figure: each for each in found.grades}
    unique, risky = marks.get("disclosure.sample_uniqueness"), marks.get("disclosure.average_risk")
    if unique is not None and risky is not None:
        yield (
            f"* **Counting rows that look alike puts releases in the wrong order**: `{unique.figure}` is right for "
            f"{order_text(unique.epsilon)} of pairs by epsilon and for {order_text(unique.copied)} by people copied, "
            f"`{risky.figure}` for {order_text(risky.epsilon)} and {order_text(risky.copied)}. Noise makes rows unusual, so that "
            "the noisier release looks riskier; of synthetic rows class sizes say nothing about people."
        )
    yield (
        "* **The same adversary was no fair comparison.** Whoever goes by the rarest values in common guesses districts from a "
        "release that says little else, and is led astray by real incomes: without a control that was called memory, also of "
        "releases with an epsilon of 1. Since then the comparison is whoever is best when taught by other people."
    )
    yield ""


#: What was seen of a technique, with its figures in it.
SURPRISES = {
    "pram": (
        "**PRAM kept the order of the people.** {proved} of {releases} releases are found out by row order, which no noise in "
        "the cells undoes; the other two left people out. One shuffle would have helped more than all the noise. And secrets "
        "are remembered: in `{name}` {risk} beyond whoever is best when taught by other people."
    ),
    "MostlyAI SD": (
        "**The commercial generator kept an order too**: its releases list districts in the order of the original "
        "({proved} of {releases} found out), although nobody is found by it. It loses {loss}, copies {copied} of people, and "
        "links {linked} of records."
    ),
    "kanonymity": (
        "**k-anonymity by sdcMicro left out people, and changed nobody**: all released rows are rows of the original "
        "({copied} of people stand in it word for word), in classes of k. What is lost ({loss}) is whoever is rare; where "
        "only some columns count as keys, secrets of those who stay are remembered: in `{name}` {risk}."
    ),
    "privbayes": (
        "**More epsilon bought PrivBayes nothing**: neither what is lost nor what is linked changes surely between 1 and 10 (see "
        "above); {loss} is lost at either."
    ),
    "patectgan": (
        "**PATE-CTGAN is safe because it says little**: {linked} of records are linked at every epsilon, hardly more than blind "
        "guessing, and {loss} is lost; a greater epsilon buys usefulness that costs no linking."
    ),
    "bayesian_network": (
        "**A Bayesian network without noise** copies {copied} of people and links {linked} of records, and loses {loss}."
    ),
}
NOT_RUN = (
    "## What was not run",
    "",
    "* Membership, and what being in the data adds to linking and guessing, for releases without a control: no stranger can be "
    "made afterwards.",
    "* Record linkage of masked releases: nobody says which released row is whose.",
    "* Other seeds of the same techniques: each release is the only one of its settings, so that intervals are over releases "
    "that differ in columns and people too.",
    "* Survey weights: `PWGTP` and `WGTP` are columns like others here.",
    "",
)
REPRODUCE = (
    "## How to reproduce it",
    "",
    "```sh",
    "export UNVEIL_DATA=/where/the/data/lie          # with acs/ and crc/, as NIST publishes them",
    "unveil study run studies/atlas.toml --out atlas # can be stopped, and resumed with --resume",
    "unveil study report atlas --html atlas.html",
    "unveil study summary atlas --out studies/results/atlas.parquet",
    "python examples/atlas/controlled.py $UNVEIL_DATA/acs/ma2019.csv.gz controlled",
    "UNVEIL_CONTROLLED=$PWD/controlled unveil study run studies/atlas-controlled.toml --out atlas-controlled",
    "unveil study summary atlas-controlled --out studies/results/atlas-controlled.parquet",
    "python -m examples.atlas.paths $UNVEIL_DATA/acs/national2019.csv.gz studies/results/atlas-paths.csv",
    "python tools/make_grades.py",
    "python examples/atlas/atlas_page.py",
    "```",
    "",
    "A release of your own beside these: `python examples/atlas/place.py people.csv released.csv`. The report of the whole study, "
    "with every release, comes from the summary that the project keeps: `unveil study report studies/results/atlas.parquet "
    "--html atlas.html`.",
)


def what_other_files_add(paths: pl.DataFrame) -> Iterator[str]:
    """Yield what each way of the decision tree adds to the audits of three releases."""
    releases = paths["release"].unique(maintain_order=True).to_list()
    shown = {(each["release"], each["path"]): _result_text(each) for each in paths.iter_rows(named=True)}
    yield "## What other files would add"
    yield ""
    yield (
        "An owner without a control group may have [other files](../how-to/control-group.md). What each adds was tried once "
        "on three releases of our own, of 400 census records (`examples/atlas/paths.py`), with linkability, membership and "
        "copies, at a threshold of 9%."
    )
    yield ""
    rows = tuple(
        (path, *(shown[release, path] for release in releases)) for path in paths["path"].unique(maintain_order=True)
    )
    yield from markdown(TableBlock(caption="Ways", columns=("You have", *releases), rows=rows, align=()))
    yield (
        "Decision, level, and the excess that sets it, in people per 100, with its 95% limits. Other attacks were not run, "
        "so nothing can pass. The row of the program is about the generator; the others are about the release."
    )
    yield ""


def _result_text(row: Mapping[str, Any]) -> str:
    decision = f"{row['decision']}, {str(row['level']).replace('_', ' ')}"
    if row["decision"] == "inconclusive" and row["level"] == "inconclusive":
        decision = "inconclusive"
    if row["excess"] is None:
        return f"{decision}; {row['described']}" if row["described"] else decision
    return f"{decision}: {100 * row['excess']:.1f} ({100 * row['low']:.1f} to {100 * row['high']:.1f})"


def markdown(table: TableBlock) -> Iterator[str]:
    """Yield a table as Markdown."""
    yield f"| {' | '.join(table.columns)} |"
    yield f"|{'---|' * len(table.columns)}"
    yield from (f"| {' | '.join(cell.replace('|', '/') for cell in row)} |" for row in table.rows)
    yield from (("", table.note) if table.note else ())
    yield ""


if __name__ == "__main__":
    main()
