"""Sign-off sheet: scope, results, and limitations on one page."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from unveil._version import __version__
from unveil.metrics.verdict.levels import LEVEL_WORDS
from unveil.questions.audit.attacks import ATTACKS
from unveil.questions.audit.decision.text import effect_name, excess_text, is_hidden
from unveil.questions.audit.findings import Audit, AuditedRelease
from unveil.questions.audit.report_context import AuditContext, ReportContext
from unveil.questions.audit.sections.generator import sheet_facts
from unveil.questions.audit.sections.results import result_sentence, strongest
from unveil.questions.audit.words import compact_rate, listed, percent
from unveil.report.blocks import Tone
from unveil.report.sign_off import Adversary, BoxFact, FileFact, SignOff, SignOffFigure, Variable
from unveil.report.text import count, name

_NONE = "–"

#: The criterion of opinion WP216 that each of the first three risks answers.
_CRITERIA: Mapping[str, str] = MappingProxyType(
    {"singling_out": "singling out and re-identification", "linkability": "linkability", "inference": "inference"}
)


def sign_off(audit: Audit, context: AuditContext) -> SignOff:
    """Return what the sign-off sheet states about this audit."""
    report = context.report
    return SignOff(
        files=tuple(_files(audit, report)),
        releases=tuple(release.name for release in audit.releases),
        columns=tuple(
            Variable(name=each.name, role=each.role, kind=each.kind, technique=report.techniques.get(each.name, ""))
            for each in audit.columns
        ),
        adversaries=tuple(_adversaries(audit)),
        figures=tuple(_figures(audit)),
        boxes={criterion: _box(audit, risk) for criterion, risk in _CRITERIA.items()},
        utility=_utility(audit),
        seed=context.seed,
        version=__version__,
        command=("unveil", *report.written) if report.written else (),
        date=report.date,
        review_date=report.review,
        context=report.context,
        settings=(
            *sheet_facts(audit),
            *(() if report.digest_key is None else (("Key of the digests", _key_text(report.digest_key)),)),
        ),
        digest_name=audit.digest_name,
    )


def _box(audit: Audit, risk: str) -> BoxFact:
    """Return the strongest result on a risk, or why none exists."""
    found = strongest(audit, risk)
    if found is None:
        return BoxFact(tested=False, why_not=result_sentence(audit, risk))
    release, row = found
    effect = row.effect
    if effect is None or row.level is None:
        return BoxFact(tested=False, why_not=result_sentence(audit, risk))
    color: Tone = "neutral" if not effect.is_significant else "bad" if row.level in ("medium", "high") else "warning"
    where = f"{name(release.name, 40)}: " if len(audit.releases) > 1 else ""
    if is_hidden(effect):
        return BoxFact(rate=LEVEL_WORDS[row.level], beside=f"{where}{effect_name(effect)}.", tone=color)
    excess = effect.excess
    rates = f"attack success {percent(excess.attack_rate)}, {effect.baseline_kind} {percent(excess.baseline)}"
    return BoxFact(
        rate=f"{excess_text(effect)} points",
        beside=f"{where}{effect_name(effect)}: {rates}; {LEVEL_WORDS[row.level]}.",
        tone=color,
    )


def _key_text(key: bytes) -> str:
    return (
        f"{key.hex()}. The redacted report has digests of the files under this key; unveil verify FILE asks for it and "
        "shows that a file is the audited one. Keep it confidential: it allows guesses about the files"
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
        file = _shown(context.control) if audit.way is None else "held out at random"
        yield FileFact(part="Control", file=file, rows=audit.control_rows, sha256=audit.control_sha256)
    for table in () if audit.tables is None else audit.tables.tables:
        rows_of = (table.rows, table.released_rows, table.control_rows or 0)
        parts: tuple[Literal["Original", "Release", "Control"], ...] = ("Original", "Release", "Control")
        for part, number, sha256 in zip(parts, rows_of, table.digests, strict=False):
            yield FileFact(part=part, file=f"child table {table.name}", rows=number, sha256=sha256)


def _shown(path: Path | None) -> str:
    return "not read from a file" if path is None else str(path)


def _adversaries(audit: Audit) -> Iterator[Adversary]:
    """Yield each attacker once, with only the strongest column splits."""
    seen = set()
    for release in audit.releases:
        for finding in release.findings:
            who = finding.scenario
            if who is None or finding.is_mean or not who.first or (who.name, who.first) in seen:
                continue
            if who.origin == "random" and finding is not release.strongest(finding.attack):
                continue
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
            found = [each.strongest(attack.name) for each in everything]
            yield row(attack.title, [_NONE if each is None else compact_rate(each.risk.attack_rate) for each in found])
            if any(each is not None and each.risk.excess_over_control.defined for each in found):
                rates = [None if each is None else each.risk.excess_over_control for each in found]
                texts = [_NONE if rate is None or not rate.defined else compact_rate(rate) for rate in rates]
                yield row(f"{attack.title}, normalized excess", texts)
    if audit.before.disclosure is not None:
        yield row("Smallest equivalence class (k)", [_disclosed(each, "k_anonymity") for each in everything])
        yield row("Sample unique", [_disclosed(each, "sample_uniqueness") for each in everything])


def _utility(audit: Audit) -> str:
    measured = [(each.name, each.utility) for each in audit.releases if each.utility is not None]
    several = len(measured) > 1
    lost = [f"{name(label, 30)} {percent(each.loss)}" if several else percent(each.loss) for label, each in measured]
    return f"Utility loss: {', '.join(lost)}." if lost else ""


def _disclosed(release: AuditedRelease, figure: str) -> str:
    if release.disclosure is None:
        return _NONE
    value = getattr(release.disclosure, figure)
    return count(value) if figure == "k_anonymity" else percent(value)
