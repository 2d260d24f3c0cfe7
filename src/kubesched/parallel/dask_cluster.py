"""Carries out tasks on a Dask cluster, each worker of which has kubesched installed.

The content of a task is itself the result of a Dask task, so a worker gets it once, from the scheduler or from another
worker, and the cluster restores it when the worker that had it is killed. Data that a client scatters would be lost.
"""

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, TypeVar
from urllib.parse import urlsplit

from kubesched.errors import InputError, WorkerError
from kubesched.parallel.memory import needed_by_worker
from kubesched.parallel.worker import Packed, carry_out_one
from kubesched.version import VERSION

if TYPE_CHECKING:
    from distributed import Client, Future

T = TypeVar("T")
_AHEAD: Final = 2
"""Tasks that are sent for each thread, so that no worker waits for the next one."""
_ANSWER_SECONDS: Final = 10
_SCHEMES: Final = ("tcp", "tls", "ws", "wss", "ucx")
_PYTHON: Final = "{0.major}.{0.minor}"
_CONNECTED: "Final[list[Client]]" = []


def active_client() -> "Client | None":
    """The Dask client of the block of `connected`, or of this process; None without one. Nothing is imported for it."""
    if _CONNECTED:
        return _CONNECTED[-1]
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return None
    try:
        return distributed.default_client()
    except ValueError:
        return None


@contextmanager
def connected(address: str | None) -> Iterator[None]:
    """Have the questions in the block carried out on a Dask cluster.

    Args:
        address: of its scheduler, such as `tcp://10.0.0.7:8786`; None to change nothing.
    Raises:
        InputError: Dask is not installed, or the address is not one.
        WorkerError: no scheduler answers, or a worker cannot take part.
    """
    if address is None:
        yield
        return
    with _client(address) as client:
        check_workers(client)
        _CONNECTED.append(client)
        try:
            yield
        finally:
            _CONNECTED.remove(client)


def _client(address: str) -> "Client":
    try:
        from distributed import Client
    except ModuleNotFoundError as error:
        if error.name != "distributed":
            raise
        raise InputError("--on needs Dask, which is not installed: pip install 'kubesched[dask]'") from None
    if not _is_address(address):  # Dask would find out, and print a traceback 20 seconds later
        raise InputError(f"--on {address}: not the address of a Dask scheduler; expected tcp://HOST:PORT")
    try:
        return Client(address, timeout=_ANSWER_SECONDS, set_as_default=False)  # it would stay when it fails
    except (OSError, TimeoutError) as error:
        advice = "start one with `dask scheduler`, and name its address, such as tcp://10.0.0.7:8786"
        raise WorkerError(f"{address}: no Dask scheduler answers within {_ANSWER_SECONDS} seconds; {advice}") from error


def _is_address(address: str) -> bool:
    try:
        parts = urlsplit(address)
        return parts.scheme in _SCHEMES and bool(parts.hostname) and parts.port is not None
    except ValueError:  # the port is not a number, or too large
        return False


def about_here() -> tuple[str, str]:
    """The versions of kubesched and Python in this process."""
    return VERSION, _PYTHON.format(sys.version_info)


def check_workers(client: "Client") -> None:
    """Refuse a cluster whose workers would give other results, or none.

    Raises:
        WorkerError: it has no worker, or one has another version of kubesched or Python, or no kubesched.
    """
    try:
        client.wait_for_workers(1, timeout=_ANSWER_SECONDS)
    except TimeoutError as error:
        where = client.scheduler.address
        raise WorkerError(f"{where}: the Dask scheduler has no worker; start one with `dask worker {where}`") from error
    here = about_here()
    for worker, there in client.run(about_here, on_error="return").items():
        if isinstance(there, Exception):
            advice = f"install kubesched {here[0]} there"
            raise WorkerError(f"{worker}: the Dask worker cannot run kubesched: {there}; {advice}") from there
        if there != here:
            found, expected = (f"kubesched {one[0]} with Python {one[1]}" for one in (there, here))
            raise WorkerError(f"{worker}: the Dask worker has {found}; expected {expected}, as here")


def on_dask(tasks: Iterator[tuple[Packed, Any, Any]], client: "Client") -> Iterator[tuple[Any, Any]]:
    """Carry out tasks, each of which is a content, an index and the task.

    Yields: the index of a task and its result, as they come.
    Raises:
        WorkerError: a worker has too little memory, a task ended several workers, or the scheduler has gone.
    """
    from distributed import as_completed

    running = as_completed([], loop=client.loop, with_results=True, raise_errors=False)
    sent = _Sent(client)
    n_running = 0
    while True:
        n_more = max(_AHEAD * sum(client.ncores().values()), 1) - n_running
        for packed, index, task in islice(tasks, max(n_more, 0)):
            running.add(sent.submit(packed, index, task))
            n_running += 1
        if not n_running:
            return
        future, result = next(running)
        n_running -= 1
        if future.status != "finished":
            raise _lost(future, result)
        yield result


class _Sent:
    """Sends tasks; the contents of the tasks before are forgotten once nothing on the cluster needs them."""

    def __init__(self, client: "Client") -> None:
        self._client = client
        self._key = ""
        self._content: Future | None = None

    def submit(self, packed: Packed, index: Any, task: Any) -> "Future":
        if packed.key != self._key:
            _check_memory(self._client, packed.size)
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", message="Sending large graph")  # once, and on purpose
                self._content = self._client.submit(_itself, packed.content, pure=False)
            self._key = packed.key
        return self._client.submit(carry_out_one, packed.key, self._content, index, task, pure=False)


def _itself(content: T) -> T:
    return content


def _check_memory(client: "Client", size: int) -> None:
    """Refuse workers whose limit is too low; they would be killed, and their tasks with them.

    Raises:
        WorkerError: a worker has less memory than a content of some bytes needs.
    """
    needed = needed_by_worker(size)
    for name, one in client.scheduler_info(n_workers=-1)["workers"].items():
        limit = one["memory_limit"]
        if limit and limit < needed:
            found = f"the Dask worker has {limit >> 20:,} MiB of memory, and this cluster needs {needed >> 20:,} MiB"
            raise WorkerError(f"{name}: {found}; start it with a larger --memory-limit")


def _lost(future: "Future", result: Any) -> WorkerError:
    if future.status == "error":
        _, error, _ = result
        return WorkerError(f"Dask gave up a task: {error}")
    return WorkerError("the connection to the Dask scheduler is lost; what it had not done yet is not done")
