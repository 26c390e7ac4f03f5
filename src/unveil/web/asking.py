"""Each question asked of the library, with the settings of its form: the same calls that the command line makes."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from unveil.show.progress import Progress
from unveil.web.asked import Answered, Asked, AskedError, shown
from unveil.web.asking_audit import audit
from unveil.web.values import cells, lines


def _partition(asked: Asked) -> Answered:
    from unveil.ask.partition.answer import partition_files
    from unveil.data import samples

    values = asked.values
    if values["sample"]:
        truth = samples.path("partition_truth.csv")
        guesses = [(samples.path(f"partition_guess_{values['adversary']}.csv"), None)]
    else:
        truth = asked.must("truth")
        given = asked.files.get("guesses", ())
        chances = (*values["probabilities"], *[None] * len(given))
        guesses = [(each.path, chance) for each, chance in zip(given, chances, strict=False)]
    overall = {name: values[name] for name in ("overall_alpha", "overall_beta") if values[name] is not None}
    found = partition_files(
        truth,
        guesses,
        policy_file=asked.path("policy_file"),
        weights_file=asked.path("weights_file"),
        rng=asked.rng,
        progress=asked.progress,
        **asked.named("item", "cluster", "alpha", "beta", "contamination_desirable", "norm", "at_breach"),
        drop_unmatched=values["drop_unmatched"],
        **overall,
    )
    return shown(asked, found)


def _candidates(asked: Asked) -> Answered:
    from unveil.ask.candidates.answer import candidates_files
    from unveil.data import samples

    sample = asked.values["sample"]
    found = candidates_files(
        samples.path("candidates_guess.csv") if sample else asked.must("guess"),
        samples.path("candidates_truth.csv") if sample else asked.path("truth"),
        progress=asked.progress,
        **asked.named("target", "candidate", "probability", "normalise", "drop_unmatched", "metrics"),
    )
    return shown(asked, found)


def _matching(asked: Asked) -> Answered:
    from unveil.ask.matching.answer import matching_files
    from unveil.data import samples

    if asked.values["sample"]:
        files = {name: samples.path(f"matching_{name}.csv") for name in ("ranges", "transactions", "truth")}
    else:
        files = {field.name: path for field in asked.form.files if (path := asked.path(field.name)) is not None}
    return shown(asked, matching_files(**files, rng=asked.rng, progress=asked.progress))


def _graph(asked: Asked) -> Answered:
    from unveil.ask.graph.answer import graph_file, graph_made_elsewhere_files

    values = asked.values
    if asked.path("auxiliary") is not None:
        found = graph_made_elsewhere_files(
            asked.must("edges"),
            asked.must("auxiliary"),
            asked.path("pairs") or values["seed_pairs"],
            asked.must("truth"),
            values["attack"],
            repeat=values["repeat"],
            rng=asked.rng,
            progress=asked.progress,
        )
    else:
        found = graph_file(
            None if values["sample"] else asked.must("edges"),
            values["protect"],
            values["attack"],
            **asked.named("seed_pairs", "connected", "repeat"),
            overlap=float(values["overlap"]),
            rng=asked.rng,
            progress=asked.progress,
        )
    return shown(asked, found)


def _study(asked: Asked) -> Answered:
    from unveil.ask.study.answer import study_report

    metrics = cells(asked.values["metrics"])
    with _folders(asked) as folders:
        return _of_example(asked, folders, _study_shown(study_report(folders[0], metrics=metrics), asked.progress))


def _study_shown(found: Any, progress: Progress) -> Answered:
    progress("writing the report", 0.0)
    page = found.page()
    return Answered(
        html=found.to_html(), json=found.to_json(seed=found.findings.study.seed), headline=page.headline, tone=page.tone
    )


def _grades(asked: Asked) -> Answered:
    from unveil.ask.grades.answer import grade_metrics

    with _folders(asked) as folders:
        found = grade_metrics(
            *folders,
            details=lines(asked.values["details"]),
            suites=lines(asked.values["suites"]),
            level=float(asked.values["significance"]),
            strict=asked.values["strict"],
            rng=asked.rng,
            progress=asked.progress,
        )
        return _of_example(asked, folders, shown(asked, found))


def _of_example(asked: Asked, folders: Sequence[Path], found: Answered) -> Answered:
    """Return an answer that calls the folder of the example by its name only: it is gone when this is read."""
    if not asked.values["sample"]:
        return found
    where = str(folders[0])
    name = folders[0].name
    return replace(found, html=found.html.replace(where, name), json=found.json.replace(where, name))


@contextmanager
def _folders(asked: Asked) -> Iterator[list[Path]]:
    """Yield the folders that were typed, or that of the example, which lives only as long as it is read."""
    if asked.values["sample"]:
        from unveil.web.sample_study import sample_study

        with sample_study(asked.progress) as folder:
            yield [folder]
        return
    folders = [Path(os.path.expanduser(each)) for each in lines(asked.values["folder"])]  # noqa: PTH111  (never fails)
    for path in folders:
        # Nobody sees where the server was started, so that a path must not begin there.
        if not path.is_absolute():
            raise AskedError(
                f"a folder must be written in full, such as /home/me/studies/quick, but is {str(path)[:200]!r}. "
                "Correct it",
                "folder",
            )
    yield folders


#: How each question is asked. A new one is one line here, and one in `forms`.
QUESTIONS: Mapping[str, Callable[[Asked], Answered]] = MappingProxyType(
    {
        "audit": audit,
        "partition": _partition,
        "candidates": _candidates,
        "matching": _matching,
        "graph": _graph,
        "study": _study,
        "grades": _grades,
    }
)
