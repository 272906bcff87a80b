# SPDX-License-Identifier: MIT
"""Plans `pawl bench crowd`: locks under more threads than CPUs."""

from dataclasses import dataclass, field

from pawl.core import candidates
from pawl.core.kind import Cell

DRIVER = "pawl-bench-crowd"
BASELINE, FLOOR = candidates.RWLOCK, "floor/none"
MAIN, SPIN = "r+w/pawl_lock64", "r+w/pawl_spin64"
MUTEX = candidates.MUTEX
# The lock with scaling readers, by the value of PAWL_BIAS.
OFF, EVIDENCE = "r+w/pawl_lock64_off", "r+w/pawl_lock64_evidence"
# Those that sleep and have a shared mode: what the sleeping lock is measured against.
PEERS = (
    candidates.RWLOCK,
    "r+w/std_shared_mutex",
    "r+w/absl_mutex",
    "r+w/nsync_mu",
    "r+w/tbb_rw_mutex",
)
# What a row's name begins with, and what its threads do.
ROWS = (
    ("r+w", "reads take R, writes take W"),
    ("w", "reads and writes take W, as with a mutex"),
    ("floor", "no lock: what the scheduler alone does"),
)
THREADS, SECTIONS, WRITES = [2, 4, 8, 16, 32, 64], [0.1, 1.0, 10.0, 100.0], [1.0, 10.0, 50.0]
# What a sample costs beside its length (threads that end late), and a cell (start, calibration).
SAMPLE_OVERHEAD, CELL_OVERHEAD = 0.004, 0.05
LEAST_SECONDS = 0.01

# A look: the middle of the grid, a few threads and many.
QUICK = {
    "threads": [2, 8, 32],
    "sections": [1.0, 10.0],
    "writes": [10.0],
    "hogs": [False],
    "budget": 30,
}


@dataclass
class Request:
    """The options of the command, parsed but not yet multiplied out."""

    threads: list[int] = field(default_factory=lambda: list(THREADS))
    sections: list[float] = field(default_factory=lambda: list(SECTIONS))
    writes: list[float] = field(default_factory=lambda: list(WRITES))
    hogs: list[bool] = field(default_factory=lambda: [False, True])
    outside: float | None = None
    rounds: int = 3
    seconds: float | None = None
    warmup: float = 0.005
    budget: float = 240
    pin: str = "none"
    seed: int = 1


def outside_us(request: Request, section: float) -> float:
    """The pause between two sections: as long as the section, but a microsecond at most."""
    return min(section, 1.0) if request.outside is None else request.outside


def seconds(request: Request, cells: int, rows: int) -> float:
    if request.seconds is not None:
        return request.seconds
    share = (request.budget - cells * CELL_OVERHEAD) / max(cells * rows * request.rounds, 1)
    return round(max(LEAST_SECONDS, share - request.warmup - SAMPLE_OVERHEAD), 4)


def _cell(request: Request, point: tuple, length: float, names: list[str]) -> Cell:
    hog, section, writes, threads = point
    parameters = {
        "bench": "crowd",
        "threads": threads,
        "section_us": section,
        "outside_us": outside_us(request, section),
        "writes": writes,
        "hog": hog,
        "seconds": length,
        "rounds": request.rounds,
        "warmup": request.warmup,
        "seed": request.seed,
        "pin": request.pin,
        "candidates": names,
    }
    return Cell.of(parameters, "bench")


def plan(request: Request, names: list[str]) -> list[Cell]:
    """Numbers of threads come last: what is compared across them is measured close together."""
    points = [
        (hog, section, writes, threads)
        for hog in request.hogs
        for section in request.sections
        for writes in request.writes
        for threads in request.threads
    ]
    length = seconds(request, len(points), len(names))
    return [_cell(request, point, length, names) for point in points]


def expected_seconds(cells: list[Cell]) -> float:
    return sum(
        CELL_OVERHEAD
        + c.sample_count * (c.parameters["seconds"] + c.parameters["warmup"] + SAMPLE_OVERHEAD)
        for c in cells
    )
