"""A generator as a built-in or user protection."""

import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from unveil._kernels.types import IntArray
from unveil.data.table.release import Release, ReleaseKind
from unveil.errors import UnveilError
from unveil.protections._listing import PROTECTIONS, TableProtection
from unveil.protections.generators.generator import GeneratedRelease, RunError, SourceTable
from unveil.protections.specification import applied, protection_text


@dataclass(frozen=True, kw_only=True)
class ProtectionGenerator:
    """A protection applied to the rows of each run.

    Parameters
    ----------
    protection
        The protection.
    written
        How reports write it; empty for what `protection_text` makes of it.

    Examples
    --------
    >>> from unveil.protections import protection_from
    >>> ProtectionGenerator(protection=protection_from("mondrian:k=5")).kind
    'masked'
    """

    protection: TableProtection
    written: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "written", self.written or protection_text(self.protection))

    @property
    def kind(self) -> ReleaseKind | None:
        """Release type, or None if only a release shows it."""
        return next((each.kind for each in PROTECTIONS.values() if each.make is type(self.protection)), None)

    def make(self, given: SourceTable, rows: IntArray, *, seed: int, folder: Path) -> GeneratedRelease:  # noqa: ARG002 (it needs no files)
        """Return the release of these rows, with true matches if known."""
        people = given.table.take(rows)
        started = time.monotonic()
        try:
            release: Release = applied(self.protection, people, rng=np.random.default_rng(seed))
        except UnveilError as error:
            raise RunError(f"cannot protect these people: {error}") from None
        except (Exception, SystemExit) as error:  # a user's own class may raise anything, and its text may hold data
            raise RunError.of_own_code(error, type(self.protection).__module__) from None
        seconds = time.monotonic() - started
        return GeneratedRelease(
            release.released, release.truth, kind=release.kind, seconds=seconds, notes=release.notes
        )
