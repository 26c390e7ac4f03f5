"""Reliability of metrics: words, legends, and sources."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from unveil.grades.shipped_grades import RELIABILITY as OF_VERDICT
from unveil.grades.shipped_grades import Ground, ShippedGrade, shipped_grades
from unveil.metrics import Metric
from unveil.metrics.candidates.candidate_metrics import candidate_metrics
from unveil.report.text import count, percent

#: What was attacked when metrics were graded; an answer shows the grounds that its guess may come from.
GROUNDS: tuple[Ground, ...] = ("graphs", "tables")
#: The meanings of a metric's fields.
WHY = "Why there is no value, or no verdict; empty where there is one."
AT_CAP = "The share of values that are at a cap that unveil chose; null where the metric has no cap."
RELIABILITY_MEANING = (
    "Reliability of the metric by type of data (tables, graphs): reliable, limited, or unreliable; null if not graded."
)
#: What stands where a metric has no grade.
NOT_GRADED = "–"
#: The verdict of a grade as reliability, as reports name it.
RELIABILITY: Mapping[str | None, str] = MappingProxyType({None: NOT_GRADED} | dict(OF_VERDICT.items()))
#: Meanings of the reliability.
LEGEND = (
    "Reliability for ranking: reliable (monotone in attacker strength), limited (not always, or not significantly), "
    "unreliable (too often not), – (not graded)."
)


def trust_of(metric: str, grounds: Sequence[Ground] = GROUNDS) -> dict[str, str | None]:
    """Return a metric's reliability by ground; None if not graded.

    >>> trust_of("a metric of my own")
    {'graphs': None, 'tables': None}
    """
    found = {ground: _grade(metric, ground) for ground in grounds}
    return {ground: None if grade is None else RELIABILITY[grade.verdict] for ground, grade in found.items()}


def mark(metric: str, *grounds: Ground) -> str:
    """Return the reliability of a metric, one per ground if they differ.

    >>> mark("a metric of my own", "graphs", "tables")
    '–'
    """
    words = [NOT_GRADED if each in (None, "not graded") else each for each in trust_of(metric, grounds).values()]
    return words[0] if len(set(words)) == 1 else "/".join(words)


def where_from(grounds: Sequence[Ground] = GROUNDS) -> str:
    """Return the source of the reliability, in one sentence."""
    cases = [f"{count(shipped_grades()[each].cases, 'case', 'cases')} of attacks on {each}" for each in grounds]
    return (
        f"Metrics were graded in {' and '.join(cases)}: whether privacy falls as the attacker "
        "gets stronger (see Grades in the documentation)."
    )


def trust_note(grounds: Sequence[Ground] = GROUNDS) -> str:
    """Return the meanings of the reliability and their source."""
    several = f" If {' and '.join(grounds)} differ, both are given in this order." if len(grounds) > 1 else ""
    return f"{LEGEND}{several} {where_from(grounds)}"


def _grade(metric: str, ground: Ground) -> ShippedGrade | None:
    return shipped_grades()[ground].metrics.get(metric)


# Metrics in words: what each is called, what it is, and what its values mean as something a limit can be set for.


def summary_of(metric: Metric) -> str:
    """Return a metric's summary: its docstring's first line without "Return".

    >>> from unveil.metrics import METRICS
    >>> summary_of(METRICS["min_entropy"])
    'The surprisal of the most likely candidate, in bits.'
    """
    text = metric.summary.removeprefix("Return ").replace("``", "")
    return text[:1].upper() + text[1:]


def title_of(metric: Metric) -> str:
    """Return the name of a metric as a person writes it.

    >>> from unveil.metrics import METRICS
    >>> title_of(METRICS["anonymity_set_size"])
    'Anonymity set size'
    """
    return metric.name.replace("_", " ").capitalize()


def cap_mark(at_cap: float) -> str:
    """Return the mark of a mean that is affected by a cap.

    >>> cap_mark(0.2), cap_mark(0.0), cap_mark(float("nan"))
    ('†', '', '')
    """
    return "†" if at_cap > 0 else ""


def cap_notes(shares: Mapping[str, float], *, who: str, named: bool = False) -> list[str]:
    """Return the note on the cap mark; ``shares`` are by metric.

    With ``named`` the metrics stand in place of the mark, for a table that has no room for it.

    >>> cap_notes({"relative_entropy": 0.25, "entropy": float("nan")}, who="nodes")[0][:53]
    '† 25.0% of the nodes with a value are at the cap, as '
    """
    marked = [name for name, share in shares.items() if cap_mark(share)]
    if not marked:
        return []
    share = percent(max(shares[name] for name in marked))
    return [
        f"{', '.join(marked) + ':' if named else '†'} {share} of the {who} with a value are at the cap, as their truth "
        "was given no probability: the cap decides the mean."
    ]


def quantity_meanings() -> dict[str, str]:
    """Return the meaning of each candidate metric as a limited value."""
    return {name: _meaning(metric) for name, metric in candidate_metrics().items()}


def _meaning(metric: Metric) -> str:
    what = metric.summary.removeprefix("Return ").rstrip(".")
    mean = " (mean over targets)" if metric.per == "target" else ""
    side = "below VALUE" if metric.more_means == "more private" else "above VALUE"
    return f"{what}{mean}. Fails {side}: more is {metric.more_means}"


def reliability_of(metric: str, ground: Ground) -> str:
    """Return a metric's reliability: reliable, limited, unreliable, or a dash.

    >>> reliability_of("a metric of my own", "graphs")
    '–'
    """
    return trust_of(metric, [ground])[ground] or NOT_GRADED


def reliability_note(ground: Ground) -> str:
    """Return the meaning and the source of a metric's reliability."""
    cases = count(shipped_grades()[ground].cases, "case", "cases")
    return (
        f"Reliability: does the metric show less privacy for a stronger attacker? Graded in {cases} of attacks on "
        f"{ground}; – means not graded."
    )
