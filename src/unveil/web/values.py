"""What a page sends for each field, read as the library takes it, or a sentence that says what to correct."""

import csv
import io
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from unveil.errors import InputError
from unveil.show.limits import parse_limit, parse_number
from unveil.web.fields import Field, Form
from unveil.web.forms_audit import KINDS, ROLES
from unveil.web.listing import settings_of

_LONGEST = 4_000
#: More than anybody means, and few enough to be looked at one by one.
MOST_FILES = 20
_MOST_COLUMNS = 100_000
_MOST_ENTRIES = 200


def errors_of(form: Form, files: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, str]:
    """Return what is wrong with each field; see :func:`unveil.web.forms.check`."""
    errors: dict[str, str] = {}
    sample = settings.get("sample") is True
    if sample and not form.sample:
        return {"": "There is no example for this question. Name what it is about"}
    known = {field.name for field in form.fields}
    for name in (*files, *settings):
        if name not in known and name != "sample":
            return {"": f"this question has no field {name[:60]!r}. Load the page again"}
    numbers = {field.name: 0 if sample else _count(files.get(field.name)) for field in form.files}
    for field in form.files:
        if field.required and not numbers[field.name] and not sample:
            errors[field.name] = "A file is needed here. Drop one, or choose it with the button"
        elif numbers[field.name] > (MOST_FILES if field.kind == "tables" else 1):
            most = f"at most {MOST_FILES} files" if field.kind == "tables" else "one file"
            errors[field.name] = f"Only {most} can be taken here. Remove the others"
    values: dict[str, Any] = {"sample": sample}
    for field in form.settings:
        try:
            values[field.name] = value_of(field, settings.get(field.name), form, sample=sample)
        except InputError as error:
            errors[field.name] = str(error)
            continue
        if field.beside and len(values[field.name]) > numbers[field.beside]:
            errors[field.name] = "There are more of these than files. Load the page again"
    if not errors and form.together is not None:
        errors = form.together(frozenset(name for name, number in numbers.items() if number), values)
    return errors


def values_of(form: Form, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the value of every setting of a form that was checked, and whether the example is asked for."""
    sample = settings.get("sample") is True
    read = {field.name: value_of(field, settings.get(field.name), form, sample=sample) for field in form.settings}
    return {"sample": sample, **read}


def value_of(field: Field, raw: Any, form: Form, *, sample: bool = False) -> Any:
    """Return the value of a field as the library takes it; what was left empty is the default.

    >>> from unveil.web.forms import FORMS
    >>> form = FORMS["partition"]
    >>> value_of(form.field("alpha"), "1/3", form), value_of(form.field("beta"), "", form, sample=True)
    (Fraction(1, 3), Fraction(9, 10))
    """
    if field.beside:
        return tuple(_one(field, each, field.default, form) for each in _listed(raw, MOST_FILES))
    default = form.of_sample.get(field.name, field.default) if sample else field.default
    if field.required and raw in (None, "") and not sample:
        raise InputError("This must be filled in")
    return _one(field, raw, default, form)


def _one(field: Field, raw: Any, default: Any, form: Form) -> Any:
    value = default if raw is None or (isinstance(raw, str) and not raw.strip()) else raw
    match field.kind:
        case "number":
            return None if value is None else _number(field, value)
        case "share":
            return None if value is None else _share(value)
        case "switch":
            if not isinstance(value, bool):
                raise InputError("This must be chosen or not. Load the page again")
            return value
        case "choice":
            return _chosen(field, value)
        case "several":
            return tuple(_chosen(field, each) for each in _listed(value, _MOST_ENTRIES))
        case "roles":
            return tuple(_column(each) for each in _listed(value, _MOST_COLUMNS))
        case "scenarios":
            return tuple(_scenario(each) for each in _listed(value, _MOST_ENTRIES))
        case "limits":
            return tuple(_limit(each, form) for each in _listed(value, _MOST_ENTRIES))
        case "thing":
            return _thing(field, value)
        case _:
            return _text(value)


def _count(given: Any) -> int:
    if given is None or given == "":
        return 0
    return len(given) if isinstance(given, list | tuple) else 1


def _listed(raw: Any, most: int) -> Sequence[Any]:
    if raw is None:
        return ()
    if not isinstance(raw, list | tuple) or len(raw) > most:
        raise InputError(f"This must be a list of at most {most:,}. Load the page again")
    return raw


def _text(value: Any) -> str:
    if value is None:
        return ""
    if not isinstance(value, str) or len(value) > _LONGEST or "\0" in value:
        raise InputError(f"This must be a text of at most {_LONGEST:,} letters. Shorten it")
    return value.strip()


def _chosen(field: Field, value: Any) -> str:
    choices = dict(field.choices() if field.choices is not None else ())
    if not isinstance(value, str) or value not in choices:
        raise InputError("This must be one of those offered. Choose again")
    return value


def _fraction(value: Any) -> Fraction | None:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    return parse_number(str(value))


def _share(value: Any) -> Fraction:
    number = _fraction(value)
    if number is None:
        raise InputError("This must be a number. Write it as 0.5 or 1/2")
    if not 0 <= number <= 1:
        raise InputError("This must lie between 0 and 1. Correct it")
    return number


def _number(field: Field, value: Any) -> int | float:
    number = _fraction(value)
    what = "a whole number" if field.whole else "a number"
    if number is None or (field.whole and number.denominator != 1):
        raise InputError(f"This must be {what}. Correct it")
    if field.least is not None and number < field.least:
        raise InputError(f"This must be {what} of at least {field.least:g}. Raise it")
    if field.most is not None and number > field.most:
        raise InputError(f"This must be {what} of at most {field.most:,g}. Lower it")
    return int(number) if field.whole else float(number)


def _column(each: Any) -> dict[str, Any]:
    """Return what was said of a column: its role and kind, and what was suggested."""
    if not isinstance(each, Mapping) or not isinstance(each.get("name"), str):
        raise InputError("The table of columns is damaged. Load the page again")
    roles, kinds = dict(ROLES), dict(KINDS)
    said = {key: str(each.get(key)) for key in ("role", "suggested", "kind", "guessed")}
    wrong = [key for key in ("role", "suggested") if said[key] not in roles]
    wrong += [key for key in ("kind", "guessed") if said[key] not in kinds]
    if wrong:
        raise InputError("A column has a role or a kind that there is none of. Choose again")
    levels = cells(_text(each.get("levels"))) if said["kind"] == "ordered" else []
    return {"name": each["name"], **said, "levels": levels}


def _scenario(each: Any) -> tuple[str, tuple[str, ...]]:
    """Return the name of an adversary and the columns that it knows."""
    if not isinstance(each, Mapping):
        raise InputError("The list of adversaries is damaged. Load the page again")
    name = _text(each.get("name"))
    columns = tuple(str(column) for column in _listed(each.get("columns"), _MOST_COLUMNS))
    if not name:
        raise InputError("Somebody who might try must have a name. Write one, or remove them")
    if "=" in name:
        raise InputError("A name must not hold the sign =. Leave it out")
    if not columns:
        raise InputError(f"Choose at least one column that {name[:60]!r} would know, or remove them")
    return name, columns


def _limit(each: Any, form: Form) -> tuple[str, float]:
    known = form.meanings() if form.meanings is not None else {}
    quantity = each.get("quantity") if isinstance(each, Mapping) else None
    if not isinstance(quantity, str) or quantity not in known:
        raise InputError("A limit must be on one of the figures offered. Choose one, or remove the limit")
    limit = parse_limit(str(each.get("limit", "")))
    if limit is None:
        raise InputError(f"The limit on {quantity} must be a number, such as 0.5. Write one, or remove the limit")
    return quantity, limit


def _thing(field: Field, value: Any) -> str:
    """Return how a protection or an attack is written, after the library has read it; only listed ones can be named."""
    given = value if isinstance(value, Mapping) else {"name": value}
    name = _chosen(field, given.get("name"))
    settings = given.get("settings") or {}
    if not isinstance(settings, Mapping):
        raise InputError("The settings are damaged. Load the page again")
    usual = {each["name"]: each["default"] for each in settings_of(name)}
    told = {str(key): _text(each) for key, each in settings.items()}
    pieces = [f"{key}={text}" for key, text in told.items() if text and text != usual.get(key)]
    written = f"{name}:{row(pieces)}" if pieces else name
    if field.name == "protect":
        from unveil.protect import graph_protection_from

        graph_protection_from(written)
    else:
        from unveil.attack import graph_attack_from

        graph_attack_from(written)
    return written


def cells(text: str) -> list[str]:
    """Return the texts between commas; one with a comma in it stands in double quotes.

    >>> cells('?, NA, "none, really"')
    ['?', 'NA', 'none, really']
    """
    return [
        cell.strip() for line in csv.reader(text.splitlines(), skipinitialspace=True) for cell in line if cell.strip()
    ]


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
