# SPDX-License-Identifier: MIT
"""Plans `pawl bench hash`: one hash table under every design."""

from dataclasses import dataclass, field

from pawl.core import grid
from pawl.core.kind import Cell

DRIVER = "pawl-bench-hash"
# Without any synchronisation: each thread keeps to its own part of the table when it changes it.
BASELINE = "ideal"
MAIN, QUIESCENT = "pawl_rcu", "pawl_rcu_qs"
URCU = ("urcu_memb", "urcu_qsbr", "urcu_bp")
UPDATES, ELEMENTS = [0.0, 1.0, 5.0, 10.0, 20.0, 50.0, 100.0], [1024, 1 << 22]
MOST_ELEMENTS = 1 << 28
# A bucket and its element.
ELEMENT_BYTES = 80
# Seconds to make, fill and check the table, an element.
FILL = 5e-7
# A look: both ends of the mix and its middle, in cache.
QUICK = {"elements": [1024], "updates": [0.0, 10.0, 100.0], "budget": 20}


@dataclass
class Request(grid.Effort):
    """The options of the command, parsed but not yet multiplied out."""

    threads: list[int] = field(default_factory=lambda: [1, 2])
    updates: list[float] = field(default_factory=lambda: list(UPDATES))
    elements: list[int] = field(default_factory=lambda: list(ELEMENTS))
    budget: float = 150


def setup(point: dict) -> float:
    return point["elements"] * FILL


def plan(request: Request, names: list[str]) -> list[Cell]:
    """Numbers of threads come last: what is compared across them is measured close together."""
    points = [
        {"threads": threads, "updates": updates, "elements": elements}
        for elements in request.elements
        for updates in request.updates
        for threads in request.threads
    ]
    return grid.plan("hash", points, lambda _: names, request, setup)


def expected_seconds(cells: list[Cell]) -> float:
    return grid.expected_seconds(cells, setup)
