# SPDX-License-Identifier: MIT
"""Plans `pawl bench crowd --flood`: how long one writer waits among readers that never pause."""

from dataclasses import dataclass, field

from pawl.core.kind import Cell
from pawl.kinds.crowd import plan as crowd

BASELINE, FLOOR = crowd.BASELINE, crowd.FLOOR
THREADS, SECTIONS = [1, 2, 8, 32], [1.0, 10.0]
QUICK = {"threads": [2, 32], "sections": [1.0], "budget": 30}


@dataclass
class Request:
    """`threads` are the readers; the writer is one more."""

    threads: list[int] = field(default_factory=lambda: list(THREADS))
    sections: list[float] = field(default_factory=lambda: list(SECTIONS))
    hogs: list[bool] = field(default_factory=lambda: [False])
    period: float = 1000
    rounds: int = 3
    seconds: float | None = None
    warmup: float = 0.02
    budget: float = 120
    pin: str = "none"
    seed: int = 1


def plan(request: Request, names: list[str]) -> list[Cell]:
    points = [
        (hog, section, threads)
        for hog in request.hogs
        for section in request.sections
        for threads in request.threads
    ]
    length = crowd.seconds(request, len(points), len(names))
    cells = []
    for hog, section, threads in points:
        parameters = {
            "bench": "flood",
            "threads": threads,
            "section_us": section,
            "period_us": request.period,
            "hog": hog,
            "seconds": length,
            "rounds": request.rounds,
            "warmup": request.warmup,
            "seed": request.seed,
            "pin": request.pin,
            "candidates": names,
        }
        cells.append(Cell.of(parameters, "bench", more=["--flood"]))
    return cells


expected_seconds = crowd.expected_seconds
