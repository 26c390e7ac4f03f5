"""What must be said before any figure: kinds that were guessed, columns that were lost, values that never occur."""

from collections.abc import Iterator

from unveil.data.table import near_note, unsure_note
from unveil.metrics.releases.unseen_values import UnseenValues
from unveil.questions.audit.findings import TOLD_APART, Audit, AuditedRelease
from unveil.questions.audit.generator.words import oddities
from unveil.questions.audit.words import percent
from unveil.report.editions import people

_MOST = 0.5
#: With fewer people, or released rows, nothing can be concluded; in so few rows most values of any release are new.
TOO_FEW = 20


def cautions(audit: Audit) -> tuple[str, ...]:
    """Return what stands above the headline: without it the figures below would be misread."""
    lost = (each for release in audit.releases for each in _lost(release))
    apart = any(TOLD_APART in finding.figures for release in audit.releases for finding in release.findings)
    said = (*_too_few(audit), *oddities(audit), unsure_note(audit.columns), *([_APART] if apart else []), *lost)
    return tuple(dict.fromkeys(filter(None, said)))


def _too_few(audit: Audit) -> Iterator[str]:
    """Yield that tables are too small for any conclusion: any interval of a rate takes in most of 0 to 100%."""
    rows = min((release.rows for release in audit.releases), default=TOO_FEW)
    words = ("person", "people") if audit.rows < TOO_FEW else ("released row", "released rows")
    number = audit.rows if audit.rows < TOO_FEW else rows
    if number < TOO_FEW:
        pattern = (
            f"There {'is' if number == 1 else 'are'} only {{}}: too few to conclude anything. The figures show how it "
            "works, and are no evidence of risk or of safety."
        )
        yield people(number, *words, pattern=pattern)


_APART = (
    "People in the data can be told from those of the control without the release: the two are not of one kind, and "
    "what was found may be that difference. Take other people of the same kind."
)


def unseen_notes(audit: Audit) -> tuple[str, ...]:
    """Return what is noted of released values that the original never takes, where they are some and not most."""
    return tuple(
        _some(each, release)
        for release in audit.releases
        if release.rows >= TOO_FEW
        for each in release.unseen
        if each.severity == "warning" or (each.severity == "note" and each.unseen and release.kind == "masked")
    )


def _lost(release: AuditedRelease) -> Iterator[str]:
    for name, near in release.near_names:
        yield f"{near_note(name, near, release.name)}. Every column that is lost makes the risk look smaller."
    for each in release.unseen:
        if each.severity == "headline" and release.rows >= TOO_FEW:
            yield _most(each, release)


def _most(each: UnseenValues, release: AuditedRelease) -> str:
    what = f"'{each.column}' of {release.name}"
    if each.factor is not None:
        seen = f"The released values of {what} differ from the original's by a factor"
    elif each.share >= _MOST:
        seen = f"{'No released value' if each.share >= 1 else 'At most half of the released values'} of {what} "
        seen += f"{'occurs' if each.share >= 1 else 'occur'} in the original"
    else:
        seen = f"The middle of the released values of {what} lies outside nearly all of the original"
    if each.factor is not None:
        perhaps = f"they are perhaps in another unit (× {_factor(each.factor)})"
    elif each.is_renamed:
        perhaps = "it seems to be recoded, perhaps renamed one to one"
    elif each.share >= _MOST:
        perhaps = "it seems to be recoded"
    else:
        perhaps = "it may be recoded, in another unit, or badly made"
    return f"{seen}: {perhaps}. No attack sees through that, so figures with it are no evidence."


def _factor(factor: float) -> str:
    return f"{factor:g}" if factor > 1 else f"1/{1 / factor:g}"


def _some(each: UnseenValues, release: AuditedRelease) -> str:
    beyond = "lie outside the range of the original" if each.is_ranged else "never occur in the original"
    told = f"{percent(each.share)} of the released values of '{each.column}' of {release.name} {beyond}"
    if each.severity == "note":
        return f"{told}: a masked table should invent nothing."
    return f"{told}: figures with it may be too low."
