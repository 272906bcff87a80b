# SPDX-License-Identifier: MIT
"""Plans `pawl bench sem`: many semaphores behind an ID table, and all of them under one lock."""

from dataclasses import dataclass, field

from pawl.core import grid
from pawl.core.kind import Cell

DRIVER = "pawl-bench-sem"
BASELINE, MAIN = "global/pthread_mutex", "idtable/pawl_spin32"
SPIN = "global/pthread_spin"
CHOICES = {
    "disjoint": "each thread its own",
    "same": "all threads the same one",
    "random": "any thread any",
}
SEMAPHORES, MOST_SEMAPHORES = [1024], 1 << 24
FILL = 1e-6
QUICK = {"choose": ["disjoint"], "budget": 5}


@dataclass
class Request(grid.Effort):
    """The options of the command, parsed but not yet multiplied out."""

    threads: list[int] = field(default_factory=lambda: [1, 2])
    choose: list[str] = field(default_factory=lambda: list(CHOICES))
    semaphores: list[int] = field(default_factory=lambda: list(SEMAPHORES))
    budget: float = 20


def setup(point: dict) -> float:
    return point["semaphores"] * FILL


def plan(request: Request, names: list[str]) -> list[Cell]:
    points = [
        {"threads": threads, "semaphores": semaphores, "choose": choose}
        for choose in request.choose
        for semaphores in request.semaphores
        for threads in request.threads
    ]
    return grid.plan("sem", points, lambda _: names, request, setup)


def expected_seconds(cells: list[Cell]) -> float:
    return grid.expected_seconds(cells, setup)
