# SPDX-License-Identifier: MIT
"""The published picture in figures: the author's curves, ours simulated, ours measured natively.
scripts/pawl_published.py draws it."""

from pathlib import Path

import numpy as np

from pawl.core import results
from pawl.core.errors import BadInput
from pawl.sim import reference
from pawl.sim.reference import Point

HIT, COST, CORES = 99, 100, range(1, 13)
# The rows that the document draws, and the candidates of pawl bench lru.
OURS = "plock_r_s_w"
ROWS = {"spin": "w/pthread_spin", "rwlock": "r+w/pthread_rwlock", OURS: "r+s>w/pawl_spin64"}
NAMES = {"spin": "spinlock", "rwlock": "rwlock", OURS: "R+S>W"}
DOCUMENT = {"rwlock": 5.5, "spin": 8.0}  # "5.5 and 8 times", as the document says


def curve(values: dict[Point, float], row: str, per_core: int) -> np.ndarray:
    return np.array([values[Point(HIT, COST, c, per_core, row)] / 1e6 for c in CORES])


def crossing(values: dict[Point, float], per_core: int) -> float | None:
    """Threads from which on the rwlock is faster than the spinlock: between two points, a line."""
    gap = np.log(curve(values, "rwlock", per_core) / curve(values, "spin", per_core))
    for i in range(len(gap) - 1, 0, -1):
        if gap[i] > 0 >= gap[i - 1]:
            return per_core * float(CORES[i - 1] - gap[i - 1] / (gap[i] - gap[i - 1]))
    return None


def gain(values: dict[Point, float], base: str) -> float:
    return float(curve(values, OURS, 2)[-1] / curve(values, base, 2)[-1])


def native(path: Path | None) -> dict[tuple[str, int], float]:
    """Medians of a result or record of `pawl bench`, by row and threads."""
    if path is None:
        return {}
    read = results.read(path)
    found = {}
    for part in read.get("parts", [read]) if isinstance(read, dict) else []:
        for cell in part.get("cells", []) if part.get("kind") == "lru" else []:
            if (cell["hit_nominal"], cell["miss_cost"], cell["chains"]) != (HIT, COST, 16):
                continue
            for row, candidate in ROWS.items():
                rates = [
                    s["ops"] / s["seconds"] / 1e6
                    for s in cell["samples"]
                    if s["candidate"] == candidate
                ]
                if rates:
                    found.setdefault((row, cell["threads"]), float(np.median(rates)))
    if not found:
        raise BadInput(f"--native: {path} has no published cell of pawl bench lru.")
    return found


def markdown(predicted: dict[Point, float], measured_here: dict[tuple[str, int], float]) -> str:
    real = reference.measured()

    def place(values: dict, per_core: int) -> str:
        found = crossing(values, per_core)
        return "none" if found is None else f"{found:.1f} threads"

    lines = [
        f"| {HIT} % hits, miss cost {COST} | the document | its data | *simulated* |",
        "|---|---|---|---|",
    ]
    lines += [
        f"| R+S>W over the {NAMES[base]}, 24 threads | {said:g} | {gain(real, base):.1f} | "
        f"{gain(predicted, base):.1f} |"
        for base, said in DOCUMENT.items()
    ]
    lines += [
        f"| the rwlock overtakes the spinlock, {words} a core | | {place(real, n)} | "
        f"{place(predicted, n)} |"
        for n, words in ((1, "one thread"), (2, "two threads"))
    ]
    if measured_here:
        lines += ["", "| measured natively, million/s | 1 thread | 2 threads |", "|---|---|---|"]
        lines += [
            f"| {NAMES[row]} | "
            + " | ".join(f"{measured_here.get((row, n), float('nan')):.1f}" for n in (1, 2))
            + " |"
            for row in ROWS
        ]
    return "\n".join(lines) + "\n"
