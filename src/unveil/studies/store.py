"""The folder of a study: which study it is, what is done already, and who writes to it."""

import json
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any

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
from unveil.studies.failures import ERRORS
from unveil.studies.lock import LOCK_FILE, Lock
from unveil.studies.nodes import NODES, keeps_nodes
from unveil.studies.plan import Study
from unveil.studies.releases import FOLDER as RELEASES
from unveil.studies.scenario import Scenario
from unveil.studies.seal import DiskError, Seal, remedy, seal_of, write_bytes
from unveil.studies.summary import is_summary, manifest_of_summary
from unveil.studies.times import TIMES
from unveil.studies.work import RESULTS, TaskOutcome

MANIFEST, STUDY, DAMAGED = "manifest.json", "study.toml", "damaged"


class Store:
    """The results of one study in a folder; as a context, it also holds the lock of the folder.

    Parameters
    ----------
    folder
        Where the results are; made if it does not exist.
    study
        The study, whose data have their hashes.
    resume
        False refuses a folder that holds results already.
    """

    def __init__(self, folder: Path, study: Study, *, resume: bool = True) -> None:
        self.folder = folder
        self.study = study
        self.resume = resume
        self.set_aside: list[str] = []
        self._lock = Lock(folder)

    def __enter__(self) -> "Store":
        take_folder(
            self.folder,
            self._lock,
            refuse_others=self._refuse_other_files,
            claim=self._claim,
            parts=(RESULTS, *([NODES] if keeps_nodes(self.study) else []), RELEASES),
            files=(MANIFEST, STUDY, TIMES),
            swept=(ERRORS, DAMAGED),
        )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._lock.free()

    def _refuse_other_files(self) -> None:
        if (self.folder / MANIFEST).exists():
            return
        own = (".", STUDY, "run.lock")  # what a run that was killed here may have left
        others = [entry.name for entry in self.folder.iterdir() if not entry.name.startswith(own)]
        if others:
            raise InputError(
                f"the folder of a study must be empty or hold that study, but {shown(self.folder)} holds other files. "
                "Choose another folder"
            )

    def _claim(self) -> None:
        """Make the folder that of this study, or see that it is."""
        if (self.folder / MANIFEST).exists():
            check_same(manifest_of(self.folder), self.study, self.folder)
            if not self.resume and any((self.folder / RESULTS).glob("*.parquet")):
                raise InputError(
                    f"{shown(self.folder)} holds results of this study already. Resume it (--resume) to compute what "
                    "is missing, or choose another folder"
                )
            self._refresh()
            return
        write_bytes(self.folder / STUDY, self.study.to_toml().encode())
        # Last, because a folder with a manifest is complete.
        write_bytes(self.folder / MANIFEST, json.dumps(_manifest(self.study), indent=1).encode())

    def _refresh(self) -> None:
        """Write down what may change while the results stay: where the data lie, and the labels they have."""
        path, text = self.folder / STUDY, self.study.to_toml().encode()
        refuse_other_than_file(path)
        if not path.exists() or read_unlinked(path) != text:
            write_bytes(path, text)

    def done(self, scenarios: Iterable[Scenario] | None = None) -> set[str]:
        """Return the files of scenarios that need not be computed again; damaged ones are moved out of the way.

        A scenario that failed is computed again, because what made it fail may be mended.
        """
        fine = set()
        for scenario in self.study.scenarios() if scenarios is None else scenarios:
            parts = (RESULTS, NODES) if keeps_nodes(self.study) else (RESULTS,)
            each = [self._is_fine(self.folder / part / scenario.file_name, scenario) for part in parts]
            if all(each):
                fine.add(scenario.file_name)
        return fine

    def _is_fine(self, path: Path, scenario: Scenario) -> bool:
        if not os.path.lexists(path):
            return False
        seal = checked_seal(path, scenario, scenario.data.digest)
        if seal is None:
            self._put_aside(path)
        return seal is not None and seal.state == "fine"

    def _put_aside(self, path: Path) -> None:
        with writing(self.folder):
            refuse_file(self.folder / DAMAGED)
            make_secret_folder(self.folder / DAMAGED)
            tries = (self.folder / DAMAGED / f"{path.name}.{number}" for number in range(1, 10**6))
            path.replace(next(target for target in tries if not os.path.lexists(target)))
        self.set_aside.append(path.name)

    def accept(self, scenario: Scenario, outcome: TaskOutcome) -> None:
        """Note how long a scenario took, once its file is there; a worker elsewhere may have another disk."""
        if not (self.folder / RESULTS / outcome.file).is_file():
            raise InputError(
                f"a worker wrote a result to {shown(self.folder)} that is not seen here. All workers must share this "
                "folder: choose one that they do share"
            )
        line: dict[str, Any] = {"file": outcome.file, "key": scenario.key, "replications": outcome.rows}
        for name, parts in (("seconds", outcome.seconds), ("wall", outcome.wall)):
            line[name] = {part: round(seconds, 6) for part, seconds in parts.items()}
        with writing(self.folder), open_secret(self.folder / TIMES, "a") as stream:
            stream.write(json.dumps(line) + "\n")


def take_folder(
    folder: Path,
    lock: Lock,
    *,
    refuse_others: Callable[[], None],
    claim: Callable[[], None],
    parts: Sequence[str],
    files: Sequence[str],
    swept: Sequence[str] = (),
) -> None:
    """Make a folder for one run at a time, and take its lock, which is free again where anything is wrong with it.

    Parameters
    ----------
    folder, lock
        The folder, made if it does not exist, and its lock.
    refuse_others
        Refuses a folder of other files.
    claim
        Makes the folder that of this run, or sees that it is.
    parts, files
        Folders in it, which are made, and files in it: a link in the place of any is refused.
    swept
        Further folders in which a run that was killed may have left drafts.
    """
    with writing(folder):
        # What is in it is as secret as the data. A folder that was there is left to its owner; a link that the user
        # names is followed.
        refuse_file(folder)
        folder.mkdir(SECRET_FOLDER, parents=True, exist_ok=True)
        refuse_shared_folder(folder)
        _refuse_links(folder, parts=(*parts, *swept), files=(*files, LOCK_FILE))
        refuse_others()  # before the lock, which is a file too
        lock.take()
        try:
            claim()
            for name in parts:
                make_secret_folder(folder / name)
                refuse_shared_folder(folder / name)
            for name in ("", *parts, *swept):
                sweep(folder / name)
        except BaseException:
            lock.free()
            raise


def _refuse_links(folder: Path, *, parts: Sequence[str], files: Sequence[str]) -> None:
    """Refuse links and pipes before anything is opened: a link leads to other files, a pipe never ends."""
    for name in (*parts, *files):
        path, what = folder / name, "folder" if name in parts else "file"
        if os.path.lexists(path) and not (stat.S_ISDIR if what == "folder" else stat.S_ISREG)(path.lstat().st_mode):
            raise InputError(
                f"{shown(path)} must be a plain {what}, but is a link or something else, which is not followed. "
                "Remove it, or choose another folder"
            )


def manifest_of(folder: Path) -> dict[str, Any]:
    """Return what a folder, or a summary of it, says about the study in it."""
    if is_summary(folder):
        return manifest_of_summary(folder)
    _refuse_archive(folder)
    try:
        told = json.loads(read_unlinked(folder / MANIFEST))
        if is_manifest(told):
            return dict(told)
    except FileNotFoundError as error:
        raise InputError(
            f"{shown(folder)} must be the folder of a study, but holds none. Name the folder given as --out"
        ) from error
    except PermissionError as error:
        raise unreadable(folder) from error
    except (OSError, ValueError, RecursionError):
        pass
    raise InputError(
        f"the file {MANIFEST} in {shown(folder)} is damaged, so that it cannot be told whose results these are. Put it "
        "back, or choose another folder"
    )


def is_manifest(value: Any) -> bool:
    """Return whether the content of a manifest has the fields and types of one."""
    return (
        isinstance(value, dict)
        and {"identity", "version", "seed", "data"} <= set(value)
        and isinstance(value["data"], dict)
        and all(isinstance(digest, str) for digest in value["data"].values())
    )


def check_same(manifest: dict[str, Any], study: Study, folder: Path) -> None:
    """Refuse a folder that holds another study, another seed, another version or other data."""
    mine = _manifest(study)
    differs = {
        "seed": (manifest["seed"], study.seed),
        "version": (f"unveil {manifest['version']}", f"unveil {mine['version']}"),
    }
    for what, (there, here) in differs.items():
        if there != here:
            raise InputError(
                f"{shown(folder)} holds results with the {what} {there}, and this is {here}: they are not mixed. "
                "Choose another folder"
            )
    if manifest["identity"] != mine["identity"]:
        raise InputError(
            f"{shown(folder)} holds the results of another study ({manifest.get('name')!r}), which differs in its "
            "data, protections, attacks, axes, replications or metrics. Choose another folder"
        )
    other = [name for name, digest in mine["data"].items() if manifest["data"].get(name) != digest]
    if other:
        raise InputError(
            f"{shown(folder)} holds results for another file of the data {other[0]!r}: its bytes have changed since. "
            "Put the right file back, or choose another folder"
        )


def unreadable(folder: Path) -> InputError:
    """Return the error for a folder that belongs to somebody else."""
    return InputError(f"the study in {shown(folder)} may not be read by this user: only who ran it may. Ask for a copy")


def checked_seal(path: Path, scenario: Scenario, digest: str) -> Seal | None:
    """Return what the file of a scenario says about itself, or None where it is damaged or another one's."""
    try:
        seal = seal_of(read_unlinked(path))
    except PermissionError as error:
        raise unreadable(path.parent.parent) from error
    except OSError:  # a disk that cannot read it, a folder of that name
        return None
    return seal if seal is not None and seal[:2] == (scenario.file_name, digest) else None


def _manifest(study: Study) -> dict[str, Any]:
    from unveil._version import __version__

    return {
        "identity": study.identity(),
        "version": __version__,
        "name": study.name,
        "seed": study.seed,
        "data": {each.name: each.digest for each in study.data},
    }


def _refuse_archive(folder: Path) -> None:
    try:
        is_file = folder.is_file()
    except (OSError, ValueError):  # a name that no file can have is said to hold no study
        return
    if is_file:
        raise InputError(
            f"{shown(folder)} must be the folder of a study, but is a file. If it is an archive of one, unpack it, and "
            "name the folder"
        )


def refuse_other_than_file(path: Path) -> None:
    """Refuse anything but a plain file of that name: a pipe would never end, a link leads elsewhere."""
    if os.path.lexists(path) and (path.is_symlink() or not path.is_file()):
        raise InputError(f"{shown(path)} must be a file, but something else is there. Put the file back")


def refuse_file(folder: Path) -> None:
    """Refuse anything but a folder of that name."""
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{shown(folder)} must be a folder, but something else is there. Move it away, and resume")


@contextmanager
def writing(folder: Path) -> Iterator[None]:
    """Tell what goes wrong with a folder in one sentence."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or os.strerror(error.errno or 0)
        raise DiskError(
            f"the folder {shown(folder)} cannot be written to ({reason}). What was computed before is kept: "
            f"{remedy(error)}, and resume"
        ) from error
