"""The page that is signed, or not: what was audited and how, what was found, what was not tested, on one sheet.

Everything on the sheet is cut to what fits on one page of paper, and stands in full in a section at the end.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

from unveil.report.blocks import (
    Box,
    Boxes,
    Count,
    PrivateText,
    Sheet,
    SheetEntry,
    Side,
    TableBlock,
    Tone,
)
from unveil.report.editions import command_text, file_name, people
from unveil.report.text import count, name, shorten

NOT_STATED = "not stated"
STATEMENT = (
    "This sheet is evidence for the decision of the controller, not a legal determination of anonymity. Other "
    "attackers and attacks exist, and the risk can change over time."
)
NO_LIMIT = "No threshold was set."
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
FOR_WHOM = "Identifiable for whom?"
SIGNATURES = ("Name", "Role", "Decision: release, change or do not release", "Date and signature")
IN_FULL = "Methods and limitations"

#: What fits on the sheet: so many of each, and so many characters. Lines that are left go to what was not tested, to
#: one more adversary, and then to the columns, of which two stand in a line.
_FILES, _RELEASES, _FIGURES, _COLUMNS, _ADVERSARIES, _UNTESTED = 5, 3, 8, 4, 2, 3
_LONG, _NAME = 240, 40
_LEFT: Side = "left"
_RIGHT: Side = "right"

#: The questions of the Article 29 Working Party's opinion 05/2014 (WP216), in its order.
QUESTIONS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "singling_out": ("Singling out", "Can one person be isolated in the data?"),
        "linkability": ("Linkability", "Can records about the same person be put together?"),
        "inference": ("Inference", "Can something about a person be worked out?"),
    }
)


@dataclass(frozen=True, kw_only=True)
class BoxFact:
    """What was found on one of the three questions, or why nothing was."""

    #: The figure with its interval, such as "31.2% (27.3% to 35.4%)".
    rate: str = ""
    #: What it must be read beside: people who are not in the data, blind chance, which release, which adversary.
    beside: str = ""
    tone: Tone = "neutral"
    tested: bool = True
    why_not: str = ""
    #: Another wording of the question; that of the opinion unless given.
    question: str = ""


@dataclass(frozen=True, kw_only=True)
class FileFact:
    """One table: which part it has, its file as it was named, its rows, and the hash or keyed digest of the file."""

    part: Literal["Original", "Control", "Release"]
    #: The path as given, or a name where there is no file.
    file: str
    rows: int
    #: 64 digits, or None where the table was no file.
    sha256: str | None = None


@dataclass(frozen=True, kw_only=True)
class Variable:
    """One column: what it was taken for, and what was done to it before the release."""

    name: str
    role: str
    kind: str
    #: Empty where nobody said.
    technique: str = ""


@dataclass(frozen=True, kw_only=True)
class Adversary:
    """One scenario: what somebody is taken to know, and why anybody should expect that."""

    name: str
    knows: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class SignOffFigure:
    """One figure of the original, as if released, and of each release, as texts."""

    #: The sheet shows up to 38 characters of it.
    label: str
    before: str
    after: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class SignOff:
    """Everything that the sheet states; texts are shown as they are, so they hold no cell of the data."""

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
    untested: tuple[str, ...]
    seed: int | None
    version: str
    #: The command as a list of arguments, the program first; empty where the audit was asked for in Python.
    command: tuple[str, ...]
    #: When the audit was run, and when it should be looked at again; as they should be read.
    date: str
    review_date: str = ""
    #: Who decides; empty leaves it to the line for the signature.
    decides: str = ""
    #: The decision with the numbers behind it; whether a threshold was set.
    decision: str = ""
    decision_tone: Tone = "neutral"
    is_decided: bool = False
    #: What was told of those who get the release, by the names of `CONTEXT`; what was not is asked for.
    context: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    #: More settings, as label and text.
    settings: tuple[tuple[str, str], ...] = field(default=())
    #: What the hashes of the files are called.
    digest_name: str = "SHA-256"


def three_boxes(findings: Mapping[str, BoxFact]) -> Boxes:
    """Return the three questions of opinion WP216 side by side, each with its figure or with why there is none.

    >>> boxes = three_boxes({"linkability": BoxFact(rate="3.0%", beside="2.9% for others")}).boxes
    >>> [(box.title, box.value) for box in boxes]
    [('Singling out', 'Not tested'), ('Linkability', '3.0%'), ('Inference', 'Not tested')]
    """
    return Boxes(boxes=tuple(_box(key, findings.get(key)) for key in QUESTIONS))


def _box(key: str, fact: BoxFact | None) -> Box:
    title, question = QUESTIONS[key]
    if fact is None or not fact.tested:
        why = fact.why_not if fact is not None else ""
        return Box(
            title=title,
            question=(fact.question if fact is not None else "") or question,
            value="Not tested",
            beside=shorten(why or "Nothing here says anything about this question.", _LONG),
            tested=False,
        )
    return Box(
        title=title,
        question=shorten(fact.question or question, 80),
        value=fact.rate,
        beside=shorten(fact.beside, _LONG),
        tone=fact.tone,
    )


def sheet(sign_off: SignOff) -> Sheet:
    """Return the first printed page: short enough for one page of A4 or Letter paper, whatever was audited."""
    which = "this release" if len(sign_off.releases) < 2 else "these releases"
    limit = shorten(sign_off.decision if sign_off.is_decided else f"{NO_LIMIT} {sign_off.decision}".strip(), 340)
    boxes = three_boxes(sign_off.boxes)
    free = 3 - _lines(limit, 115, at_most=3) + 5 - max(_lines(box.beside, 38, at_most=5) for box in boxes.boxes)
    return Sheet(
        title=f"Sign-off sheet: evidence for a decision on {which}",
        statement=STATEMENT,
        limit=limit,
        limit_tone=sign_off.decision_tone,
        boxes=boxes,
        tables=(
            *([figure_table(sign_off, short=True)] if sign_off.figures else []),
            file_table(sign_off, short=True),
        ),
        entries=_entries(sign_off, free),
        # With nothing told there is a line for each; two halves of it would take more room than the sheet has.
        signatures=(*(() if sign_off.context else CONTEXT.values()), *SIGNATURES),
    )


def _lines(text: str, letters: int, *, at_most: int) -> int:
    """Return how many lines a text takes at the most, where a line has room for so many common letters."""
    width = sum(1 if letter in _COMMON else 2 for letter in text)
    return min(at_most, -(-width // letters))


_COMMON = frozenset("abcdefghijklnopqrstuvxyz0123456789 .,;:!?'()-_/|")


def _entries(sign_off: SignOff, free: int) -> tuple[SheetEntry, ...]:
    """Return what the sheet states in lines; ``free`` are those that nothing above them takes."""
    told = sum(bool(each.technique) for each in sign_off.columns)
    technique = f"technique {NOT_STATED} for all" if not told else "technique"
    columns = [_variable(each, technique=bool(told)) for each in sign_off.columns]
    told_of = [f"{name(each.name, _NAME)}: knows {each.knows}. {each.reason}" for each in sign_off.adversaries]
    useful = SheetEntry(label="Usefulness", lines=(shorten(sign_off.utility, _LONG) or "Not measured.",))
    made = SheetEntry(label="How it was made", lines=_made(sign_off, short=True))
    adversaries = _cut(told_of, _ADVERSARIES, _LONG) or ("None was named.",)
    # Two adversaries, one line on usefulness and two on the making could take two lines each.
    free += 10 - sum(_lines(line, 120, at_most=2) for line in (*adversaries, *useful.lines, *made.lines))
    free += max(0, _FILES - len(sign_off.files)) + max(0, _FIGURES - len(sign_off.figures))
    more = min(free, max(0, len(sign_off.untested) - _UNTESTED))
    free -= more
    if len(told_of) > _ADVERSARIES and free >= 3:
        adversaries, free = _cut(told_of, _ADVERSARIES + 1, _LONG), free - 3
    told_context = [f"{label}: {sign_off.context.get(key) or NOT_STATED}" for key, label in CONTEXT.items()]
    for_whom = SheetEntry(label=FOR_WHOM, lines=_cut(told_context, len(CONTEXT), 90), layout="short")
    return (
        SheetEntry(
            label=f"{count(len(columns), 'column', 'columns')}: role, kind, {technique}",
            lines=_cut(columns, _COLUMNS + 2 * free, 90),
            layout="short",
        ),
        *((for_whom,) if sign_off.context else ()),
        SheetEntry(label="Adversaries, and why to expect them", lines=adversaries),
        useful,
        SheetEntry(
            label="Not tested",
            lines=_cut(sign_off.untested, _UNTESTED + more, _LONG) or (NOT_STATED,),
            layout="list",
        ),
        made,
    )


def _variable(variable: Variable, *, technique: bool) -> str:
    done = f"; {variable.technique or NOT_STATED}" if technique else ""
    return f"{name(variable.name, 30)}: {variable.role}, {variable.kind}{done}"


def _cut(lines: Sequence[str], at_most: int, length: int) -> tuple[str, ...]:
    """Return the first lines, each of bounded length, and how many more there are."""
    shown = tuple(shorten(line, length) for line in lines)
    if len(shown) <= at_most:
        return shown
    more = len(shown) - at_most + 1
    return (*shown[: at_most - 1], f"… and {count(more)} more under “{IN_FULL}” at the end.")


def _made(sign_off: SignOff, *, short: bool) -> tuple[str, ...]:
    seed = "no seed" if sign_off.seed is None else f"seed {sign_off.seed}"
    review = f"to be reviewed by {sign_off.review_date}" if sign_off.review_date else f"review date {NOT_STATED}"
    decides = f"decided by {sign_off.decides}" if sign_off.decides else f"who decides is {NOT_STATED}"
    told = f"unveil {sign_off.version}, {seed}, run on {sign_off.date or NOT_STATED}; {review}; {decides}."
    return shorten(told, _LONG), _command(sign_off.command, _LONG if short else 800)


def _command(arguments: Sequence[str], at_most: int) -> str:
    if not arguments:
        return "Asked for in Python, without a command."
    command = command_text(arguments)
    return PrivateText(name(command, at_most), shared=name(command.shared, at_most))


def figure_table(sign_off: SignOff, *, short: bool = False) -> TableBlock:
    """Return each figure before and after: of the original, as if that were released, and of each release."""
    releases = sign_off.releases[:_RELEASES] if short else sign_off.releases
    figures = sign_off.figures[:_FIGURES] if short else sign_off.figures
    left_out = [
        count(len(sign_off.releases) - len(releases), "more release", "more releases"),
        count(len(sign_off.figures) - len(figures), "more figure", "more figures"),
    ]
    more = " and ".join(text for text in left_out if not text.startswith("0 "))
    return TableBlock(
        caption="Results before and after",
        columns=("", "Original data", *(name(each, _NAME) for each in releases)),
        rows=tuple(
            (shorten(each.label, 38) if short else each.label, each.before, *each.after[: len(releases)])
            for each in figures
        ),
        align=(_LEFT, _RIGHT, *(_RIGHT for _ in releases)),
        note=f"{more} under “{IN_FULL}” at the end." if more else "",
    )


def file_table(sign_off: SignOff, *, short: bool = False) -> TableBlock:
    """Return which tables were audited: file, rows and hash, so that anybody can tell whether theirs is the same."""
    files = sign_off.files[:_FILES] if short else sign_off.files
    more = len(sign_off.files) - len(files)
    return TableBlock(
        caption="Files",
        columns=("Part", "File", "Rows", f"{sign_off.digest_name[:1].upper()}{sign_off.digest_name[1:]}"),
        rows=tuple(
            (each.part, file_name(each.file, _NAME if short else 80), _rows(each), _digest(each, sign_off))
            for each in files
        ),
        align=("left", "left", "right", "left"),
        note=f"{count(more, 'more file', 'more files')} under “{IN_FULL}” at the end." if more else "",
    )


def _digest(file: FileFact, sign_off: SignOff) -> str:
    if file.sha256 is None:
        return "no file"
    # Whoever knows nearly all of a file can try the rest against a plain hash; a keyed digest gives nothing to try.
    is_plain = sign_off.digest_name == SignOff.digest_name
    return PrivateText(file.sha256, shared="not shown") if is_plain else file.sha256


def _rows(file: FileFact) -> Count:
    return people(file.rows)


def record_tables(sign_off: SignOff) -> tuple[TableBlock, ...]:
    """Return all that the sheet had to cut, in full: files, columns, attackers, results, and how it was made."""
    columns = tuple((name(each.name), each.role, each.kind, each.technique or NOT_STATED) for each in sign_off.columns)
    adversaries = tuple((name(each.name), each.knows, each.reason or NOT_STATED) for each in sign_off.adversaries)
    made = (*zip(("Version and date", "Command"), _made(sign_off, short=False), strict=True), *sign_off.settings)
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
    tables.append(
        TableBlock(caption="How it was made", columns=("", ""), rows=made, align=("left", "left"), prose=True)
    )
    return tuple(tables)
