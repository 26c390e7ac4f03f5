"""Summaries of child tables by their definition: person by person, row by row."""

import statistics
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

Row = dict[str, Any]


def summary_of_person(rows: Sequence[Row], kinds: dict[str, str], time: str | None) -> dict[str, Any]:
    """Return the summaries of one person's rows, by the end of their names."""
    made: dict[str, Any] = {"number of rows": len(rows)}
    for name, kind in kinds.items():
        values = sorted(row[name] for row in rows if row[name] is not None)
        if name == time:
            made[f"first {name}"] = values[0] if values else None
            steps = [later - earlier for earlier, later in pairwise(values)]
            days = [step.total_seconds() / 86_400 if kind == "date" else step for step in steps]
            made[f"mean gap of {name}{' in days' * (kind == 'date')}"] = statistics.fmean(days) if days else None
        elif kind == "number":
            made[f"mean {name}"] = statistics.fmean(values) if values else None
        elif kind == "date":
            made[f"earliest {name}"] = values[0] if values else None
        else:
            counts = Counter(values)
            most = max(counts.values(), default=0)
            made[f"most frequent {name}"] = min((each for each in counts if counts[each] == most), default=None)
    return made
