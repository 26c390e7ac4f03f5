"""Values of settings: read as the library takes them, or refused with the cause and the fix."""

import csv
import io
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from numbers import Real
from pathlib import Path
from typing import Any

from unveil._specification import without_own_code
from unveil.errors import InputError, did_you_mean, shortened
from unveil.questions.request import Request, SettingError
from unveil.questions.settings import LISTS, Door, Question, Setting
from unveil.report.limits import parse_limit, parse_number

_LONGEST = 4_000
#: The largest number of files of one setting.
MOST_FILES = 100
_MOST_COLUMNS = 100_000
_MOST_ENTRIES = 200
#: The largest number of names that a message lists.
_NAMED_CHOICES = 20
_SIZE = re.compile(r"(?P<number>\d+(\.\d+)?)\s*(?P<unit>[kmgt]i?b|b)?", re.IGNORECASE | re.ASCII)
#: The value that the form sends for a protection or an attack that is not chosen.
_NOTHING = {"name": "", "settings": {}}
_POWERS = {"k": 1, "m": 2, "g": 3, "t": 4}


def value_of(setting: Setting, raw: Any, question: Question, *, sample: bool = False, door: Door = "page") -> Any:
    """Return the value of a setting as the library takes it; an empty one is the default.

    >>> from unveil.questions import question
    >>> asked = question("unlinkability")
    >>> value_of(asked.setting("alpha"), "1/3", asked), value_of(asked.setting("beta"), "", asked, sample=True)
    (Fraction(1, 3), Fraction(9, 10))
    """
    if setting.beside:
        several = raw if isinstance(raw, list | tuple) or raw is None else [raw]
        return tuple(_one(setting, each, setting.default, question, door) for each in _listed(several, MOST_FILES))
    default = question.of_sample.get(setting.name, setting.default) if sample else setting.default
    if setting.required and raw in (None, "", ()) and not sample:
        raise InputError("it is missing. Fill it in")
    return _one(setting, raw, default, question, door)


def checked_value(setting: Setting, value: Any) -> Any:
    """Return the value of a setting that was given in Python; one text stands for a list of one.

    >>> from unveil.questions import question
    >>> checked_value(question("attack_metrics").setting("metrics"), "entropy")
    ('entropy',)
    """
    if setting.is_file or setting.kind in ("output", "roles"):
        return value
    if setting.beside:
        return value if setting.objects else tuple(value or ())
    if setting.optional and (value is None or (isinstance(value, str) and not value)):
        return None
    if _is_object(setting, value) or (isinstance(value, str) and names_file(setting, value)):
        return value
    if setting.kind in LISTS and value is not None:
        value = _several_of(value)
    value = _one(setting, value, setting.default, None, "python")
    return pairs_in(value, setting.form) if setting.form else value


def _is_object(setting: Setting, value: Any) -> bool:
    """Return whether a value is an object that is checked where it is used."""
    if value is None or isinstance(value, str):
        return False
    if setting.form:
        return isinstance(value, Mapping)
    if setting.kind in LISTS:
        return setting.objects and (isinstance(value, Mapping) or not isinstance(value, Iterable))
    return setting.objects and not (isinstance(value, Real) and setting.kind in ("number", "share", "switch"))


def names_file(setting: Setting, text: str) -> bool:
    """Return whether a text that may be a number or a file is a file."""
    return bool(setting.or_file) and re.fullmatch(r"-?[\d.,/]+", text) is None


def _several_of(value: Any) -> tuple[Any, ...]:
    """Return what was given as a list in Python."""
    if isinstance(value, str) or not isinstance(value, Iterable):
        return (value,) if value else ()
    return tuple(value)


def pairs_in(written: Iterable[str], form: str) -> dict[str, str]:
    """Return the text of each name; ``form`` describes the required form, for the message.

    >>> pairs_in(("age=in bands of five years",), "COLUMN=TEXT")
    {'age': 'in bands of five years'}
    """
    pairs = {}
    for text in written:
        name, equals, what = text.partition("=")
        if not equals or not name.strip() or not what.strip():
            raise InputError(f"it is not in the required form. Write {form}")
        pairs[name.strip()] = what.strip()
    return pairs


def values_of(
    question: Question, given: Mapping[str, Any], *, sample: bool = False, door: Door = "page"
) -> dict[str, Any]:
    """Return the value of every setting that is no file; those that are not given, or not there, have their default."""
    values = {}
    for setting in question.settings:
        if not setting.is_file:
            raw = given.get(setting.name) if setting.only in (None, door) else None
            # The command line says by itself which names are missing.
            here = setting if door == "page" and setting.only != "command line" else replace(setting, required=False)
            try:
                values[setting.name] = value_of(here, raw, question, sample=sample, door=door)
            except InputError as error:
                raise SettingError(str(error), setting.name) from error
    return values


def default_of(setting: Setting, question: Question, *, sample: bool = False) -> Any:
    """Return the default value of a setting."""
    return value_of(replace(setting, required=False), None, question, sample=sample)


def wrong_together(request: Request, calls: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return conflicts, a setting and a sentence each; ``calls`` are the names of settings in the front end."""
    found = request.question.together(request) if request.question.together is not None else []
    return [(name, sentence.format_map(calls)) for name, sentence in found]


def _one(setting: Setting, raw: Any, default: Any, question: Question | None, door: Door) -> Any:
    unsaid = raw is None or (isinstance(raw, str) and not raw.strip()) or (setting.kind == "thing" and raw == _NOTHING)
    value = default if unsaid else raw
    if setting.kind in ("thing", "things") and value is default:
        return default
    if setting.kind in LISTS:
        return _several(setting, value, question, door)
    match setting.kind:
        case "number":
            return None if value is None else _number(setting, value)
        case "share":
            return None if value is None else _share(value)
        case "size":
            return None if value is None else _bytes(value)
        case "switch":
            if not isinstance(value, bool | None):
                fix = "Pass True or False" if door == "python" else "Choose yes or no"
                raise InputError(f"it is neither true nor false. {fix}")
            return bool(value)
        case "choice":
            return None if value is None else _chosen(setting, value)
        case "thing":
            return None if value is None else _thing(setting, value, door)
        case "folder":
            return _folders(value, door)
        case "output":
            return None if value is None else Path(value)
        case _:
            return _text(value)


def _several(setting: Setting, value: Any, question: Question | None, door: Door) -> tuple[Any, ...]:
    if setting.kind in ("columns", "texts", "things") and isinstance(
        value, str
    ):  # one field of the page holds them all
        value = lines(_text(value)) if setting.many else cells(_text(value))
    entries = _listed(value, _MOST_COLUMNS if setting.kind in ("roles", "columns") else _MOST_ENTRIES)
    match setting.kind:
        case "roles":
            return tuple(_column(each) for each in entries)
        case "scenarios":
            return tuple(_scenario(each) if door == "page" else each for each in entries)
        case "limits":
            return tuple(each if door != "page" or question is None else _limit(each, question) for each in entries)
        case "things":
            return tuple(_thing(setting, each, door) for each in entries)
        case "several":
            named = columns_in(entries) if door == "command line" and entries else entries
            return tuple(_chosen(setting, each) for each in named)
        case "columns":
            named = tuple(_text(each) for each in entries)
            return columns_in(named) if door == "command line" and named else named
        case _:
            return tuple(each if setting.objects and _is_object(setting, each) else _text(each) for each in entries)


def columns_in(written: Iterable[str]) -> tuple[str, ...]:
    """Return the names in texts with commas between them; a name with a comma in it stands in double quotes.

    >>> columns_in(('age,sex', '"income, yearly"'))
    ('age', 'sex', 'income, yearly')
    """
    names = tuple(name for text in written for name in cells(text))
    if not names:
        raise InputError("it names none. Name at least one, or remove it")
    return names


def _listed(raw: Any, at_most: int) -> Sequence[Any]:
    if raw is None:
        return ()
    if not isinstance(raw, list | tuple) or len(raw) > at_most:
        raise InputError(f"it is not a list of at most {at_most:,} values. Correct it")
    return raw


def _text(value: Any) -> str:
    if value is None:
        return ""
    if not isinstance(value, str) or len(value) > _LONGEST or "\0" in value:
        raise InputError(f"it is not a text of at most {_LONGEST:,} letters. Shorten it")
    return value.strip()


def _chosen(setting: Setting, value: Any) -> str:
    choices = [each for each, _ in setting.chosen()]
    if isinstance(value, str):
        value = setting.names.get(value.strip(), value)
        for written in (value, value.strip().replace("-", "_")):
            if written in choices:
                return str(written)
    shown = {each: name for name, each in setting.names.items()}
    names = [shown.get(each, each) for each in choices if each]
    offered = f"Available: {', '.join(names)}" if len(names) <= _NAMED_CHOICES else setting.words
    if not isinstance(value, str):
        raise InputError(f"it is no name. {offered}".rstrip())
    hint = did_you_mean(value, names) if setting.hint is None else setting.hint(value)
    raise InputError(f"Unknown name {shortened(value)}.{hint} {offered}".rstrip())


def _fraction(value: Any) -> Fraction | None:
    return parse_number(str(value)) if isinstance(value, str | Real) and not isinstance(value, bool) else None


def _share(value: Any) -> Fraction:
    number = _fraction(value)
    if number is None:
        raise InputError(f"it is {_seen(value)}, not a number. Write it as 0.5 or 1/2")
    if not 0 <= number <= 1:
        raise InputError(f"it is {_seen(value)}; it must be in [0, 1]. Write it as 0.5 or 1/2")
    return number


def _number(setting: Setting, value: Any) -> int | float:
    number = _fraction(value)
    what = "a whole number" if setting.whole else "a number"
    if number is None and isinstance(value, str) and value.strip().isdecimal():
        raise InputError(f"it has {len(value.strip()):,} digits; at most 100 are allowed. Lower it")
    if number is None or (setting.whole and number.denominator != 1):
        raise InputError(f"it is {_seen(value)}, not {what}. Write it in digits")
    # Bounds are compared as written: the float 0.001 is more than the text '0.001'.
    if setting.least is not None and number < Fraction(str(setting.least)):
        raise InputError(f"it is {_seen(value)}; the minimum is {setting.least:g}. Raise it")
    if setting.most is not None and number > Fraction(str(setting.most)):
        raise InputError(f"it is {_seen(value)}; the maximum is {setting.most:,g}. Lower it")
    return int(number) if setting.whole else float(number)


def _seen(value: Any) -> str:
    return shortened(str(value)) if isinstance(value, str | Real) else f"a {type(value).__name__}"


def _bytes(value: Any) -> int:
    """Return how many bytes a size means: 1 GB is 10⁹ of them, 1 GiB is 2³⁰.

    >>> _bytes("4GB"), _bytes("1.5 GiB"), _bytes("2000")
    (4000000000, 1610612736, 2000)
    """
    found = _SIZE.fullmatch(str(value).strip()) if isinstance(value, str | int) else None
    unit = (found["unit"] or "b").lower() if found else "b"
    factor = 1 if unit == "b" else (1024 if "i" in unit else 1000) ** _POWERS[unit[0]]
    size = float(found["number"]) * factor if found else 0
    if not 1 <= size < 2**63:
        raise InputError(f"it is {_seen(value)}, not a size. Write a number and its unit, such as 4GB or 512MiB")
    return int(size)


def _folders(value: Any, door: Door) -> tuple[Path, ...]:
    if isinstance(value, str | None):
        written = lines(_text(value))
    elif isinstance(value, os.PathLike):
        written = [os.fspath(value)]
    else:
        written = [str(each) for each in _listed(value, _MOST_ENTRIES)]
    if door != "page":
        return tuple(Path(each) for each in written)
    folders = tuple(Path(os.path.expanduser(each)) for each in written)  # noqa: PTH111  (never fails)
    for path in folders:
        # Nobody sees where the server was started, so that a path must not begin there.
        if not path.is_absolute():
            raise InputError(
                f"{shortened(str(path))} is not a full path. Write it from the first /, as /home/me/studies"
            )
    return folders


def _column(each: Any) -> dict[str, Any]:
    """Return the role and type of a column, and the suggested ones."""
    from unveil.questions.roles import KINDS, ROLES

    if not isinstance(each, Mapping) or not isinstance(each.get("name"), str):
        raise InputError("the table of columns is damaged. Load the form again")
    roles, kinds = dict(ROLES), dict(KINDS)
    said = {key: str(each.get(key)) for key in ("role", "suggested", "kind", "guessed")}
    wrong = [key for key in ("role", "suggested") if said[key] not in roles]
    wrong += [key for key in ("kind", "guessed") if said[key] not in kinds]
    if wrong:
        raise InputError(
            f"a column has an unknown role or type. Available: {', '.join(roles)}; types: {', '.join(kinds)}"
        )
    levels = cells(_text(each.get("levels"))) if said["kind"] == "ordered" else ()
    return {"name": each["name"], **said, "levels": levels}


def _scenario(each: Any) -> str:
    """Return an attacker with quasi-identifiers, in command-line notation."""
    if not isinstance(each, Mapping):
        raise InputError("the list of attack scenarios is damaged. Load the form again")
    name = _text(each.get("name"))
    columns = tuple(str(column) for column in _listed(each.get("columns"), _MOST_COLUMNS))
    if not name:
        raise InputError("an attack scenario has no name. Write one, or remove it")
    if "=" in name:
        raise InputError("the name of an attack scenario contains the sign =. Remove the sign")
    if not columns:
        raise InputError(f"the attack scenario {name[:60]!r} has no columns. Choose at least one column, or remove it")
    return f"{name}={row(columns)}"


def _limit(each: Any, question: Question) -> tuple[str, float]:
    known = question.meanings()
    quantity = each.get("quantity") if isinstance(each, Mapping) else None
    if not isinstance(quantity, str) or quantity not in known:
        raise InputError("a limit names no result. Choose one of the list, or remove the limit")
    limit = parse_limit(str(each.get("limit", "")))
    if limit is None:
        raise InputError(f"the limit on {quantity} is not a number. Write one, such as 0.5, or remove the limit")
    return quantity, limit


def _thing(setting: Setting, value: Any, door: Door) -> Any:
    """Return a protection or an attack as it is written; the form takes listed ones only.

    The command line takes classes of the user too, which the answer reads.
    """
    if door != "page":
        return value if door == "python" and not isinstance(value, str) else _text(value)
    from unveil.attacks import ATTACKS
    from unveil.protections import PROTECTIONS

    if isinstance(value, str):
        name, _, rest = value.partition(":")
        return _read_thing(setting, f"{_chosen(setting, name)}:{rest}" if rest else _chosen(setting, name))
    given = value if isinstance(value, Mapping) else {}
    name = _chosen(setting, given.get("name"))
    settings = given.get("settings") or {}
    if not isinstance(settings, Mapping):
        raise InputError("the settings are damaged. Load the form again")
    if not name:
        return ""
    listed = PROTECTIONS[name] if name in PROTECTIONS else ATTACKS[name]
    usual = {key: default for key, _, default in (each.partition("=") for each in listed.settings)}
    said = {str(key): _text(each) for key, each in settings.items()}
    pieces = [f"{key}={text}" for key, text in said.items() if text and text != usual.get(key)]
    return _read_thing(setting, f"{name}:{row(pieces)}" if pieces else name)


def _read_thing(setting: Setting, written: str) -> str:
    if setting.read is not None and written:
        with without_own_code():  # a listed attack may name another one in its settings
            setting.read(written)
    return written


def cells(text: str) -> tuple[str, ...]:
    """Return the texts between commas; one with a comma in it stands in double quotes.

    >>> cells('?, NA, "none, really"')
    ('?', 'NA', 'none, really')
    """
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), skipinitialspace=True))
    except csv.Error:
        raise InputError(f"a text has more than {csv.field_size_limit():,} letters. Shorten it") from None
    return tuple(cell.strip() for row in rows for cell in row if cell.strip())


def lines(text: str) -> list[str]:
    """Return the lines of a text that hold something."""
    return [line.strip() for line in text.splitlines() if line.strip()]


def row(texts: Sequence[str]) -> str:
    """Return texts with commas between them, those with a comma in quotes: what `cells` reads back.

    >>> row(["age", "income, yearly"])
    'age,"income, yearly"'
    """
    stream = io.StringIO()
    csv.writer(stream, lineterminator="").writerow(texts)
    return stream.getvalue()
