"""Count what audits of known releases decided: the report of ``benchmarks.decisions``."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from benchmarks.audit_decision import Line, share, table
from benchmarks.calibrate import counts_of
from unveil.metrics.trials.risk import clopper_pearson

_PEOPLE = (("rare copies", "rare_p"), ("groups", "group_p"))
RAISED = ("very_low", "low", "medium", "high")


def report(lines: Sequence[Line], threshold: float) -> str:
    """Return all tables, and a summary by the promises of the rule."""
    parts = {part: [line for line in lines if line["part"] == part] for part in (*TABLES, "sides")}
    texts = [
        f"## {part.capitalize()}\n\n{TABLES[part](own, threshold)}"
        for part, own in parts.items()
        if own and part in TABLES
    ]
    sided = [line for part in ("harmless", "threshold", "sides") for line in parts[part]]
    texts.append(f"## Sides\n\n{_sides(sided)}")
    seconds = sum(line["seconds"] for line in lines) / max(len(lines), 1)
    return "\n\n".join([*texts, f"## Summary\n\n{summary(parts)}", f"{len(lines)} audits, {seconds:.1f} s each."])


def _by(lines: Sequence[Line], key: Callable[[Line], str]) -> Iterator[tuple[str, list[Line]]]:
    """Yield the lines of each key, in the order of keys, and all together where there are several."""
    keys = sorted({key(line) for line in lines})
    for each in keys:
        yield each, [line for line in lines if key(line) == each]
    if len(keys) > 1:
        yield "all", list(lines)


def _words(line: Line) -> tuple[str, str, str]:
    """Return the sizes of a case, how its release is made, and its table."""
    made, name = line["case"].split(": ")
    _, sizes, how = made.split(" ", 2)
    return sizes, how, name + (" (used before)" if line.get("used_before") else "")


def _count(lines: Sequence[Line], key: str, *values: str) -> str:
    return share(sum(line[key] in values for line in lines), len(lines))


def _blocking(line: Line, threshold: float) -> str:
    """Return what keeps an audit from passing: attacks with an upper limit above the threshold, else the reason."""
    if line["decision"] == "pass":
        return ""
    over = {each["attack"] for each in line["effects"] if each["high"] is not None and each["high"] > threshold}
    if line["decision"] == "fail" or not over:
        return f"{line['decision']}: {line['reason'].split(':')[0]}"
    return " + ".join(sorted(over))


def _harmless(lines: Sequence[Line], threshold: float) -> str:
    texts = []
    for place, head in enumerate(("People/control", "Release", "Table")):
        rows = (
            (
                name,
                _count(own, "level", *RAISED),
                _count(own, "decision", "fail"),
                _count(own, "decision", "pass"),
                counts_of(own, "level"),
                counts_of(own, "at_most"),
            )
            for name, own in _by(lines, lambda line: _words(line)[place])  # noqa: B023
        )
        texts.append(table(f"{head} | above none found | fail | pass | levels | at most", rows))
    blocked = Counter((_words(line)[0], _blocking(line, threshold)) for line in lines if line["decision"] != "pass")
    rows_of_blocks = (
        (*key, number) for key, number in sorted(blocked.items(), key=lambda each: (each[0][0], -each[1]))
    )
    texts.append(table("People/control | what keeps from passing | audits", rows_of_blocks))
    raised = [line for line in lines if line["level"] in RAISED]
    found = ((line["case"], line["seed"], line["level"], line["decision"], _clearest(line)) for line in raised)
    texts.append(table("Above none found | seed | level | decision | smallest p", found))
    return "\n\n".join(texts)


def _clearest(line: Line) -> str:
    """Return the effect with the smallest p, and what is known of single people."""
    tested = [each for each in line["effects"] if each["p"] is not None]
    best = min(tested, key=lambda each: each["p"], default=None)
    people = f"{line.get('unmistakable') or 0:g} unmistakable, {line.get('rare_copies') or 0:g} rare copies"
    people += "".join(f", {name} p {line[key]:.4f}" for name, key in _PEOPLE if line.get(key) is not None)
    return people if best is None else f"{best['attack']} {best['attacker']} p {best['p']:.4f}; {people}"


def _effects(line: Line, attack: str) -> list[Line]:
    return [each for each in line["effects"] if each["attack"] == attack and each["value"] is not None]


def _planted(lines: Sequence[Line], _: float) -> str:
    rows = []
    by = (lambda line: " ".join(_words(line)[:2])), (lambda line: _words(line)[2])
    for name, own in (each for key in by for each in _by(lines, key)):
        pairs = [(line["truth"]["copies"], one) for line in own if "truth" in line for one in _effects(line, "copies")]
        errors = [one["value"] - truth for truth, one in pairs]
        inside = sum(one["low"] <= truth <= one["high"] for truth, one in pairs)
        largest = max(map(abs, errors), default=0.0)
        rows.append(
            (
                name,
                counts_of(own, "level"),
                _count(own, "decision", "fail"),
                _count(own, "decision", "pass"),
                share(inside, len(pairs)),
                f"{100 * float(np.mean(errors)):+.2f} ({100 * largest:.2f})" if errors else "",
            )
        )
    head = "Case | levels | fail | pass | copies: truth within limits | printed minus true, points: mean (largest)"
    return table(head, iter(rows))


def _truths(lines: Sequence[Line]) -> dict[tuple[str, str], float]:
    """Return the true effect of each case and attack: the mean over all draws of the case."""
    every: dict[tuple[str, str], list[float]] = {}
    for line in lines:
        for attack, value in line.get("truth", {}).items():
            every.setdefault((line["case"], attack), []).append(value)
    return {key: float(np.mean(values)) for key, values in every.items()}


def _threshold(lines: Sequence[Line], threshold: float) -> str:
    truths, rows = _truths(lines), []
    for name, own in _by(lines, lambda line: line["case"].removeprefix("threshold ")):
        cases = {line["case"] for line in own}
        largest = [max(value for (case, _), value in truths.items() if case == each) for each in cases]
        missed = sum(all(one["high"] <= threshold for one in _largest(line, truths)) for line in own)
        rows.append(
            (
                name,
                f"{100 * min(largest):.2f} to {100 * max(largest):.2f}"
                if len(cases) > 1
                else f"{100 * largest[0]:.2f}",
                _count(own, "decision", "pass"),
                share(missed, len(own)),
                _count(own, "decision", "fail"),
                counts_of(own, "level"),
            )
        )
    return table("Case | largest true effect, points | pass | its own upper limit passes | fail | levels", iter(rows))


def _largest(line: Line, truths: dict[tuple[str, str], float]) -> list[Line]:
    """Return the effects of the attack that is planted at the threshold."""
    own = {attack: value for (case, attack), value in truths.items() if case == line["case"]}
    return _effects(line, max(own, key=lambda attack: own[attack]))


def _misses(pairs: Sequence[tuple[float, Line]]) -> tuple[str, str]:
    """Return in how many effects the lower limit lies above the truth, and the upper one below."""
    low = sum(one["low"] > truth + 1e-9 for truth, one in pairs)
    high = sum(one["high"] < truth - 1e-9 for truth, one in pairs)
    return share(low, len(pairs)), share(high, len(pairs))


def _tested(line: Line) -> list[Line]:
    """Return the tested effects; the truth is known of those that a pass needs, and of all of a harmless release."""
    tested = [one for one in line["effects"] if one["value"] is not None]
    return [one for one in tested if line["part"] == "harmless" or one.get("blocks_pass", True)]


def _pairs(lines: Sequence[Line], *, printed: bool = False) -> dict[str, list[tuple[float, Line]]]:
    """Return the effects whose truth is known, by attack: all of harmless releases, some of planted ones.

    The effect that is ``printed`` for an attack has the largest limits of all its attackers.
    """
    truths, pairs = _truths(lines), dict[str, list[tuple[float, Line]]]()
    for line in lines:
        tested = _tested(line)
        for attack in dict.fromkeys(one["attack"] for one in tested):
            truth = 0.0 if line["part"] == "harmless" else truths.get((line["case"], attack))
            own = [one for one in tested if one["attack"] == attack]
            if printed:
                own = [{limit: max(one[limit] for one in own) for limit in ("low", "high")}]
            if truth is not None:
                pairs.setdefault(f"{attack}, {line['part']}", []).extend((truth, one) for one in own)
    return pairs


def _sides(lines: Sequence[Line]) -> str:
    """Return how often limits miss, of each attacker and as they are printed for the worst one."""
    printed = _pairs(lines, printed=True)
    rows = ((name, *_misses(pairs), *_misses(printed[name])) for name, pairs in sorted(_pairs(lines).items()))
    head = "Effects | lower above the truth | upper below the truth | printed lower above | printed upper below"
    text = table(head, rows)
    gaps = [line["gap"] for line in lines if "gap" in line]
    if gaps:
        text += f"\n\nRates of the audit differ from those counted by definition by at most {max(gaps):g}."
    return text


def _any(lines: Sequence[Line]) -> tuple[str, str]:
    """Return in how many audits some lower limit lies above the truth, and some upper limit below it."""
    truths, counts = _truths(lines), np.zeros(2, int)
    known = 0
    for line in lines:
        own = [(truths.get((line["case"], one["attack"])), one) for one in _tested(line)]
        zero = line["part"] == "harmless"
        pairs = [(0.0 if zero else truth, one) for truth, one in own if zero or truth is not None]
        known += bool(pairs)
        counts += [
            any(one["low"] > (truth or 0.0) + 1e-9 for truth, one in pairs),
            any(one["high"] < (truth or 0.0) - 1e-9 for truth, one in pairs),
        ]
    return share(int(counts[0]), known), share(int(counts[1]), known)


def summary(parts: dict[str, list[Line]]) -> str:
    """Return whether each promise holds, one after the other."""
    harmless = parts["harmless"]
    fresh = [line for line in harmless if not line["used_before"]]
    said = [_promise("P(level above none found), harmless", _hits(fresh, "level", *RAISED), at_most=0.05)]
    said.append(_promise("P(fail), harmless", _hits(fresh, "decision", "fail"), at_most=0.05))
    if used := [line for line in harmless if line["used_before"]]:
        said.append(f"* The same on tables used before: {_count(used, 'level', *RAISED)}.")
    for sizes, least in (("500/500", 0.5), ("1000/1000", 0.8)):
        own = [line for line in fresh if _words(line)[0] == sizes]
        said.append(_promise(f"P(pass), harmless, {sizes}", _hits(own, "decision", "pass"), at_least=least))
    passed = _hits(parts["threshold"], "decision", "pass")
    said.append(_promise("P(pass) with a true effect at the threshold", passed, at_most=0.05))
    leaked = [line for line in parts["planted"] if line["case"].startswith("planted 500/500 5%: ")]
    raised = sum(line["level"] in RAISED[2:] and line["decision"] == "fail" for line in leaked)
    said.append(_promise("Medium or above and fail, 5 % verbatim at 500/500", (raised, len(leaked)), at_least=0.95))
    sided = [line for part in ("sides", "threshold", "harmless") for line in parts[part]]
    for name, pairs in sorted(_pairs(sided).items()):
        low, high = _misses(pairs)
        said.append(f"* Sides, {name}: lower limits miss in {low} (goal 3.5 %), upper in {high} (goal 5 %).")
    low, high = _any(sided)
    said.append(f"* Some lower limit of an audit misses in {low} (3.5 %), some upper limit in {high}.")
    return "\n".join(said)


def _hits(lines: Sequence[Line], key: str, *values: str) -> tuple[int, int]:
    return sum(line[key] in values for line in lines), len(lines)


def _promise(name: str, hits: tuple[int, int], *, at_most: float = 1.0, at_least: float = 0.0) -> str:
    """Return whether the interval of a share leaves a goal possible, and whether the share itself reaches it."""
    if not hits[1]:
        return f"* {name}: not measured."
    rate = clopper_pearson(*hits)
    goal = f"at most {at_most:.0%}" if at_most < 1 else f"at least {at_least:.0%}"
    is_kept = rate.low <= at_most if at_most < 1 else rate.value >= at_least
    return f"* {name}: {share(*hits)}; goal {goal}: {'kept' if is_kept else 'MISSED'}."


TABLES: dict[str, Callable[[Sequence[Line], float], str]] = {
    "harmless": _harmless,
    "planted": _planted,
    "threshold": _threshold,
}
