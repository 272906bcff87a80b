# SPDX-License-Identifier: MIT
"""Plans `pawl bench wake`: from the signal to the woken thread."""

from dataclasses import dataclass, field

from pawl.core.errors import BadInput
from pawl.core.kind import Cell

DRIVER = "pawl-bench-wake"
NULLS = (("futex", "futex_again"),)
BASELINE = "futex"
DELAYS = [1.0, 10.0, 50.0]
# What a wake costs beside its delay: the alarm's lateness, the wake itself, the handshake.
OVERHEAD = 0.0003
START = 0.05


@dataclass
class Request:
    """The options of the command, parsed but not yet multiplied out."""

    delays: list[float] = field(default_factory=lambda: list(DELAYS))
    hogs: list[bool] = field(default_factory=lambda: [False, True])
    rounds: int = 9
    wakes: int | None = None
    budget: float = 60
    pin: str = "auto"


def _counts(request: Request, delay: float, rows: int, share: float) -> tuple[int, int]:
    """(rounds, wakes a round): what fits into the cell's share of the time."""
    if request.wakes is not None:
        return request.rounds, request.wakes
    one = rows * (delay / 1000 + OVERHEAD)
    fits = max(1, int((share - START) / one))
    return min(request.rounds, fits), max(1, min(100000, fits // request.rounds))


def plan(request: Request, names: list[str]) -> list[Cell]:
    if not names:
        raise BadInput("--candidates: nothing is left to measure; see --list.")
    share = request.budget / (len(request.delays) * len(request.hogs))
    cells = []
    for hog in request.hogs:
        for delay in request.delays:
            rounds, wakes = _counts(request, delay, len(names), share)
            parameters = {
                "bench": "wake",
                "threads": 2,
                "delay_ms": delay,
                "hog": hog,
                "rounds": rounds,
                "wakes": wakes,
                "pin": request.pin,
                "candidates": names,
            }
            cells.append(Cell.of(parameters, "bench", "threads"))
    return cells


def expected_seconds(cells: list[Cell]) -> float:
    return sum(
        START
        + c.sample_count * c.parameters["wakes"] * (c.parameters["delay_ms"] / 1000 + OVERHEAD)
        for c in cells
    )
