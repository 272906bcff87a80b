# SPDX-License-Identifier: MIT
"""`pawl bench wake`: from the signal to the woken thread. Plans cells, and shows the rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from rich.markup import escape

from pawl import stats, table
from pawl.errors import BadInput
from pawl.measure import Cell

TITLE = "How long sleeping threads take to wake"
BASELINE = "futex"
DELAYS = [1.0, 10.0, 50.0]
# What a wake costs beside its delay: the alarm's lateness, the wake itself, the handshake.
OVERHEAD = 0.0003
START = 0.05

CELL_KEYS = {"delay_ms": (int, float), "hog": bool, "wakes": int}
SAMPLE_KEYS = {"wakes_ns": list, "cpu_ns": (int, float), "waited_ns": (int, float)}
ROW_KEYS = {"p99": (int, float), "max": (int, float), "cpu_share": (int, float),
            "cpu_us": (int, float), "wakes": int}
NESTED_KEYS: dict = {}  # no tables in tables


@dataclass
class Request:
    """The options of the command, parsed but not yet multiplied out."""

    delays: list[float]
    hogs: list[bool]
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
            parameters = {"bench": "wake", "threads": 2, "delay_ms": delay, "hog": hog,
                          "rounds": rounds, "wakes": wakes, "pin": request.pin,
                          "candidates": names}
            options = ["--delay", delay, "--rounds", rounds, "--wakes", wakes,
                       "--pin", request.pin, "--candidates", ",".join(names)]
            cells.append(Cell(parameters, [str(o) for o in options] + ["--hog"] * hog))
    return cells


def expected_seconds(cells: list[Cell]) -> float:
    return sum(START + c.sample_count * c.parameters["wakes"]
               * (c.parameters["delay_ms"] / 1000 + OVERHEAD) for c in cells)


def workload(cell: dict) -> str:
    beside = ", the CPU of the waiter busy" if cell["hog"] else ""
    return f"asleep for {cell['delay_ms']:g} ms{beside}"


label = workload


def heading(cell: dict) -> str:
    wakes = cell["rounds"] * cell["wakes"]
    text = (f"{workload(cell)}\n{wakes:,} wake{'s' if wakes != 1 else ''} of each row, from the "
            "signal to the woken thread")
    return text + (f"\nnot pinned: {cell['pin_error']}" if cell.get("pin_error") else "")


def latencies(samples: list[dict]) -> dict[str, dict[int, float]]:
    """candidate -> round -> median nanoseconds from the signal to the woken thread."""
    found: dict[str, dict[int, float]] = {}
    for s in samples:
        if s["wakes_ns"]:
            found.setdefault(s["candidate"], {})[s["round"]] = max(
                float(np.median(s["wakes_ns"])), 1.0)
    return found


def _row(name: str, samples: list[dict], against: dict) -> dict:
    wakes = np.array([ns for s in samples for ns in s["wakes_ns"]], dtype=float)
    q1, median, q3, p99 = np.percentile(wakes, [25, 50, 75, 99])
    cpu = sum(s["cpu_ns"] for s in samples)
    waited = sum(s["waited_ns"] for s in samples)
    return {
        "candidate": name, "rounds": len(samples), "wakes": len(wakes),
        "median": float(median), "q1": float(q1), "q3": float(q3), "p99": float(p99),
        "max": float(wakes.max()), "cpu_us": cpu / len(wakes) / 1000,
        "cpu_share": cpu / waited if waited else 0.0,
        "ratio_to_baseline": against["ratio"], "ratio_ci95_low": against["low"],
        "ratio_ci95_high": against["high"],
    }


def summarise(samples: list[dict], baseline: str, order: list[str]) -> list[dict]:
    """One row a candidate, the quickest first. Ratios are of times: less is better."""
    found = latencies(samples)
    rows = [_row(name, [s for s in samples if s["candidate"] == name and s["wakes_ns"]],
                 stats.ratio(stats.paired(found, name, baseline)))
            for name in order if name in found]
    return sorted(rows, key=lambda row: row["median"])


def sound(sample: dict) -> bool:
    wakes = sample["wakes_ns"]
    return bool(wakes) and all(isinstance(ns, (int, float)) for ns in wakes)


def losses(rows: list[dict]) -> list[dict]:
    """Our rows whose whole interval lies above the baseline: slower beyond the noise."""
    return [r for r in rows if "pawl" in r["candidate"]
            and r["ratio_ci95_low"] is not None and r["ratio_ci95_low"] > 1]


def columns(baseline: str) -> list[str]:
    return ["", "way to wait", "median", "\nquartiles", "\np99", "\nmax", f"times\n{baseline}",
            "95 %\ninterval", "CPU time\na wait", "share of\na CPU"]


def cells(rank: int, row: dict) -> list[str]:
    quartiles = f"{table.duration(row['q1'])}..{table.duration(row['q3'])}"
    return [str(rank), escape(row["candidate"]), table.duration(row["median"]), quartiles,
            table.duration(row["p99"]), table.duration(row["max"]),
            table.times(row["ratio_to_baseline"]), table.interval(row),
            table.duration(row["cpu_us"] * 1000), table.percent(row["cpu_share"])]


def shown(width: int) -> list[int]:
    gone = {0, 3, 5, 9} if width < 98 else {0, 3} if width < 128 else set()
    return [n for n in range(10) if n not in gone]
