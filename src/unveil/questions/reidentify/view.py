"""How the findings about re-identification are shown: the first screen, the sections and the methods."""

from math import isnan, log
from typing import TYPE_CHECKING

import numpy as np

from unveil.questions.reidentify.findings import AttackOutcome, ReidentifyFindings
from unveil.questions.reidentify.sections import conflicts, effect, validity
from unveil.questions.reidentify.sections.validity import level_of, rate_text, spoken, validity_of
from unveil.questions.result import PLAIN, PageContext, QuestionView
from unveil.report.blocks import Chart, NextStep, Page, Series, TableBlock, Threshold, Tone
from unveil.report.text import about, count, decimal, name, percent

if TYPE_CHECKING:
    import polars as pl

_METHOD = (
    "Record level: the true probability of each original record, given one released record and the quasi-identifiers.",
    "File level: the same given all released records, no two of which come from one person. It is exact where "
    "possible, else sampled; a verdict within the sampling error is not shown.",
    "A belief on sets is valid if no set has more mass than its true probability (Definition 7). A "
    "probability is valid if a valid belief leads to it (Definition 14).",
    "An attack that leaves no candidate for a record is wrong about it.",
    "The top-ranked candidate has the highest pignistic probability. Ties are broken at random, and the success rate "
    "is the exact expectation; its 95% CI is Wilson's.",
    "Definitions: Torra and Stokes, A formalization of re-identification in terms of compatible probabilities (2013); "
    "Stokes and Torra, n-Confusion (2012).",
)
_LIMITATIONS = (
    "Only the named attacks were run; stronger attacks may succeed more often.",
    "The attacker knows the original columns without errors.",
    "The report does not say what a correct match reveals, or what further releases would add.",
)


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
            "without_candidate": each.nobody,
            "is_valid": each.is_valid,
            "valid_record_level": each.record_level.share,
            "valid_file_level": each.file_level.share,
            "attack_rate": each.attack_rate.value,
            "attack_rate_low": each.attack_rate.low,
            "attack_rate_high": each.attack_rate.high,
            "nonspecificity": each.steps[-1].nonspecificity,
            "entropy": each.steps[-1].entropy,
            "confusion": each.confusion,
        }
        for each in findings.attacks
    ]
    return pl.DataFrame(rows, schema_overrides={"is_valid": pl.Boolean}).with_columns(selectors.float().fill_nan(None))


def sentences(findings: ReidentifyFindings) -> tuple[str, ...]:
    """Return the findings, the most important first: wrong masking, row order, the best attack, invalid attacks."""
    records = count(findings.records, "record", "records")
    said = []
    if findings.against:
        refuted = f"the {records} together refute it"
        if findings.refuting:
            refuted = f"{count(findings.refuting)} of {records} {'refutes' if findings.refuting == 1 else 'refute'} it"
        method = name(findings.protect or "", 80)
        said.append(f"The release cannot come from the declared masking {method}: {refuted}.")
    if findings.keeps_order:
        rows = count(findings.records, "released row is", "released rows are")
        said.append(f"{rows} in the order of the original, which re-identifies them (row-order leakage).")
    best = _best(findings)
    if best is not None:
        said.append(_success(best, findings))
        if best.file_level.invalid:
            said.append(f"Valid guesses at the file level (all records at once): {level_of(best.file_level)}.")
    invalid = [each for each in findings.attacks if each.is_valid is False]
    if invalid:
        most = max(invalid, key=lambda each: each.refuted / max(each.targets, 1))
        contradicts = (
            f"{spoken(most)} contradicts the masking for {count(most.refuted)} of {count(most.targets)} records"
        )
        number = f"{count(len(invalid))} of {count(len(findings.attacks), 'attack is', 'attacks are')} not valid"
        said.append(f"{number}: {contradicts}." if best is not None else f"No valid attack: {contradicts} records.")
    return tuple(said) or ("0 attacks were run.",)


def _best(findings: ReidentifyFindings) -> AttackOutcome | None:
    """Return the most successful valid attack, else the most successful one of unknown validity."""
    for is_valid in (True, None):
        attacks = [each for each in findings.attacks if each.is_valid is is_valid]
        if attacks:
            return max(attacks, key=lambda each: -1.0 if isnan(each.attack_rate.value) else each.attack_rate.value)
    return None


def _success(attacked: AttackOutcome, findings: ReidentifyFindings) -> str:
    rate = attacked.attack_rate
    if not rate.defined:
        return f"{spoken(attacked)} re-identifies 0 records: no released record comes from an original one."
    doubt = "; its validity is unknown" if attacked.is_valid is None else ""
    return (
        f"{spoken(attacked)} re-identifies {about(rate.value)} of {count(attacked.targets, 'record', 'records')} "
        f"(95% CI {about(rate.low).removesuffix('%')}–{about(rate.high)}; baseline {about(findings.blind)}){doubt}."
    )


def next_steps(findings: ReidentifyFindings) -> tuple[str, ...]:
    """Return the next steps."""
    steps = []
    if findings.keeps_order:
        steps.append("Shuffle the rows before the release.")
    if findings.against:
        steps.append("Correct the declared masking method or its settings, and run again.")
    elif all(each.is_valid is False for each in findings.attacks):
        steps.append("Choose an attack that fits the masking; these attacks show nothing, good or bad.")
    elif findings.protect is None:
        steps.append(NextStep("Declare the masking method, to learn which attacks are valid.", option="--method"))
    if any(each.is_valid is not False and each.attack_rate.low > findings.blind for each in findings.attacks):
        steps.append("Mask more strongly, or release fewer quasi-identifiers, and run again.")
    elif findings.attacks:
        steps.append("Run again with more quasi-identifiers and other attacks.")
    return tuple(steps)


def tone(findings: ReidentifyFindings) -> Tone:
    """Return the tone: bad if a possibly valid attack re-identifies half.

    Invalid attacks are a warning at most: their success is no evidence.
    """
    if findings.keeps_order:
        return "bad"
    if findings.against:
        return "warning"
    rates = [each.attack_rate for each in findings.attacks if each.is_valid is not False and each.attack_rate.defined]
    if any(rate.value >= 0.5 for rate in rates):
        return "bad"
    if not rates or any(each.attack_rate.low > findings.blind for each in findings.attacks):
        return "warning"
    return "neutral"


def attack_chart(findings: ReidentifyFindings) -> Chart:
    """Return the success of each attack with its interval, and whether it is valid."""
    rates = [each.attack_rate for each in findings.attacks]
    highest = max([findings.blind, *(effect.number(rate.high) for rate in rates)])
    invalid = sum(each.is_valid is False for each in findings.attacks)
    return Chart(
        title="Success by attack",
        x_label="share of records re-identified (95% CI)",
        y_label="",
        series=(
            Series(
                name="success",
                x=np.array([rate.value for rate in rates]),
                y=np.arange(len(rates), dtype=np.float64),
                style="first",
                kind="points",
                low=np.array([rate.low for rate in rates]),
                high=np.array([rate.high for rate in rates]),
            ),
        ),
        caption="The success of an attack that is not valid is no evidence." if invalid else "",
        x_range=(0.0, min(1.0, max(0.1, highest))),
        x_kind="share",
        thresholds=(Threshold(name=f"baseline {percent(findings.blind)}", value=findings.blind, across="x"),),
        rows=tuple(f"{spoken(each)}: {validity_of(each)}" for each in findings.attacks),
    )


def attack_table(findings: ReidentifyFindings) -> TableBlock:
    """Return validity, success and nonspecificity of each attack."""
    return TableBlock(
        caption="Attacks",
        columns=("Attack", "Valid", "Success (95% CI)", "Nonspecificity"),
        rows=tuple(
            (
                spoken(each),
                level_of(each.record_level),
                rate_text(each.attack_rate),
                decimal(each.steps[-1].nonspecificity),
            )
            for each in findings.attacks
        ),
        align=("left", "right", "right", "right"),
        note=f"Baseline: {percent(findings.blind)} success, nonspecificity {decimal(log(findings.originals))} (nats).",
    )


def page(findings: ReidentifyFindings, context: PageContext = PLAIN) -> Page:
    """Return the whole report as data; it holds no value of the data."""
    headline, *explanation = sentences(findings)
    sections = (each.section(findings, context) for each in (validity, effect, conflicts))
    loss = () if isnan(findings.loss) else (f"Utility loss of the masking: {percent(findings.loss)}.",)
    return Page(
        title="Re-identification attacks",
        question="How many records are re-identified, and are the attacks valid?",
        headline=headline,
        explanation=tuple(explanation[:2]),
        next_steps=next_steps(findings),
        picture=(attack_chart(findings), attack_table(findings)) if findings.attacks else (),
        tone=tone(findings),
        sections=tuple(each for each in sections if each is not None),
        method=(*_METHOD, *loss),
        limitations=_LIMITATIONS,
        notes=tuple(f"{note[:1].upper()}{note[1:].rstrip('.')}." for note in findings.notes),
        seed=context.seed,
        strip=context.strip,
    )


VIEW = QuestionView(
    schema="unveil.reidentify/2",
    findings=ReidentifyFindings,
    about="Result of `unveil reidentify`: re-identification of masked records, and validity of the attacks.",
    frame=frame,
    page=page,
)
