# SPDX-License-Identifier: MIT
"""What the sleeping lock has to reach on a machine that others use too, judged by the samples of
`pawl bench crowd --busy`."""

from collections.abc import Callable, Iterable

from pawl.core import stats, table
from pawl.core.errors import BadInput
from pawl.core.targets import Finding, Runs, Target, find_part, samples_of
from pawl.kinds.busy.kind import KIND
from pawl.kinds.busy.plan import MAIN, MUTEX, PEERS, machine_of
from pawl.kinds.busy.record import JUDGED
from pawl.kinds.busy.table import (
    SAID,
    against,
    against_best,
    by_machine,
    label,
    mean_wait,
    of_buckets,
    waits,
)

MS = 1e6
# No wait that is shorter is too long, whatever the mutex does.
ENOUGH_NS = 25 * MS
# What a deadline may overrun beyond that of the mutex.
OVERRUN_MS = 1.0


def _cells(run: dict) -> list[dict]:
    return find_part(run, KIND.name)["cells"]


def _of(run: dict, machine: str) -> list[dict]:
    found = by_machine(_cells(run)).get(machine)
    if not found:
        raise BadInput(
            f"the run of {run.get('started')} lacks the machine {machine}; record again."
        )
    for cell in found:
        samples_of(cell, MAIN)
    return found


def _each_peer(machine: str) -> Callable[[dict], Finding]:
    """The worst of the geometric means against each peer; the note has all of them."""

    def find(run: dict) -> Finding:
        cells = _of(run, machine)
        means = {p: stats.geometric_mean(v) for p in PEERS if (v := against(cells, p))}
        if not means:
            raise BadInput("no peer was measured; record again with a build that has one.")
        text = ", ".join(f"{p.split('/')[-1]} {v:.2f}" for p, v in means.items())
        return Finding(min(means.values()), note=text)

    return find


def _best(machine: str) -> Callable[[dict], Finding]:
    def find(run: dict) -> Finding:
        found = against_best(_of(run, machine))
        if not found:
            raise BadInput("no peer was measured; record again with a build that has one.")
        cell, worst = min(found, key=lambda f: f[1])
        return Finding(
            stats.geometric_mean([v for _, v in found]),
            note=f"{len(found)} cells; worst {worst:.2f}: {label(cell)}",
        )

    return find


def _long(quantile: str) -> Callable[[dict], Finding]:
    """The worst cell's wait over what it may be: twice the mutex's or 25 ms, whichever is more."""

    def find(run: dict) -> Finding:
        found = []
        for cell in _cells(run):
            ours, mutex = (waits(samples_of(cell, n))[quantile] for n in (MAIN, MUTEX))
            found.append((ours / max(2 * mutex, ENOUGH_NS), cell, ours, mutex))
        value, cell, ours, mutex = max(found, key=lambda f: f[0])
        above = sum(f[0] > 1 for f in found)
        return Finding(
            value,
            note=f"{label(cell)}: {table.duration(ours)}, "
            f"{MUTEX} {table.duration(mutex)}; {above} of {len(found)} cells above",
        )

    return find


def _overrun(run: dict) -> Finding:
    """Milliseconds beyond the mutex's overrun, at p99.9."""
    found = []
    for cell in _cells(run):
        if cell["scene"] != "deadline":
            continue
        ours, mutex = (of_buckets(samples_of(cell, n), "overruns") for n in (MAIN, MUTEX))
        # Nothing of ours expired: nothing overran.
        ours, mutex = ((f or {"p99.9": 0})["p99.9"] for f in (ours, mutex))
        found.append(((ours - mutex) / MS, cell, ours, mutex))
    if not found:
        raise BadInput("the run has no cell with deadlines; record again.")
    value, cell, ours, mutex = max(found, key=lambda f: f[0])
    return Finding(
        max(value, 0.0),
        note=f"{SAID[machine_of(cell)]}: {table.duration(ours)}, {MUTEX} {table.duration(mutex)}",
    )


def targets() -> list[Target]:
    return [
        *(
            Target(
                f"{SAID[m]}: {MAIN} / each peer, geometric mean, worst peer",
                1.0,
                True,
                _each_peer(m),
            )
            for m in JUDGED
        ),
        *(
            Target(
                f"{SAID[m]}: {MAIN} / best peer of each cell, geometric mean", 0.9, True, _best(m)
            )
            for m in JUDGED
            if m != "idle"
        ),
        *long_waits(),
    ]


def long_waits() -> list[Target]:
    return [
        Target(f"{MAIN}: p99.9 of waits / (2 x {MUTEX}'s, 25 ms at least), worst cell", 1.0, False,
               _long("p99.9")),
        Target(f"{MAIN}: longest wait / (2 x {MUTEX}'s, 25 ms at least), worst cell", 1.0, False,
               _long("max"), middle=True),
        Target(f"{MAIN}: p99.9 of overruns of deadlines beyond {MUTEX}'s, ms, worst machine",
               OVERRUN_MS, False, _overrun),
    ]  # fmt: skip


def notes(runs: Runs) -> Iterable[str]:
    """What compares with an earlier state of the library, which no run has."""
    yield "the one beside the others (information): mean wait of the probe, p99.9 of the writer"
    for path, run in runs:
        for machine, cells in by_machine(_cells(run)).items():
            sides = {c["scene"]: c for c in cells}
            text = [
                f"{n.split('/')[-1]} {table.duration(mean_wait(samples_of(c, n)))}"
                for c in [sides["probe"]]
                for n in (MAIN, MUTEX)
            ]
            text += [
                f"{n.split('/')[-1]} {table.duration(waits(samples_of(c, n))['p99.9'])}"
                for c in [sides["writer"]]
                for n in (MAIN, MUTEX)
            ]
            yield (
                f"          {path.name}: {SAID[machine]}: probe {text[0]}, {text[1]}; "
                f"writer {text[2]}, {text[3]}"
            )
