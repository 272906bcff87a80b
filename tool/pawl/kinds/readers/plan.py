# SPDX-License-Identifier: MIT
"""Plans `pawl bench readers`: locks that are mostly read, in four scenes."""

from dataclasses import dataclass, field

from pawl.core import grid
from pawl.core.kind import Cell

DRIVER = "pawl-bench-readers"
MAIN, NULL, FLOOR = "r+w/pawl_lock64", "r+w/pawl_lock64_again", "floor/none"
BASELINE = MAIN
ON, OFF = "r+w/pawl_lock64_on", "r+w/pawl_lock64_off"
CALLED = "r+w/pawl_lock64_called"  # of recorded runs, from when the others entered inline
EVIDENCE = "r+w/pawl_lock64_evidence"
BRLOCK = "r+w/pawl_brlock"
XADD = "floor/two_lock_xadd"  # keeps nobody out, so it is measured where nobody writes
# Those whose readers all count in one word.
ONE_WORD = (
    "r+w/pawl_spin64",
    "r+w/pthread_rwlock",
    "r+w/pthread_rwlock_writer",
    "r+w/std_shared_mutex",
    "r+w/tbb_spin_rw_mutex",
    "r+w/tbb_rw_mutex",
    "r+w/absl_mutex",
    "r+w/nsync_mu",
    "r+w/ck_rwlock",
    "r+w/ck_pflock",
    "r+w/parking_lot",
)
WITH_SEEK = (
    MAIN,
    NULL,
    "r+w/pawl_lock32",
    ON,
    OFF,
    EVIDENCE,
    "r+w/pawl_spin64",
    BRLOCK,
    "r+w/pawl_brlock_fenced",
    FLOOR,
)
# What a row's name begins with, and what its threads do.
ROWS = (
    ("r+w", "reads take R, writes take W"),
    ("floor", "no lock, two atomic additions, or readers of RCU, which wait for nobody"),
)
SCENES = {
    "mix": "threads that read and write",
    "write": "one writer, and threads that sleep",
    "seek": "a seeker beside a reader",
    "flood": "a writer now and then among readers",
}
SECTIONS = [0.0, 0.02, 0.1, 1.0, 10.0]
WRITES = [0.0, 0.01, 0.1, 1.0, 10.0, 50.0]
LOCKS, MOST_LOCKS = [1, 16], 16
REGISTERED, MOST_REGISTERED = [2, 100, 1000], 4096
FLOOD_READERS = [8]
# What the threads of a cell take to start.
START = 0.0001
QUICK = {"sections": [0.0, 0.1], "writes": [0.0, 1.0], "locks": [1], "rounds": 6, "budget": 40}


@dataclass
class Request(grid.Effort):
    """The options of the command, parsed but not yet multiplied out."""

    threads: list[int] = field(default_factory=lambda: [1, 2])
    scenes: list[str] = field(default_factory=lambda: ["mix"])
    sections: list[float] = field(default_factory=lambda: list(SECTIONS))
    writes: list[float] = field(default_factory=lambda: list(WRITES))
    locks: list[int] = field(default_factory=lambda: list(LOCKS))
    registered: list[int] = field(default_factory=lambda: list(REGISTERED))
    readers: list[int] = field(default_factory=lambda: list(FLOOD_READERS))
    rounds: int = 6
    warmup: float = 0.003
    budget: float = 240


def setup(point: dict) -> float:
    return (point["threads"] + point["registered"]) * START


def _point(scene: str, threads: int, section: float = 0.0, **more: float) -> dict:
    return {
        "scene": scene,
        "threads": threads,
        "section": section,
        "writes": 0.0,
        "locks": 1,
        "registered": 0,
    } | more


def _points(request: Request, scene: str) -> list[dict]:
    """Numbers of threads come last: what is compared across them is measured close together."""
    if scene == "write":
        return [_point(scene, 1, registered=n) for n in request.registered]
    if scene == "seek":
        return [_point(scene, 1, section) for section in request.sections]
    if scene == "flood":
        return [_point(scene, n) for n in request.readers]
    return [
        _point(scene, threads, section, writes=writes, locks=locks)
        for locks in request.locks
        for section in request.sections
        for writes in request.writes
        for threads in request.threads
    ]


def _rows(point: dict, names: list[str]) -> list[str]:
    if point["scene"] == "seek":
        return [n for n in names if n in WITH_SEEK]
    only_reads = point["scene"] == "mix" and point["writes"] == 0
    return [n for n in names if n != XADD or only_reads]


def plan(request: Request, names: list[str]) -> list[Cell]:
    points = [point for scene in request.scenes for point in _points(request, scene)]
    return grid.plan("readers", points, lambda point: _rows(point, names), request, setup)


def expected_seconds(cells: list[Cell]) -> float:
    return grid.expected_seconds(cells, setup)
