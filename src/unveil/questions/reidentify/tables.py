"""The figures of attacks on a masked release as text and tables, the same on the page and in the terminal."""

from math import isnan

from unveil.questions.reidentify.findings import AttackOutcome, ReidentifyFindings, ValidityCounts
from unveil.questions.reidentify.words import doubt_of, level_of, rate_text, spoken, verdict_of, witness_of
from unveil.report.blocks import Number, TableBlock
from unveil.report.text import count, decimal, name, percent


def key_numbers(findings: ReidentifyFindings) -> tuple[Number, ...]:
    """Return how many people look alike, and what the masking cost."""
    return (
        Number(
            label="n-confusion",
            value=decimal(findings.confusion),
            meaning="The least number of people who look equally good for a record, over all records and attacks; 1 "
            "means that for some record one person stands out, rightly or wrongly.",
        ),
        *_loss(findings),
    )


def _loss(findings: ReidentifyFindings) -> tuple[Number, ...]:
    if isnan(findings.loss):
        return ()
    meaning = (
        "What the masking cost: mean change of columns, of what they have to do with one another, and how well "
        "released rows are told from original ones. 0% means that nothing was lost, 100% that nothing is left."
    )
    return (Number(label="Loss of utility", value=percent(findings.loss), meaning=meaning),)


def attack_table(findings: ReidentifyFindings) -> TableBlock:
    """Return the attacks side by side."""
    return TableBlock(
        caption="The attacks side by side",
        columns=("Attack", "Verdict", "Valid: record", "Valid: file", "Hit rate", "Doubt", "Confusion"),
        rows=tuple(
            (
                spoken(each),
                verdict_of(each),
                level_of(each.record_level),
                level_of(each.file_level),
                rate_text(each.hit_rate),
                doubt_of(each),
                decimal(each.confusion),
            )
            for each in findings.attacks
        ),
        align=("left", "left", "right", "right", "right", "right", "right"),
        note=_table_note(findings),
        prose=True,
    )


def _table_note(findings: ReidentifyFindings) -> str:
    text = (
        "Valid is the share of guesses that are compatible with the true probability at the record level and at the "
        "file level; where some guesses are undecided no share is known, and the counts are shown. "
        f"Blind chance is {percent(findings.blind)}. Doubt is the mean nonspecificity in nats before and "
        "after, which is 0 for a guess that is a probability. Confusion is the least number of people who share the "
        "best bet."
    )
    reasons = dict.fromkeys(
        f"No verdict at the {each.level} level{_on_some(attacked, each)}: {each.why.removeprefix('not shown: ')}."
        for attacked in findings.attacks
        for each in (attacked.record_level, attacked.file_level)
        if each.why
    )
    return " ".join([text, *reasons])


def _on_some(attacked: AttackOutcome, verdict: ValidityCounts) -> str:
    """Return how many guesses of an attack are undecided, or nothing where all are."""
    return f" on {count(verdict.undecided, 'record', 'records')} of {spoken(attacked)}" if verdict.decided else ""


def witness_table(findings: ReidentifyFindings) -> TableBlock:
    """Return the worst claim of each attack, in a sentence."""
    return TableBlock(
        caption="The worst claim of each attack",
        columns=("Attack", "What shows it"),
        rows=tuple((spoken(each), witness_of(each)) for each in findings.attacks),
        align=("left", "left"),
        prose=True,
    )


def step_table(findings: ReidentifyFindings) -> TableBlock:
    """Return nonspecificity and hit rate after each piece of information."""
    rows = (
        (
            spoken(attacked),
            f"{count(step.known)}: {name(step.column, 40)}" if step.known else "nothing",
            decimal(step.nonspecificity),
            decimal(step.entropy),
            rate_text(step.hit_rate) if step.known else percent(step.hit_rate.value),
            count(step.nobody) if not step.why else "",
        )
        for attacked in findings.attacks
        for step in attacked.steps
    )
    return TableBlock(
        caption="What each piece of information adds",
        columns=("Attack", "Known up to", "Nonspecificity", "Entropy", "Hit rate", "Nobody left"),
        rows=tuple(rows),
        align=("left", "left", "right", "right", "right", "right"),
        note="Nonspecificity and entropy are means in nats. Nobody left counts records that the attack fits to nobody.",
    )


def clash_table(findings: ReidentifyFindings) -> TableBlock:
    """Return the attacks that cannot both be valid."""
    return TableBlock(
        caption="Attacks that contradict each other",
        columns=("First", "Second", "Records"),
        rows=tuple(
            (clash.first, clash.second, f"{count(clash.records)} of {count(clash.of)}") for clash in findings.clashes
        ),
        align=("left", "left", "right"),
        note="For these records no probability at all is compatible with both.",
    )
