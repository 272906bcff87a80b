# SPDX-License-Identifier: MIT
"""The rows of `pawl bench sem`."""

from pawl.core import grid, stats, table
from pawl.core.table import Column
from pawl.kinds.sem.plan import CHOICES


def workload(cell: dict) -> str:
    words = CHOICES.get(cell["choose"], cell["choose"])
    return f"{cell['semaphores']:,} semaphores, {words}"


def label(cell: dict) -> str:
    return f"{workload(cell)}, {grid.threads(cell)}"


def heading(cell: dict) -> str:
    return (
        f"{label(cell)}\npublished for a kernel: the same work took 515.3 behind one lock and "
        "46.7 with a lock in each, 11.0 times less" + table.not_pinned(cell)
    )


def summarise(samples: list[dict], baseline: str, order: list[str]) -> list[dict]:
    rows = stats.rows(samples, baseline, order)
    for row in rows:
        own = stats.of_candidate(samples, row["candidate"])
        refused = sum(s["refused"] for s in own) / max(sum(s["ops"] for s in own), 1)
        row |= {"refused": refused, **stats.cpu(own), **stats.switches(own)}
    return rows


def columns(_cell: dict, baseline: str) -> list[Column]:
    return [
        *table.million("million\noperations/s", wide=125),
        *table.ratio(baseline.split("/")[-1]),
        Column("would\nwait", lambda row: table.percent(row["refused"])),
        table.cpu(3, 125),
        table.switches(2, 125),
    ]
