"""Write docs/reference/ from the lists that the command line and the tests use too.

Run it after adding a metric, a setting, a profile, an attack, a protection, a public name, a field of JSON or a term:
python docs/make_reference.py
"""

import re
import sys
import tomllib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import groupby, pairwise
from math import isinf
from pathlib import Path

import click

from unveil.cli import main
from unveil.metrics import METRICS, Metric
from unveil.questions import QUESTIONS, question
from unveil.questions.settings import Setting
from unveil.report.trust import GROUNDS, LEGEND, mark, trust_of, where_from

FOLDER = Path(__file__).resolve().parent
# Run as a file, this folder is on the path and the project is not.
sys.path.insert(0, str(FOLDER.parent))

from tools import reference_pages  # noqa: E402

METRICS_HEAD = f"""# Metrics

{reference_pages.MADE}

Each metric is a function `unveil.metrics.NAME(guess, truth, ...)`. An entry has the formula, the range, and the
direction (*more* or *less* private as the value grows). It ends with the source. An undefined value is NaN.
Metrics of single targets are undefined for targets that the attack did not attempt. p is the probability
of a candidate, p_t that of the true one. [The Python reference](python/metrics.md) has full definitions."""


def metrics() -> str:
    """Return the page of all metrics: one paragraph each, by category, in the order in which they are listed."""
    grounds = re.sub(r"docs/\S*grades\.md", "[grades](../research/grades.md)", where_from())
    parts = [METRICS_HEAD, f"{LEGEND} {grounds}"]
    order = list(dict.fromkeys(metric.category for metric in METRICS.values()))
    listed = sorted(METRICS.values(), key=lambda m: order.index(m.category))
    for category, members in groupby(listed, key=lambda m: m.category):
        parts.append(f"## {category[:1].upper()}{category[1:]}")
        parts += [f"### `{metric.name}`\n\n{' '.join(_sentences(metric))}" for metric in members]
    return "\n\n".join(parts) + "\n"


def _sentences(metric: Metric) -> Iterator[str]:
    # The range follows the formula.
    summary = re.sub(r"^Return (?:the )?|, -?[01] to 1\b", "", metric.summary)
    yield f"{summary[:1].upper()}{summary[1:]}"
    if metric.formula:
        formula = _formula(metric.formula)
        yield f"{formula}." if formula.startswith("`") else f"Formula: {formula}."
    yield f"{' to '.join(map(_bound, metric.bounds))}, {metric.more_means.removesuffix(' private')}."
    undefined = _NOT_ATTEMPTED.sub("", metric.undefined.removeprefix("NaN "))
    if undefined:
        yield f"Undefined {_clauses(undefined)[0]}."
    if any(trust_of(metric.name).values()):
        yield f"Reliability: {', '.join(f'{ground} {mark(metric.name, ground)}' for ground in GROUNDS)}."
    yield f"*{metric.source}*"


#: What the head of the page says of all metrics.
_NOT_ATTEMPTED = re.compile(r"^where (?:the target was )?not attempted(?: or |, never 0|)\.?")
_CODE = re.compile(r"``[^`]*``")
#: Where a clause ends: at a stop, before a relative clause, and before a long remark in parentheses.
_STOP = re.compile(
    r"[.;:](?= |$)| \((?=[^()]{25})"
    r"|, (?=which|what|where|because|so that|as they|a missing|rank by|(?:the \w+ (?:of the \w+ )?|P and Q )being)"
)


def _formula(text: str) -> str:
    """Return the first clause that computes something; the first one where none does."""
    clauses = _clauses(text)
    return next((each for each in clauses if re.search(r"`[^`]*[ (][^`]*`", each)), clauses[0])


def _clauses(text: str) -> list[str]:
    """Return the clauses of a text, cut at stops outside of code."""
    plain = _CODE.sub(lambda code: "x" * len(code[0]), text)
    stops = [0, *(stop.end() for stop in _STOP.finditer(plain)), len(text)]
    parts = [text[start:end].rstrip(".;:, (").strip() for start, end in pairwise(stops)]
    return [part.replace("``", "`") for part in parts if part]


def _bound(value: float) -> str:
    return ("−∞" if value < 0 else "∞") if isinf(value) else f"{value:g}".replace("-", "−")


COMMANDS_HEAD = f"""# Commands

{reference_pages.MADE}

`--help` shows the main options, `--help-all` all of them. Options with `...` can be repeated; COLS and NAMES are
separated by commas. Each command is also a Python function; a keyword with another name stands in parentheses.
[Exit codes](exit-codes.md)."""
#: The tables of a settings file, each with its sentence.
_SECTIONS = {
    "tuning": "Keys of `[tuning]` in the file of `--config`, for statisticians.",
    "run": "Keys of `--run KEY=VALUE,…`, or of `[run]` in the file of `--config`.",
    "read": "Keys of `--read KEY=VALUE,…`, or of `[read]` in the file of `--config`.",
    "sign_off": "Keys of `[sign_off]` in the file of `--config`, for the sign-off sheet.",
    "dictionary": "Keys of a column in the file of `--dictionary`, which `unveil columns` writes.",
}
#: The keys of a column in the data dictionary, by the setting for which they stand.
_DICTIONARY_KEYS = {
    "kinds": "type",
    "rename": "name",
    "missing": "missing",
    "exact": "exact",
    "hierarchies": "hierarchy",
}
#: More values than these, as of metrics, are not listed.
_MOST_VALUES = 20
#: An option of at least this many commands is described once; the others of a command are below its name.
_COMMON = 4


def commands() -> str:
    """Return the page of all commands: one line for each option, then the keys of settings files."""
    found = list(_commands(main, click.Context(main, info_name="unveil")))
    shown = {name: list(_options(name, command, context)) for name, command, context in found}
    number = Counter(row for rows in shown.values() for row in rows)
    common = [row for row, times in number.items() if times >= _COMMON]
    parts = [COMMANDS_HEAD, "## Options of several commands", _listed(common)]
    homes = {home.command: home.summary for home in QUESTIONS.values()}
    for name, command, _ in found:
        rows = [row for row in shown[name] if row not in common]
        parts += [f"## `unveil {name}`", homes.get(name) or (command.help or "").partition("\n")[0], _listed(rows)]
    parts += ["## Settings files", _SETTINGS_FILES]
    for section, keys in _keys().items():
        parts += [f"### {section}", _SECTIONS[section], _listed(keys)]
    return "\n\n".join(part for part in parts if part) + "\n"


_SETTINGS_FILES = """`--config FILE` reads a TOML file. Each option is a key, with `_` for `-`. `[limits]` holds limits,
`[[release]]` (`file`, `name`, `release_type`) the releases, and `[[scenario]]` (`name`, `columns`, `reason`) the
attackers. Options on the command line override the file."""


def _commands(
    group: click.Group, context: click.Context, path: tuple[str, ...] = ()
) -> Iterator[tuple[str, click.Command, click.Context]]:
    """Yield every command with its whole name, those of a group in its place."""
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if command is None:
            continue
        below = click.Context(command, parent=context, info_name=name)
        if isinstance(command, click.Group):
            yield from _commands(command, below, (*path, name))
        else:
            yield " ".join((*path, name)), command, below


def _options(name: str, command: click.Command, context: click.Context) -> Iterator[tuple[str, str]]:
    """Yield each argument and option of a command with its help, and its keyword where that has another name."""
    asked = next((key for key, home in QUESTIONS.items() if home.command == name), None)
    settings = {each.name: each for each in question(asked).settings} if asked else {}
    for param in command.get_params(context):
        if isinstance(param, click.Argument):
            yield param.make_metavar(context), getattr(param, "line", "")
            continue
        record = param.get_help_record(context)
        # Click keeps the option for help of the first context: with `-h` or without.
        if record is not None and "--help" not in record[0].split(", "):
            text = " ".join(record[1].split())
            each = settings.get(param.name or "")
            if each is not None and each.is_keyword and each.name != each.key:
                text = f"{text[:-1]}; `{each.name}`)" if text.endswith(")") else f"{text} (`{each.name}`)"
            yield record[0], f"{text}{_values(each)}" if each else text


def _values(each: Setting) -> str:
    """Return the values that a setting may have, unless its help names them all or they have a page of their own."""
    shown = {value: name for name, value in each.names.items()}
    values = [shown.get(value, value) for value, _ in (each.chosen() if each.kind in ("choice", "several") else ())]
    named = all(value in each.option_help for value in values)
    return "" if named or len(values) > _MOST_VALUES else f": {', '.join(f'`{value}`' for value in values if value)}"


def _keys() -> Mapping[str, list[tuple[str, str]]]:
    """Return the keys that have no option of their own, with their help and commands, by the table that holds them."""
    homes: dict[str, dict[tuple[str, str], list[str]]] = {section: defaultdict(list) for section in _SECTIONS}
    for name, home in QUESTIONS.items():
        for each in question(name).settings:
            section = "dictionary" if each.place == "dictionary" else each.table
            if section in homes:
                homes[section][(_written(each), f"{each.option_help}{_values(each)}")].append(home.command)
    return {
        section: [(key, f"{text} ({', '.join(names)})") for (key, text), names in keys.items()]
        for section, keys in homes.items()
    }


def _written(each: Setting) -> str:
    return _DICTIONARY_KEYS[each.name] if each.place == "dictionary" else "`, `".join(each.entries or (each.key,))


def _listed(rows: Iterable[tuple[str, str]]) -> str:
    return "\n".join(f"* `{name}`: {text}" if text else f"* `{name}`" for name, text in rows)


GLOSSARY_HEAD = f"""# Glossary

{reference_pages.MADE.replace("the docstrings", "docs/glossary.toml")}

Terms of reports, commands and these pages. *Also* marks synonyms of the literature. *Before* marks names of earlier
versions; [what changed in names](names.md) lists options and functions."""


def glossary() -> str:
    """Return the page of terms, section by section as they are declared."""
    parts = [GLOSSARY_HEAD]
    for section, terms in tomllib.loads((FOLDER / "glossary.toml").read_text(encoding="utf-8")).items():
        parts += [f"## {section}", "\n".join(_term(name, *facts) for name, facts in terms.items())]
    return "\n\n".join(parts) + "\n"


def _term(name: str, definition: str, also: str = "", before: str = "") -> str:
    more = [f" *{label}*: {names}." for label, names in (("Also", also), ("Before", before)) if names]
    return f"* **{name}**: {definition}{''.join(more)}"


#: Each page that is written, and what makes it.
PAGES: dict[str, Callable[[], str]] = {
    "reference/metrics.md": metrics,
    "reference/commands.md": commands,
    "reference/glossary.md": glossary,
    **reference_pages.PAGES,
}

if __name__ == "__main__":
    for name, made in PAGES.items():
        (FOLDER / name).parent.mkdir(parents=True, exist_ok=True)
        (FOLDER / name).write_text(made(), encoding="utf-8")
