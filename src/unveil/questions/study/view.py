"""The report on a study: first screen, sections, methods, and data frame."""

import shlex
from collections.abc import Iterator
from math import isnan

from unveil.questions.result import PLAIN, PageContext, QuestionView
from unveil.questions.study.findings import EXCESS, Effect, StudyFindings, bounds_of, is_share, words_of
from unveil.questions.study.sections import strength
from unveil.questions.study.sections.strength import NOTHING, effect_table, main_chart, sides
from unveil.questions.study.status import computed, tone
from unveil.report.blocks import NextStep, Page, Section, TableBlock
from unveil.report.scale import value_text
from unveil.report.text import AXES, about, count, duration, labels, significant, together
from unveil.studies import Study


def page(findings: StudyFindings, context: PageContext = PLAIN) -> Page:
    """Return the report as data; the seed is that of the study unless another is given."""
    chart, spent = main_chart(findings), time_table(findings)
    sections = (strength.section(findings, context), failure_section(findings))
    return Page(
        title="Simulation study",
        question="Which attack succeeds most, and which protection lowers its success?",
        headline=headline(findings),
        explanation=explanation(findings),
        next_steps=tuple(_next_steps(findings)),
        picture=(*((chart,) if chart else ()), effect_table(findings)) if findings.counts.fine else (),
        facts=tuple(_facts(findings)),
        tone=tone(findings.counts),
        sections=tuple(each for each in sections if each is not None),
        method=tuple(_method(findings)),
        method_data=(spent,) if spent else (),
        limitations=(
            "Attacks and protections outside the study, and attackers beyond its highest strength, are not covered.",
            "A study does not show whether a metric is reliable; grade its metrics.",
        ),
        seed=findings.study.seed if context.seed is None else context.seed,
        strip=context.strip,
        version=findings.version,
    )


# The first screen.


def headline(findings: StudyFindings) -> str:
    """Return the strongest attack at full strength, and what it reaches."""
    known = [best for protect in findings.study.protections if (best := findings.strongest_attack(protect))]
    if not known:
        return computed(findings.counts)
    sign = -1 if findings.more_is_private else 1
    best = max(known, key=lambda each: sign * each.mean)
    scenarios = count(findings.counts.fine, "scenario", "scenarios")
    return (
        f"{labels(findings.study.attacks)[best.attack]} is the strongest attack: it {_reach(findings, best)} at full "
        f"strength ({scenarios})."
    )


def _reach(findings: StudyFindings, effect: Effect) -> str:
    metric, value = findings.metrics[0], within(findings, effect)
    whom = "targets"
    if findings.targets is not None:
        fewest, most = findings.targets
        whom = f"{fewest:,} targets" if fewest == most else f"{fewest:,} to {most:,} targets"
    if not is_share(metric):
        name = words_of(metric)
        return f"leaves {'an' if name[0] in 'aeiou' else 'a'} {name} of {value}"
    if metric == EXCESS:
        return f"reaches {value} of {whom} beyond the control group"
    if metric.endswith("adversary_success_rate"):
        return f"is correct in {value} of its attempts"
    return f"re-identifies {value} of {whom}" if findings.study.kind == "graph" else f"reaches {value} of {whom}"


def within(findings: StudyFindings, effect: Effect) -> str:
    """Return a mean with its 95% CI, with few digits."""
    form = about if is_share(findings.metrics[0]) else significant
    if isnan(effect.half):
        return form(effect.mean)
    low, high = effect.low, effect.high
    if is_share(findings.metrics[0]):
        low, high = max(low, bounds_of(findings.metrics[0])[0]), min(high, 1.0)
    mean = form(effect.mean)
    if form(low) == mean == form(high):
        return mean
    return f"{mean} ({form(low).rstrip('%') if form(high).endswith('%') else form(low)}–{form(high)})"


def explanation(findings: StudyFindings) -> tuple[str, ...]:
    """Return what is missing, and which protection lowers success most."""
    if not findings.counts.fine:
        return ()
    missing = (computed(findings.counts),) if findings.counts.left else ()
    return (*missing, *_protected(findings))


def _protected(findings: StudyFindings) -> Iterator[str]:
    """Yield which protection lowers the success of its strongest attack most."""
    known = [best for protect in findings.study.protections if (best := findings.strongest_attack(protect))]
    if len(known) < 2:
        return
    sign = -1 if findings.more_is_private else 1
    names, metric = labels(findings.study.protections), words_of(findings.metrics[0])
    least, most = (choose(known, key=lambda each: sign * each.mean) for choose in (min, max))
    bare = next((each for each in known if each.protect == findings.unprotected), most)
    if not least.differs_from(bare):
        yield f"No protection lowers the success of its strongest attack significantly ({metric})."
        return
    yield (
        f"{names[least.protect]} protects most: {metric} {within(findings, least)} for its strongest attack, compared "
        f"with {within(findings, bare)} after {names[bare.protect]}."
    )


def _next_steps(findings: StudyFindings) -> Iterator[NextStep]:
    counts, where = findings.counts, "--sample" if findings.is_example else shlex.quote(findings.folder)
    if counts.left and not findings.is_summary:
        scenarios = count(counts.left, "missing scenario", "missing scenarios")
        option = f"unveil study run {where}/study.toml --out {where} --resume"
        yield NextStep(f"Resume the study to compute {scenarios}.", option=option)
    if counts.fine:
        cost = "unveil protect-graph" if findings.study.kind == "graph" else "unveil audit"
        yield NextStep("Measure the utility loss before you choose a protection.", option=cost)
        yield NextStep("Grade the metrics of this study.", option=f"unveil grade-metrics {where}")


def _facts(findings: StudyFindings) -> Iterator[str]:
    study = findings.study
    yield f"study {study.name!r}"
    yield count(len(study.data), "data set", "data sets")
    yield count(len(study.protections), "protection", "protections")
    yield count(len(study.attacks), "attack", "attacks")
    yield from (f"{len(axis.levels)} levels of {axis.name.replace('_', ' ')}" for axis in study.axes)
    yield f"{findings.counts.fine:,} of {count(findings.counts.total, 'scenario', 'scenarios')}"
    yield f"{findings.replications:,} replications"
    if findings.spent:
        yield f"CPU time {duration(findings.seconds)}"


# Sections and methods.


def failure_section(findings: StudyFindings) -> Section | None:
    """Return the section on failed scenarios; None where nothing failed."""
    table = failure_table(findings)
    if table is None:
        return None
    number = count(findings.counts.failed, "scenario", "scenarios")
    lead = f"{number} failed, without effect on the rest. Resuming the study tries them again."
    return Section(heading="Failures", question="Which scenarios have no result?", lead=lead, blocks=(table,))


def failure_table(findings: StudyFindings) -> TableBlock | None:
    """Return the errors by kind, how many scenarios each befell and where; None where nothing failed."""
    if not findings.failures:
        return None
    rows = tuple(
        (
            count(each.scenarios),
            each.error,
            together(each.data),
            together(each.protections),
            together(each.attacks),
        )
        for each in findings.failures
    )
    return TableBlock(
        caption="Errors by frequency",
        columns=("Scenarios", "Error", "Data", "Protections", "Attacks"),
        rows=rows,
        align=("right", "left", "left", "left", "left"),
        note="Errors that differ in numbers only are counted together.",
        prose=True,
    )


def time_table(findings: StudyFindings) -> TableBlock | None:
    """Return the CPU seconds per replication of each attack on each data set; None where no time was noted."""
    if not findings.spent:
        return None
    study = findings.study
    called = labels(study.attacks)
    each = {(one.data, one.attack): one for one in findings.spent}
    total = {data.name: sum(one.seconds for one in findings.spent if one.data == data.name) for data in study.data}
    rows = tuple(
        (
            data.name,
            *(
                duration(each[data.name, attack].each) if (data.name, attack) in each else NOTHING
                for attack in study.attacks
            ),
            duration(total[data.name]),
        )
        for data in study.data
    )
    return TableBlock(
        caption="CPU time per replication, and in total",
        columns=("Data", *(called[attack] for attack in study.attacks), "Total"),
        rows=rows,
        align=sides(1, len(study.attacks) + 1),
        note="Attacker knowledge, attack, and all metrics, over all workers.",
    )


def _method(findings: StudyFindings) -> Iterator[str]:
    study, wanted = findings.study, findings.study.replications
    often = f"{wanted.number:,} times"
    if wanted.number is None:
        error = value_text(wanted.relative_error or 0.0, "share")
        often = f"until half the 95% CI of every mean is below {error} of it (at most {wanted.cap:,} times)"
    fixed = [
        f"{name.replace('_', ' ')} = {value_text(level, AXES[name][1])}" for name, level in study.fixed_levels().items()
    ]
    releases = "once" if study.releases == 1 else f"{study.releases:,} times"
    yield (
        f"Each data set was protected {releases} by each of {together(study.protections, 20)}. The attacks "
        f"({together(study.attacks, 20)}) met the same releases with the same knowledge, {often}."
    )
    if findings.of_people:
        yield (
            "In each replication the people are divided at random into three equal parts: members, "
            "substitutes, and the control group. The release holds the members who leaked, and substitutes "
            "in place of the rest."
        )
    yield from _calibrated(study)
    same = "; with one release they do not cover other releases" if study.releases == 1 else ""
    yield f"While one strength varied, the rest were fixed ({', '.join(fixed)}). 95% CI: Student's t{same}."
    yield (
        "This is a summary: numbers are rounded to 32-bit floats."
        if findings.is_summary
        else "The seed determines all results, on any number of workers; the folder 'results' holds every replication."
    )


def _calibrated(study: Study) -> Iterator[str]:
    if study.calibrate is None:
        return
    how = {
        "simulate": f"takes the released graph as an original and attacks it in the same way "
        f"({count(study.calibrate_draws, 'time', 'times')} per replication)",
        "seeds": "holds out a fifth of its seed pairs at a time",
    }[study.calibrate]
    yield (
        f"Calibrated metrics use calibrated probabilities: the attacker {how}. They cover all targets, attempted or "
        "not, and are undefined where calibration fails."
    )


VIEW: QuestionView[StudyFindings] = QuestionView(
    schema="unveil.study/1",
    findings=StudyFindings,
    about="Result of `unveil study report`: attack success and metrics of a study.",
    frame=lambda findings: findings.summary,
    page=page,
)
