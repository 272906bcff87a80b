# SPDX-License-Identifier: MIT
"""Plans `pawl bench crowd --busy`: sleeping locks on a machine that others use too.

A machine is the CPUs that the threads may use and the processes that compute without end on each.
A scene is what the threads do there.
"""

from dataclasses import dataclass, field

from pawl.core.kind import Cell
from pawl.kinds.crowd import plan as crowd

# name -> (CPUs, 0: all; busy processes on each)
MACHINES = {
    "idle": (0, 0),
    "one-cpu": (1, 0),
    "one-cpu-busy": (1, 1),
    "busy-1": (0, 1),
    "busy-2": (0, 2),
    "busy-4": (0, 4),
}
MAIN, MUTEX = crowd.MAIN, crowd.MUTEX
BASELINE = crowd.BASELINE
PEERS = (*crowd.PEERS, MUTEX)
# Those whose waits can have a deadline.
TIMED = (MAIN, "r+w/pawl_lock32", BASELINE, MUTEX)
THREADS, SECTIONS, WRITES = [4, 16, 64], [1.0, 10.0, 100.0], [0.0, 10.0, 100.0]

# Beside the grid: threads, section, outside, writes, deadline; what the driver is told beside that.
SIDES = {
    "probe": ((1, 20.0, 0.0, 100.0, 0.0), ["--flood"]),
    "writer": ((32, 1.0, 0.0, 0.0, 0.0), ["--flood"]),
    "deadline": ((16, 100.0, 0.0, 100.0, 500.0), []),
}
# A side is one cell whose waits are few: it lasts as long as so many samples of the grid.
SIDE_LENGTH = 8
QUICK = {"machines": ["idle", "busy-1"], "threads": [16], "sections": [10.0], "budget": 60}


@dataclass
class Request:
    """The options of the command, parsed but not yet multiplied out."""

    machines: list[str] = field(default_factory=lambda: list(MACHINES))
    threads: list[int] = field(default_factory=lambda: list(THREADS))
    sections: list[float] = field(default_factory=lambda: list(SECTIONS))
    writes: list[float] = field(default_factory=lambda: list(WRITES))
    # None: none, and as long as the section.
    outside: float | None = None
    rounds: int = 2
    seconds: float | None = None
    warmup: float = 0.005
    budget: float = 480
    seed: int = 1


def _points(request: Request) -> list[tuple]:
    """(scene, threads, section, outside, writes, deadline, how many times the length)"""
    grid = [
        ("crowd", threads, section, outside, writes, 0.0, 1)
        for section in request.sections
        for writes in request.writes
        for outside in ([0.0, section] if request.outside is None else [request.outside])
        for threads in request.threads
    ]
    return grid + [(scene, *numbers, SIDE_LENGTH) for scene, (numbers, _) in SIDES.items()]


def _rows(scene: str, names: list[str]) -> list[str]:
    return [n for n in names if n in TIMED] if scene == "deadline" else names


def _cell(request: Request, machine: str, point: tuple, length: float, names: list[str]) -> Cell:
    scene, threads, section, outside, writes, deadline, times = point
    cpus, busy = MACHINES[machine]
    seconds = round(length * times, 4)
    parameters = {
        "bench": "busy",
        "scene": scene,
        "threads": threads,
        "cpus": cpus,
        "busy": busy,
        "section_us": section,
        "outside_us": outside,
        "writes": writes,
        "deadline_us": deadline,
        "seconds": seconds,
        "rounds": request.rounds,
        "warmup": request.warmup,
        "seed": request.seed,
        "pin": "none",
        "candidates": names,
    }
    return Cell.of(parameters, "bench", "scene", "pin", more=SIDES.get(scene, (None, []))[1])


def _length(request: Request, points: list[tuple], names: list[str]) -> float:
    """Of a sample of the grid, so that all machines together take the budget."""
    samples = [p[-1] for p in points for _ in _rows(p[0], names) * request.rounds]
    time = (
        request.budget / len(request.machines)
        - len(points) * crowd.CELL_OVERHEAD
        - len(samples) * (request.warmup + crowd.SAMPLE_OVERHEAD)
    )
    return max(crowd.LEAST_SECONDS, time / max(sum(samples), 1))


def plan(request: Request, names: list[str]) -> list[Cell]:
    points = _points(request)
    length = _length(request, points, names) if request.seconds is None else request.seconds
    return [
        _cell(request, machine, point, round(length, 4), _rows(point[0], names))
        for machine in request.machines
        for point in points
    ]


def machine_of(cell: dict) -> str:
    return next(name for name, own in MACHINES.items() if own == (cell["cpus"], cell["busy"]))


def is_known(cell: dict) -> bool:
    return (cell["cpus"], cell["busy"]) in MACHINES.values() and cell["scene"] in ("crowd", *SIDES)


expected_seconds = crowd.expected_seconds
