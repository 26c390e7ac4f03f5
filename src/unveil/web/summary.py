"""What was asked, in words: the files, and every setting that is not as it would be anyway."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from unveil.questions.roles import KINDS, ROLES
from unveil.questions.settings import Question, Setting
from unveil.questions.values import cells, default_of, values_of


def said(asked: Question, names: Mapping[str, Sequence[str]], settings: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return what was asked as pairs of what it is about and what was said.

    >>> from unveil.questions import question
    >>> said(question("candidates"), {"guess": ["guess.csv"]}, {"normalise": True})[0]
    ('What the adversary believes', 'guess.csv')
    """
    sample = settings.get("sample") is True
    values = values_of(asked, settings, sample=sample)
    pairs = [("Data", f"The example inside unveil: {asked.sample}")] if sample else []
    for field in asked.on("page"):
        if field.is_file:
            text = "" if sample else ", ".join(names.get(field.name, ()))
        else:
            text = _text(field, values[field.name], default_of(field, asked, sample=sample), sample=sample)
        if text:
            pairs.append((field.label, text))
    return pairs


def _text(field: Setting, value: Any, usual: Any, *, sample: bool) -> str:
    match field.kind:
        case "roles":
            return _roles(value)
        case "scenarios":
            told = [each.partition("=") for each in value]
            return "; ".join(f"{name} knows {', '.join(cells(columns))}" for name, _, columns in told)
        case "limits":
            return "; ".join(f"{name}: {limit:g}" for name, limit in value)
        case "switch":
            return "yes" if value else ""
        case "folder":
            return "" if sample else ", ".join(map(str, value))
    if field.beside:
        return ", ".join(_plain(field, each) for each in value) if any(value) else ""
    if field.name == "seed":
        return "" if value is None else str(value)
    if value in (None, "", ()) or value == usual:
        return ""
    return ", ".join(_plain(field, each) for each in value) if isinstance(value, tuple) else _plain(field, value)


def _plain(field: Setting, value: Any) -> str:
    if field.choices is not None and field.kind not in ("thing", "things"):
        return dict(field.chosen()).get(value, str(value))
    return "–" if value is None else str(value) if isinstance(value, str | int | Fraction) else f"{value:g}"


def _roles(columns: Sequence[Mapping[str, Any]]) -> str:
    roles, kinds = dict(ROLES), dict(KINDS)
    texts = [f"{each['name']}: {roles[each['role']]}" for each in columns if each["role"] != each["suggested"]]
    texts += [f"{each['name']}: {kinds[each['kind']]}" for each in columns if each["kind"] != each["guessed"]]
    if columns and not texts:
        return "as suggested"
    return "; ".join(texts)
