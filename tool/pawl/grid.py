# SPDX-License-Identifier: MIT
"""What the benches of data structures share: a grid of cells, each with all its rows, in a given
time; curves over threads."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pawl.measure import Cell

LEAST_SECONDS = 0.005
# What a sample costs beside its length: threads that are told to begin and waited for.
SAMPLE_OVERHEAD = 0.002


@dataclass
class Effort:
    """How long and where; what is measured is told beside it."""

    rounds: int = 9
    seconds: float | None = None
    warmup: float = 0.005
    budget: float = 60
    pin: str = "auto"
    seed: int = 1


def _seconds(effort: Effort, setup: float, samples: int) -> float:
    """As told, or what the budget leaves each sample once every cell is set up."""
    if effort.seconds is not None:
        return effort.seconds
    share = (effort.budget - setup) / max(samples, 1)
    return round(max(LEAST_SECONDS, share - effort.warmup - SAMPLE_OVERHEAD), 4)


def word(value: object) -> str:
    """A number as a person would type it."""
    return f"{value:g}" if isinstance(value, float) else str(value)


def plan(bench: str, points: list[dict], names: Callable[[dict], list[str]], effort: Effort,
         setup: Callable[[dict], float]) -> list[Cell]:
    """A cell for each point; a point's keys are the driver's options of the same names."""
    rows = [names(point) for point in points]
    samples = sum(map(len, rows)) * effort.rounds
    length = _seconds(effort, sum(setup(p) + 0.05 for p in points), samples)
    same = {"seconds": length, "rounds": effort.rounds, "warmup": effort.warmup,
            "seed": effort.seed, "pin": effort.pin}
    cells = []
    for point, own in zip(points, rows, strict=True):
        told = point | same
        options = [text for key, value in told.items() for text in (f"--{key}", word(value))]
        cells.append(Cell({"bench": bench, **told, "candidates": own},
                          [*options, "--candidates", ",".join(own)]))
    return cells


def expected_seconds(cells: list[Cell], setup: Callable[[dict], float]) -> float:
    return sum(0.05 + setup(c.parameters) + c.sample_count
               * (c.parameters["seconds"] + c.parameters["warmup"] + SAMPLE_OVERHEAD)
               for c in cells)


def threads(cell: dict) -> str:
    return f"{cell['threads']} thread{'s' if cell['threads'] != 1 else ''}"


def not_pinned(cell: dict) -> str:
    return f"\nnot pinned: {cell['pin_error']}" if cell.get("pin_error") else ""
