"""A folder that belongs to one piece of work: its own results alone, sealed, and one process at a time that writes."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Any, ClassVar, Self

from unveil.data.files.source import shown
from unveil.data.files.whole_files import read_unlinked
from unveil.errors import InputError
from unveil.studies.lock import Lock
from unveil.studies.seal import Seal, seal_of, write_bytes
from unveil.studies.store import take_folder


class ClaimedFolder:
    """A folder of results that says whose they are; as a context, it also holds the lock of the folder.

    Parameters
    ----------
    folder
        Where the results are; made if it does not exist.
    identity
        All that the results depend on: a folder of others is refused.
    """

    #: The file that says whose results these are, and the folders beside it.
    manifest: ClassVar[str]
    parts: ClassVar[Sequence[str]]
    #: Further files beside the manifest.
    files: ClassVar[Sequence[str]] = ()
    #: What is in the folder and of what, and the option that names another one, in words.
    what: ClassVar[str]
    whose: ClassVar[str]
    option: ClassVar[str]
    #: What is said of results that are not those asked for, by what differs; of all else, that a setting does.
    other: ClassVar[Mapping[str, str]] = MappingProxyType({})

    def __init__(self, folder: Path, identity: Mapping[str, object]) -> None:
        self.folder = folder
        self.identity: dict[str, Any] = json.loads(json.dumps(dict(identity), default=str))
        self._lock = Lock(folder)

    def __enter__(self) -> Self:
        take_folder(
            self.folder,
            self._lock,
            refuse_others=self._refuse_other_files,
            claim=self._begin,
            parts=self.parts,
            files=(self.manifest, *self.files),
        )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._lock.free()

    def _refuse_other_files(self) -> None:
        if (self.folder / self.manifest).exists():
            return
        others = [entry for entry in self.folder.iterdir() if not entry.name.startswith((".", "run.lock"))]
        if others:
            raise InputError(
                f"the folder of {self.what} must be empty or hold {self.what} {self.whose}, but {shown(self.folder)} "
                f"holds other files. Name another folder ({self.option})"
            )

    def _begin(self) -> None:
        """Make the folder that of these results, or see that it is."""
        path = self.folder / self.manifest
        if not path.exists():
            write_bytes(path, json.dumps(self.identity, indent=1).encode())
            return
        try:
            there = json.loads(read_unlinked(path))
        except (OSError, ValueError, RecursionError):
            there = None
        if not isinstance(there, dict):
            raise InputError(
                f"the file {self.manifest} in {shown(self.folder)} is damaged, so that it cannot be told whose "
                f"{self.what} these are. Name another folder ({self.option})"
            )
        names = [*self.other, *self.identity, *there]
        differs = next((name for name in names if there.get(name) != self.identity.get(name)), None)
        if differs is not None:
            raise InputError(
                f"{shown(self.folder)} holds {self.what} {self.other.get(differs, f'with another setting ({differs})')}"
                f": they are not mixed. Name another folder ({self.option})"
            )

    def sealed_content(self, part: str, seal: Seal) -> bytes | None:
        """Return a file with that seal, or None where it is not there, damaged, or another one's."""
        try:
            content = read_unlinked(self.folder / part / seal.name)
        except OSError:
            return None
        return content if seal_of(content) == seal else None
