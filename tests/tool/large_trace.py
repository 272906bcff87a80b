# SPDX-License-Identifier: MIT
"""A trace as large as asked for, as of a server with many processes, made up from a seed:

    PYTHONPATH=tool .venv/bin/python tests/tool/large_trace.py large.trace 1000
    /usr/bin/time -v env PYTHONPATH=tool .venv/bin/python -m pawl advise large.trace

Each process has 64 threads, hot locks that they share, and locks of its own for each connection.
About half of the file are locks with their histograms, and half are events and steps.
"""

import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path

from pawl.trace import store

THREADS, HOT, COLD, EVENTS = 64, 8, 3000, 300
SITES = 400


def _histogram(chance: random.Random, count: int) -> str:
    edges = sorted(chance.sample(range(20, 90), min(count, 14)))
    return json.dumps([[int(2 ** (e / 4)), 1 + count // (i + 1)] for i, e in enumerate(edges)])


def _use(chance: random.Random, lock: int, mode: str, hot: bool) -> tuple:
    count = chance.randint(10_000, 100_000) if hot else chance.randint(1, 200)
    waits = count // 10 if hot else chance.randint(0, 1)
    hold, wait = count * chance.randint(100, 5000), waits * chance.randint(500, 50_000)
    take = chance.randint(1, SITES - 1)
    return (None, lock, mode, take, take + 1, count, hold, hold // count, 3 * hold // count,
            4 * hold // count, 9 * hold // count, waits, wait, wait // max(waits, 1),
            2 * wait // max(waits, 1), 3 * wait // max(waits, 1), 4 * wait // max(waits, 1), 0, 0,
            waits // 2, count // 20 if mode == "read" else 0, 0, THREADS if hot else 2,
            chance.randint(1, THREADS), 0, 0, 0, 0, 0, _histogram(chance, count),
            _histogram(chance, waits), count // 251, 60, 40, 70, 30)  # fmt: skip


def _process(chance: random.Random, process: int, first: int) -> Iterator[tuple[str, list[tuple]]]:
    locks = range(first, first + HOT + COLD)
    modes = {n: ("read", "write") if n % 2 else ("mutex",) for n in locks}
    yield "process", [(process, 1000 + process, 1, "/usr/bin/server", 0, 10 ** 9, 1, THREADS,
                       THREADS * 10 ** 9, 10 ** 6, THREADS * EVENTS, 20, None, 20)]  # fmt: skip
    yield "lock", [(n, process, n * 64, "rwlock" if n % 2 else "mutex", f"connection {n}.lock", 0,
                    1, None, None, None) for n in locks]  # fmt: skip
    yield "use", [_use(chance, n, mode, n < first + HOT) for n in locks for mode in modes[n]]
    yield "blame", [(n, modes[n][-1], 3, 4, 10, 10_000, 2000, 0, 0) for n in locks]
    yield "edge", [(first, modes[first][0], n, modes[n][0], 3, 4, process, 5, 0, 0, 0, None)
                   for n in locks[1:]]  # fmt: skip
    rows = []
    for lane in range(THREADS):
        at = 0
        for _ in range(EVENTS):
            n, wait, hold = chance.choice(locks), chance.randint(0, 500), chance.randint(50, 5000)
            rows.append((process, lane, n, modes[n][0], 3, 4, at, wait, hold))
            at += wait + hold + chance.randint(100, 9000)
    yield "event", rows
    yield "window", [(process, 0, 0, 10**6)]
    yield "step", [(r[0], 0, *r[1:], 40) for r in rows]


def write(path: Path, megabytes: float, seed: int = 1) -> int:
    """Returns how many rows of `use` it has."""
    chance, process, first, uses = random.Random(seed), 0, 1, 0
    with store.create(path) as db:
        store.insert(db, "meta", [("command", "server"), ("version", "0"), ("finished", "1")])
        store.insert(db, "site", [(n, 1, n, "server", n, f"function_{n}", "server.c", n,
                                   f"function_{n} (server.c:{n})",
                                   json.dumps([[f"function_{n}", "server.c", n]]))
                                  for n in range(1, SITES + 1)])  # fmt: skip
        while db.execute("PRAGMA page_count").fetchone()[0] * 4096 < megabytes * 1e6:
            process += 1
            for table, rows in _process(chance, process, first):
                store.insert(db, table, rows)
                uses += len(rows) if table == "use" else 0
            first += HOT + COLD
            db.commit()
    return uses


if __name__ == "__main__":
    if len(sys.argv) != 3 or not sys.argv[2].isdigit():
        sys.exit("say a file and megabytes: large_trace.py large.trace 1000")
    print(f"{write(Path(sys.argv[1]), int(sys.argv[2])):,} rows of locks")
