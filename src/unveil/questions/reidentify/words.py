"""What attacks on a masked release mean, in plain sentences for somebody who has to decide."""

from collections.abc import Sequence
from math import isnan

from unveil.metrics.trials.risk import Rate
from unveil.questions.reidentify.findings import AttackOutcome, ReidentifyFindings, ValidityCounts
from unveil.report.blocks import Tone
from unveil.report.text import about, count, decimal, name, percent

_SHOWN = 3
#: Why an invalid attack is no evidence, whatever it hits.
PROVES_NOTHING = "an attack that cannot be right under the masking used proves nothing"


def sentences(findings: ReidentifyFindings) -> tuple[str, ...]:
    """Return the answer, the worst first: whether the order tells all, how far a valid attack gets, which are not."""
    valid = [each for each in findings.attacks if each.is_valid]
    unknown = [each for each in findings.attacks if each.is_valid is None]
    said = list(_against_sentence(findings))
    if findings.keeps_order:
        said.append(
            f"The {count(findings.records, 'released row is', 'released rows are')} in the order of the original, "
            f"which "
            "tells whose each of them is."
        )
    if valid:
        best = _best(valid)
        alone = " by itself" if best.file_level.invalid else ""
        said += [
            f"The attack {spoken(best)} is valid for every record{alone}: {_reach(best, findings)}.",
            *_together(best),
        ]
    elif unknown:
        best = _best(unknown)
        said.append(
            f"Of the attack {spoken(best)}, {_reach(best, findings)}; whether it is valid is not known for "
            f"{_for_whom(best.record_level.undecided, best.targets)}."
        )
    return (*said, *_invalid_sentence(findings))


def _together(attacked: AttackOutcome) -> Sequence[str]:
    """Return that guesses that are valid one by one are refuted together (at the file level), or nothing."""
    file = attacked.file_level
    if not file.invalid:
        return ()
    every = "Given all released records at once (the file level: no two come from one person)"
    if not file.undecided:
        return (
            f"{every}, it claims too much for {count(file.invalid)} of {count(file.decided, 'record', 'records')}.",
        )
    return (f"{every}, its guesses are {counts_of(file)}: the share of valid ones lies {_between(file)}.",)


def _against_sentence(findings: ReidentifyFindings) -> Sequence[str]:
    """Return that the method declared did not make the file, how many records refute it, and what shows it."""
    if not findings.against:
        return ()
    who = "no single record refutes it, but all of them together do"
    if findings.refuting:
        refute = "refutes" if findings.refuting == 1 else "refute"
        who = f"{count(findings.refuting)} of {count(findings.records, 'record', 'records')} {refute} it"
    return (
        f"The released file cannot have come from the declared masking, {name(findings.protect or '', 80)}: {who}. So "
        "whether an attack is valid is not known.",
        *(f"What shows it: {each}." for each in findings.against[:_SHOWN]),
        *((f"{len(findings.against) - _SHOWN} more columns show it too.",) if len(findings.against) > _SHOWN else ()),
        *(f"The attack {name(each.attack, 60)} was not run: {each.why}." for each in findings.not_run),
    )


def next_steps(findings: ReidentifyFindings) -> tuple[str, ...]:
    """Return what to do about it."""
    steps = []
    if findings.keeps_order:
        steps.append("Shuffle the rows before anything else: no masking hides whose row it is while the order tells.")
    if findings.against:
        steps.append("Correct the method or its settings, or find out what else was done to the file, and ask again.")
    elif all(each.is_valid is False for each in findings.attacks):
        steps.append("Name an attack that fits the masking used: of what these reach nothing follows, good or bad.")
    elif findings.protect is None:
        steps.append(
            "Say by which method the file was masked (--protect), or let unveil mask the original: only then can it be "
            "said which attacks are valid."
        )
    if any(each.is_valid is not False and each.hit_rate.low > findings.blind for each in findings.attacks):
        steps.append("Mask more strongly, or release fewer of the columns that are known, and ask again.")
    elif findings.attacks:
        steps.append("Ask again with more known columns and other attacks: 'unveil list attacks' names them.")
    return tuple(steps)


def _invalid_sentence(findings: ReidentifyFindings) -> list[str]:
    invalid = [each for each in findings.attacks if each.is_valid is False]
    if not invalid:
        return []
    if len(invalid) == 1:
        one = invalid[0]
        said = f"The attack {spoken(one)} is not valid for {_refuted(one)}"
    else:
        most = max(invalid, key=lambda each: each.refuted / max(each.targets, 1))
        said = f"{len(invalid)} of {len(findings.attacks)} attacks are not valid, {spoken(most)} for {_refuted(most)}"
    return [f"{said}: {PROVES_NOTHING}."]


def tone(findings: ReidentifyFindings) -> Tone:
    """Return how the headline should strike: bad where an attack that may be valid finds every second person.

    What attacks reach that are not valid is a warning at most: it neither proves anything nor clears anybody.
    """
    if findings.keeps_order:
        return "bad"
    if findings.against:
        return "warning"
    rates = [each.hit_rate for each in findings.attacks if each.is_valid is not False and each.hit_rate.defined]
    if any(rate.value >= 0.5 for rate in rates):
        return "bad"
    if not rates or any(each.hit_rate.low > findings.blind for each in findings.attacks):
        return "warning"
    return "neutral"


def verdict_of(attacked: AttackOutcome) -> str:
    """Return whether an attack is valid, in a few words."""
    if attacked.is_valid is False:
        return f"not valid for {_refuted(attacked)}"
    if attacked.is_valid is None:
        return "not known"
    return "valid for every record"


def level_of(verdict: ValidityCounts) -> str:
    """Return the share of valid guesses at one level as text; the counts where undecided guesses leave it open.

    >>> level_of(ValidityCounts(level="record", valid=3, invalid=1)), level_of(ValidityCounts(level="file"))
    ('75.0%', 'not known')
    >>> level_of(ValidityCounts(level="file", undecided=9, not_shown=9))
    'not shown'
    >>> level_of(ValidityCounts(level="file", invalid=8, undecided=52))
    '0 valid, 8 refuted, 52 undecided'
    """
    if not verdict.decided:
        return "not shown" if verdict.not_shown else "not known"
    return counts_of(verdict) if verdict.undecided else percent(verdict.share)


def counts_of(verdict: ValidityCounts) -> str:
    """Return how many guesses are valid, refuted and undecided."""
    return f"{count(verdict.valid)} valid, {count(verdict.invalid)} refuted, {count(verdict.undecided)} undecided"


def _between(verdict: ValidityCounts) -> str:
    low, high = verdict.between.low, verdict.between.high
    return f"between {percent(low)} and {percent(high)}"


def rate_text(rate: Rate) -> str:
    """Return a rate with its interval.

    >>> rate_text(Rate(0.25, 0.2, 0.3125))
    '25.0% (20.0% to 31.2%)'
    """
    return f"{percent(rate.value)} ({percent(rate.low)} to {percent(rate.high)})" if rate.defined else "undefined"


def witness_of(attacked: AttackOutcome) -> str:
    """Return the sentence on the worst claim, or that none was found."""
    if attacked.witness:
        return attacked.witness
    if attacked.is_valid is None:
        return f"Nothing was found against it, but {attacked.record_level.why or 'some guesses are undecided'}."
    return "No guess claims more than the true probability allows."


def clash_sentence(findings: ReidentifyFindings) -> str:
    """Return what contradictions between attacks mean; it needs no truth.

    Empty where there are none.
    """
    if not findings.clashes:
        return ""
    worst = max(findings.clashes, key=lambda clash: clash.records)
    more = f" {len(findings.clashes) - 1} more pairs contradict each other." if len(findings.clashes) > 2 else ""
    more = " One more pair contradicts each other." if len(findings.clashes) == 2 else more
    return (
        f"{name(worst.first, 60)} and {name(worst.second, 60)} cannot both be valid for {count(worst.records)} of "
        f"{count(worst.of, 'record', 'records')}: whatever the truth is, at least one of the two is wrong there. That "
        f"is said without looking at the truth.{more}"
    )


def spoken_notes(findings: ReidentifyFindings) -> tuple[str, ...]:
    """Return the notes as whole sentences."""
    return tuple(f"{note[:1].upper()}{note[1:].rstrip('.')}." for note in findings.notes)


def spoken(attacked: AttackOutcome) -> str:
    """Return the attack as it is written, visible and of bounded length."""
    return name(attacked.attack, 60)


def doubt_of(attacked: AttackOutcome) -> str:
    """Return the nonspecificity before and after, in nats."""
    first, last = attacked.steps[0], attacked.steps[-1]
    return f"{decimal(first.nonspecificity)} → {decimal(last.nonspecificity)}"


def _best(attacks: Sequence[AttackOutcome]) -> AttackOutcome:
    return max(attacks, key=lambda each: -1.0 if isnan(each.hit_rate.value) else each.hit_rate.value)


def _reach(attacked: AttackOutcome, findings: ReidentifyFindings) -> str:
    if not attacked.hit_rate.defined:
        return "no released record comes from an original one"
    return (
        f"its best bet is the right person for {about(attacked.hit_rate.value)} of "
        f"{count(attacked.targets, 'record', 'records')} (95% interval {about(attacked.hit_rate.low)} to "
        f"{about(attacked.hit_rate.high)}, blind chance {about(findings.blind)})"
    )


def _refuted(attacked: AttackOutcome) -> str:
    """Return for how many records an attack is not valid; "not for all" would leave open whether for some it is."""
    return _for_whom(attacked.refuted, attacked.targets)


def _for_whom(some: int, every: int) -> str:
    if some == every:
        return "the one record" if every == 1 else f"any of {count(every)} records"
    return f"{count(some)} of {count(every, 'record', 'records')}"
