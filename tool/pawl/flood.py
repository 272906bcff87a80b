# SPDX-License-Identifier: MIT
"""`pawl bench crowd --flood`: how long one writer waits among readers that never pause."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from rich.markup import escape

from pawl import crowd, stats, table
from pawl.measure import Cell

TITLE = "A writer in a flood of readers"
BASELINE, FLOOR = crowd.BASELINE, crowd.FLOOR
QUANTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p99.9": 0.999}
QUICK = {"threads": [2, 32], "sections": [1.0], "budget": 30}

NUMBER = (int, float)
CELL_KEYS = {"section_us": NUMBER, "period_us": NUMBER, "hog": bool, "seconds": NUMBER}
SAMPLE_KEYS = {"wait_ns": dict, "late_ns": dict, "waits": list, "writes": NUMBER,
               "cpu_seconds": NUMBER}
ROW_KEYS = {"wait_ns": dict, "writes": NUMBER}
NESTED_KEYS = {"wait_ns": {n: NUMBER for n in (*QUANTILES, "max")}}


@dataclass
class Request:
    """`threads` are the readers; the writer is one more."""

    threads: list[int] = field(default_factory=lambda: [1, 2, 8, 32])
    sections: list[float] = field(default_factory=lambda: [1.0, 10.0])
    hogs: list[bool] = field(default_factory=lambda: [False])
    period: float = 1000
    rounds: int = 3
    seconds: float | None = None
    warmup: float = 0.02
    budget: float = 120
    pin: str = "none"
    seed: int = 1


def plan(request: Request, names: list[str]) -> list[Cell]:
    points = [(hog, section, threads) for hog in request.hogs for section in request.sections
              for threads in request.threads]
    length = crowd.seconds(request, len(points), len(names))
    cells = []
    for hog, section, threads in points:
        parameters = {
            "bench": "flood", "threads": threads, "section_us": section,
            "period_us": request.period, "hog": hog, "seconds": length,
            "rounds": request.rounds, "warmup": request.warmup, "seed": request.seed,
            "pin": request.pin, "candidates": names}
        options = ["--flood", "--threads", threads, "--section", section, "--period",
                   request.period, "--seconds", length, "--rounds", request.rounds, "--warmup",
                   request.warmup, "--seed", request.seed, "--pin", request.pin,
                   "--candidates", ",".join(names)]
        cells.append(Cell(parameters, [str(o) for o in options] + ["--hog"] * hog))
    return cells


expected_seconds = crowd.expected_seconds


def workload(cell: dict) -> str:
    hog = ", beside a CPU hog" if cell["hog"] else ""
    return f"a writer among readers with sections of {cell['section_us']:g} us{hog}"


def label(cell: dict) -> str:
    return f"{workload(cell)}, {cell['threads']} reader{'s' if cell['threads'] != 1 else ''}"


def heading(cell: dict) -> str:
    text = (f"{label(cell)}\nit comes every {cell['period_us'] / 1000:g} ms; {FLOOR} is how late "
            "an alarm wakes it without any lock, net is a wait less that")
    return text + (f"\nnot pinned: {cell['pin_error']}" if cell.get("pin_error") else "")


def waits(samples: list[dict]) -> dict:
    """Quantiles of the writer's waits over all rounds together, each within 1/16 of its value."""
    counts: Counter = Counter()
    for s in samples:
        for ns, count in s["waits"]:
            counts[ns] += count
    total, ordered = sum(counts.values()), sorted(counts)
    found = {}
    for name, share in QUANTILES.items():
        below, value = 0, 0
        for value in ordered:
            below += counts[value]
            if below >= share * total:
                break
        found[name] = value
    return found | {"max": max((s["wait_ns"]["max"] for s in samples), default=0)}


def net(row: dict, floor: dict | None) -> dict | None:
    """What the lock adds to what the scheduler alone does to a thread that wants the CPU."""
    if floor is None or row["candidate"] == FLOOR:
        return None
    return {q: max(0, row["wait_ns"][q] - floor["wait_ns"][q]) for q in (*QUANTILES, "max")}


def summarise(samples: list[dict], baseline: str, order: list[str]) -> list[dict]:
    """One row a candidate, the shortest p99.9 of the writer first; rates are the readers'."""
    rows = stats.summarise(samples, baseline, order)
    for row in rows:
        own = [s for s in samples if s["candidate"] == row["candidate"]]
        del row["hit_ratio"]
        row["wait_ns"], row["writes"] = waits(own), sum(s["writes"] for s in own)
    floor = next((r for r in rows if r["candidate"] == FLOOR), None)
    for row in rows:
        row["net_ns"] = net(row, floor)
    return sorted(rows, key=lambda row: (row["wait_ns"]["p99.9"], row["wait_ns"]["max"]))


def sound(sample: dict) -> bool:
    return all(isinstance(pair, list) and len(pair) == 2
               and all(isinstance(n, (int, float)) for n in pair) for pair in sample["waits"])


def losses(_rows: list[dict]) -> list[dict]:
    """Rates of readers that a writer holds up are no loss."""
    return []


def columns(_baseline: str) -> list[str]:
    return ["", "strategy/lock", "writes", "writer's\np50", "\np99", "\np99.9", "\nmax",
            "net\np99.9", "net\nmax", "million\nreads/s", "CPU s per\nmillion"]


def cells(rank: int, row: dict) -> list[str]:
    wait, beyond = row["wait_ns"], row.get("net_ns") or {}
    return [str(rank), escape(row["candidate"]), f"{row['writes']:,}",
            *(table.duration(wait[q]) for q in ("p50", "p99", "p99.9", "max")),
            table.duration(beyond.get("p99.9")), table.duration(beyond.get("max")),
            f"{row['median'] / 1e6:.4f}", f"{row['cpu_seconds_per_million']:.2f}"]


def shown(width: int) -> list[int]:
    gone = {0, 2, 4, 9, 10} if width < 92 else {0, 2, 9, 10} if width < 130 else set()
    return [n for n in range(11) if n not in gone]
