"""What was asked, in words: the files, and every setting that is not as it would be anyway."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from unveil.web.fields import Field, Form
from unveil.web.forms_audit import KINDS, ROLES
from unveil.web.values import value_of, values_of


def said(form: Form, names: Mapping[str, Sequence[str]], settings: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return what was asked as pairs of what it is about and what was said.

    >>> from unveil.web.forms import FORMS
    >>> said(FORMS["candidates"], {"guess": ["guess.csv"]}, {"normalise": True})[0]
    ('What the adversary believes', 'guess.csv')
    """
    values = values_of(form, settings)
    pairs = [("Data", f"The example inside unveil: {form.sample}")] if values["sample"] else []
    if not values["sample"]:
        pairs += [(field.label, ", ".join(names[field.name])) for field in form.files if names.get(field.name)]
    for field in form.settings:
        text = _text(form, field, values)
        if text:
            pairs.append((field.label, text))
    return pairs


def _text(form: Form, field: Field, values: Mapping[str, Any]) -> str:
    value = values[field.name]
    match field.kind:
        case "roles":
            return _roles(value)
        case "scenarios":
            return "; ".join(f"{name} knows {', '.join(columns)}" for name, columns in value)
        case "limits":
            return "; ".join(f"{name}: {limit:g}" for name, limit in value)
        case "switch":
            return "yes" if value else ""
        case "folder":
            return "" if values["sample"] else str(value)
    if field.beside:
        return ", ".join(_plain(field, each) for each in value) if any(value) else ""
    if field.name == "seed":
        return str(value)
    if value in (None, "", ()) or value == value_of(field, None, form, sample=values["sample"]):
        return ""
    return ", ".join(_plain(field, each) for each in value) if isinstance(value, tuple) else _plain(field, value)


def _plain(field: Field, value: Any) -> str:
    if field.choices is not None and field.kind != "thing":
        return dict(field.choices()).get(value, str(value))
    return "–" if value is None else str(value) if isinstance(value, str | int | Fraction) else f"{value:g}"


def _roles(columns: Sequence[Mapping[str, Any]]) -> str:
    roles, kinds = dict(ROLES), dict(KINDS)
    texts = [f"{each['name']}: {roles[each['role']]}" for each in columns if each["role"] != each["suggested"]]
    texts += [f"{each['name']}: {kinds[each['kind']]}" for each in columns if each["kind"] != each["guessed"]]
    if columns and not texts:
        return "as suggested"
    return "; ".join(texts)
