"""Result folder of one job: sealed, locked, and resumable."""

import json
import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Any, ClassVar, Self

from unveil.data.files.source import shown
from unveil.data.files.whole_files import (
    SECRET_FOLDER,
    make_secret_folder,
    open_secret,
    read_unlinked,
    refuse_shared_folder,
    sweep,
)
from unveil.errors import InputError
from unveil.work.lock import LOCK_FILE, Lock
from unveil.work.seal import (
    KEY_VARIABLE,
    DiskError,
    Seal,
    SealKey,
    key_file,
    remedy,
    seal_of,
    user_key,
    write_bytes,
)


class ResultFolder:
    """Result folder; as a context, it is claimed and locked.

    Parameters
    ----------
    folder
        Where the results are; made if it does not exist.
    identity
        All that the results depend on: a folder of others is refused.
    key
        Seals the results: those with another key are not resumed. It is that of this user unless given.
    """

    #: The file that says whose results these are, and the folders next to it.
    manifest: ClassVar[str]
    parts: Sequence[str]
    #: Further files next to the manifest, and those of them that are written before it.
    files: ClassVar[Sequence[str]] = ()
    early: ClassVar[Sequence[str]] = ()
    #: Further folders in which a run that was killed may have left drafts.
    swept: ClassVar[Sequence[str]] = ()
    #: In words: the results, a folder of them that this work may use, and the advice for any other folder.
    what: ClassVar[str]
    own: ClassVar[str]
    advice: ClassVar[str]
    #: What is said of results of other work, by what differs; of all else, that a setting does.
    other: ClassVar[Mapping[str, str]] = MappingProxyType({})

    def __init__(self, folder: Path, identity: Mapping[str, object], key: SealKey | None = None) -> None:
        self.folder = folder
        self.key = user_key() if key is None else key
        self.identity: dict[str, Any] = json.loads(json.dumps(dict(identity), default=str))
        self._lock = Lock(folder)

    def __enter__(self) -> Self:
        with writing(self.folder):
            # What is in it is as secret as the data. A folder that was there is left to its owner; a link that the user
            # names is followed.
            refuse_file(self.folder)
            self.folder.mkdir(SECRET_FOLDER, parents=True, exist_ok=True)
            refuse_shared_folder(self.folder)
            self._refuse_links()
            self._refuse_other_files()  # before the lock, which is a file too
            self._lock.take()
            try:
                self._claim()
                for name in self.parts:
                    make_secret_folder(self.folder / name)
                    refuse_shared_folder(self.folder / name)
                for name in ("", *self.parts, *self.swept):
                    sweep(self.folder / name)
            except BaseException:
                self._lock.free()
                raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._lock.free()

    def _refuse_links(self) -> None:
        """Reject links and pipes before opening."""
        folders = (*self.parts, *self.swept)
        for name in (*folders, self.manifest, *self.files, LOCK_FILE):
            path, what = self.folder / name, "folder" if name in folders else "file"
            if os.path.lexists(path) and not (stat.S_ISDIR if what == "folder" else stat.S_ISREG)(path.lstat().st_mode):
                raise InputError(
                    f"{shown(path)} must be a plain {what}, but is a link or something else, which is not followed. "
                    "Remove it, or choose another folder"
                )

    def _refuse_other_files(self) -> None:
        if (self.folder / self.manifest).exists():
            return
        own = (".", LOCK_FILE, *self.early)  # what a run that was killed here may have left
        if any(not entry.name.startswith(own) for entry in self.folder.iterdir()):
            raise InputError(
                f"the folder of {self.what} must be empty or hold {self.own}, but {shown(self.folder)} holds other "
                f"files. {self.advice}"
            )

    def _claim(self) -> None:
        """Make the folder that of these results, or see that it is."""
        path = self.folder / self.manifest
        if not path.exists():
            write_bytes(path, json.dumps({**self.identity, "key": self._sign()}, indent=1).encode())
            return
        try:
            there = json.loads(read_unlinked(path))
        except (OSError, ValueError, RecursionError):
            there = None
        if not isinstance(there, dict):
            raise InputError(
                f"the file {self.manifest} in {shown(self.folder)} is damaged, so the origin of its "
                f"{self.what} is unknown. {self.advice}"
            )
        key = there.pop("key", None)
        names = [*self.other, *self.identity, *there]
        differs = next((name for name in names if there.get(name) != self.identity.get(name)), None)
        if differs is not None:
            raise InputError(
                f"{shown(self.folder)} holds {self.what} {self.other.get(differs, f'with another setting ({differs})')}"
                f": they are not mixed. {self.advice}"
            )
        self._refuse_other_key(key)

    def _sign(self) -> str:
        return self.key.sign(json.dumps(self.identity, sort_keys=True).encode())

    def _refuse_other_key(self, there: object) -> None:
        if there != self._sign():
            raise InputError(
                f"{shown(self.folder)} was sealed with another key than that of this user ({shown(key_file())}): by "
                "another user, or where no key could be kept. It can be read, but not resumed: resume it as that user, "
                f"or with that key in the variable {KEY_VARIABLE}, or choose another folder"
            )

    def sealed_content(self, part: str, seal: Seal) -> bytes | None:
        """Return a file with that seal, or None if missing or invalid."""
        try:
            content = read_unlinked(self.folder / part / seal.name)
        except OSError:
            return None
        return content if seal_of(content, self.key) == seal else None

    def note(self, file: str, line: Mapping[str, object]) -> None:
        """Add a line to a file of the folder."""
        with writing(self.folder), open_secret(self.folder / file, "a") as stream:
            stream.write(json.dumps(line) + "\n")


def refuse_file(folder: Path) -> None:
    """Refuse anything but a folder of that name."""
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{shown(folder)} must be a folder, but something else is there. Move it away, and resume")


@contextmanager
def writing(folder: Path) -> Iterator[None]:
    """State in one sentence what goes wrong with a folder."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or os.strerror(error.errno or 0)
        raise DiskError(
            f"the folder {shown(folder)} cannot be written to ({reason}). Earlier results are kept: "
            f"{remedy(error)}, and resume"
        ) from error
