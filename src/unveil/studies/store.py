"""Study folder: manifest, finished results, and write lock."""

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from unveil.data.files.source import shown
from unveil.data.files.whole_files import make_secret_folder, read_unlinked
from unveil.errors import InputError, shortened
from unveil.studies.failures import ERRORS
from unveil.studies.nodes import keeps_nodes
from unveil.studies.plan import Study
from unveil.studies.releases import FOLDER as RELEASES
from unveil.studies.scenario import Scenario
from unveil.studies.scenario_run import TaskOutcome
from unveil.studies.stored_results import FORMAT, NODES, RESULTS
from unveil.studies.summary import is_summary, manifest_of_summary
from unveil.studies.times import TIMES
from unveil.work.results import ResultFolder, refuse_file, writing
from unveil.work.seal import Seal, SealKey, seal_of, write_bytes
from unveil.work.task import version

MANIFEST, STUDY, DAMAGED = "manifest.json", "study.toml", "damaged"


class Store(ResultFolder):
    """The results of one study in a folder.

    Parameters
    ----------
    folder
        Where the results are; made if it does not exist.
    study
        The study, whose data have their hashes.
    resume
        False refuses a folder that holds results already.
    """

    manifest, files, early, swept = MANIFEST, (STUDY, TIMES), (STUDY,), (ERRORS, DAMAGED)
    what, own, advice = "a study", "that study", "Choose another folder"

    def __init__(self, folder: Path, study: Study, *, resume: bool = True) -> None:
        super().__init__(folder, _manifest(study))
        self.study = study
        self.resume = resume
        self.set_aside: list[str] = []
        self.parts = (RESULTS, *([NODES] if keeps_nodes(study) else []), RELEASES)

    def _claim(self) -> None:
        if (self.folder / MANIFEST).exists():
            manifest = manifest_of(self.folder)
            check_same(manifest, self.study, self.folder)
            self._refuse_other_key(manifest.get("key"))
            if not self.resume and any((self.folder / RESULTS).glob("*.result")):
                raise InputError(
                    f"{shown(self.folder)} already holds results of this study. Resume it to compute the "
                    "rest, or choose another folder"
                )
            self._refresh()
            return
        write_bytes(self.folder / STUDY, self.study.to_toml().encode())
        # Last, because a folder with a manifest is complete.
        super()._claim()

    def _refresh(self) -> None:
        """Update changeable metadata: data paths and labels."""
        path, text = self.folder / STUDY, self.study.to_toml().encode()
        refuse_other_than_file(path)
        if not path.exists() or read_unlinked(path) != text:
            write_bytes(path, text)

    def done(self, scenarios: Iterable[Scenario] | None = None) -> set[str]:
        """Return the files of finished scenarios; damaged ones are set aside.

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
        seal = checked_seal(path, scenario, scenario.data.digest, self.key)
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
        """Record the duration of a scenario, once its file is visible."""
        if not (self.folder / RESULTS / outcome.file).is_file():
            raise InputError(
                f"a worker wrote a result to {shown(self.folder)} that is not seen here. All workers must share this "
                "folder: choose one that they do share"
            )
        line: dict[str, Any] = {"file": outcome.file, "key": scenario.key, "replications": outcome.rows}
        for name, parts in (("seconds", outcome.seconds), ("wall", outcome.wall)):
            line[name] = {part: round(seconds, 6) for part, seconds in parts.items()}
        self.note(TIMES, line)


def manifest_of(folder: Path) -> dict[str, Any]:
    """Return the manifest of a study folder or summary."""
    if is_summary(folder):
        return manifest_of_summary(folder)
    _refuse_archive(folder)
    try:
        told = json.loads(read_unlinked(folder / MANIFEST))
    except FileNotFoundError as error:
        raise InputError(
            f"{shown(folder)} must be the folder of a study, but holds none. Name the output folder of the study"
        ) from error
    except PermissionError as error:
        raise unreadable(folder) from error
    except (OSError, ValueError, RecursionError):
        told = None
    if is_manifest(told):
        if told.get("format") == FORMAT:
            return dict(told)
        raise InputError(
            f"the results in {shown(folder)} are in the format of another version of unveil "
            f"({shortened(str(told['version']))}). Summarize them with that version ('unveil study summary') and read "
            "the summary, or choose another folder"
        )
    raise InputError(
        f"the file {MANIFEST} in {shown(folder)} is damaged, so the results cannot be identified. Restore it, "
        "or choose another folder"
    )


def is_manifest(value: Any) -> bool:
    """Return whether a manifest has the expected fields and types."""
    return (
        isinstance(value, dict)
        and {"identity", "version", "seed", "data"} <= set(value)
        and isinstance(value["data"], dict)
        and all(isinstance(digest, str) for digest in value["data"].values())
    )


def check_same(manifest: dict[str, Any], study: Study, folder: Path) -> None:
    """Reject a folder of another study, seed, version, or data."""
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
    """Return the error for an inaccessible folder."""
    return InputError(f"the study in {shown(folder)} may not be read by this user: only who ran it may. Ask for a copy")


def checked_seal(path: Path, scenario: Scenario, digest: str, key: SealKey | None = None) -> Seal | None:
    """Return the header of a result file, or None if invalid.

    Without a key, as for the results of others, it may come from anybody.
    """
    try:
        seal = seal_of(read_unlinked(path), key)
    except PermissionError as error:
        raise unreadable(path.parent.parent) from error
    except OSError:  # a disk that cannot read it, a folder of that name
        return None
    return seal if seal is not None and seal[:2] == (scenario.file_name, digest) else None


def _manifest(study: Study) -> dict[str, Any]:
    return {
        "identity": study.identity(),
        "version": version(),
        "format": FORMAT,
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
    """Reject anything but a plain file of that name."""
    if os.path.lexists(path) and (path.is_symlink() or not path.is_file()):
        raise InputError(f"{shown(path)} must be a file, but something else is there. Put the file back")
