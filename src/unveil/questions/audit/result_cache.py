"""Cache the task results of an audit in a private folder."""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import fields, is_dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from unveil.data.table import Table
from unveil.data.table.coded_columns import CellFrame
from unveil.errors import InputError
from unveil.questions.audit.generator.settings import GeneratorSettings
from unveil.questions.audit.inputs import PreparedAudit
from unveil.questions.audit.settings import RunSettings
from unveil.questions.audit.tasks import AuditTask
from unveil.questions.roles import HierarchySettings
from unveil.work.result_format import ResultFormat, types_within
from unveil.work.results import ResultFolder
from unveil.work.seal import Seal, parts_of, sealed_parts, write_bytes
from unveil.work.task import version

_RESULTS = "results"
#: Of so many rows the texts of cells are in memory at once.
_AT_ONCE = 1 << 16


class ResultCache(ResultFolder):
    """The folder of task results of one audit; they are personal data."""

    manifest, parts = "audit.json", (_RESULTS,)
    what, own, advice = "results", "results of this audit", "Name another folder (--resume)"
    other = MappingProxyType(
        {
            # What was told comes before the tables, which hold what was told of their columns.
            "version": "of another version of unveil",
            "settings": "with other settings",
            "seed": "with another seed",
            "original": "of another original",
            "control": "with another control",
            "releases": "of other releases",
        }
    )

    def found(self, audit: str, tasks: Iterable[AuditTask]) -> dict[AuditTask, Any]:
        """Return what was kept of the tasks of an audit; damaged files and those of others are passed over."""
        made = {}
        for task in tasks:
            content = self.sealed_content(_RESULTS, _seal(audit, task))
            if content is not None:
                with suppress(ValueError):
                    made[task] = result_format().read(parts_of(content))
        return made

    def keep(self, audit: str, task: AuditTask, result: Any) -> None:
        """Write what a task gave, seen once it is on the disk in full."""
        seal = _seal(audit, task)
        write_bytes(self.folder / _RESULTS / seal.name, sealed_parts(result_format().write(result), seal, self.key))


def _seal(audit: str, task: AuditTask) -> Seal:
    return Seal(f"{task.name}-{audit[:12]}.result", digest_of((audit, tuple(task))), "fine")


@cache
def result_format() -> ResultFormat:
    """Return the format of stored results: everything that the parts of an audit give is made of these."""
    from unveil._kernels.verdict.permutations import agreeing_cells, true_links
    from unveil.metrics.trials.membership import Curve
    from unveil.questions.audit.attack_results import AttackResult
    from unveil.questions.audit.findings import AuditedRelease, CopyFindings
    from unveil.report.suppressed_number import SuppressedNumber

    return ResultFormat(
        types=(*types_within(AttackResult, AuditedRelease, CopyFindings), Curve, SuppressedNumber),
        functions=(agreeing_cells, true_links),
    )


def identity_of(prepared: PreparedAudit) -> dict[str, str]:
    """Return all that the results of an audit depend on, each as a hash."""
    settings = prepared.settings
    if settings.model is not None:
        raise InputError(
            "a model of your own cannot be told from another one, so that an audit with it cannot go on. Leave out "
            "the model, or keep nothing (--resume)"
        )
    apart = {each.name for kind in (RunSettings, GeneratorSettings, HierarchySettings) for each in kind.table()}
    apart |= {"control", "seed", "suggest", "suggest_for"}
    named = [each.name for each in settings.table() if each.is_keyword and each.name not in apart]
    of_figures = {name: getattr(settings, name) for name in named}
    return {
        "version": version(),
        "original": digest_of(prepared.original),
        "control": digest_of(prepared.control),
        "releases": digest_of([(each.release.name, each.release.released, each.truth) for each in prepared.releases]),
        "seed": digest_of((prepared.seed, [each.seed for each in prepared.releases])),
        # Where it was computed changes nothing, and hierarchies stand with their lines in the original.
        "settings": digest_of((of_figures, settings.claim, settings.lacking, prepared.parts)),
    }


def digest_of(value: Any) -> str:
    """Return a hash of settings and tables, the same in every process; what it does not know is refused.

    >>> digest_of({"a": 1, "b": (2.0, None)}) == digest_of({"b": (2.0, None), "a": 1})
    True
    >>> digest_of((1, 2)) == digest_of((12,))
    False
    """
    return sha256(b"\0".join(_told(value))).hexdigest()


def _cells(frame: CellFrame) -> list[bytes]:
    """Return hashes of the cells, so many rows at a time that their texts need little memory."""
    rows = (frame[start : start + _AT_ONCE] for start in range(0, max(frame.height, 1), _AT_ONCE))
    return [sha256(each.write_csv(null_value="\0").encode()).digest() for each in rows]


def _told(value: Any) -> list[bytes]:
    if value is None or isinstance(value, str | bytes | bool | int | float | Path):
        return [type(value).__name__.encode(), repr(value).encode()]
    if isinstance(value, np.ndarray):
        return [b"array", value.dtype.str.encode(), repr(value.shape).encode(), np.ascontiguousarray(value).tobytes()]
    if isinstance(value, Table):
        # Its cells, and not the hash of a file: a table may be made of a file's.
        parts: tuple[Any, ...] = (value.name, value.columns, [str(each) for each in value.content.schema.values()])
        marked = CellFrame({name: value.marked[name] for name in sorted(value.marked)})
        return [b"table", digest_of(parts).encode(), *_cells(value.content), b"markers", *_cells(marked)]
    if isinstance(value, Mapping):
        return [b"mapping", *sorted(digest_of(pair).encode() for pair in value.items())]
    if isinstance(value, set | frozenset):
        return [b"set", *sorted(digest_of(each).encode() for each in value)]
    if isinstance(value, list | tuple):
        return [b"list", *(digest_of(each).encode() for each in value)]
    if is_dataclass(value) and not isinstance(value, type):
        told = [(each.name, getattr(value, each.name)) for each in fields(value)]
        return [type(value).__name__.encode(), digest_of(told).encode()]
    raise InputError(
        f"settings of an audit that goes on must be plain, but one is a {type(value).__name__}. Leave it out, or keep "
        "nothing (--resume)"
    )
