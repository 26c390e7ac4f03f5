"""Environment of a generator: required variables, and those the user names."""

import json
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from unveil.errors import InputError, shortened
from unveil.protections.generators._launch import MARK, temporary

SEED = "UNVEIL_SEED"
#: Set for each run.
_OWN = frozenset({SEED, MARK, "TMPDIR", "TMP", "TEMP"})
#: What programs need to be found, to start and to speak the user's language; no value of these is a secret.
_PASSED = frozenset(
    {
        *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"),
        *("VIRTUAL_ENV", "CONDA_PREFIX", "PYTHONPATH", "PYTHONHOME", "PYTHONUTF8", "PYTHONIOENCODING"),
        *("PYTHONHASHSEED", "PYTHONNOUSERSITE", "PYTHONDONTWRITEBYTECODE"),
        *("R_HOME", "R_LIBS", "R_LIBS_USER", "R_LIBS_SITE", "JAVA_HOME", "JULIA_DEPOT_PATH", "CUDA_VISIBLE_DEVICES"),
        # Windows.
        *("SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "USERPROFILE", "APPDATA", "LOCALAPPDATA"),
        *("PROGRAMDATA", "PROGRAMFILES", "NUMBER_OF_PROCESSORS", "PROCESSOR_ARCHITECTURE"),
    }
)
_PASSED_TOO = re.compile(r"LC_\w+|\w+_(?:NUM|MAX)_THREADS", re.ASCII)
_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)


class SecretVariables(dict[str, str]):
    """Variables whose values are never shown.

    >>> SecretVariables(TOKEN="abc")
    SecretVariables(TOKEN=…)
    """

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}=…' for name in self)})"

    __str__ = __repr__


def variables_from(given: Iterable[str] | Mapping[str, str]) -> SecretVariables:
    """Return environment variables for a generator, from names or values.

    >>> variables_from({"TOKEN": "abc"})
    SecretVariables(TOKEN=…)
    >>> variables_from(["TOKEN=abc"])
    Traceback (most recent call last):
    unveil.errors.InputError: the entry 'TOKEN' of env has a value, which other users ...
    """
    names = [given] if isinstance(given, str) else list(given)
    for name in names:
        if not isinstance(name, str) or _NAME.fullmatch(name) is None:
            _refuse(str(name))
        if name in _OWN:
            raise InputError(f"the variable {name} (env) is set by unveil in every run. Leave it out")
    if isinstance(given, Mapping):
        return SecretVariables((name, str(value)) for name, value in given.items())
    for name in names:
        if name not in os.environ:
            raise InputError(
                f"the variable {name} (env) is not set. Set it before you "
                f"call unveil, as in 'export {name}=…', or leave it out"
            )
    return SecretVariables((name, os.environ[name]) for name in names)


def _refuse(text: str) -> None:
    name, equals, _ = text.partition("=")
    if equals and _NAME.fullmatch(name):
        raise InputError(
            f"the entry {name!r} of env has a value, which other users of this computer "
            f"can see in the process list. Set it before you call unveil, and write {name} alone"
        )
    raise InputError(f"{shortened(name)} (env) is not a variable name. Use letters, digits and _")


def base_environment() -> dict[str, str]:
    """Return the part of this process's environment that any program is given."""
    told = dict(os.environ)
    # A worker of ours has one thread; a generator has as many as its user gives it.
    for name, value in json.loads(told.pop("UNVEIL_OUTSIDE", "{}")).items():
        told.pop(name, None)
        told |= {} if value is None else {name: value}
    return {name: value for name, value in told.items() if name in _PASSED or _PASSED_TOO.fullmatch(name)}


def environment_of_run(seed: int, home: Path, variables: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a run in a folder."""
    own = {SEED: str(seed), MARK: str(home), **dict.fromkeys(("TMPDIR", "TMP", "TEMP"), temporary(str(home)))}
    return {**base_environment(), **variables, **own}
