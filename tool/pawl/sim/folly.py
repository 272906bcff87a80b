# SPDX-License-Identifier: MIT
"""A table that nobody fitted: locks of one word by 2 and 8 threads on two E5-2660, as folly's
SharedMutexTest.cpp has them. More numbers of threads are predicted than the file here can judge.
"""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np

from pawl.core.errors import Failure
from pawl.sim import labelled, machine, tasks

MACHINE = "sandy-bridge-ep"
# Its rows, and the models of the same algorithms. The target is for the C library's.
LOCKS = {"pthrd_rwlock": "rwlock_2017", "pthrd_mutex": "low_level_lock", "folly_rwspin": "rwspin"}
TARGET = ("pthrd_rwlock", "pthrd_mutex")
WRITES, THREADS, SEEDS = (0, 1, 10, 100), (1, 2, 4, 8, 16, 32, 64), (1, 2, 3)
FACTOR, WITHIN, SHARE, DIFFER = 1.3, 1.5, 0.8, 1.2

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
        "outside=0",  # the loop and its random numbers are accesses of the workload
        f"cores={min(threads, cores)}",
        f"threads={threads}",
        "count=20000",
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


def _off(found: dict[Key, float], real: dict[Key, float], key: Key) -> float:
    return max(found[key] / real[key], real[key] / found[key])


def factor(found: dict[Key, float], lock: str, threads: int) -> float:
    """The median for a model, by the number of threads in the table that is nearest."""
    real = measured()
    near = min({k[2] for k in real}, key=lambda n: abs(n - threads))
    return float(
        np.median([_off(found, real, k) for k in real if LOCKS[k[1]] == lock and k[2] == near])
    )


def summary(found: dict[Key, float]) -> dict:
    """How far the target's points are, and how many pairs of locks that differ stand right."""
    real = measured()
    factors = {k: _off(found, real, k) for k in real if k[1] in TARGET}
    right = pairs = 0
    for a, b in itertools.combinations(real, 2):
        if a[0] == b[0] and a[2] == b[2] and max(real[a] / real[b], real[b] / real[a]) > DIFFER:
            pairs += 1
            right += (real[a] > real[b]) == (found[a] > found[b])
    by_threads = {n: [f for k, f in factors.items() if k[2] == n] for n in {k[2] for k in factors}}
    return {
        "median": float(np.median(list(factors.values()))),
        "within": sum(f <= WITHIN for f in factors.values()),
        "points": len(factors),
        "right": right,
        "pairs": pairs,
        "by_threads": {n: float(np.median(f)) for n, f in sorted(by_threads.items())},
    }


def markdown(first: dict[Key, float], now: dict[Key, float]) -> str:
    real = measured()
    threads = sorted({k[2] for k in real})
    lines = [
        "| million/s: measured, *simulated* at first, *now* | "
        + " | ".join(f"{n} threads" for n in threads)
        + " |",
        f"|---|{'---|' * len(threads)}",
    ]
    for write, lock in dict.fromkeys(k[:2] for k in real):
        cells = [", ".join(f"{v[write, lock, n]:.2g}" for v in (real, first, now)) for n in threads]
        lines.append(f"| {lock}, {write} % writes | {' | '.join(cells)} |")
    lines += [
        "",
        "| the C library's locks | median factor, wanted 1.3 | within 1.5, wanted 8 of 10 | "
        "pairs of locks in the right order |",
        "|---|---|---|---|",
    ]
    for what, values in (("before any change", first), ("now", now)):
        s = summary(values)
        parts = ", ".join(f"{f:.2f} by {n} threads" for n, f in s["by_threads"].items())
        lines.append(
            f"| *simulated*, {what} | {s['median']:.2f} ({parts}) | {s['within']} of {s['points']} "
            f"| {s['right']} of {s['pairs']} |"
        )
    return "\n".join(lines) + "\n"
