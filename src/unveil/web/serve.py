"""Start the local server, open the page, and clean up."""

import atexit
import contextlib
import logging
import os
import secrets
import signal
import socket
import sys
import tempfile
import threading
import webbrowser
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, NoReturn

from unveil._optional import need
from unveil.errors import InputError
from unveil.web._private import write_private
from unveil.web.jobs import Rules
from unveil.web.uploads import MEGABYTE, Limits
from unveil.work.private_folder import PrivateFolder, make_private_folder

if TYPE_CHECKING:
    from starlette.types import ASGIApp
    from uvicorn import Config, Server

    from unveil.web.guard import Keys

HOST = "127.0.0.1"
#: The number of standard input, which is read without the lock of ``sys.stdin``.
_INPUT = 0
#: A worker may take this share of the memory of the machine, and one that only looks at a file no more than so much.
_MEMORY_SHARE = 0.8
LOOK_MEMORY = 4 * 2**30
#: How long requests may go on when the server stops, in seconds.
_LAST_SECONDS = 1


@dataclass(frozen=True, kw_only=True)
class ServeOptions:
    """The options that the server was started with."""

    #: None takes any port that is free, as 0 does.
    port: int | None = None
    open_browser: bool = True
    #: How much may be given; and how long jobs may take, how much memory, and how many there may be.
    limits: Limits = field(default_factory=Limits)
    rules: Rules | None = None
    #: Where the private folder is made; the user's folder for temporary files unless given.
    parent: Path | None = None


def serve(wishes: ServeOptions, *, tell: Callable[[str], None]) -> None:
    """Serve until stopped, then end all workers and remove all files.

    Parameters
    ----------
    wishes
        What was asked for.
    tell
        Called with each line that the person has to read, the address first.
    """
    need("starlette", extra="web")
    need("uvicorn", extra="web")
    from unveil.web._protocol import PatientServer
    from unveil.web.app import State, make_app
    from unveil.web.guard import Keys
    from unveil.web.jobs import Jobs
    from unveil.web.uploads import Uploads

    listening = listen(wishes.port)
    port: int = listening.getsockname()[1]
    folder = make_folder(wishes.parent)
    atexit.register(folder.remove)
    try:
        redirect = folder.path / "open.html"
        keys = Keys(spent=lambda: redirect.unlink(missing_ok=True))
        uploads = Uploads(folder.files, wishes.limits)
        jobs = Jobs(folder.jobs, wishes.rules or usual_rules())
        state = State(keys=keys, port=port, uploads=uploads, jobs=jobs)
        server = PatientServer(settings_for(make_app(state)))
        _prepare(server)
        _welcome(keys, port, redirect if wishes.open_browser and has_screen() else None, tell)
        with contextlib.suppress(KeyboardInterrupt):
            server.run(sockets=[listening])
    finally:
        listening.close()
        folder.remove()
        atexit.unregister(folder.remove)
    tell("\nStopped. The files that were given and the results are removed.")


def limits_of(megabytes: int | None) -> Limits:
    """Return the limits for files of N megabytes, four at a time.

    >>> limits_of(2000).file, limits_of(2000).total, limits_of(10).total
    (2000000000, 8000000000, 2048000000)
    """
    usual = Limits()
    if megabytes is None:
        return usual
    return Limits(file=megabytes * MEGABYTE, total=max(usual.total, 4 * megabytes * MEGABYTE))


def usual_rules() -> Rules:
    """Return the default limits, which end workers that use most memory."""
    from unveil.work.memory import physical_memory

    most = int(_MEMORY_SHARE * physical_memory())
    return Rules(memory=most, look_memory=min(most, LOOK_MEMORY))


def listen(port: int | None) -> socket.socket:
    """Return a socket that listens on this machine, for this machine only.

    Where nobody names a port any is taken, and no usual one: a browser keeps what a server sends for its address, and
    somebody else could have listened there before us, with a page that is kept and shown in place of ours.
    """
    listening = _bound(port or 0)
    if listening is None:
        raise InputError(
            f"port {port} of {HOST} is in use, or not permitted. Choose another port, or give none to use any free port"
        )
    return listening


def _bound(port: int) -> socket.socket | None:
    made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        if os.name == "posix":  # elsewhere it would let others listen at the same place
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind((HOST, port))
        made.listen()
    except OSError:
        made.close()
        return None
    return made


def settings_for(app: "ASGIApp") -> "Config":
    """Return the uvicorn settings: no logs, proxy headers, or server header."""
    import uvicorn

    from unveil.web._protocol import AT_A_TIME, PromptProtocol

    logging.getLogger("uvicorn").setLevel(logging.ERROR)
    return uvicorn.Config(
        app,
        http=PromptProtocol,
        ws="none",
        lifespan="on",
        loop="asyncio",
        # Paths hold a secret, so no request is written down; a mistake of ours still shows in the terminal.
        log_config=None,
        access_log=False,
        # Nothing that stands before the server is believed, and nothing is told about it.
        proxy_headers=False,
        server_header=False,
        backlog=AT_A_TIME,
        timeout_graceful_shutdown=_LAST_SECONDS,
    )


def _prepare(server: "Server") -> None:
    """Set up clean shutdown, and keep memory off the disk."""
    os.umask(0o077)
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    # That requests are broken off when the server stops is no mistake.
    logging.getLogger("uvicorn.error").addFilter(lambda _: not server.should_exit)

    def stop(*_: object) -> None:
        server.should_exit = True

    if threading.current_thread() is threading.main_thread():
        # The server has its own handlers while it runs, and raises the signal once more when all is done.
        signal.signal(signal.SIGTERM, _leave)
        if hasattr(signal, "SIGHUP"):
            signal.signal(signal.SIGHUP, stop)


def _leave(number: int, _: FrameType | None) -> NoReturn:
    raise SystemExit(128 + number)


def _welcome(keys: "Keys", port: int, redirect: Path | None, tell: Callable[[str], None]) -> None:
    """Print the address and open it through the file ``redirect``."""
    from unveil.web._peer import system_tells

    def address() -> str:
        # No browser has kept a page for an address that there never was, whoever listened at this port before.
        return f"http://{HOST}:{port}/?{secrets.token_hex(8)}#{keys.new_token()}"

    first = address()
    tell(f"unveil answers on this machine only, at an address that works once:\n\n    {first}\n")
    more = sys.stdin is not None and sys.stdin.isatty()
    tell("Press Enter for a new address, Ctrl-C to stop." if more else "Ctrl-C stops it.")
    tell("Stopping removes the files that were given and the results.")
    if not system_tells():
        tell("This system does not identify connecting users. Only the private address keeps other users out.")
    if more:
        threading.Thread(target=_more_addresses, args=(address, tell), daemon=True).start()
    if redirect is not None:
        tell("The browser is opened. If it does not show the page, open the address in it yourself.")
        # In a thread, because some browsers return only when they are closed.
        threading.Thread(target=_open, args=(redirect, first), daemon=True).start()


def _more_addresses(address: Callable[[], str], tell: Callable[[str], None]) -> None:
    # Not through sys.stdin, which a thread must not hold when Python ends.
    with contextlib.suppress(OSError):
        while os.read(_INPUT, 1024):
            tell(f"\n    {address()}\n")


def _open(redirect: Path, address: str) -> None:
    """Open the address through a file that only this user can read.

    What a browser is started with can be read by everybody on the machine, in the list of processes.
    """
    with contextlib.suppress(webbrowser.Error, OSError):
        write_private(
            redirect,
            '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<meta name="referrer" content="no-referrer">\n'
            f'<meta http-equiv="refresh" content="0; url={address}">\n<title>unveil</title>\n'
            f'<p><a href="{address}">Go to the page of unveil</a></p>\n</html>\n',
        )
        webbrowser.open(redirect.as_uri())


def has_screen() -> bool:
    """Return whether a graphical browser can be opened here."""
    if sys.platform in ("win32", "darwin"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


# The one folder where private tables lie while the page is open.

_SAY_WHERE = "Say where files may lie for a while: TMPDIR=/some/folder unveil serve"


class ServedFolder(PrivateFolder):
    """The private folder of a server."""

    @property
    def files(self) -> Path:
        """The files that people gave."""
        return self.path / "files"

    @property
    def jobs(self) -> Path:
        """The folders of the jobs, one each."""
        return self.path / "jobs"


def make_folder(parent: Path | None = None) -> ServedFolder:
    """Return a new private folder, after removing those of killed servers.

    Parameters
    ----------
    parent
        Where it is made; the user's folder for temporary files unless given.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as parent:
    ...     folder = make_folder(Path(parent))
    ...     print(oct(folder.path.stat().st_mode & 0o777), sorted(each.name for each in folder.path.iterdir()))
    ...     folder.remove()
    0o700 ['files', 'jobs', 'run.lock', 'run.lock.json']
    """
    home = _temporary() if parent is None else parent
    try:
        made = make_private_folder("serve", home)
    except OSError as error:
        raise InputError(f"a folder must be made in {str(home)!r}, which does not work. {_SAY_WHERE}") from error
    folder = ServedFolder(**vars(made))
    folder.files.mkdir(mode=0o700)
    folder.jobs.mkdir(mode=0o700)
    return folder


def _temporary() -> Path:
    """Return the user's folder for temporary files, by TMPDIR."""
    wanted = os.environ.get("TMPDIR")
    if wanted and not (Path(wanted).is_dir() and os.access(wanted, os.W_OK | os.X_OK)):
        raise InputError(f"TMPDIR must name a folder that this user may write to, but is {wanted!r}. {_SAY_WHERE}")
    try:
        return Path(wanted or tempfile.gettempdir())
    except OSError as error:
        raise InputError(f"there must be a folder for temporary files, but there is none. {_SAY_WHERE}") from error
