# SPDX-License-Identifier: MIT
"""Hands runs of a program to the workers of a Dask scheduler. Each worker starts the same program
as this process would; so it has to be on the worker's machine, at the same path."""

import contextlib
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pawl.core import driver, machine
from pawl.core.errors import BadInput, Failure
from pawl.core.machine import describe, kernel

SECONDS = 10  # until a scheduler that does not answer counts as gone
LOOK = 0.05  # seconds between two looks for what has ended
RETRIES = 3  # workers that may die under one run

Task = tuple[str, ...]  # the arguments of the program


@dataclass
class Answer:
    """How a run ended on a worker."""

    host: str
    code: int
    text: str
    said: str


def _on_worker(program: str, digest: str, task: Task) -> tuple[str, int, str, str]:
    """Imports nothing of this package: workers need not have it."""
    import hashlib
    import pathlib
    import platform

    host = platform.node()
    path = pathlib.Path(program)
    if not path.is_file():
        return host, 2, "", f"{program} is not there"
    if hashlib.sha256(path.read_bytes()).hexdigest() != digest:
        return host, 2, "", f"{program} is another program there"
    ended = subprocess.run(
        [program, *task], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
    )
    return host, ended.returncode, ended.stdout, ended.stderr


def _describe_worker() -> dict:
    return {"machine": describe(), "kernel": kernel()}


@dataclass
class Cluster:
    """A connection to a scheduler that has workers."""

    client: object
    address: str


@contextlib.contextmanager
def connect(address: str) -> Iterator[Cluster]:
    try:
        import cloudpickle
        import distributed
    except ImportError:
        raise BadInput(
            "--scheduler needs the Python package distributed: install it, or leave the option out."
        ) from None
    if not address:
        raise BadInput("--scheduler names no address; write one such as tcp://host:8786.")
    try:
        client = distributed.Client(address, timeout=SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:
        raise BadInput(
            f"--scheduler: no scheduler answers at {address} ({error}); start one "
            "with dask scheduler, or leave the option out."
        ) from None
    # The workers need not have this package, so what it runs travels along.
    for module in (sys.modules[__name__], machine):
        cloudpickle.register_pickle_by_value(module)
    try:
        with _gone_in_words(address):
            threads = client.nthreads()
        if not threads:
            raise BadInput(f"--scheduler: {address} has no workers; start some with dask worker.")
        yield Cluster(client, address)
    finally:
        client.close(timeout=1)


@contextlib.contextmanager
def _gone_in_words(address: str) -> Iterator[None]:
    import distributed

    try:
        yield
    except distributed.KilledWorker as error:
        raise Failure(f"--scheduler: workers died again and again: {error}") from None
    except (OSError, distributed.CancelledError) as error:
        raise BadInput(
            f"--scheduler: {address} is gone ({error}); what was done until then is "
            "kept where the command was given a file for it. Start the scheduler "
            "again, and the same command."
        ) from None


def ended(
    where: Cluster, program: Path, todo: list[Task], stop: Callable[[], bool] = lambda: False
) -> Iterator[tuple[int, Answer]]:
    """The number of each run in `todo` once it has ended, and its answer. A worker that dies loses
    its runs to the others. Once `stop` says so, what has not begun is taken back, and no more
    come."""
    import distributed

    digest = driver.digest(program)
    with _gone_in_words(where.address):
        waiting = {
            where.client.submit(
                _on_worker, str(program.resolve()), digest, task, pure=False, retries=RETRIES
            ): number
            for number, task in enumerate(todo)
        }
        found = distributed.as_completed(waiting, loop=where.client.loop, with_results=True)
    while not found.is_empty():
        if stop():
            where.client.cancel(list(waiting))
            return
        with _gone_in_words(where.address):
            # A scheduler that comes back knows none of these runs.
            if where.client.status != "running":
                raise OSError("it no longer answers")
            if not found.has_ready():
                time.sleep(LOOK)
                continue
            ready, answer = next(found)
            if isinstance(answer, BaseException):  # the run is forgotten
                raise distributed.CancelledError(str(answer))
        yield waiting[ready], Answer(*answer)


def run(
    address: str, program: Path, todo: list[Task], done: Callable[[Task, Answer], None]
) -> None:
    """Calls done(task, answer) for each."""
    with connect(address) as where:
        for number, answer in ended(where, program, todo):
            done(todo[number], answer)


# ---- A fleet: one exclusive worker on each machine -----------------------------------------------


def _refuse_neighbours(where: Cluster) -> None:
    """Refuses workers that would disturb each other's measurements."""
    import distributed

    seen = set()
    for name, threads in where.client.nthreads().items():
        if threads != 1:
            raise BadInput(
                f"--scheduler: the worker {name} runs {threads} things at a time, and "
                "they would disturb each other; start it with --nthreads 1."
            )
        host = distributed.comm.get_address_host(name)
        if host in seen:
            raise BadInput(
                f"--scheduler: two workers of {where.address} are on the machine "
                f"{host}, and would disturb each other; start one on each machine."
            )
        seen.add(host)


ALIKE = {
    "CPU": lambda told: told["machine"]["cpu"],
    "number of CPUs": lambda told: told["machine"]["cpus_allowed"],
    "kernel": lambda told: told["kernel"],
}


def fleet(where: Cluster) -> dict:
    """The machine and the kernel that all workers have; refuses workers that are not alike."""
    with _gone_in_words(where.address):
        _refuse_neighbours(where)
        told = where.client.run(_describe_worker)
    first, of_first = next(iter(told.items()))
    for name, of_other in told.items():
        for what, of in ALIKE.items():
            if of(of_other) != of(of_first):
                raise BadInput(
                    f"--scheduler: the workers of {where.address} are not alike: the "
                    f"{what} is {of(of_first)} on {first} and {of(of_other)} on "
                    f"{name}. Rows are compared with each other, so measure each kind "
                    "of machine with a command of its own."
                )
    return of_first
