# SPDX-License-Identifier: MIT
"""`pawl bench sem`: many semaphores behind an ID table, against all of them under one lock."""

from __future__ import annotations

from dataclasses import dataclass, field

from rich.markup import escape

from pawl import grid, stats, table
from pawl.measure import Cell

TITLE = "Operations on many semaphores"
DRIVER = "pawl-bench-sem"
BASELINE, MAIN = "global/pthread_mutex", "idtable/pawl_spin32"
SPIN = "global/pthread_spin"
CHOICES = {"disjoint": "each thread its own", "same": "all threads the same one",
           "random": "any thread any"}
MOST_SEMAPHORES = 1 << 24
FILL = 1e-6
QUICK = {"choose": ["disjoint"], "budget": 5}

NUMBER = (int, float)
CELL_KEYS = {"semaphores": int, "choose": str, "seconds": NUMBER}
SAMPLE_KEYS = {"refused": NUMBER, "cpu_seconds": NUMBER}
ROW_KEYS = {"refused": NUMBER, "cpu_seconds_per_million": NUMBER}
NESTED_KEYS: dict = {}  # no tables in tables


@dataclass
class Request(grid.Effort):
    """The options of the command, parsed but not yet multiplied out."""

    threads: list[int] = field(default_factory=lambda: [1, 2])
    choose: list[str] = field(default_factory=lambda: list(CHOICES))
    semaphores: list[int] = field(default_factory=lambda: [1024])
    budget: float = 20


def _setup(point: dict) -> float:
    return point["semaphores"] * FILL


def plan(request: Request, names: list[str]) -> list[Cell]:
    points = [{"threads": threads, "semaphores": semaphores, "choose": choose}
              for choose in request.choose for semaphores in request.semaphores
              for threads in request.threads]
    return grid.plan("sem", points, lambda _: names, request, _setup)


def expected_seconds(cells: list[Cell]) -> float:
    return grid.expected_seconds(cells, _setup)


def workload(cell: dict) -> str:
    words = CHOICES.get(cell["choose"], cell["choose"])
    return f"{cell['semaphores']:,} semaphores, {words}"


def label(cell: dict) -> str:
    return f"{workload(cell)}, {grid.threads(cell)}"


def heading(cell: dict) -> str:
    return (f"{label(cell)}\npublished for a kernel: the same work took 515.3 behind one lock and "
            "46.7 with a lock in each, 11.0 times less" + grid.not_pinned(cell))


def summarise(samples: list[dict], baseline: str, order: list[str]) -> list[dict]:
    rows = stats.summarise(samples, baseline, order)
    for row in rows:
        own = [s for s in samples if s["candidate"] == row["candidate"]]
        del row["hit_ratio"]
        row["refused"] = sum(s["refused"] for s in own) / max(sum(s["ops"] for s in own), 1)
    return rows


def sound(_sample: dict) -> bool:
    """Nothing beyond its types."""
    return True


losses = stats.losses


def columns(baseline: str) -> list[str]:
    short = baseline.split("/")[-1]
    return ["", "lookup/lock", "million\noperations/s", "\nquartiles", f"times\n{short}",
            "95 %\ninterval", "would\nwait", "CPU s per\nmillion", "switches\nper 1000"]


def cells(rank: int, row: dict) -> list[str]:
    return [str(rank), escape(row["candidate"]), f"{row['median'] / 1e6:.3f}",
            f"{row['q1'] / 1e6:.3f}..{row['q3'] / 1e6:.3f}",
            table.times(row["ratio_to_baseline"]), table.interval(row),
            table.percent(row["refused"]), f"{row['cpu_seconds_per_million']:.3f}",
            f"{row['ctx_per_million'] / 1000:.2f}"]


def shown(width: int) -> list[int]:
    gone = {0, 3, 7, 8} if width < 125 else set()
    return [n for n in range(9) if n not in gone]
