"""The three questions of opinion WP216, each with the worst that was found on it."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from types import MappingProxyType
from typing import Any

from unveil.errors import InputError, did_you_mean, shortened
from unveil.questions.audit.attacks import ATTACKS
from unveil.questions.audit.decision_text import tone
from unveil.questions.audit.findings import AttackFinding, Audit, AuditedRelease
from unveil.questions.audit.generator.words import sheet_facts
from unveil.questions.audit.ranking import remarks_on, worst_of, worst_over
from unveil.questions.audit.sentences import tone_of
from unveil.questions.audit.words import compact_rate, listed, percent, rate_text
from unveil.report.sign_off import CONTEXT, Adversary, BoxFact, FileFact, SignOff, SignOffFigure, Variable
from unveil.report.text import count, name


def box_facts(audit: Audit) -> dict[str, BoxFact]:
    """Return what was found on each of the three questions of opinion WP216, at its worst over the releases."""
    return {each.answers: _box(audit, each.name) for each in ATTACKS.values() if each.answers is not None}


def _box(audit: Audit, attack: str) -> BoxFact:
    if attack not in audit.attacks:
        return BoxFact(tested=False, why_not="This attack was not asked for (--attacks).")
    found = worst_over(audit, attack)
    if found is None:
        why_not = next(iter(remarks_on(audit, attack)), "It could not be measured on these tables.")
        return BoxFact(tested=False, why_not=why_not)
    release, finding = found
    where = f"On {name(release.name, 40)!r}. " if len(audit.releases) > 1 else ""
    return BoxFact(rate=rate_text(finding.risk.attack_rate), beside=f"{where}{_beside(finding)}", tone=tone_of(finding))


def _beside(finding: AttackFinding) -> str:
    risk = finding.risk
    whom = f"{listed([finding.secret])}: " if finding.secret else ""
    parts = []
    if risk.control_rate.defined:
        parts.append(f"{rate_text(risk.control_rate)} for people who are not in the data")
    if risk.naive_rate.defined:
        parts.append(f"{percent(risk.naive_rate.value)} by blind chance")
    excess = risk.excess_over_control
    added = f" Being in the data adds {rate_text(excess)}." if excess.defined else ""
    return f"{whom}{'; '.join(parts) or 'nothing to compare with'}.{added}"


_NONE = "–"


@dataclass(frozen=True, kw_only=True)
class ReportContext:
    """What stands in a report beside the figures, for whoever signs it."""

    #: The arguments of the command as they were written; empty where the audit was asked for in Python.
    written: tuple[str, ...] = ()
    date: str = ""
    review: str = ""
    #: What was done to each column before the release.
    techniques: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    #: For whom it is identifiable, by the names of `unveil.report.sign_off.CONTEXT`.
    context: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    original: Path | None = None
    #: In the order of the releases.
    released: tuple[Path, ...] = ()
    control: Path | None = None
    #: An earlier audit to compare with, as parsed JSON.
    previous: Mapping[str, Any] | None = None
    #: The key of the digests in the shareable edition, which the internal one states; without it there are none.
    digest_key: bytes | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if not _may_be_date(self.review):
            raise InputError(
                f"the date of review must be a day of the calendar, but {shortened(self.review)} is none. Write year, "
                "month and day as in 2027-03-31, or words such as May 2027"
            )
        for key in self.context:
            if key not in CONTEXT:
                hint = did_you_mean(key, CONTEXT) or f" Choose from {', '.join(CONTEXT)}."
                raise InputError(f"the context of a release has no {shortened(key)}.{hint}")

    @property
    def paths(self) -> tuple[Path, ...]:
        """All files, whose folders are nobody's business."""
        return tuple(path for path in (self.original, *self.released, self.control) if path is not None)


def _may_be_date(text: str) -> bool:
    """Return whether a text is a date or words of its writer's own; one of digits like a date must be in the calendar.

    >>> _may_be_date("2028-02-29"), _may_be_date("2027-02-29"), _may_be_date("May 2027")
    (True, False, True)
    """
    digits = re.fullmatch(r"\s*(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})\s*", text, re.ASCII)
    try:
        return digits is None or bool(date(*(int(part) for part in digits.groups())))
    except ValueError:
        return False


def check_context(audit: Audit, context: ReportContext) -> None:
    """Refuse a technique for a column that is not there."""
    columns = [column.name for column in audit.columns]
    for column in context.techniques:
        if column not in columns:
            hint = did_you_mean(column, columns) or " Name a column of the original."
            raise InputError(f"a technique is told for column {column!r}, which is not in the original.{hint}")


def sign_off(
    audit: Audit,
    context: ReportContext,
    *,
    untested: tuple[str, ...],
    seed: int | None,
    version: str,
) -> SignOff:
    """Return what the sheet states about this audit."""
    return SignOff(
        files=tuple(_files(audit, context)),
        releases=tuple(release.name for release in audit.releases),
        columns=tuple(
            Variable(name=each.name, role=each.role, kind=each.kind, technique=context.techniques.get(each.name, ""))
            for each in audit.columns
        ),
        adversaries=tuple(_adversaries(audit)),
        figures=tuple(_figures(audit)),
        boxes=box_facts(audit),
        utility=_utility(audit),
        untested=untested,
        seed=seed,
        version=version,
        command=("unveil", *context.written) if context.written else (),
        date=context.date,
        review_date=context.review,
        decision=f"{audit.decision.headline} {audit.decision.subline}".strip(),
        decision_tone=tone(audit.decision),
        is_decided=audit.decision.decision != "none",
        context=context.context,
        settings=(
            *sheet_facts(audit),
            *(() if context.digest_key is None else (("Key of the digests", _key_text(context.digest_key)),)),
        ),
        digest_name=audit.digest_name,
    )


def _key_text(key: bytes) -> str:
    return (
        f"{key.hex()}. The shareable edition has digests of the files under this key: unveil digest FILE asks for it "
        "and shows that a file is the one audited. Keep it: whoever has it can try files"
    )


def _files(audit: Audit, context: ReportContext) -> Iterator[FileFact]:
    rows = audit.rows if audit.way is None else audit.way.rows
    yield FileFact(part="Original", file=_shown(context.original), rows=rows, sha256=audit.sha256)
    made = [] if audit.way is None else [f"made for this audit by {name(audit.way.generator, 80)}"]
    existing = [str(path) for path in context.released] or [release.name for release in audit.releases[len(made) :]]
    paths = [*made, *existing]
    for release, file in zip(audit.releases, paths, strict=True):
        yield FileFact(part="Release", file=file, rows=release.rows, sha256=release.sha256)
    if audit.control_rows is not None:
        file = _shown(context.control) if audit.way is None else "held out by lot"
        yield FileFact(part="Control", file=file, rows=audit.control_rows, sha256=audit.control_sha256)


def _shown(path: Path | None) -> str:
    return "not read from a file" if path is None else str(path)


def _adversaries(audit: Audit) -> Iterator[Adversary]:
    """Yield who attacked, each once; the means over many are nobody."""
    seen = set()
    for release in audit.releases:
        for finding in release.findings:
            who = finding.scenario
            if who is None or finding.is_mean or not who.first or (who.name, who.first) in seen:
                continue
            if who.origin == "tried" and finding is not worst_of(release, finding.attack):
                continue  # of many that were tried in turn the clearest is named; JSON has all
            seen.add((who.name, who.first))
            knows = listed(who.first, at_most=8)
            if who.second:
                knows = f"{knows} from one source, {listed(who.second, at_most=8)} from another"
            title = ATTACKS[finding.attack].title.lower()
            yield Adversary(name=f"{who.name} ({title})", knows=knows, reason=who.reason)


def _figures(audit: Audit) -> Iterator[SignOffFigure]:
    if audit.before is None:
        return
    everything = (audit.before, *audit.releases)

    def row(label: str, texts: list[str]) -> SignOffFigure:
        return SignOffFigure(label=label, before=texts[0], after=tuple(texts[1:]))

    for attack in ATTACKS.values():
        if attack.answers is not None and attack.name in audit.attacks:
            found = [worst_of(each, attack.name) for each in everything]
            yield row(attack.title, [_NONE if each is None else compact_rate(each.risk.attack_rate) for each in found])
            if any(each is not None and each.risk.excess_over_control.defined for each in found):
                rates = [None if each is None else each.risk.excess_over_control for each in found]
                texts = [_NONE if rate is None or not rate.defined else compact_rate(rate) for rate in rates]
                yield row(f"{attack.title}, excess over control", texts)
    if audit.before.disclosure is not None:
        yield row("Fewest rows that look alike (k)", [_disclosed(each, "k_anonymity") for each in everything])
        yield row("Rows that are unique", [_disclosed(each, "sample_uniqueness") for each in everything])


def _utility(audit: Audit) -> str:
    measured = [(each.name, each.utility) for each in audit.releases if each.utility is not None]
    several = len(measured) > 1
    lost = [f"{name(label, 30)} {percent(each.loss)}" if several else percent(each.loss) for label, each in measured]
    return f"Lost of what the original says, from 0% (nothing) to 100%: {', '.join(lost)}." if lost else ""


def _disclosed(release: AuditedRelease, figure: str) -> str:
    if release.disclosure is None:
        return _NONE
    value = getattr(release.disclosure, figure)
    return count(value) if figure == "k_anonymity" else percent(value)
