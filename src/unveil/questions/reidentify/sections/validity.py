"""Validity: the masking bounds what an attack may claim."""

from unveil.metrics.trials.risk import Rate
from unveil.questions.reidentify.findings import AttackOutcome, ReidentifyFindings, ValidityCounts
from unveil.questions.result import PageContext
from unveil.report.blocks import Section, TableBlock
from unveil.report.text import count, decimal, name, percent

_SHOWN = 3


def section(findings: ReidentifyFindings, context: PageContext) -> Section | None:
    """Return the verdict on each attack with its evidence."""
    del context
    if not findings.attacks and not findings.against:
        return None
    method = name(findings.protect or "", 80)
    if findings.protect is None:
        lead = "Validity is unknown: no masking method was given."
    elif findings.against:
        more = len(findings.against) - _SHOWN
        evidence = [f"Evidence: {each}." for each in findings.against[:_SHOWN]]
        evidence += [f"{count(more)} more columns show it."] if more > 0 else []
        missing = [f"{name(each.attack, 60)} was not run: {each.why}." for each in findings.not_run]
        lead = " ".join([f"The release cannot come from {method}, so validity is unknown.", *evidence, *missing])
    else:
        checked = "; nothing in the release contradicts it" if findings.declared else ""
        lead = (
            f"Masking: {method}{' (declared)' if findings.declared else ''}{checked}. A valid attack claims no more "
            "than the true probability that this masking implies."
        )
    return Section(
        heading="Validity",
        question="Does an attack claim more than the masking allows?",
        lead=lead,
        blocks=(),
        data=(validity_table(findings),) if findings.attacks else (),
    )


def validity_table(findings: ReidentifyFindings) -> TableBlock:
    """Return each attack's valid shares at both levels, and counterevidence."""
    reasons = dict.fromkeys(
        f"No verdict at the {each.level} level{_on_some(attacked, each)}: {each.why.removeprefix('not shown: ')}."
        for attacked in findings.attacks
        for each in (attacked.record_level, attacked.file_level)
        if each.why
    )
    return TableBlock(
        caption="Validity by attack",
        columns=("Attack", "Valid: record level", "Valid: file level", "n-confusion", "Evidence"),
        rows=tuple(
            (
                spoken(each),
                level_of(each.record_level),
                level_of(each.file_level),
                decimal(each.confusion),
                witness_of(each),
            )
            for each in findings.attacks
        ),
        align=("left", "right", "right", "right", "left"),
        note=" ".join(["n-confusion: the smallest number of people who are equally likely for a record.", *reasons]),
        prose=True,
    )


def _on_some(attacked: AttackOutcome, verdict: ValidityCounts) -> str:
    """Return the number of open guesses, or nothing if all are."""
    return f" on {count(verdict.undecided, 'record', 'records')} of {spoken(attacked)}" if verdict.decided else ""


def validity_of(attacked: AttackOutcome) -> str:
    """Return whether an attack is valid, in a few words."""
    if attacked.is_valid is None:
        return "validity unknown"
    return "valid" if attacked.is_valid else f"not valid for {count(attacked.refuted)} of {count(attacked.targets)}"


def level_of(verdict: ValidityCounts) -> str:
    """Return the share of valid guesses at one level, or counts.

    >>> level_of(ValidityCounts(level="record", valid=3, invalid=1)), level_of(ValidityCounts(level="file"))
    ('75.0%', 'unknown')
    >>> level_of(ValidityCounts(level="file", undecided=9, not_shown=9))
    'not shown'
    >>> level_of(ValidityCounts(level="file", invalid=8, undecided=52))
    '0 valid, 8 refuted, 52 open'
    """
    if not verdict.decided:
        return "not shown" if verdict.not_shown else "unknown"
    if not verdict.undecided:
        return percent(verdict.share)
    return f"{count(verdict.valid)} valid, {count(verdict.invalid)} refuted, {count(verdict.undecided)} open"


def witness_of(attacked: AttackOutcome) -> str:
    """Return the strongest evidence against an attack."""
    if attacked.witness:
        return attacked.witness
    if attacked.is_valid is None:
        return f"No evidence against it, but {attacked.record_level.why or 'some guesses are open'}."
    return "No guess exceeds the true probability."


def rate_text(rate: Rate) -> str:
    """Return a rate with its confidence interval.

    >>> rate_text(Rate(0.25, 0.2, 0.3125))
    '25.0% (20.0–31.2%)'
    """
    if not rate.defined:
        return "undefined"
    return f"{percent(rate.value)} ({percent(rate.low).removesuffix('%')}–{percent(rate.high)})"


def spoken(attacked: AttackOutcome) -> str:
    """Return the attack as it is written, visible and of bounded length."""
    return name(attacked.attack, 60)
