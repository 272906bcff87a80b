# SPDX-License-Identifier: MIT
"""`pawl bench crowd`: locks under more threads than CPUs. Plans cells, and shows the rows."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from rich.markup import escape

from pawl import candidates, stats, table
from pawl.measure import Cell

TITLE = "Locks under a crowd of threads"
BASELINE, FLOOR = candidates.RWLOCK, "floor/none"
MAIN, SPIN = "r+w/pawl_lock64", "r+w/pawl_spin64"
# Those that sleep and have a shared mode: what the sleeping lock is measured against.
PEERS = (candidates.RWLOCK, "r+w/std_shared_mutex", "r+w/absl_mutex", "r+w/nsync_mu",
         "r+w/tbb_rw_mutex")
THREADS, SECTIONS, WRITES = [2, 4, 8, 16, 32, 64], [0.1, 1.0, 10.0, 100.0], [1.0, 10.0, 50.0]
# What a sample costs beside its length (threads that end late), and a cell (start, calibration).
SAMPLE_OVERHEAD, CELL_OVERHEAD = 0.004, 0.05
LEAST_SECONDS = 0.01
QUANTILES = ("p10", "p50", "p90", "p99", "p99.9", "p99.99")
WINDOWS = ("10ms", "100ms", "1s")

# A look: the middle of the grid, a few threads and many.
QUICK = {"threads": [2, 8, 32], "sections": [1.0, 10.0], "writes": [10.0], "hogs": [False],
         "budget": 30}

NUMBER, MAYBE = (int, float), (int, float, type(None))
CELL_KEYS = {"section_us": NUMBER, "outside_us": NUMBER, "writes": NUMBER, "hog": bool,
             "seconds": NUMBER}
SAMPLE_KEYS = {"wait_ns": dict, "jain": dict, "cpu_seconds": NUMBER, "ctx_voluntary": NUMBER,
               "ctx_involuntary": NUMBER}
ROW_KEYS = {"wait_ns": dict, "jain": dict, "cpu_seconds_per_million": NUMBER,
            "ctx_per_million": NUMBER}
NESTED_KEYS = {"wait_ns": {n: NUMBER for n in (*QUANTILES, "max")},
               "jain": {n: MAYBE for n in WINDOWS}}


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
        "bench": "crowd", "threads": threads, "section_us": section,
        "outside_us": outside_us(request, section), "writes": writes, "hog": hog,
        "seconds": length, "rounds": request.rounds, "warmup": request.warmup,
        "seed": request.seed, "pin": request.pin, "candidates": names}
    options = ["--threads", threads, "--section", section, "--outside", parameters["outside_us"],
               "--writes", writes, "--seconds", length, "--rounds", request.rounds,
               "--warmup", request.warmup, "--seed", request.seed, "--pin", request.pin,
               "--candidates", ",".join(names)]
    return Cell(parameters, [str(o) for o in options] + ["--hog"] * hog)


def plan(request: Request, names: list[str]) -> list[Cell]:
    """Numbers of threads come last: what is compared across them is measured close together."""
    points = [(hog, section, writes, threads) for hog in request.hogs
              for section in request.sections for writes in request.writes
              for threads in request.threads]
    length = seconds(request, len(points), len(names))
    return [_cell(request, point, length, names) for point in points]


def expected_seconds(cells: list[Cell]) -> float:
    return sum(CELL_OVERHEAD + c.sample_count
               * (c.parameters["seconds"] + c.parameters["warmup"] + SAMPLE_OVERHEAD)
               for c in cells)


def workload(cell: dict) -> str:
    hog = ", beside a CPU hog" if cell["hog"] else ""
    return f"sections of {cell['section_us']:g} us, {cell['writes']:g} % writes{hog}"


def label(cell: dict) -> str:
    return f"{workload(cell)}, {cell['threads']} thread{'s' if cell['threads'] != 1 else ''}"


def heading(cell: dict) -> str:
    floor = next((r for r in cell["summary"] if r["candidate"] == FLOOR), None)
    text = f"{label(cell)}\n{cell['outside_us']:g} us between two sections"
    if floor:
        text += ("; bare threads without a lock pause for up to "
                 f"{table.duration(floor['wait_ns']['max'])}: the scheduler's part of all waits")
    return text + (f"\nnot pinned: {cell['pin_error']}" if cell.get("pin_error") else "")


def waits(samples: list[dict], key: str = "wait_ns") -> dict:
    """Quantiles as the median of the rounds, the maximum over all of them."""
    found = {q: float(np.median([s[key][q] for s in samples])) for q in QUANTILES}
    return found | {"max": max(s[key]["max"] for s in samples)}


def fairness(samples: list[dict]) -> dict:
    """Jain's index by length of window: median of the rounds, None where none is that long."""
    found = {}
    for window in WINDOWS:
        values = [s["jain"][window] for s in samples if s["jain"].get(window) is not None]
        found[window] = float(np.median(values)) if values else None
    return found


def summarise(samples: list[dict], baseline: str, order: list[str]) -> list[dict]:
    rows = stats.summarise(samples, baseline, order)
    for row in rows:
        own = [s for s in samples if s["candidate"] == row["candidate"]]
        del row["hit_ratio"]
        row["wait_ns"], row["jain"] = waits(own), fairness(own)
    return rows


def sound(_sample: dict) -> bool:
    """Nothing beyond its NESTED_KEYS."""
    return True


losses = stats.losses


def best_peer(cell: dict) -> str | None:
    """The fastest sleeping peer of this cell, by the median of its samples."""
    rates = stats.rates(cell["samples"])
    medians = {n: float(np.median(list(rates[n].values()))) for n in PEERS if n in rates}
    return max(medians, key=medians.__getitem__) if medians else None


def _index(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def columns(baseline: str) -> list[str]:
    short = baseline.split("/")[-1]
    return ["", "strategy/lock", "million\nsections/s", "\nquartiles", f"times\n{short}",
            "95 %\ninterval", "wait\np50", "wait\np99", "wait\np99.9", "wait\np99.99",
            "longest\nwait", "Jain\n10 ms", "Jain\n100 ms", "Jain\n1 s", "CPU s per\nmillion",
            "switches\nper 1000"]


def cells(rank: int, row: dict) -> list[str]:
    wait = [table.duration(row["wait_ns"][q])
            for q in ("p50", "p99", "p99.9", "p99.99", "max")]
    return [str(rank), escape(row["candidate"]), f"{row['median'] / 1e6:.4f}",
            f"{row['q1'] / 1e6:.4f}..{row['q3'] / 1e6:.4f}", table.times(row["ratio_to_baseline"]),
            table.interval(row), *wait, *(_index(row["jain"][w]) for w in WINDOWS),
            f"{row['cpu_seconds_per_million']:.2f}", f"{row['ctx_per_million'] / 1000:.1f}"]


def shown(width: int) -> list[int]:
    """Rate, ratio, longest wait and fairness stay; what refines them goes first."""
    kept = [1, 2, 4, 10, 12]
    for least, more in ((98, [7, 14]), (135, [0, 5, 8, 13]), (160, [6, 15]), (200, [3, 9, 11])):
        kept += more if width >= least else []
    return sorted(kept)
