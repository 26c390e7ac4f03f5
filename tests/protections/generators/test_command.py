"""A command as a generator: what it is given, what it may do wrong, and that nothing of it is left."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest

from tests.protections.generators.people import HEAD, PEOPLE, SECRET, left, people, script
from unveil.data.table import Table
from unveil.errors import InputError
from unveil.protections.generators import CommandGenerator, RunError, SourceTable, about, generator_from, processes
from unveil.protections.generators import _launch as launch
from unveil.protections.generators import command as module

ROOT = Path(__file__).parents[3]
EVERYBODY = np.arange(4)


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


def made(command: str, given: SourceTable, work: Path, **told: Any) -> Any:
    return generator_from(command, **told).make(given, EVERYBODY, seed=7, folder=work)


def test_it_gets_the_file_as_its_owner_wrote_it(tmp_path: Path, work: Path) -> None:
    body = """
stat = [oct(each.stat().st_mode & 0o777) for each in (source, source.parent, pathlib.Path(os.environ["TMPDIR"]))]
print(stat, os.getcwd() == str(source.parent), os.environ["UNVEIL_SEED"], sys.argv[3:], sys.stdin.read())
print(pathlib.Path(os.environ["TMPDIR"]).parent == source.parent, "UNVEIL_OUTSIDE" in os.environ)
target.write_bytes(source.read_bytes())
(source.parent / "kept").mkdir()
(source.parent / "kept" / "more").write_text("x")
(source.parent / "kept").chmod(0)
"""
    given = people(tmp_path)
    generator = generator_from(script(tmp_path, body, "seed={seed}"), kind="synthetic", read=Table.read)
    result = generator.make(given, np.array([0, 2, 1, 3, 0]), seed=7, folder=work)
    assert result.log.decode().splitlines() == [
        "['0o600', '0o700', '0o700'] True 7 ['seed=7'] ",
        "True False",
    ]
    assert (result.kind, result.truth, result.notes) == ("synthetic", None, ())
    assert result.seconds > 0
    first, *rows = PEOPLE.splitlines()
    assert result.released.sha256 is not None
    again = [first, *(rows[place] for place in (0, 2, 1, 3, 0))]
    digest = __import__("hashlib").sha256(("\n".join(again) + "\n").encode()).hexdigest()
    assert result.released.sha256 == digest
    assert list(work.iterdir()) == []


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16"])
def test_text_stays_in_its_encoding_and_without_a_header(tmp_path: Path, work: Path, encoding: str) -> None:
    given = people(tmp_path)
    given = SourceTable(given.table, given.frame, ".csv", "\t", encoding, False)
    command = script(tmp_path, f"sys.stdout.buffer.write(source.read_text({encoding!r}).encode())")
    with pytest.raises(RunError, match=r"wrote no file to \{out\}") as caught:
        made(command, given, work)
    assert caught.value.log.decode().splitlines()[::3] == [f"p1\t{SECRET}\t1.234,50\t007", "p4\tKöln\t1.100,00\t012"]


def test_parquet_stays_parquet_and_a_frame_of_pandas_is_written(tmp_path: Path, work: Path) -> None:
    frame = pl.DataFrame({"age": [1, None, 3, 4], "town": ["007", "b", None, "d"]})
    given = SourceTable(Table.from_frame(frame), frame, ".parquet")
    copy = script(tmp_path, "print(target.name); target.write_bytes(source.read_bytes())")
    result = made(copy, given, work)
    assert result.log == b"out.parquet\n"
    assert result.released.frame["age"].to_list() == [1, None, 3, 4]
    text = script(tmp_path, "print(source.read_text()); target.write_bytes(source.read_bytes())")
    pandas = SourceTable(Table.from_frame(frame), frame.to_pandas())
    assert made(text, pandas, work).log == b"age,town\n1.0,007\n,b\n3.0,\n4.0,d\n\n"


FAILURES: dict[str, tuple[str, dict[str, Any], str]] = {
    "exit code": ("print(source.read_text()); sys.exit(3)", {}, r"failed \(exit code 3\)\. Correct the command"),
    "signal": ("print(source.read_text(), flush=True); os.kill(os.getpid(), 15)", {}, r"failed \(ended by SIGTERM\)"),
    "raises": ("raise ValueError(source.read_text())", {}, r"failed \(exit code 1\)\. Correct the command"),
    "hangs": ("time.sleep(600)", {"time_limit": 0.3}, r"the generator took longer than 0\.3 s and was stopped"),
    "nothing": ("print(source.read_text())", {}, r"ended without an error, but wrote no file to \{out\}\."),
    "empty": ("target.touch()", {}, r"wrote a table that cannot be read: the file '\{out\}' "),
    "header only": ("target.write_text('town;income;code')", {}, "must hold rows, but has a header only"),
    "uneven": (
        "target.write_text(source.read_text() + 'p5;SENTINEL7\\n')",
        {},
        r"'\{out\}' cannot be read as a table at row 5 .*it has 2 fields, the header has 4",
    ),
    "bytes": ("target.write_bytes(bytes(range(256)) * 40)", {}, "wrote a table that cannot be read"),
    "folder": ("target.mkdir()", {}, r"the generator wrote something other than a file to \{out\}\. Write the table"),
    "link": (
        "target.symlink_to('/etc/hostname')",
        {},
        r"the generator wrote something other than a file to \{out\}\. Write the table",
    ),
    "columns": (
        "target.write_text('id;city\\np1;SENTINEL7\\n')",
        {},
        "the generator released none of the attacked columns 'town', 'income'",
    ),
    "no header": (
        "target.write_text(source.read_text().split('\\n', 1)[1])",
        {},
        "the generator released none of the attacked columns 'town', 'income'",
    ),
    "memory": (
        "print(source.read_text(), flush=True); bytearray(3 * 10**9)",
        {"memory_limit": 1},
        r"the generator needed more than the memory limit of 1 GB \(exit code 1\)",
    ),
    "memory of the machine": ("raise MemoryError", {}, r"the generator probably ran out of memory \(exit code 1\)"),
    "killed": (
        "os.kill(os.getpid(), 9)",
        {},
        r"the generator probably ran out of memory \(ended by SIGKILL\)",
    ),
    "reader": (
        "target.write_text('SENTINEL7')",
        {"read": lambda path: 1 / int(path.read_text() == "")},
        r"the generator wrote a table that cannot be read \(ZeroDivisionError\)",
    ),
    "gone": (
        "import shutil, signal; shutil.rmtree(source.parent); time.sleep(600)",
        {},
        "the generator was stopped, because its run is no longer needed",
    ),
}


@pytest.mark.parametrize("failure", FAILURES)
def test_what_goes_wrong_is_one_sentence_without_a_cell(
    failure: str, tmp_path: Path, work: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    body, told, match = FAILURES[failure]
    with pytest.raises(RunError, match=match) as caught:
        made(script(tmp_path, body), people(tmp_path), work, **told)
    said = str(caught.value)
    assert said.startswith("the generator ")
    assert SECRET not in said + "".join(capfd.readouterr())
    assert str(tmp_path) not in said
    assert "\n" not in said
    assert list(work.iterdir()) == []
    # Its own messages are kept for its owner.
    assert (SECRET.encode() in caught.value.log) == ("source.read_text()" in body and "target" not in body)


def test_columns_that_the_people_lack_are_noted_and_identifiers_may_be_left_out(tmp_path: Path, work: Path) -> None:
    body = "target.write_text('more;town;income;code\\n1;a;2,5;3\\n2;b;3,5;4\\n')"
    result = made(script(tmp_path, body), people(tmp_path), work)
    assert result.notes == ("the generator adds columns, which are ignored: 'more'",)
    assert result.released.column_names == ("more", "town", "income", "code")


# What starts processes of its own: one in the same group, one (as timeout does) in a group of its own, and a server.
_FAMILY = """
import subprocess
subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(600)"], start_new_session=True)
subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(600)"])
subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(600)"], process_group=0)
pathlib.Path({begun!r}).touch()
"""


# Each has a seed of its own, by which its processes are known: the three may run at the same time. The limit leaves a
# busy machine time to start them.
@pytest.mark.parametrize(
    ("ending", "seed", "limit"),
    [("sys.exit(0)", 71_000_001, 60.0), ("sys.exit(1)", 71_000_011, 60.0), ("time.sleep(600)", 71_000_021, 6.0)],
)
def test_no_process_is_left(ending: str, seed: int, limit: float, tmp_path: Path, work: Path) -> None:
    body = _FAMILY.format(begun=str(tmp_path / "begun")) + ending
    generator = generator_from(script(tmp_path, body), time_limit=limit)
    with pytest.raises(RunError):
        generator.make(people(tmp_path), EVERYBODY, seed=seed, folder=work)
    assert (tmp_path / "begun").exists()
    assert left(seed) == []
    assert list(work.iterdir()) == []


# A daemon: its parent is gone, and it has a session of its own, an empty environment and none of its parent's files.
_DAEMON = """
import subprocess
late = "import time, sys; time.sleep({wait}); open(sys.argv[1], 'w')"
first = "import subprocess, sys; subprocess.Popen(sys.argv[1:], env={{}}, start_new_session=True)"
quiet = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
subprocess.run([sys.executable, "-S", "-c", first, sys.executable, "-S", "-c", late, {late!r}], env={{}}, **quiet)
pathlib.Path({begun!r}).touch()
"""


def arguments_with(text: str) -> list[bytes]:
    """Return the arguments of processes that hold this text."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            found += [told for told in [(process / "cmdline").read_bytes()] if text.encode() in told]
    return found


@pytest.mark.parametrize("ending", ["sys.exit(0)", "sys.exit(1)", "time.sleep(600)", "os.kill(os.getpid(), 15)"])
def test_a_daemon_without_environment_is_ended_too(ending: str, tmp_path: Path, work: Path) -> None:
    begun, late = tmp_path / "begun", tmp_path / "late"
    command = script(tmp_path, _DAEMON.format(begun=str(begun), late=str(late), wait=5) + ending)
    with pytest.raises(RunError):
        made(command, people(tmp_path), work, time_limit=4 if "600" in ending else 60)
    assert begun.exists()
    assert arguments_with(str(late)) == []
    assert list(work.iterdir()) == []
    if "600" in ending:
        time.sleep(max(0.0, begun.stat().st_mtime + 6 - time.time()))
    assert not late.exists()


def test_processes_of_others_are_not_ended(tmp_path: Path, work: Path) -> None:
    # Another child of this process, in a session of its own, as a browser or a worker of Dask is.
    other = subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(600)"], start_new_session=True)
    try:
        made(script(tmp_path, "target.write_bytes(source.read_bytes())"), people(tmp_path), work)
        launch.end_run(str(tmp_path / "no run"))
        assert other.poll() is None
        assert launch.running_in(str(tmp_path), session=other.pid) == [other.pid]
        assert other.pid in launch.running_in(str(tmp_path), ancestor=os.getppid())
        assert launch.running_in(str(tmp_path), ancestor=other.pid) == []
    finally:
        other.kill()
        other.wait()


def test_a_generator_that_kills_its_parent_is_ended(tmp_path: Path, work: Path) -> None:
    with pytest.raises(RunError, match="ended by SIGKILL"):
        generator_from(script(tmp_path, "os.kill(os.getppid(), 9); time.sleep(600)")).make(
            people(tmp_path), EVERYBODY, seed=71_000_031, folder=work
        )
    assert left(71_000_031) == []
    assert list(work.iterdir()) == []


_WAITING = """
import sys
import numpy as np
from pathlib import Path
from tests.protections.generators.people import people
from unveil.protections.generators import generator_from
home = Path(sys.argv[1])
generator_from(sys.argv[2]).make(people(home), np.arange(4), seed=int(sys.argv[3]), folder=home / "work")
"""


@pytest.mark.parametrize(("how", "seed"), [(signal.SIGINT, 71_000_002), (signal.SIGTERM, 71_000_003), (9, 71_000_004)])
def test_whoever_waits_may_be_interrupted_or_killed(how: int, seed: int, tmp_path: Path, work: Path) -> None:
    begun, late = tmp_path / "begun", tmp_path / "late"
    family = _DAEMON.format(begun=str(tmp_path / "daemon"), late=str(late), wait=600) + _FAMILY.format(begun=str(begun))
    command = script(tmp_path, family + "time.sleep(600)")
    process = subprocess.Popen(
        [sys.executable, "-c", _WAITING, str(tmp_path), command, str(seed)],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    until(begun.exists)
    assert len(left(seed)) == 5
    process.send_signal(how)
    _, said = process.communicate(timeout=60)
    assert (b"KeyboardInterrupt" in said) == (how == signal.SIGINT)
    until(lambda: not left(seed) and not list(work.iterdir()) and not arguments_with(str(late)))


def until(condition: Any) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, "it never happened"
        time.sleep(0.01)


def test_words_are_read_without_a_shell_and_files_from_where_one_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("synth.py", "model file", "bin"):
        Path(name).write_text(HEAD)
    Path("package").mkdir()
    Path("bin").chmod(0o700)
    text = "./bin synth.py -m package package/ --model='model file' --size=3 --in={in} '{out}' $HOME a*"
    words = generator_from(text).words  # type: ignore[attr-defined]
    whole = [str(tmp_path / each) for each in ("bin", "synth.py", "package", "model file")]
    assert words == (
        *whole[:2],
        "-m",
        "package",
        whole[2],
        f"--model={whole[3]}",
        "--size=3",
        "--in={in}",
        "{out}",
        "$HOME",
        "a*",
    )
    told = about(generator_from(text))
    assert [name for name in told if name.startswith("script")] == [
        "script synth.py",
        "script model file",
        "script bin",
    ]
    assert "python" not in told


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("sh synth {in}", r"the generator command lacks \{out\}\. Write \{in\} for the training file and"),
        ("sh synth {seed}", r"the generator command lacks \{in\} and \{out\}\. Write \{in\} for the training"),
        ("python synth.py", r"the generator command lacks \{in\} and \{out\}\. Write \{in\} for the training"),
        ("./synth.py", r"the generator command lacks \{in\} and \{out\}\. Write \{in\} for the training"),
        ("sh 'synth {in} {out}", "the command of the generator has an open quote"),
        ("sh synth < {in} > {out}", "the generator command runs without a shell, which '<' needs"),
        ("no-such-program {in} {out}", "the program 'no-such-program' of the generator is not found. Correct its name"),
        ("./plain {in} {out}", "the program './plain' of the generator may not be run. Make it executable"),
    ],
)
def test_commands_that_cannot_be_run_are_refused(
    text: str, match: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("plain").touch()
    with pytest.raises(InputError, match=match):
        generator_from(text)


@pytest.mark.parametrize("limit", ["time_limit", "memory_limit", "output_limit"])
@pytest.mark.parametrize("value", [0, -1, float("nan"), float("inf")])
def test_limits_are_above_0(limit: str, value: float) -> None:
    with pytest.raises(InputError, match="it must be above 0"):
        generator_from("sh {in} {out}", **{limit: value})  # type: ignore[arg-type]


def test_a_script_without_a_first_line_that_names_its_program_is_a_failure(tmp_path: Path, work: Path) -> None:
    tool = tmp_path / "tool"
    tool.write_bytes(b"\x7fELF")
    tool.chmod(0o700)
    with pytest.raises(RunError, match=r"failed \(exit code 126\)") as caught:
        made(f"{tool} {{in}} {{out}}", people(tmp_path), work)
    assert b"cannot be started" in caught.value.log


def test_a_full_disk_is_told(tmp_path: Path, work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> bytes:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(SourceTable, "content", full)
    with pytest.raises(RunError, match=r"the generator did not start: its input file cannot be written \(No space"):
        made("sh {in} {out}", people(tmp_path), work)
    assert list(work.iterdir()) == []


def test_only_the_end_of_many_messages_is_kept(tmp_path: Path, work: Path) -> None:
    with pytest.raises(RunError) as caught:
        made(script(tmp_path, "print('x' * 3_000_000 + 'end'); sys.exit(1)"), people(tmp_path), work)
    assert len(caught.value.log) == 1 << 20
    assert caught.value.log.endswith(b"xend\n")


def test_where_there_are_no_groups_of_processes_the_launcher_ends_the_command(
    tmp_path: Path, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As on Windows: no sessions, no fork, no limits, and backslashes in paths.
    program = Path(launch.__file__).read_text(encoding="utf-8")
    fake = tmp_path / "launcher.py"
    gone = "import os\ndel os.killpg, os.setsid\nimport sys; sys.modules.update(resource=None, ctypes=None)\n"
    fake.write_text(gone + program)
    there = SimpleNamespace(
        __file__=str(fake), PATIENCE=5.0, SEES_ALL=False, temporary=launch.temporary, end_run=lambda *_, **__: None
    )
    monkeypatch.setattr(module, "_launch", there)
    monkeypatch.setattr(processes, "_launch", there)
    begun = str(tmp_path / "begun")
    generator = generator_from(
        script(tmp_path, f"open({begun!r}, 'w'); time.sleep(600)"), time_limit=1.0, memory_limit=1
    )
    with pytest.raises(RunError, match=r"took longer than 1 s .* in sessions of their own may still run"):
        generator.make(people(tmp_path), EVERYBODY, seed=71_000_005, folder=work)
    assert Path(begun).exists()
    until(lambda: not left(71_000_005))
    assert list(work.iterdir()) == []
    assert made(script(tmp_path, "target.write_bytes(source.read_bytes())"), people(tmp_path), work).released.rows == 4


WRITES = {
    "an error": (
        "target.write_bytes(b'x' * 3_000_000)",
        r"the generator wrote a file above the maximum of 0\.002 GB \(exit code 1\)",
    ),
    "another file": (
        "open('model', 'wb').write(b'x' * 3_000_000)",
        r"the generator wrote a file above the maximum of 0\.002 GB \(exit code 1\)",
    ),
    "a signal": (
        "import signal; signal.signal(signal.SIGXFSZ, signal.SIG_DFL); target.write_bytes(b'x' * 3_000_000)",
        r"the generator wrote a file above the maximum of 0\.002 GB \(ended by SIGXFSZ\)",
    ),
    "no word": (
        "stream = open(target, 'wb', buffering=0)\nfor _ in range(3):\n    try: stream.write(bytes(10**6))"
        "\n    except OSError: pass",
        r"the generator wrote a table above the maximum of 0\.002 GB\. Raise the",
    ),
}


@pytest.mark.parametrize("how", WRITES)
def test_a_file_that_is_too_large_is_refused(how: str, tmp_path: Path, work: Path) -> None:
    body, match = WRITES[how]
    read: list[Path] = []
    with pytest.raises(RunError, match=match) as caught:
        made(script(tmp_path, body), people(tmp_path), work, output_limit=0.002, read=read.append)
    assert "above the maximum of 0.002 GB" in str(caught.value)
    assert str(caught.value).endswith("Raise the output limit, or write less")
    assert read == []
    assert list(work.iterdir()) == []


def test_a_file_may_be_20_times_as_large_as_the_people(
    tmp_path: Path, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = "import resource; print(*resource.getrlimit(resource.RLIMIT_FSIZE)); target.write_bytes(source.read_bytes())"
    given = people(tmp_path)
    assert made(script(tmp_path, body), given, work).log == b"1000000000 1000000000\n"
    monkeypatch.setattr(module, "LEAST_LIMIT", 0)
    size = 20 * (tmp_path / "people.csv").stat().st_size
    assert made(script(tmp_path, body), given, work).log == f"{size} {size}\n".encode()


def test_limits_that_were_set_before_are_not_raised(tmp_path: Path) -> None:
    shows = "import resource as r; print(*(r.getrlimit(n)[0] for n in (r.RLIMIT_FSIZE, r.RLIMIT_DATA, r.RLIMIT_CORE)))"
    lowers = "import resource, runpy, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (10**6, 10**6)); del sys.argv[0]\n"
    program = f"{lowers}runpy.run_path(sys.argv[0], run_name='__main__')"
    words = [launch.__file__, str(2 * 10**9), str(10**30), str(tmp_path), sys.executable, "-S", "-c", shows]
    told = [sys.executable, "-S", "-c", program, *words]
    # Its standard input stays open: the end of it would end the run.
    with subprocess.Popen(told, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.read() == f"{10**6} {2 * 10**9} 0\n"


def test_what_is_printed_takes_no_room_on_the_disk(tmp_path: Path, work: Path) -> None:
    # More than a file may have, and far more than is kept.
    body = "for _ in range(50): print('x' * 10**6)\nprint(sum(each.stat().st_size for each in source.parent.iterdir()))"
    with pytest.raises(RunError, match="wrote no file") as caught:
        made(script(tmp_path, body), people(tmp_path), work, output_limit=0.01)
    assert int(caught.value.log.splitlines()[-1]) < 10**5


def test_backslashes_stay_where_paths_have_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_WINDOWS", True)
    words = CommandGenerator(written=r'sh "C:\My Data\synth.py" {in} {out}', read=Table.read).words
    assert words[1:] == (r"C:\My Data\synth.py", "{in}", "{out}")
