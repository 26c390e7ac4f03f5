"""Run both README commands on a bare Debian, built in a folder for this alone: python3, pip, make, git, nothing else.

Needs root. Where packages come from is read from this machine's settings of apt and pip. All is mounted in a mount
namespace of its own, which ends with the last process in it: however this ends, no mount is left, and nothing is
removed through one.
"""

import argparse
import ast
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).resolve().parent.parent
BARE = ("python3", "python3-pip", "make", "git")
CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")
USER = "plain"
PROJECT = "/srv/unveil"

# The inner processes end with unshare, and unshare with us, also when we are killed and can tidy up nothing.
ALONE = ("setpriv", "--pdeathsig", "KILL", "unshare", "--mount", "--pid", "--fork", "--kill-child")


def main(arguments: list[str] | None = None) -> None:
    """Build the Debian, run the commands in it, say how long each took; exit with 1 when one fails."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plain-user", action="store_true", help="run the commands as a user who is not root")
    parser.add_argument("--without-apt", action="store_true", help="take apt away once the Debian is built")
    parser.add_argument("--read-only-home", action="store_true", help="mount the home folder read-only")
    parser.add_argument("--package", action="append", default=[], help="a further package to install beforehand")
    parser.add_argument("--only", choices=("demo", "test"), help="run one of the two commands")
    parser.add_argument("--tests", default="", help="arguments for pytest: a part of the suite, without coverage")
    parser.add_argument("--minutes", type=float, default=60, help="all must be done in this time (default: 60)")
    parser.add_argument("--folder", help="where the Debian is built and removed again (default: a new one in /var/tmp)")
    options = parser.parse_args(arguments)
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        sys.exit("make fresh needs root and apt: it builds a Debian with debootstrap. Run it so in a virtual machine")
    # So that an end from outside also goes through the tidying up below.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("make fresh was ended"))
    deadline = time.monotonic() + 60 * options.minutes
    with a_folder(options.folder) as debian:
        build(debian, options.package, deadline)
        prepare(debian, without_apt=options.without_apt, plain_user=options.plain_user)
        selection = f" TESTS={shlex.quote(options.tests)}" if options.tests else ""
        commands = {"demo": "make demo", "test": f"make test{selection}"}
        chosen = [line for name, line in commands.items() if options.only in (None, name)]
        script = inner_script(debian, plain_user=options.plain_user, read_only_home=options.read_only_home)
        failed = [line for line in chosen if not timed(line, [*ALONE, "sh", "-euc", script, "sh", line], deadline)]
    if failed:
        sys.exit(f"On a bare Debian this failed: {', '.join(failed)}. See its output above")


@contextmanager
def a_folder(chosen: str | None) -> Iterator[Path]:
    """Give a new, empty folder and take it away afterwards, unless something is mounted in it."""
    folder = Path(chosen or tempfile.mkdtemp(prefix="unveil-fresh-", dir="/var/tmp")).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        sys.exit(f"{folder} must be empty, because it is removed afterwards. Name another folder")
    # Other users of the Debian must be able to enter it.
    folder.chmod(0o755)
    try:
        yield folder
    finally:
        remove(folder)


def remove(folder: Path, mounts: Path = Path("/proc/self/mounts")) -> None:
    """Remove the folder; refuse when something is mounted in it, because that would be removed too."""
    places = [line.split()[1] for line in mounts.read_text(encoding="utf-8").splitlines()]
    inside = [place for place in places if Path(place) == folder or folder in Path(place).parents]
    if inside:
        sys.exit(
            f"{folder} is left as it is, because {inside[0]} is mounted in it. Unmount that, then remove the folder"
        )
    shutil.rmtree(folder)


def build(debian: Path, packages: list[str], deadline: float) -> None:
    """Put the bare system into the folder, from the mirror that apt of this machine uses."""
    if not shutil.which("debootstrap"):
        print("Installing debootstrap: it builds the bare Debian ...", flush=True)
        run(["apt-get", "-qq", "update"], deadline)
        run(["apt-get", "-qq", "install", "-y", "--no-install-recommends", "debootstrap"], deadline)
    release = re.search(r"^VERSION_CODENAME=\"?([\w-]+)", Path("/etc/os-release").read_text("utf-8"), re.MULTILINE)
    if release is None:
        sys.exit("/etc/os-release must name this release (VERSION_CODENAME), but does not. Use Debian 12 or later")
    told = ["apt-get", "indextargets", "--format", "$(RELEASE) $(REPO_URI)", "Created-By: Packages"]
    mirror = mirror_of(release[1], subprocess.run(told, capture_output=True, text=True, check=True).stdout)
    print(f"Building a bare Debian ({release[1]}: {', '.join(BARE)}) ...", flush=True)
    began = time.monotonic()
    bare = ["debootstrap", "--variant=minbase", f"--include={','.join(BARE)}", release[1], str(debian), mirror]
    run([*ALONE, "--mount-proc", *bare], deadline, quiet=True)
    # What apt of this machine must know to fetch anything, such as a proxy, apt in there must know too.
    fetching = subprocess.run(["apt-config", "dump", "Acquire"], capture_output=True, text=True, check=True).stdout
    (debian / "etc/apt/apt.conf.d/90machine").write_text(fetching, encoding="utf-8")
    if packages:
        inside = ["chroot", str(debian), "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-qq"]
        run([*ALONE, *inside, "update"], deadline)
        run([*ALONE, *inside, "install", "-y", "--no-install-recommends", *packages], deadline, quiet=True)
    print(f"Built in {time.monotonic() - began:.0f} s.", flush=True)


def mirror_of(release: str, targets: str) -> str:
    """Return where apt takes a release from; ``targets`` has a line `release address` for each of its sources."""
    for line in targets.splitlines():
        name, address = line.split(maxsplit=1)
        if name == release:
            return address
    sys.exit(f"apt of this machine must have a source for {release}, but has none. Add one to its sources")


def prepare(debian: Path, *, without_apt: bool, plain_user: bool) -> None:
    """Put the project, the user and the machine's settings of pip into the Debian."""
    if CERTIFICATES.exists():
        shutil.copyfile(CERTIFICATES, debian / CERTIFICATES.relative_to("/"))
    (debian / "etc/pip.conf").write_text(pip_configuration(pip_settings()), encoding="utf-8")
    if without_apt:
        (debian / "usr/bin/apt-get").unlink()
    project = debian / PROJECT.lstrip("/")
    subprocess.run(["git", "clone", "--quiet", "--no-hardlinks", str(ROOT), str(project)], check=True)
    if plain_user:
        subprocess.run(["chroot", str(debian), "useradd", "--create-home", USER], check=True)
        subprocess.run(["chroot", str(debian), "chown", "-R", f"{USER}:{USER}", PROJECT], check=True)


def pip_settings() -> dict[str, str]:
    """Return this machine's settings of pip, its environment variables first, as ``{"section.key": value}``."""
    said = subprocess.run(
        [sys.executable, "-m", "pip", "config", "list"], capture_output=True, text=True, check=True
    ).stdout
    found = re.findall(r"^(:env:|[\w-]+)\.([\w-]+)=('.*'|\".*\")$", said, re.MULTILINE)
    # Those of the environment come last, so that they win as they do in pip.
    found.sort(key=lambda entry: entry[0] == ":env:")
    return {f"{'global' if place == ':env:' else place}.{key}": ast.literal_eval(value) for place, key, value in found}


def pip_configuration(settings: dict[str, str]) -> str:
    """Return the settings as a configuration file of pip."""
    sections: dict[str, list[str]] = {}
    for name, value in settings.items():
        section, key = name.split(".", 1)
        sections.setdefault(section, []).append(f"{key} = {' '.join(value.split())}")
    return "".join("\n".join([f"[{section}]", *lines, ""]) for section, lines in sections.items())


def local_places(settings: dict[str, str]) -> list[Path]:
    """Return the folders of this machine that the settings of pip name: its own packages, which must be seen in there.

    An index is a folder of pages that point to files beside it, so the folder above it is needed.
    """
    places = set()
    for name, value in settings.items():
        for word in value.split():
            address = urlsplit(word)
            path = Path(unquote(address.path))
            if address.scheme in ("", "file") and path.is_absolute() and path.is_dir():
                places.add(path.parent if name.endswith("index-url") else path)
    return sorted(place for place in places if not any(other in place.parents for other in places))


def inner_script(debian: Path, *, plain_user: bool, read_only_home: bool) -> str:
    """Return the shell script that mounts what a running system has and runs its first argument in there.

    It stays the first process of its namespace, and so collects those whose parents have ended.
    """
    home = f"/home/{USER}" if plain_user else "/root"
    inside = shlex.quote(str(debian))
    lines = [
        f"mount -t proc proc {inside}/proc",
        f"mount --rbind /sys {inside}/sys",
        f"mount --rbind /dev {inside}/dev",
    ]
    for place in local_places(pip_settings()):
        seen = f"{inside}{shlex.quote(str(place))}"
        lines += [
            f"mkdir -p {seen}",
            f"mount --bind {shlex.quote(str(place))} {seen}",
            f"mount -o remount,bind,ro {seen}",
        ]
    if read_only_home:
        lines += [f"mount --bind {inside}{home} {inside}{home}", f"mount -o remount,bind,ro {inside}{home}"]
    who = f"--userspec={USER}:{USER} " if plain_user else ""
    paths = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    lines.append(f'chroot {who}{inside} env -i HOME={home} PATH={paths} sh -c "cd {PROJECT} && $1" </dev/null')
    return "\n".join(lines)


def timed(name: str, command: list[str], deadline: float) -> bool:
    """Run the command, say how long it took and how it ended; return whether that was well."""
    print(f"--- {name}", flush=True)
    began = time.monotonic()
    try:
        code = subprocess.run(command, timeout=max(deadline - began, 1), check=False).returncode
        ended = "passed" if code == 0 else f"FAILED (exit {code})"
    except subprocess.TimeoutExpired:
        ended = "FAILED (out of time)"
    print(f"--- {name}: {ended} after {time.monotonic() - began:.0f} s", flush=True)
    return ended == "passed"


def run(command: list[str], deadline: float, *, quiet: bool = False) -> None:
    """Run a command of the preparation within the time that is left; end with one sentence when it fails."""
    left = max(deadline - time.monotonic(), 1)
    output = subprocess.DEVNULL if quiet else None
    try:
        code = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=output, timeout=left, check=False).returncode
    except subprocess.TimeoutExpired:
        sys.exit(f"Out of time in: {shlex.join(command)}. Allow more with --minutes")
    if code:
        sys.exit(f"Building the bare Debian stopped at: {shlex.join(command)}. See the message above")


if __name__ == "__main__":
    main()
