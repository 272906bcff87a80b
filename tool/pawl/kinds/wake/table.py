# SPDX-License-Identifier: MIT
"""The rows of `pawl bench wake`: nanoseconds from the signal to the woken thread."""

import numpy as np

from pawl.core import stats, table
from pawl.core.table import Column, counted, duration


def workload(cell: dict) -> str:
    beside = ", the CPU of the waiter busy" if cell["hog"] else ""
    return f"asleep for {cell['delay_ms']:g} ms{beside}"


def heading(cell: dict) -> str:
    wakes = counted(cell["rounds"] * cell["wakes"], "wake")
    return (
        f"{workload(cell)}\n{wakes} of each row, from the signal to the woken thread"
        + table.not_pinned(cell)
    )


def latencies(samples: list[dict]) -> dict[str, dict[int, float]]:
    """candidate -> round -> median nanoseconds from the signal to the woken thread."""
    found: dict[str, dict[int, float]] = {}
    for s in samples:
        if s["wakes_ns"]:
            found.setdefault(s["candidate"], {})[s["round"]] = max(
                float(np.median(s["wakes_ns"])), 1.0
            )
    return found


def _row(name: str, samples: list[dict], found: dict, baseline: str) -> dict:
    wakes = np.array([ns for s in samples for ns in s["wakes_ns"]], dtype=float)
    cpu = sum(s["cpu_ns"] for s in samples)
    waited = sum(s["waited_ns"] for s in samples)
    return {
        "candidate": name,
        "rounds": len(samples),
        "wakes": len(wakes),
        **stats.quartiles(wakes),
        "p99": float(np.percentile(wakes, 99)),
        "max": float(wakes.max()),
        "cpu_us": cpu / len(wakes) / 1000,
        "cpu_share": cpu / waited if waited else 0.0,
        **stats.against(found, name, baseline),
    }


def summarise(samples: list[dict], baseline: str, order: list[str]) -> list[dict]:
    """One row a candidate, the quickest first. Ratios are of times: less is better."""
    found = latencies(samples)
    rows = [
        _row(name, [s for s in stats.of_candidate(samples, name) if s["wakes_ns"]], found, baseline)
        for name in order
        if name in found
    ]
    return sorted(rows, key=lambda row: row["median"])


def sound(sample: dict) -> bool:
    wakes = sample["wakes_ns"]
    return bool(wakes) and all(isinstance(ns, (int, float)) for ns in wakes)


def losses(rows: list[dict]) -> list[dict]:
    """Our rows whose whole interval lies above the baseline: slower beyond the noise."""
    return [
        r
        for r in rows
        if "pawl" in r["candidate"] and r["ratio_ci95_low"] is not None and r["ratio_ci95_low"] > 1
    ]


def columns(_cell: dict, baseline: str) -> list[Column]:
    def time(key: str):
        return lambda row: duration(row[key])

    return [
        Column("median", time("median")),
        Column("\nquartiles", lambda row: f"{duration(row['q1'])}..{duration(row['q3'])}", 128),
        Column("\np99", time("p99")),
        Column("\nmax", time("max"), 98),
        *table.ratio(baseline),
        Column("CPU time\na wait", lambda row: duration(row["cpu_us"] * 1000)),
        Column("share of\na CPU", lambda row: table.percent(row["cpu_share"]), 98),
    ]
