"""The environment of a generator: little, and what its user names, whose values are shown nowhere."""

import os
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.protections.generators.people import people, script
from unveil.errors import InputError
from unveil.protections.generators import RunError, about, generator_from, with_env
from unveil.protections.generators.environment import SecretVariables, environment_of_run, variables_from
from unveil.protections.generators.messages import KEPT, Messages

TOKEN = "tok-3f9a6c-secret"  # noqa: S105 (not a password)
COPY = "target.write_bytes(source.read_bytes())"


def made(command: str, folder: Path, **told: Any) -> Any:
    work = folder / "work"
    work.mkdir(exist_ok=True)
    return generator_from(command, **told).make(people(folder), np.arange(4), seed=7, folder=work)


def test_a_command_is_given_what_programs_need_and_no_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_PASSWORD", TOKEN)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", TOKEN)
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    monkeypatch.setenv("TZ", "Europe/Berlin")
    body = f"print(*sorted(os.environ)); assert os.environ['HOME'] and os.environ['TZ'] == 'Europe/Berlin'; {COPY}"
    names = made(script(tmp_path, body), tmp_path).log.decode().split()
    assert {"PATH", "HOME", "LC_ALL", "TZ", "TMPDIR", "TMP", "TEMP", "UNVEIL_SEED", "UNVEIL_RUN"} <= set(names)
    assert not {"DATABASE_PASSWORD", "AWS_SECRET_ACCESS_KEY", "PYTEST_CURRENT_TEST"} & set(names)


def test_a_python_that_is_asked_for_its_packages_is_given_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE_PASSWORD", TOKEN)
    fake = tmp_path / "python3"
    fake.write_text(f"#!/bin/sh\nenv > {tmp_path}/seen\n")
    fake.chmod(0o700)
    about(generator_from(f"{fake} {{in}} {{out}}"))
    assert "PATH=" in (tmp_path / "seen").read_text()
    assert TOKEN not in (tmp_path / "seen").read_text()


def test_variables_are_given_by_name_or_with_values(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKEN", TOKEN)
    body = f"assert os.environ['TOKEN'] == {TOKEN!r}; print('it is', os.environ['TOKEN']); {COPY}"
    command = script(tmp_path, body)
    for env in (["TOKEN"], "TOKEN", {"TOKEN": TOKEN}):
        # What it prints is kept in a file, so that the value is taken out of it.
        assert made(command, tmp_path, env=env).log == b"it is [TOKEN]\n"
    with pytest.raises(RunError) as caught:
        made(script(tmp_path, "raise ValueError(os.environ['TOKEN'])"), tmp_path, env=["TOKEN"])
    assert b"ValueError: [TOKEN]" in caught.value.log
    assert TOKEN not in str(caught.value)


def test_values_are_neither_shown_nor_pickled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKEN", TOKEN)
    generator = generator_from("sh {in} {out}", env=["TOKEN"])
    variables = generator.env  # type: ignore[attr-defined]
    assert TOKEN not in f"{generator!r} {generator} {variables!r} {variables} {[variables]}"
    assert TOKEN.encode() not in pickle.dumps(generator)
    again = pickle.loads(pickle.dumps(generator))  # noqa: S301 (our own)
    assert (again.env, again.words) == ({}, generator.words)  # type: ignore[attr-defined]
    whole = with_env(again, variables)
    assert whole.env == {"TOKEN": TOKEN}  # type: ignore[attr-defined]
    assert TOKEN not in repr(whole)
    assert again.env == {}
    protection = generator_from("shuffle")
    assert with_env(protection, variables) is protection


@pytest.mark.parametrize(
    ("env", "match"),
    [
        (["NO_SUCH_VARIABLE"], r"the variable NO_SUCH_VARIABLE \(env\) is not set"),
        ([f"TOKEN={TOKEN}"], "the entry 'TOKEN' of env has a value, which other users of this computer"),
        (["A B"], r"'A B' \(env\) is not a variable name"),
        (["1A"], r"'1A' \(env\) is not a variable name"),
        ([""], r"'' \(env\) is not a variable name"),
        ({"A=B": TOKEN}, "the entry 'A' of env has a value, which other users of this computer can"),
        (["TMPDIR"], r"the variable TMPDIR \(env\) is set by unveil in every run"),
        (["UNVEIL_SEED"], "the variable UNVEIL_SEED"),
    ],
)
def test_wrong_variables_are_refused(env: Any, match: str) -> None:
    with pytest.raises(InputError, match=match) as caught:
        generator_from("sh {in} {out}", env=env)
    assert TOKEN not in str(caught.value)


def test_variables_are_for_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKEN", TOKEN)
    with pytest.raises(InputError, match=r"variables \(env\) are only for commands; this generator runs inside unveil"):
        generator_from("shuffle", env=["TOKEN"])


def test_threads_of_a_worker_are_not_those_of_a_generator(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setenv("MKL_NUM_THREADS", "1")
    monkeypatch.setenv("UNVEIL_OUTSIDE", '{"OMP_NUM_THREADS": "5", "MKL_NUM_THREADS": null}')
    told = environment_of_run(3, Path("home"), SecretVariables(TMPDIR="elsewhere", MODE="fast"))
    assert (told["OMP_NUM_THREADS"], told["MODE"], told["UNVEIL_SEED"]) == ("5", "fast", "3")
    assert told["TMPDIR"] == os.path.join("home", "tmp")  # noqa: PTH118 (as text)
    assert not {"MKL_NUM_THREADS", "UNVEIL_OUTSIDE"} & set(told)


def test_the_end_of_messages_is_kept_without_values() -> None:
    printed = Messages()
    for _ in range(40):
        printed.write("x" * 100_000)
    printed.write(f"\n{TOKEN} {TOKEN}-more 1\n")
    assert sum(map(len, printed._parts)) < KEPT + 200_000
    told = printed.content(variables_from({"A": TOKEN, "B": f"{TOKEN}-more", "ONE": "1"}))
    assert told.endswith(b"x\n[A] [B] 1\n")
    assert len(told) <= KEPT
    assert Messages().content() == b""


@pytest.mark.parametrize("kept", [1, 4, len(TOKEN) - 1, len(TOKEN)])
def test_the_rest_of_a_value_whose_beginning_was_dropped_is_hidden(kept: int) -> None:
    """So many letters of a value begin what is left after a long output; hiding the others makes it shorter."""
    printed = Messages()
    for part in (TOKEN[: len(TOKEN) - kept] or "x", TOKEN[-kept:] + f"\n{TOKEN}" * (KEPT // len(TOKEN))):
        printed.add(part.encode())
    told = printed.content(variables_from({"A": TOKEN}))
    assert told.removeprefix(b"[A]").startswith(b"\n[A]\n[A]")
