"""What can be worked out from published counts, in plain sentences for somebody who has to decide."""

from unveil.questions.tables.findings import ReadingFindings, RecordPrecision, StepFindings, TablesFindings
from unveil.questions.tables.repair_words import begin, counts_word, repair_steps, small_counts, undecided
from unveil.report.blocks import Tone
from unveil.report.text import count, decimal, percent, together

#: Sums of more figures are not spelt out.
MOST_TERMS = 8


def headline(findings: TablesFindings) -> str:
    """Return the answer in one sentence: how many hidden counts follow from what is shown, and for whom."""
    figures, word = findings.figures, findings.treatment
    if not figures.hidden:
        if figures.unlisted_small:
            return (
                f"No count is hidden, but {small_counts(figures.unlisted_small)} that no table lists can be worked "
                "out from what is shown."
            )
        if findings.shown_small:
            return f"{_shown_as_they_are(findings)}, and no count is hidden in these tables."
        return "No count is hidden in these tables, and no small count follows from them that they do not list."
    more = f", and {small_counts(figures.unlisted_small)} that no table lists" if figures.unlisted_small else ""
    if not figures.worked_out:
        if more:
            return f"No {word} count can be worked out, but {more.removeprefix(', and ')} can."
        doubt = " as far as was settled" if figures.undecided else ""
        plain = f", but {_shown_as_they_are(findings)}" if findings.shown_small else ""
        return f"No {word} count can be worked out from these tables alone{doubt}{plain}."
    least = "At least " if figures.undecided else ""
    hidden = f"{count(figures.hidden)} {word} {counts_word(figures.hidden)}"
    out = f"{least}{count(figures.worked_out)} of {hidden} can be worked out"
    other = findings.other
    if other is None or other.figures.worked_out == figures.worked_out:
        return f"{out} from what is shown{more}."
    know, without = _who(findings.readings[findings.worst]), _who(other)
    others = f"{'at least ' if other.figures.undecided else ''}{count(other.figures.worked_out)}"
    return f"{out} by {know}, {others} by {without}{more}."


def _who(reading: ReadingFindings) -> str:
    if reading.name == "zeros":
        return "whoever knows that zeros are shown"
    return "whoever knows the rule" if reading.name == "rule" else "whoever does not know it"


def tone(findings: TablesFindings) -> Tone:
    """Return how the headline should strike: bad where a small count is worked out, a warning where many are narrow.

    A small count that nobody hid is a warning: only a rule that was named says that it may not be shown.
    """
    figures = findings.figures
    if figures.small or (findings.profile and findings.shown_small):
        return "bad"
    if figures.worked_out or figures.narrow or figures.known_small or undecided(figures) or findings.shown_small:
        return "warning"
    return "good" if figures.hidden else "neutral"


def explanation(findings: TablesFindings) -> tuple[str, ...]:
    """Return what stands right below the headline: for how many people, how symbols were read, what else helps."""
    said = [
        *_rule(findings),
        *_people(findings),
        *_shown(findings),
        *_readings(findings),
        *_baselines(findings),
        *_others(findings),
        *_groups(findings),
        *_records(findings),
        *_insiders(findings),
        *_truth(findings),
        *_doubts(findings),
    ]
    return tuple(said) or ("Other tables of the same people may change that.",)


def _people(findings: TablesFindings) -> list[str]:
    figures = findings.figures
    if not figures.small:
        return []
    people = "1 person" if figures.people == 1 else f"at least {count(figures.people)} people"
    below = findings.minimum - 1
    if figures.small == 1:
        known = "1 person" if figures.people == 1 else f"{count(figures.people)} people"
        which = "It is" if figures.worked_out + figures.unlisted_small == 1 else "One of them is"
        return [f"{which} a small count: {known}."]
    of_them = (
        "They are all"
        if figures.small == figures.worked_out + figures.unlisted_small
        else f"{count(figures.small)} of them are"
    )
    return [f"{of_them} small counts: {people}, each alone or one of at most {below}."]


def _rule(findings: TablesFindings) -> list[str]:
    return [f"{begin(profile_outcome(findings)[1])}."] if findings.profile else []


def profile_outcome(findings: TablesFindings) -> tuple[bool | None, str]:
    """Return whether small counts break the rule that was named, None if that is not settled, and the sentence."""
    figures = findings.figures
    least = f"no count from 1 to {findings.minimum - 1} may be shown or worked out"
    ways = [(figures.small, "can be worked out"), (findings.shown_small, f"{_are(findings.shown_small)} shown")]
    if broken := [f"{count(number)} {how}" for number, how in ways if number]:
        return True, f"profile {findings.profile} is not kept: {least}, but {' and '.join(broken)}"
    if undecided(figures) or not findings.is_whole:
        return None, f"profile {findings.profile} was not shown to be kept: not every count was settled"
    return False, f"profile {findings.profile} is kept: {least}, and none can be worked out from these tables"


def _shown(findings: TablesFindings) -> list[str]:
    figures = findings.figures
    if not findings.shown_small:
        return []
    if figures.worked_out or figures.unlisted_small:
        return [f"{_shown_as_they_are(findings)}."]
    # The headline has said it.
    settled = not figures.hidden and not undecided(figures)
    return ["No other small count follows from what is shown."] if settled else []


def _shown_as_they_are(findings: TablesFindings) -> str:
    number = findings.shown_small
    return f"{small_counts(number)} {_are(number)} shown as {_it_is(number)}"


def _it_is(number: int) -> str:
    return "it is" if number == 1 else "they are"


def _readings(findings: TablesFindings) -> list[str]:
    if not findings.symbols:
        return []
    rule = next((each for each in findings.readings if each.name == "rule"), None)
    if rule is None:
        return [f"{_symbols(findings)} {_stand(findings)} read as any number, which is always true."]
    read = together(dict.fromkeys(rule.ranges))
    wrong = " The records show that to be wrong, so it is left out." if rule.excluded else ""
    if any(each.name == "zeros" for each in findings.readings):
        wrong += " Whoever knows only that zeros are shown reads 1 or more."
    ways = f"as any number, and by whoever knows the rule as {read}.{wrong}"
    return [f"{_symbols(findings)} {_stand(findings)} read in two ways: {ways}"]


def _symbols(findings: TablesFindings) -> str:
    named = [f"“{symbol}”" if symbol else "An empty cell" for symbol in findings.symbols]
    return together(named)


def _stand(findings: TablesFindings) -> str:
    return "is" if len(findings.symbols) == 1 else "are"


def _baselines(findings: TablesFindings) -> list[str]:
    figures = findings.figures
    if not figures.hidden:
        return []
    said = []
    if figures.blind == figures.blind:
        said.append(f"guessing blindly within what is told gets {blind_text(figures.blind)} of them right")
    if findings.margins is not None and figures.worked_out:
        said.append(f"totals alone give {count(findings.margins) if findings.margins else 'none'}")
    return [f"{begin('; '.join(said))}."] if said else []


def blind_text(blind: float) -> str:
    """Return how many counts blind guessing gets right.

    >>> blind_text(10.62), blind_text(0.75), blind_text(0.03)
    ('10.6', '0.8', 'fewer than 0.1')
    """
    return decimal(blind, places=1) if blind >= 0.1 else "fewer than 0.1"


def _others(findings: TablesFindings) -> list[str]:
    figures = findings.figures
    said = []
    if figures.narrow:
        least = "value" if findings.values == 1 else "values"
        said.append(
            f"{begin(count(figures.narrow))} more {_have(figures.narrow)} at most {findings.values} {least} left."
        )
    if figures.known_small:
        said.append(
            f"{begin(count(figures.known_small))} {_are(figures.known_small)} known to lie from 1 to "
            f"{findings.minimum - 1}, which no symbol said."
        )
    if figures.hidden and not figures.worked_out and not figures.unlisted_small:
        said.append("Other tables of the same people may change that.")
    return said


def _groups(findings: TablesFindings) -> list[str]:
    if not findings.groups_of:
        return []
    number = findings.groups_of
    smallest = findings.groups[0]
    people = "1 person" if smallest.low == 1 else f"{count(smallest.low)} people"
    more = "" if smallest.high == smallest.low else " or more"
    if number == 1:
        return [f"In 1 group everybody has the same code of a variable: {people}{more}."]
    return [f"In {count(number)} groups everybody has the same code of a variable; the smallest has {people}{more}."]


def _records(findings: TablesFindings) -> list[str]:
    records = findings.records
    if records is None:
        return []
    once = f", {count(records.unique)} of them exactly once" if records.unique else ""
    doubt = f"; of {count(records.undecided)} it was not settled" if records.undecided else ""
    return [
        f"Of {count(records.possible)} combinations of all variables {count(records.certain)} must exist{once}, and "
        f"{count(records.absent)} cannot{doubt}.",
        *_precision(records.precision),
    ]


def _precision(precision: tuple[RecordPrecision, ...]) -> list[str]:
    """Return how many of the first ranked records exist: of a hundred where there are so many."""
    known = [each for each in precision if each.first is not None and each.ranked == each.ranked]
    if not known:
        return []
    most = known[-1]
    return [
        f"Of the {most.first} that are most likely by all counts {percent(most.ranked)} exist; of as many by margins "
        f"alone, {percent(most.by_margins)}."
    ]


def _insiders(findings: TablesFindings) -> list[str]:
    if findings.insiders is None:
        return []
    there, tried, gain, most = findings.insiders
    if not there:
        return ["Nobody is alone in a hidden count that others cannot work out."]
    who = f"{count(there)} {'person is' if there == 1 else 'people are'} alone in a hidden count"
    drawn = f" ({count(tried)} were tried, drawn by lot)" if tried < there else ""
    if not gain:
        return [f"{who}{drawn}; knowing it, none of them can work out another one."]
    return [f"{who}{drawn}; knowing it, {count(gain)} can work out others, at most {count(most)}."]


def _truth(findings: TablesFindings) -> list[str]:
    if not findings.has_truth:
        return []
    # Records that contradict the tables were refused before.
    if not findings.figures.hidden:
        return ["All counts that are shown agree with the records."]
    return ["Held against the records, no range leaves the true count out."]


def _have(number: int) -> str:
    return "has" if number == 1 else "have"


def _are(number: int) -> str:
    return "is" if number == 1 else "are"


def _doubts(findings: TablesFindings) -> list[str]:
    said = []
    open_ones = undecided(findings.figures)
    if open_ones:
        said.append(
            f"Of {count(open_ones)} {counts_word(open_ones)} it was not settled within the steps allowed (--work): "
            f"{'it' if open_ones == 1 else 'they'} may be worked out too."
        )
    if not findings.is_whole:
        said.append(
            "The tables were looked at without their common detail, which would need "
            f"{count(findings.needed)} cells: ranges are true but may be too wide."
        )
    return said


def next_steps(findings: TablesFindings) -> tuple[str, ...]:
    """Return what to do about it."""
    figures = findings.figures
    if figures.small:
        steps = ["Hide or round more before you publish, and ask again: the sums below say what gives each count away."]
        if figures.unlisted_small:
            steps.append("Publish one set of bands or one population only: counts that no table lists are differences.")
    elif figures.hidden or figures.unlisted_worked_out:
        steps = ["Ask again with every other table of the same people that is or will be published."]
    elif not findings.shown_small:
        steps = ["Ask again with the tables as you would publish them."]
    else:
        steps = []
    if findings.shown_small and findings.repair is None:
        steps.insert(0, f"Hide {_it(findings.shown_small)}, and what else it takes: --repair FILE writes such tables.")
    if undecided(figures):
        steps.append(
            "Ask again with more --work, or with fewer tables or variables at once: --cells FILE marks the hidden "
            "counts that are not settled."
        )
    steps += repair_steps(findings)
    if not findings.profile:
        limits = "--limit small_worked_out=0"
        either = f"{limits} --limit small_shown=0" if findings.shown_small else limits
        steps.append(f"Say beforehand what may not happen: --profile cell-11, or {either}.")
    return tuple(steps)


def _it(number: int) -> str:
    return "the small count that is shown" if number == 1 else "the small counts that are shown"


def sum_text(step: StepFindings) -> str:
    """Return how a count is worked out, as a sum that anybody can follow.

    >>> sum_text(StepFindings(cell="K", count=3, kind="sum", terms=((1, "all", 16, False), (-1, "N", 13, False))))
    '(all) − (N) = 16 − 13 = 3'
    """
    if step.kind == "shown":
        return f"another table shows it: {count(step.count)}"
    if step.kind == "together":
        return f"follows from many figures together, because no count is negative: {count(step.count)}"
    if step.kind == "ends":
        return _ends_text(step)
    if len(step.terms) > MOST_TERMS:
        return _long_sum(step)
    names = _signed([(sign, f"({name}){'*' if hidden else ''}") for sign, name, _, hidden in step.terms])
    figures = _signed([(sign, count(value)) for sign, _, value, _ in step.terms])
    chained = "; * was worked out before" if any(hidden for *_, hidden in step.terms) else ""
    return f"{names} = {figures} = {count(step.count)}{chained}"


def _signed(parts: list[tuple[int, str]]) -> str:
    text = ""
    for sign, part in parts:
        times = "" if abs(sign) == 1 else f"{abs(sign)} × "
        text += f"{' + ' if sign > 0 else ' − '}{times}{part}" if text else f"{'' if sign > 0 else '−'}{times}{part}"
    return text


def _long_sum(step: StepFindings) -> str:
    plus = [(sign, name, value) for sign, name, value, _ in step.terms if sign > 0]
    less = [sign * value for sign, _, value, _ in step.terms if sign < 0]
    if len(plus) > 3:
        return f"a sum of {len(step.terms)} figures: {count(step.count)}"
    names = " + ".join(f"({name})" for _, name, _ in plus)
    figures = " + ".join(count(sign * value) for sign, _, value in plus)
    return f"{names} less {len(less)} other figures = {figures} − {count(-sum(less))} = {count(step.count)}"


def _ends_text(step: StepFindings) -> str:
    parents = [name for sign, name, *_ in step.terms if sign > 0]
    beside = f" beside ({parents[0]})" if len(parents) == 1 else ""
    return f"the least and the most that its sums leave{beside} are the same: {count(step.count)}"
