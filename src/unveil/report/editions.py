"""Internal report and redacted report: two editions of a page.

A text that says how many people there are is a :class:`~unveil.report.blocks.Count`, a text that only insiders may read
is a :class:`~unveil.report.blocks.PrivateText`; whoever builds a page marks them so, and nothing is guessed from words.
"""

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from os import PathLike, fspath
from typing import Any

from unveil.errors import InputError
from unveil.report.blocks import Count, Page, PrivateText
from unveil.report.text import count, name

#: Cells of fewer people are not shown: 1 to 10 may not be, by the policy of the US agency for Medicare (``cell-11``).
MINIMUM_CELL = 11

#: Options whose values are settings or names of columns. What is not listed is hidden: a new option stays private.
SHOWN_OPTIONS = frozenset(
    {
        "--decimal",
        "--threads",
        "--memory",
        "--encoding",
        "--exact",
        "--separator",
        "--id",
        "--time",
        "--sensitive",
        "--known",
        "--quasi-identifiers",
        "--scenario",
        "--link",
        "--kind",
        "--release-type",
        "--attacks",
        "--targets",
        "--neighbours",
        "--limit",
        "--threshold",
        "--seed",
        "--profile",
        "--by",
        "--header",
        "--weight",
        "--household",
        "--minimum-cell",
        "--population-size",
        "--guesses",
        "--tolerance",
        "--technique",
        "--rename",
        "--review",
        "--context",
        "--suggest",
        *("--hold-out", "--folds", "--runs", "--canaries", "--epsilon", "--delta", "--adjacency", "--workers"),
        *("--time-limit", "--memory-limit", "--output-limit"),
        *(
            "--column-split",
            "--neighbors",
            "--predicates",
            "--group-by",
            "--min-cell",
            "--holdout",
            "--method",
            "--read",
            "--report",
            "--population-is",
        ),
    }
)
#: Options whose value is a file, of which the folder is nobody's business.
FILE_OPTIONS = frozenset(
    {
        *("--control", "--config", "--html", "--pdf", "--csv", "--figures", "--shareable", "--compare", "--dictionary"),
        *("--sibling", "--sibling-people", "--population"),
        *("--sheet", "--people", "--made", "--resume", "--redacted", "--sign-off", "--record-risk", "--keep-runs"),
    }
)
#: Options without a value.
FLAGS = frozenset(
    {
        *("--accept-inconclusive", "--accept-undecided", "--json", "--quiet", "--sample", "--show-records"),
        *("--strict-kinds", "--strict-types", "--verbose", "--example", "--help-all", "--help-control"),
    }
)
_HIDDEN = "…"


def people(number: int, one: str = "", many: str = "", *, pattern: str = "{}") -> Count:
    """Return a number of people that the redacted report may withhold.

    ``pattern`` is a longer text with ``{}`` in place of the number and its word.

    >>> people(7, "person", "people"), people(1, "person", "people"), people(7, pattern="{} of 500")
    ('7 people', '1 person', '7 of 500')
    """
    whole = pattern.replace("{}", f"{{}} {many}".rstrip(), 1)
    return Count(pattern.replace("{}", count(number, one, many), 1), people=number, pattern=whole)


def file_name(path: "str | PathLike[str]", at_most: int = 60) -> PrivateText:
    """Return a file path; the redacted report shows its last part.

    >>> file_name("/data/2024/people.csv").shared
    'people.csv'
    """
    return PrivateText(name(fspath(path), at_most), shared=name(last_part(fspath(path)), at_most))


def last_part(path: str) -> str:
    r"""Return the last part of a path, on any system.

    >>> last_part("data/people.csv"), last_part("C:\\data\\people.csv"), last_part("data/")
    ('people.csv', 'people.csv', 'data')
    """
    parts = [part for part in path.replace("\\", "/").split("/") if part]
    return parts[-1] if parts else path


def command_text(arguments: Sequence[str]) -> PrivateText:
    """Return a command; the redacted report hides folders and cells.

    >>> command_text(["unveil", "audit", "/data/people.csv", "masked.csv", "--missing", "Smith", "--seed", "1"]).shared
    'unveil audit people.csv masked.csv --missing … --seed 1'
    """
    shown: list[str] = []
    before = ""
    for argument in arguments:
        # What follows an option is its value, also where it begins like one: --missing --none.
        is_option = argument.startswith("--") and not before
        option, equals, value = argument.partition("=") if is_option else ("", "", argument)
        if option:
            shown.append(f"{option}={_value(option, value)}" if equals else option)
            before = "" if equals or option in FLAGS else option
        else:
            shown.append(_value(before, value))
            before = ""
    # The mark of what is hidden stays readable: quotes are for what a shell would misread.
    shared = " ".join(each if each.endswith(_HIDDEN) else shlex.quote(each) for each in shown)
    return PrivateText(shlex.join(arguments), shared=shared)


def _value(option: str, value: str) -> str:
    if option == "" or option in FILE_OPTIONS:
        return last_part(value)
    return value if option in SHOWN_OPTIONS else _HIDDEN


def shareable(page: Page, *, minimum_cell: int = MINIMUM_CELL, paths: Iterable["str | PathLike[str]"] = ()) -> Page:
    """Return the redacted edition: no records, small cells, or folders.

    Every text that is marked as a count of people, and says fewer than ``minimum_cell`` but not 0, becomes "fewer than
    N"; every text that is marked as private is replaced by its shared form. ``paths`` are files whose folders are taken
    out wherever they stand, notes included. What is not marked stays: percentages, and the names of columns, releases
    and groups, of which none may be shown that is smaller than the minimum.

    A page that holds records is refused, because nobody can tell which part of it would be left.

    >>> page = Page(title="T", question="Q", headline="H", tone="neutral", sections=(), notes=(people(7), people(0)))
    >>> shareable(page).notes
    ('fewer than 11', '0')
    """
    if minimum_cell < 1:
        raise InputError(f"the minimum cell size must be 1 or more, but is {minimum_cell}. Write 11")
    if page.holds_records:
        raise InputError(
            "a redacted report must not show records of the data, but this page does. Make it without records"
        )
    folders = {text: last_part(text) for path in paths if (text := fspath(path)) and last_part(text) != text}
    # The longest first: one path may be the beginning of another.
    ordered = {text: folders[text] for text in sorted(folders, key=len, reverse=True)}
    shared: Page = _shared(replace(page, edition="shareable"), minimum_cell, ordered)
    return shared


def _shared(value: Any, minimum: int, paths: Mapping[str, str]) -> Any:
    """Return the value with every marked text replaced, nested too."""
    if isinstance(value, str):
        return _text(value, minimum, paths)
    if isinstance(value, tuple | list):
        return type(value)(_shared(each, minimum, paths) for each in value)
    if isinstance(value, Mapping):
        return {key: _shared(each, minimum, paths) for key, each in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        changed = {field.name: _shared(getattr(value, field.name), minimum, paths) for field in fields(value)}
        return replace(value, **changed)
    return value


def _text(value: str, minimum: int, paths: Mapping[str, str]) -> str:
    text = value.shared if isinstance(value, PrivateText) else str(value)
    if isinstance(value, Count) and 0 < value.people < minimum:
        text = value.pattern.replace("{}", f"fewer than {count(minimum)}", 1)
        # A sentence that began with the number begins with a word now.
        text = f"{text[:1].upper()}{text[1:]}" if text.endswith(".") else text
    for path, last in paths.items():
        text = text.replace(path, last)
    return text
