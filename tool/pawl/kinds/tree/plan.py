# SPDX-License-Identifier: MIT
"""Plans `pawl bench tree`: a large ordered tree, one in a hundred operations an insertion.

The search for the place takes far longer than linking there: the case for the seek state.
"""

from dataclasses import dataclass, field

from pawl.core import candidates, grid
from pawl.core.kind import Cell

DRIVER = "pawl-bench-tree"
BASELINE, MAIN = candidates.RWLOCK, "r+s>w/pawl_spin64"
# The pieces of the work without any lock: no rival, but what the formula is fed with.
PARTS = "parts/none"
LOOKUPS = ("hot", "cold")
# Seconds to make the tree, a node.
FILL = 1.5e-6
QUICK = {"nodes": [100_000], "budget": 10}
# It cannot remove beside other threads.
ONLY_GROWS = "map/tbb_concurrent_map"


@dataclass
class Request(grid.Effort):
    """The options of the command, parsed but not yet multiplied out."""

    threads: list[int] = field(default_factory=lambda: [1, 2])
    lookups: list[str] = field(default_factory=lambda: list(LOOKUPS))
    nodes: list[int] = field(default_factory=lambda: [1_000_000])
    inserts: list[float] = field(default_factory=lambda: [1.0])
    removes: float = 0.0
    timing: int = 0
    warmup: float = 0.02
    budget: float = 60


def setup(point: dict) -> float:
    return point["nodes"] * FILL


def plan(request: Request, names: list[str]) -> list[Cell]:
    choice = candidates.Choice(names)
    more = {"removes": request.removes, "timing": request.timing}
    points = [
        {"threads": threads, "nodes": nodes, "inserts": inserts, "lookups": lookups}
        | {key: value for key, value in more.items() if value}
        for nodes in request.nodes
        for inserts in request.inserts
        for lookups in request.lookups
        for threads in request.threads
    ]

    def rows(point: dict) -> list[str]:
        removes = point.get("removes") and point["inserts"]
        return [n for n in choice.for_threads(point["threads"]) if not removes or n != ONLY_GROWS]

    return grid.plan("tree", points, rows, request, setup)


def expected_seconds(cells: list[Cell]) -> float:
    return grid.expected_seconds(cells, setup)
