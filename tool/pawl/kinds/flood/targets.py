# SPDX-License-Identifier: MIT
"""How long the sleeping lock may hold up a writer, judged by the samples of
`pawl bench crowd --flood`."""

from collections.abc import Callable

from pawl.core import table
from pawl.core.targets import Finding, Target, find_part, samples_of
from pawl.kinds.crowd.plan import MAIN
from pawl.kinds.flood.kind import KIND
from pawl.kinds.flood.plan import FLOOR
from pawl.kinds.flood.table import label, waits

MS = 1e6


def _cells(run: dict) -> list[dict]:
    return find_part(run, KIND.name)["cells"]


def _writer(quantile: str) -> Callable[[dict], Finding]:
    """Milliseconds beyond how late a bare thread is woken."""

    def find(run: dict) -> Finding:
        found = []
        for cell in _cells(run):
            wait, floor = (waits(samples_of(cell, n))[quantile] for n in (MAIN, FLOOR))
            found.append((cell, wait, floor))
        cell, wait, floor = max(found, key=lambda f: f[1] - f[2])
        return Finding(
            max(0.0, wait - floor) / MS,
            note=f"{label(cell)}: waited "
            f"{table.duration(wait)}, a bare thread {table.duration(floor)}",
        )

    return find


def targets() -> list[Target]:
    return [
        Target(
            f"flood: {MAIN}, {name} of the writer's wait beyond a bare thread's, ms, worst cell",
            limit,
            False,
            _writer(quantile),
        )
        for name, quantile, limit in (("p99.9", "p99.9", 1.0), ("longest", "max", 5.0))
    ]


def latest_alarm(run: dict) -> float:
    """How late bare threads are woken, in nanoseconds."""
    return max(waits(samples_of(c, FLOOR))["max"] for c in _cells(run))
