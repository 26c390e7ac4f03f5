"""Sign-off sheet: three criteria, scope, methods, and fields to fill in."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

from unveil.report.blocks import (
    Box,
    Boxes,
    PrivateText,
    Sheet,
    Side,
    TableBlock,
    Tone,
)
from unveil.report.editions import command_text, file_name, people
from unveil.report.text import name, shorten

NOT_STATED = "not stated"
STATEMENT = (
    "This sheet is evidence for the decision of the controller, not a legal determination of anonymity. Other "
    "attackers and attacks exist, and the risk can change over time."
)
#: For whom it is identifiable: what a decision takes beside the figures, under the names that it is told by. The words
#: in brackets are those of the five safes; safe data are what the audit is about, and outputs what leaves the settings.
CONTEXT: Mapping[str, str] = MappingProxyType(
    {
        "purpose": "Purpose (safe projects)",
        "recipient": "Recipient (safe people)",
        "environment": "Environment (safe settings)",
        "means": "Means (what else they have)",
    }
)
FOR_WHOM = "Recipients and context"
SIGNATURES = ("Name", "Role", "Decision: release, change or do not release", "Date and signature")
_LONG, _NAME = 240, 40
_LEFT: Side = "left"
_RIGHT: Side = "right"

#: The questions of the Article 29 Working Party's opinion 05/2014 (WP216), in its order.
QUESTIONS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "singling_out": ("Singling out", "Can one person be isolated in the data?"),
        "linkability": ("Linkability", "Can records about the same person be linked?"),
        "inference": ("Inference", "Can an attribute of a person be inferred?"),
    }
)


@dataclass(frozen=True, kw_only=True)
class BoxFact:
    """Result on one of the three criteria, or its absence."""

    #: The figure with its interval, such as "31.2% (27.3% to 35.4%)".
    rate: str = ""
    #: What it must be read beside: people who are not in the data, blind chance, which release, which adversary.
    beside: str = ""
    tone: Tone = "neutral"
    tested: bool = True
    why_not: str = ""


@dataclass(frozen=True, kw_only=True)
class FileFact:
    """One table: part, file, rows, and hash."""

    part: Literal["Original", "Control", "Release"]
    #: The path as given, or a name where there is no file.
    file: str
    rows: int
    #: 64 digits, or None where the table was no file.
    sha256: str | None = None


@dataclass(frozen=True, kw_only=True)
class Variable:
    """One column: type, role, and masking technique."""

    name: str
    role: str
    kind: str
    #: Empty where nobody said.
    technique: str = ""


@dataclass(frozen=True, kw_only=True)
class Adversary:
    """One attack scenario: its columns and reason."""

    name: str
    knows: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class SignOffFigure:
    """One result before and after release, as texts."""

    label: str
    before: str
    after: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class SignOff:
    """Content of the sheet as texts, without cells of the data."""

    files: tuple[FileFact, ...]
    #: The names of the releases, in the order of ``SignOffFigure.after``.
    releases: tuple[str, ...]
    columns: tuple[Variable, ...]
    adversaries: tuple[Adversary, ...]
    figures: tuple[SignOffFigure, ...]
    #: By ``singling_out``, ``linkability`` and ``inference``; one that is missing was not tested.
    boxes: Mapping[str, BoxFact]
    #: One or two sentences on what the releases are still good for; empty where nobody measured it.
    utility: str
    seed: int | None
    version: str
    #: The command as a list of arguments, the program first; empty where the audit was asked for in Python.
    command: tuple[str, ...]
    #: When the audit was run, and when it should be looked at again; as they should be read.
    date: str
    review_date: str = ""
    #: Who decides; empty leaves it to the line for the signature.
    decides: str = ""
    #: The stated context of the release, by the names of `CONTEXT`; the sheet asks for the rest.
    context: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    #: More settings, as label and text.
    settings: tuple[tuple[str, str], ...] = field(default=())
    #: What the hashes of the files are called.
    digest_name: str = "SHA-256"


def three_boxes(findings: Mapping[str, BoxFact]) -> Boxes:
    """Return the three WP216 criteria, each with its result.

    >>> boxes = three_boxes({"linkability": BoxFact(rate="3.0%", beside="2.9% for others")}).boxes
    >>> [(box.title, box.value) for box in boxes]
    [('Singling out', 'Not tested'), ('Linkability', '3.0%'), ('Inference', 'Not tested')]
    """
    return Boxes(boxes=tuple(_box(key, findings.get(key)) for key in QUESTIONS))


def _box(key: str, fact: BoxFact | None) -> Box:
    title, question = QUESTIONS[key]
    if fact is None or not fact.tested:
        why = fact.why_not if fact is not None else ""
        beside = shorten(why or "Nothing here says anything about this question.", _LONG)
        return Box(title=title, question=question, value="Not tested", beside=beside, tested=False)
    return Box(title=title, question=question, value=fact.rate, beside=shorten(fact.beside, _LONG), tone=fact.tone)


def sheet(sign_off: SignOff) -> Sheet:
    """Return the sheet's content besides results and limitations."""
    which = "this release" if len(sign_off.releases) < 2 else "these releases"
    return Sheet(
        title=f"Sign-off sheet: evidence for a decision on {which}",
        statement=STATEMENT,
        boxes=three_boxes(sign_off.boxes),
        facts=(sign_off.utility or "Utility was not measured.",),
        # With nothing stated there is a line for each.
        signatures=(*(() if sign_off.context else CONTEXT.values()), *SIGNATURES),
    )


def _made(sign_off: SignOff) -> tuple[str, str]:
    seed = "no seed" if sign_off.seed is None else f"seed {sign_off.seed}"
    review = f"to be reviewed by {sign_off.review_date}" if sign_off.review_date else f"review date {NOT_STATED}"
    decides = f"decided by {sign_off.decides}" if sign_off.decides else f"decision maker {NOT_STATED}"
    said = f"unveil {sign_off.version}, {seed}, run on {sign_off.date or NOT_STATED}; {review}; {decides}."
    return shorten(said, _LONG), _command(sign_off.command)


def _command(arguments: Sequence[str], at_most: int = 800) -> str:
    if not arguments:
        return "Run in Python, without a command."
    command = command_text(arguments)
    return PrivateText(name(command, at_most), shared=name(command.shared, at_most))


def figure_table(sign_off: SignOff) -> TableBlock:
    """Return each result of the original and of the releases."""
    return TableBlock(
        caption="Results before and after",
        columns=("", "Original data", *(name(each, _NAME) for each in sign_off.releases)),
        rows=tuple((each.label, each.before, *each.after) for each in sign_off.figures),
        align=(_LEFT, _RIGHT, *(_RIGHT for _ in sign_off.releases)),
    )


def file_table(sign_off: SignOff) -> TableBlock:
    """Return the audited tables: file, rows, and hash."""
    return TableBlock(
        caption="Files",
        columns=("Part", "File", "Rows", f"{sign_off.digest_name[:1].upper()}{sign_off.digest_name[1:]}"),
        rows=tuple(
            (each.part, file_name(each.file, 80), people(each.rows), _digest(each, sign_off)) for each in sign_off.files
        ),
        align=("left", "left", "right", "left"),
    )


def _digest(file: FileFact, sign_off: SignOff) -> str:
    if file.sha256 is None:
        return "no file"
    # Whoever knows nearly all of a file can try the rest against a plain hash; a keyed digest gives nothing to try.
    is_plain = sign_off.digest_name == SignOff.digest_name
    return PrivateText(file.sha256, shared="not shown") if is_plain else file.sha256


def record_tables(sign_off: SignOff) -> tuple[TableBlock, ...]:
    """Return the record of an audit as tables."""
    columns = tuple((name(each.name), each.role, each.kind, each.technique or NOT_STATED) for each in sign_off.columns)
    adversaries = tuple((name(each.name), each.knows, each.reason or NOT_STATED) for each in sign_off.adversaries)
    made = (*zip(("Version and date", "Command"), _made(sign_off), strict=True), *sign_off.settings)
    tables = [file_table(sign_off)]
    if any(each.technique for each in sign_off.columns):
        tables.append(
            TableBlock(
                caption="Techniques by column",
                columns=("Column", "Role", "Type", "Technique"),
                rows=columns,
                align=("left",) * 4,
                prose=True,
            )
        )
    if sign_off.context:
        rows = tuple((label, sign_off.context.get(key) or NOT_STATED) for key, label in CONTEXT.items())
        tables.append(
            TableBlock(caption=FOR_WHOM, columns=("", "As stated"), rows=rows, align=("left",) * 2, prose=True)
        )
    if sign_off.adversaries:
        heads = ("Attacker", "Knows", "Reason")
        tables.append(TableBlock(caption="Attackers", columns=heads, rows=adversaries, align=("left",) * 3, prose=True))
    if sign_off.figures:
        tables.append(figure_table(sign_off))
    tables.append(TableBlock(caption="Provenance", columns=("", ""), rows=made, align=("left", "left"), prose=True))
    return tuple(tables)
