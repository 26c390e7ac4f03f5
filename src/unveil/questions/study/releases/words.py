"""What a study of given releases found, in plain sentences."""

from collections.abc import Iterator
from math import isnan

from unveil.questions.study.releases.findings import (
    FEWEST,
    AuditedFile,
    MeanInterval,
    ReleasesFindings,
    ShareInterval,
    TechniqueFindings,
)
from unveil.questions.study.words import computed, together_and
from unveil.report.text import about, count, percent, together

#: What an audit asks, in words that follow "by".
QUESTIONS = {
    "who": "who it is",
    "together": "linking records",
    "secret": "a remembered secret",
    "member": "who was in it",
    "copied": "copies",
}
_MOST_NAMED = 4
#: The error of one audit: by figures 4.5 %, by copies 0.5 %.
ERRS = 0.05


def headline(findings: ReleasesFindings) -> str:
    """Return how many releases give people away, and that the others are not cleared by it."""
    if not findings.releases:
        return computed(findings.counts)
    guilty = sum(each.proved for each in findings.releases)
    are = "is" if guilty == 1 else "are"
    said = f"Of {count(len(findings.releases), 'release', 'releases')} {guilty:,} {are} found to give people away"
    without = any(not each.compared for each in findings.releases)
    return f"{said}; where there was no control, that nothing was found clears nobody." if without else f"{said}."


def least_lost(findings: ReleasesFindings) -> Iterator[str]:
    """Yield which technique with an epsilon, and which without, loses least for what it lets be linked."""
    ranked = [each for each in findings.ranked() if each.proved <= each.releases / 2]
    noisy = {each.technique for each in findings.releases if not isnan(each.epsilon)}
    best = [
        f"{each.technique} {which} ({points(each.saves)} less than others)"
        for which, among in (("with an epsilon", noisy), ("without one", {one.technique for one in ranked} - noisy))
        for each in [one for one in ranked if one.technique in among][:1]
    ]
    if best:
        yield (
            "Of techniques that are mostly not found out, these lose least where columns and the share of linked "
            f"records are the same: {together_and(best)}."
        )


def explanation(findings: ReleasesFindings) -> tuple[str, ...]:
    """Return what the headline rests on, and what is missing."""
    if not findings.releases:
        return ()
    missing = (computed(findings.counts),) if findings.counts.left else ()
    without = sum(not each.compared for each in findings.releases)
    return (
        *missing,
        *least_lost(findings),
        *_guilty(findings),
        *_by_luck(findings),
        f"{count(without, 'release has', 'releases have')} nobody outside the data to compare with: of them is said "
        "only what no stranger explains, and which of two with the same columns is safer.",
    )


def _guilty(findings: ReleasesFindings) -> Iterator[str]:
    """Yield which techniques gave people away."""
    named = sorted((each for each in findings.families if each.proved), key=lambda each: -each.proved)
    if named:
        said = [f"{each.technique} ({each.proved} of {each.releases})" for each in named[:_MOST_NAMED]]
        more = len(named) - _MOST_NAMED
        yield f"Given away by {together_and([*said, *([f'{more} more'] if more > 0 else [])])}."


def _by_luck(findings: ReleasesFindings) -> Iterator[str]:
    """Yield how many releases may be accused by luck, since each audit is judged by itself."""
    harmless = len(findings.releases) * ERRS
    if harmless >= 1:
        yield (
            f"Each audit errs in at most {about(ERRS)} of harmless releases, so that up to {harmless:.0f} of these "
            "may be accused by luck; what is found in most releases of a technique is not luck."
        )


def epsilon_sentences(findings: ReleasesFindings) -> Iterator[str]:
    """Yield what a greater epsilon buys and costs."""
    for each in findings.levels:
        first, last = f"{each.epsilons[0]:g}", f"{each.epsilons[-1]:g}"
        yield (
            f"{each.technique}, epsilon {last} in place of {first}: loses {points(each.less_loss)} less, and links "
            f"{points(each.more_linked)} more ({count(each.groups, 'pair', 'pairs')} of the same columns and people)."
        )


def next_steps(findings: ReleasesFindings) -> tuple[str, ...]:
    """Return what to do with it."""
    steps = ["Audit a release of your own and place it among these: examples/atlas/place.py."]
    if any(not each.compared for each in findings.releases):
        steps.append("Whoever can make a release again can have a control: 'unveil audit --generator'.")
    return tuple(steps)


def risk_text(file: AuditedFile) -> str:
    """Return the clearest excess of a release with its question and interval."""
    if not file.risk.defined:
        return "–"
    return f"{rate_text(file.risk)} by {QUESTIONS.get(file.asked, file.asked)}"


def rate_text(rate: ShareInterval) -> str:
    """Return a rate and its interval.

    >>> rate_text(ShareInterval(0.25, 0.2, 0.31))
    '25.0% (20.0% to 31.0%)'
    """
    if not rate.defined:
        return "–"
    return f"{percent(max(rate.value, 0.0))} ({percent(max(rate.low, 0.0))} to {percent(max(rate.high, 0.0))})"


def spread_text(spread: MeanInterval) -> str:
    """Return a mean and its interval over releases; a single release has none."""
    if isnan(spread.mean):
        return "–"
    return percent(spread.mean) + ("" if isnan(spread.low) else f" ({percent(spread.low)} to {percent(spread.high)})")


def points(spread: MeanInterval) -> str:
    """Return a difference of shares in points of a hundred, with its interval.

    >>> points(MeanInterval(mean=0.041, low=-0.001, high=0.08))
    '4 points (0 to 8)'
    """
    mean, low, high = (0 if isnan(each) else round(100 * each) for each in (spread.mean, spread.low, spread.high))
    said = "1 point" if mean == 1 else f"{mean} points"
    return said if isnan(spread.low) else f"{said} ({low} to {high})"


def ranking_sentence(ranked: list[TechniqueFindings]) -> str:
    """Return how techniques follow one another, the best first."""
    few = f"Techniques of fewer than {FEWEST} releases are in the tables alone."
    return (
        "From most kept for the least risk to least, by what is lost less than by others that link as much: "
        f"{together([each.technique for each in ranked], 20)}. {few}"
    )
