"""Write metrics.md, settings.md and reference/ from the lists that the command line and the tests use too.

Run it after adding a metric, a setting, a profile, an attack, a protection, a public name or a field of JSON:
python docs/make_reference.py
"""

import re
import sys
from collections.abc import Callable, Iterator
from itertools import groupby
from math import isinf
from pathlib import Path

from unveil.metrics import METRICS, Metric
from unveil.questions import QUESTIONS, question
from unveil.questions.settings import Setting
from unveil.report.trust import GROUNDS, LEGEND, mark, trust_of, trust_sentence, where_from

FOLDER = Path(__file__).resolve().parent
# Run as a file, this folder is on the path and the project is not.
sys.path.insert(0, str(FOLDER.parent))

from tools import reference_pages  # noqa: E402

HEAD = f"""# Metrics

{reference_pages.MADE}

Every metric is a plain function `unveil.metrics.NAME(guess, truth, ...)`; `unveil list metrics` prints this list."""


def render() -> str:
    """Return the page: for each category a table, then each metric in full, in the order in which they are listed."""
    parts = [HEAD, f"{LEGEND} {where_from().replace('docs/grades.md', '[grades](grades.md)')}"]
    for category, members in _categories():
        metrics = list(members)
        parts += ["\n".join(_table(category, metrics)), *("\n".join(_entry(metric)) for metric in metrics)]
    return "\n\n".join(parts) + "\n"


def _categories() -> Iterator[tuple[str, Iterator[Metric]]]:
    order = list(dict.fromkeys(metric.category for metric in METRICS.values()))
    return groupby(sorted(METRICS.values(), key=lambda m: order.index(m.category)), key=lambda m: m.category)


def _table(category: str, members: list[Metric]) -> Iterator[str]:
    yield f"## {category[:1].upper()}{category[1:]}"
    yield ""
    # Most categories are about other things than guesses at candidates, and have no grades.
    grounds = GROUNDS if any(map(_graded, members)) else ()
    heads = ["Metric", "What it returns", "Of", "Per", "More means", "Range"]
    heads += [*(f"Trust in {ground}" for ground in grounds), "Source"]
    yield f"| {' | '.join(heads)} |"
    yield f"|{'---|' * len(heads)}"
    for metric in members:
        cells = (
            f"`{metric.name}`",
            metric.summary.removeprefix("Return "),
            re.sub(r"\w+\.", "", metric.on).replace(" | ", " or "),
            metric.per,
            metric.more_means,
            " to ".join(map(_bound, metric.bounds)),
            *(mark(metric.name, ground) for ground in grounds),
            metric.source,
        )
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _entry(metric: Metric) -> Iterator[str]:
    yield f"### `{metric.name}`"
    yield ""
    first = metric.summary.removeprefix("Return ")
    yield f"{first[:1].upper()}{first[1:]} {metric.meaning}".replace("``", "`").rstrip()
    yield ""
    if metric.formula:
        yield f"* Formula: {metric.formula}".replace("``", "`")
    if metric.undefined:
        yield f"* Undefined: {metric.undefined.removeprefix('NaN ')}".replace("``", "`")
    yield f"* More means {metric.more_means}; it needs {'the' if metric.needs_truth else 'no'} truth."
    if _graded(metric):
        yield f"* {trust_sentence(metric.name)}"
    if metric.affected_by_chunking:
        yield "* It depends on how many candidates an attack looks at in one go."
    if metric.capped:
        yield (
            f"* It is capped at {_bound(metric.bounds[1])}. Pages mark it with † where somebody is at the cap, and say "
            "how many; JSON has their share as `at_cap`."
        )
    if metric.printed_direction != metric.more_means:
        yield f"* The source prints that more means {metric.printed_direction}, which contradicts its meaning."


def _graded(metric: Metric) -> bool:
    return any(trust_of(metric.name).values())


def _bound(value: float) -> str:
    return ("−∞" if value < 0 else "∞") if isinf(value) else f"{value:g}".replace("-", "−")


SETTINGS_HEAD = f"""# Settings

{reference_pages.MADE}

The settings of each command: an option on the command line, and a field of the same label in the local web app. Every
command also has `--json`, `--html FILE`, `--csv DIR`, `--figures DIR`, `--verbose` and `--quiet`. `--help` shows the
most important options, `--help-all` the others. The file of `--config` has the name of the option as key, with `_` for
`-`; settings of `--read`, `--run`, the data dictionary and a section of that file have no option of their own."""


def render_settings() -> str:
    """Return the page of all settings: for each question a table, in the order in which they are listed."""
    parts = [SETTINGS_HEAD]
    for name, home in QUESTIONS.items():
        asked = question(name)
        rows = [_setting(each, asked.sample_of) for each in asked.settings]
        parts.append(f"## `unveil {home.command}`\n\n{home.summary} {asked.about}")
        parts.append("\n".join(["| Setting | Description | Default | Where |", "|---|---|---|---|", *rows]))
    return "\n\n".join(parts) + "\n"


def _setting(each: Setting, sample_of: str) -> str:
    usual = ", ".join(each.default) if isinstance(each.default, tuple) else each.default
    told = "required" if each.required else "" if usual in (None, "") or isinstance(usual, bool) else f"`{usual}`"
    shown = {value: name for name, value in each.names.items()}
    listed = each.chosen() if each.kind == "choice" else ()
    choices = [f"`{shown.get(name, name)}`: {words}" for name, words in listed if name]
    words = f"{each.description} {'; '.join(choices)}".strip().replace("|", "\\|")
    where = {"page": "web app", "command line": "command line", "python": "Python", None: "both"}[each.only]
    return f"| {_written(each, sample_of)} | {words} | {told} | {where} |"


def _written(each: Setting, sample_of: str) -> str:
    """Return how a setting is written: as an option, or as a key of one, of the dictionary or of a section."""
    if each.name == sample_of:
        return "`--example`"
    if each.only == "page" or (not each.option and not each.is_bare):
        return "–"
    if each.place in ("read", "run"):
        return f"`--{each.place} {each.key}=VALUE`"
    if each.place == "dictionary":
        return f"dictionary: `{_DICTIONARY_KEYS[each.name]}`"
    if each.place == "config":
        keys = each.entries or (each.key,)
        return f"config: {', '.join(f'`{key}`' for key in keys)}{f' in `[{each.table}]`' if each.table else ''}"
    return f"`{each.option or each.metavar or each.name.upper()}`"


#: The keys of a column in the data dictionary, by the setting for which they stand.
_DICTIONARY_KEYS = {
    "kinds": "type",
    "rename": "name",
    "missing": "missing",
    "exact": "exact",
    "hierarchies": "hierarchy",
}


#: Each page that is written, and what makes it.
PAGES: dict[str, Callable[[], str]] = {
    "metrics.md": render,
    "settings.md": render_settings,
    **reference_pages.PAGES,
}

if __name__ == "__main__":
    for name, made in PAGES.items():
        (FOLDER / name).parent.mkdir(parents=True, exist_ok=True)
        (FOLDER / name).write_text(made(), encoding="utf-8")
