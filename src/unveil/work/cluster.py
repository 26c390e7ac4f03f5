"""Run tasks on the workers of a Dask cluster."""

import contextlib
import re
import time
import warnings
from concurrent.futures import Future
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any

from unveil._optional import need
from unveil.errors import InputError
from unveil.work.task import Task, perform, version

if TYPE_CHECKING:
    from unveil.work.memory import MemoryLimit

_ADDRESS = re.compile(r"(?P<scheme>tcp|tls|ucx|ws|wss)://(?P<host>\S+):\d+")
_ASK_EVERY = 1.0
#: How long a cluster may take to answer, or be without workers, in seconds.
PATIENCE = 10.0


class DaskCluster:
    """Workers of a Dask cluster at an address such as ``tcp://127.0.0.1:8786``."""

    def __init__(self, address: str, *, patience: float = PATIENCE) -> None:
        if _ADDRESS.fullmatch(address) is None:
            raise InputError(
                f"the address of a cluster must look like tcp://host:8786, but is {address!r}. Write it so"
            )
        library = need("distributed", extra="cluster")
        self.address = address
        self._patience = patience
        is_encrypted = address.startswith(("tls:", "wss:"))
        try:
            # Without certificates a client could not even be closed.
            lacks = is_encrypted and library.Security().get_connection_args("client").get("ssl_context") is None
        except OSError:  # no such file, or one that is no certificate
            lacks = True
        if lacks:
            raise InputError(
                f"the cluster {address!r} needs certificates, but Dask's settings (distributed.comm.tls) name none "
                "that can be read. Name them as docs/how-to/scale.md says"
            )
        try:
            self._client = library.Client(address, timeout=patience, set_as_default=False)
        except Exception as error:  # refused, not found, no answer in time, or something else answers there
            certificates = ", with certificates of the same authority as yours" * is_encrypted
            raise InputError(
                f"the cluster {address!r} cannot be reached ({type(error).__name__}). Check the address and that "
                f"'dask scheduler' runs there{certificates}"
            ) from error
        self._executor = self._client.get_executor(pure=False)
        self._deserted: float | None = None
        self._known_threads, self._ask_again = 0, 0.0
        try:
            self._client.wait_for_workers(1, timeout=patience)
        except TimeoutError as error:
            self._client.close()
            raise InputError(
                f"the cluster {address!r} answers, but has no workers. Start some with 'dask worker {address}'"
            ) from error

    @property
    def slots(self) -> int:
        """Number of parallel tasks."""
        return max(1, self._threads())

    def submit(self, task: Task, memory: "MemoryLimit | None" = None) -> "Future[Any]":
        """Return the future of a task; lost workers restart it.

        A shared value travels with each task: as a value of its own it would tie the tasks to the worker that has it.
        """
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Dask advises against large arguments
            future: Future[Any] = self._executor.submit(
                perform, version(), memory, task.words, task.function, *task.arguments
            )
        return future

    def check(self) -> None:
        """Raise an error if the cluster has no workers."""
        if self._client.status not in ("running", "connecting"):
            raise InputError(f"the cluster {self.address!r} is gone. Start it again, and resume")
        if self._threads():
            self._deserted = None
            return
        self._deserted = self._deserted or time.monotonic()
        if time.monotonic() - self._deserted > 2 * self._patience:
            raise InputError(
                f"the cluster {self.address!r} has no workers any more. Start some with 'dask worker {self.address}', "
                "and resume"
            )

    def _threads(self) -> int:
        """Return the cached number of cluster threads."""
        now = time.monotonic()
        if now >= self._ask_again:
            self._known_threads = sum(self._client.nthreads().values())
            self._ask_again = now + _ASK_EVERY
        return self._known_threads

    def stop(self) -> None:
        """Cancel the tasks and leave the cluster running."""
        with contextlib.suppress(Exception):  # the cluster may be gone already, and then there is nothing to take back
            self._executor.shutdown(wait=False)
        with contextlib.suppress(Exception):
            self._client.close(timeout=5)


def cluster_risk(address: str) -> str:
    """Return a warning for an unencrypted remote cluster, or "".

    >>> cluster_risk("tls://cluster.example:8786"), cluster_risk("tcp://127.0.0.1:8786")
    ('', '')
    >>> cluster_risk("tcp://10.0.0.5:8786").partition(":")[0]
    'The cluster is reached without encryption (tcp'
    """
    parts = _ADDRESS.fullmatch(address)
    if parts is None or parts["scheme"] in ("tls", "wss") or _is_this_machine(parts["host"]):
        return ""
    return (
        f"The cluster is reached without encryption ({parts['scheme']}://). Data about people is readable on "
        "the network, and anyone who reaches the scheduler can run code on its workers. Use tls:// with "
        "certificates (docs/how-to/scale.md says how)."
    )


def _is_this_machine(host: str) -> bool:
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:  # a name
        return host.lower() == "localhost"
