import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from unveil.data.files import whole_files as _whole_files
from unveil.data.files.whole_files import DRAFT, make_secret_folder, open_secret, replace_file, sweep

# A writer that tells when it is at the worst moment, and waits there to be killed.
_WRITER = """
import os, sys, time
from pathlib import Path
from unveil.data.files import whole_files as _whole_files

nameless, step, target = sys.argv[1] == "nameless", sys.argv[2], Path(sys.argv[3])
if not nameless:
    del os.O_TMPFILE

def waiting(then):
    def stop(*arguments, **settings):
        print("now", flush=True)
        for _ in range(50):
            time.sleep(0.1)
        return then(*arguments, **settings)
    return stop

if step == "writing":
    os.fsync = waiting(os.fsync)
else:
    Path.replace = waiting(Path.replace)
_whole_files.replace_file(target, b"new" * 100_000)
"""


def nameless_files(folder: Path) -> bool:
    """Return whether the disk of the tests can hold files without a name."""
    try:
        os.close(os.open(folder, os.O_TMPFILE | os.O_WRONLY))
    except OSError:
        return False
    return True


def killed(target: Path, way: str, step: str, ending: signal.Signals) -> int:
    command = [sys.executable, "-c", _WRITER, way, step, str(target)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "now\n"
        process.send_signal(ending)
        return process.wait(timeout=60)


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGKILL])
def test_a_writer_that_is_killed_leaves_nothing_behind(tmp_path: Path, ending: signal.Signals) -> None:
    target = tmp_path / "truth.csv"
    assert killed(target, "nameless", "writing", ending) != 0
    if not nameless_files(tmp_path) and ending is signal.SIGKILL:
        sweep(tmp_path)
    assert list(tmp_path.glob(DRAFT)) == []
    assert not target.exists() or len(target.read_bytes()) == 300_000


@pytest.mark.parametrize(
    ("way", "step"), [("nameless", "replacing"), ("named", "writing")], ids=["as it is named", "without O_TMPFILE"]
)
def test_what_can_only_be_written_under_a_name_is_swept_after_a_kill(tmp_path: Path, way: str, step: str) -> None:
    target = tmp_path / "truth.csv"
    target.write_bytes(b"old")
    assert killed(target, way, step, signal.SIGKILL) == -signal.SIGKILL
    (draft,) = set(tmp_path.iterdir()) - {target}
    assert draft.stat().st_mode & 0o777 == 0o600
    assert target.read_bytes() == b"old"
    sweep(tmp_path)
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.parametrize("way", ["nameless", "named"])
@pytest.mark.parametrize("ending", ["SIGTERM", "SIGHUP"])
def test_an_ending_waits_until_the_file_has_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str, ending: str
) -> None:
    if way == "named":
        monkeypatch.delattr(os, "O_TMPFILE", raising=False)
    target = tmp_path / "truth.csv"
    target.write_bytes(b"old")
    seen: list[bytes] = []
    number = getattr(signal, ending)
    before = signal.signal(number, lambda *_: seen.append(target.read_bytes()))
    replace = Path.replace

    def ended(draft: Path, place: Path) -> Path:
        signal.raise_signal(number)
        assert seen == []
        return replace(draft, place)

    monkeypatch.setattr(Path, "replace", ended)
    try:
        replace_file(target, b"new")
        assert seen == [b"new"]
        assert signal.getsignal(number) not in (before, signal.SIG_DFL)
    finally:
        signal.signal(number, before)
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.parametrize("way", ["nameless", "no link", "named"])
def test_every_way_of_writing_gives_the_same_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    if way == "no link":  # as without /proc
        monkeypatch.setattr(_whole_files, "_linked", lambda *_: False)
    if way == "named":
        monkeypatch.delattr(os, "O_TMPFILE", raising=False)
    secret, shared, usual = tmp_path / "secret", tmp_path / "shared", tmp_path / "usual"
    usual.touch()
    for content in (b"new", b"again"):
        replace_file(secret, content, lasting=False)
        replace_file(shared, content, shared=True)
        assert (secret.read_bytes(), shared.read_bytes()) == (content, content)
        assert (secret.stat().st_mode & 0o777, shared.stat().st_mode) == (0o600, usual.stat().st_mode)
    assert sorted(tmp_path.iterdir()) == [secret, shared, usual]


def test_what_others_put_under_the_name_of_a_draft_is_left_alone(tmp_path: Path) -> None:
    pipe, link, theirs, mine = (tmp_path / f".unveil-{name}.tmp" for name in ("pipe", "link", "theirs", "mine"))
    os.mkfifo(pipe)
    (tmp_path / "there").write_text("a")
    link.symlink_to("there")
    for path in (theirs, mine):
        path.write_text("a")
    if os.geteuid() == 0:
        os.chown(theirs, 65534, 65534)
    else:
        theirs.unlink()
    before = set(tmp_path.iterdir())
    sweep(tmp_path)
    assert before - set(tmp_path.iterdir()) == {mine}


def test_a_thread_writes_too(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"old")
    thread = threading.Thread(target=replace_file, args=(tmp_path / "file", b"new"))
    thread.start()
    thread.join()
    assert (tmp_path / "file").read_bytes() == b"new"


def test_a_link_in_the_place_of_a_file_is_replaced_and_not_followed(tmp_path: Path) -> None:
    (tmp_path / "there").write_bytes(b"old")
    (tmp_path / "link").symlink_to("there")
    replace_file(tmp_path / "link", b"new")
    assert not (tmp_path / "link").is_symlink()
    assert ((tmp_path / "link").read_bytes(), (tmp_path / "there").read_bytes()) == (b"new", b"old")


@pytest.mark.parametrize("umask", [0o000, 0o022])
def test_folders_and_growing_files_are_secret_whatever_the_umask(tmp_path: Path, umask: int) -> None:
    (tmp_path / "wide").mkdir(0o777)
    before = os.umask(umask)
    try:
        for name in ("wide", "new"):
            make_secret_folder(tmp_path / name)
        with open_secret(tmp_path / "lines", "a") as stream:
            stream.write("a")
    finally:
        os.umask(before)
    assert [(tmp_path / name).stat().st_mode & 0o777 for name in ("wide", "new", "lines")] == [0o700, 0o700, 0o600]
