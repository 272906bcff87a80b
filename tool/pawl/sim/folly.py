# SPDX-License-Identifier: MIT
"""A table that nobody fitted: locks of one word by 2 and 8 threads on two E5-2660, as folly's
SharedMutexTest.cpp has them. More numbers of threads are predicted than the file here can judge.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from pawl.core.errors import Failure
from pawl.sim import labelled, machine, tasks

MACHINE = "sandy-bridge-ep"
# Its rows, and the models of the same algorithms. The target is for the C library's.
LOCKS = {"pthrd_rwlock": "rwlock_2017", "pthrd_mutex": "low_level_lock", "folly_rwspin": "rwspin"}
TARGET = ("pthrd_rwlock", "pthrd_mutex")
WRITES, THREADS, SEEDS = (0, 1, 10, 100), (1, 2, 4, 8, 16, 32, 64), (1, 2, 3, 4, 5)
WANTED = {"factor": 1.3, "within": 1.5, "share": 0.8, "differs": 0.2}
# Assumed, in ns: two calls and the loop; a draw of a random number, which the rows of reads lack.
CALLS, DRAW = 2.0, 6.0

Key = tuple[int, str, int]  # percent of writes, lock, threads


def _path(name: str) -> Path:
    return machine.folder() / "reference" / name


def measured() -> dict[Key, float]:
    """Million operations a second of all threads."""
    try:
        rows = labelled.read(_path("folly-e5-2660.csv"))
    except OSError as error:
        raise Failure(
            f"{error.filename}: {error.strerror}; this command needs a checkout."
        ) from None
    return {
        (int(r["write_pct"]), r["lock"], int(r["threads"])): 1e3 / float(r["ns_per_op"])
        for r in rows
    }


def keys() -> list[Key]:
    return [
        (write, lock, n)
        for write in WRITES
        for lock in LOCKS
        for n in THREADS
        if lock != "pthrd_mutex" or write == 100
    ]


def task(key: Key, words: list[str], cores: int, seed: int) -> tasks.Task:
    write, lock, threads = key
    return (
        "word",
        f"lock={LOCKS[lock]}",
        f"write={write}",
        "inside=0",
        f"outside={CALLS + DRAW * (write > 0):g}",
        f"cores={min(threads, cores)}",
        f"threads={threads}",
        f"count={max(20000, 1000 * threads)}",
        "warm=100",
        f"seed={seed}",
        *words,
    )


def predict(
    program: Path, store: tasks.Store, quiet: bool, seeds=SEEDS, chosen: list[Key] | None = None
) -> dict[Key, float]:
    """The median of the seeds."""
    there = machine.load(MACHINE)
    words, cores = machine.words(there), machine.cores(there)
    chosen = chosen or keys()
    found = tasks.run(
        program, [task(k, words, cores, s) for k in chosen for s in seeds], store, quiet
    )
    rates = np.array([r["operations_per_s"] / 1e6 for r in found]).reshape(-1, len(seeds))
    return dict(zip(chosen, np.median(rates, axis=1).tolist(), strict=True))


def save(found: dict[Key, float]) -> Path:
    return labelled.write(
        _path("predicted-folly.csv"),
        "million operations a second of all threads, as pawl sim dev folly says; no measurement",
        ["write_pct", "lock", "threads", "mops"],
        ([*key, f"{value:.4g}"] for key, value in found.items()),
    )


def load(name: str = "predicted-folly.csv") -> dict[Key, float]:
    path = _path(name)
    if not path.is_file():
        raise Failure(f"{path} is not there; make it with: pawl sim dev folly.")
    return {
        (int(r["write_pct"]), r["lock"], int(r["threads"])): float(r["mops"])
        for r in labelled.read(path)
    }
