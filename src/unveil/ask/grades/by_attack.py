"""What metrics do by attack and data set: what chunks cap, what hard targets hide, and where values lie."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from unveil.measure import METRICS
from unveil.show.blocks_spread import BoxRows, box_of
from unveil.ask.grades.charts import attack_names, value_range
from unveil.ask.grades.findings import GradesFindings, words
from unveil.show.text import fixed

#: The metrics of the figure on chunks, where they were computed; the last one is not affected and stands beside them.
CHUNKED = ("anonymity_set_size", "mutual_information", "entropy", "adversary_success_rate")
SUCCESS = ("adversary_success_rate", "adversary_overall_success")


def maxima_boxes(found: GradesFindings) -> tuple[BoxRows, ...]:
    """Return the largest value of metrics by attack, a picture each (Fig. 7); none where no attack has chunks."""
    if not any(facts.chunk for facts in found.attacks.values()):
        return ()
    values, rows_of = found.grades.values, _cases_by_attack(found)
    shown = [name for name in CHUNKED if name in values.metrics]
    pictures = []
    for name in shown:
        own = values.values[:, values.metrics.index(name)]
        flat = own.reshape(len(own), -1)
        most = np.where(np.isnan(flat), -np.inf, flat).max(axis=1, initial=-np.inf)
        most = np.where(np.isfinite(most), most, np.nan)
        affected = METRICS[name].affected_by_chunking
        pictures.append(
            BoxRows(
                title=f"Largest {words(name)} of each case",
                x_label=words(name),
                row_label="Attack",
                number_label="Cases",
                rows=tuple(
                    box_of(found.attacks[attack].called, most[rows], note=_chunk(found, attack))
                    for attack, rows in rows_of.items()
                ),
                x_range=(0.0, max(value_range(most)[1], 1e-9)),
                caption="Affected by chunks: attacks with chunks share a ceiling."
                if affected
                else "Not affected by chunks.",
            )
        )
    return tuple(pictures)


def _chunk(found: GradesFindings, attack: str) -> str:
    chunk = found.attacks[attack].chunk
    return f"chunks of {chunk}" if chunk else ""


def success_boxes(found: GradesFindings) -> BoxRows | None:
    """Return the share of right attempts beside that of all targets found, by attack (Fig. 8); None without both."""
    values = found.grades.values
    if any(name not in values.metrics for name in SUCCESS):
        return None
    rate, overall = (values.means[:, values.metrics.index(name)] for name in SUCCESS)
    rows = tuple(
        box_of(_with_scope(found, attack), rate[rows].ravel(), overall[rows].ravel())
        for attack, rows in _cases_by_attack(found).items()
    )
    return BoxRows(
        title="Success rate and overall success by attack",
        x_label="share that is right",
        row_label="Attack",
        number_label="Levels of cases",
        series=("success rate: of the attempts", "overall success: of all targets"),
        rows=rows,
        x_kind="share",
        more_private="left",
        caption="Means over replications, at every level of every case. Where the two differ, the attack leaves out "
        "what is hard: to compare attacks take overall success.",
    )


def _with_scope(found: GradesFindings, attack: str) -> str:
    facts = found.attacks[attack]
    return f"{facts.called} ({facts.scope})" if facts.scope else facts.called


def range_boxes(found: GradesFindings) -> tuple[BoxRows, ...]:
    """Return where the values of two metrics lie, by data set, attack or protection (Fig. 11).

    The metrics are those with the highest and the lowest mean of the shared value range, of those that vary.
    """
    values = found.grades.values
    ranked = sorted(
        (each for each in found.grades.metrics if each.shared_range.mean > 0), key=lambda each: -each.shared_range.mean
    )
    what, groups = _most_telling_groups(found)
    if len(ranked) < 2 or len(groups) < 2:
        return ()
    pictures = []
    for each, which in ((ranked[0], "highest"), (ranked[-1], "lowest")):
        own = values.values[:, values.metrics.index(each.metric)]
        pictures.append(
            BoxRows(
                title=f"Where the values of {words(each.metric)} lie",
                x_label=words(each.metric),
                row_label=what,
                number_label="Replications",
                rows=tuple(box_of(name, own[rows].ravel()) for name, rows in groups.items()),
                x_range=value_range(own),
                more_private="left" if values.rising[values.metrics.index(each.metric)] else "right",
                caption=f"The {which} mean of the shared value range: {fixed(each.shared_range.mean, places=3)}.",
            )
        )
    return tuple(pictures)


def _most_telling_groups(found: GradesFindings) -> tuple[str, dict[str, NDArray[np.int64]]]:
    cases = found.grades.values.cases
    attacks, protections = attack_names(found), found.protections
    ways: Sequence[tuple[str, list[str]]] = (
        ("Data set", [case.data for case in cases]),
        ("Attack", [attacks[case.attack] for case in cases]),
        ("Protection", [protections[case.protect] for case in cases]),
    )
    what, names = next((way for way in ways if len(set(way[1])) > 1), ways[0])
    every = np.array(names)
    return what, {name: np.flatnonzero(every == name) for name in dict.fromkeys(names)}


def _cases_by_attack(found: GradesFindings) -> dict[str, NDArray[np.int64]]:
    cases = found.grades.values.cases
    every = np.array([case.attack for case in cases])
    return {attack: np.flatnonzero(every == attack) for attack in dict.fromkeys(case.attack for case in cases)}
