# SPDX-License-Identifier: MIT
"""The rows of `pawl bench crowd`: throughput, waits, and shares of the threads."""

import numpy as np

from pawl.core import stats, table
from pawl.core.kind import MAYBE, NUMBER
from pawl.core.table import Column, counted, duration
from pawl.kinds.crowd.plan import FLOOR, PEERS

QUANTILES = ("p10", "p50", "p90", "p99", "p99.9", "p99.99")
WINDOWS = ("10ms", "100ms", "1s")
NESTED_KEYS = {
    "wait_ns": {n: NUMBER for n in (*QUANTILES, "max")},
    "jain": {n: MAYBE for n in WINDOWS},
}


def workload(cell: dict) -> str:
    hog = ", beside a CPU hog" if cell["hog"] else ""
    return f"sections of {cell['section_us']:g} us, {cell['writes']:g} % writes{hog}"


def label(cell: dict) -> str:
    return f"{workload(cell)}, {counted(cell['threads'], 'thread')}"


def heading(cell: dict) -> str:
    floor = next((r for r in cell["summary"] if r["candidate"] == FLOOR), None)
    text = f"{label(cell)}\n{cell['outside_us']:g} us between two sections"
    if floor:
        text += (
            "; bare threads without a lock pause for up to "
            f"{table.duration(floor['wait_ns']['max'])}: the scheduler's part of all waits"
        )
    return text + table.not_pinned(cell)


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
    rows = stats.rows(samples, baseline, order)
    for row in rows:
        own = stats.of_candidate(samples, row["candidate"])
        row |= {
            "wait_ns": waits(own),
            "jain": fairness(own),
            **stats.cpu(own),
            **stats.switches(own),
        }
    return rows


def best_peer(cell: dict) -> str | None:
    """The fastest sleeping peer of this cell, by the median of its samples."""
    rates = stats.rates(cell["samples"])
    medians = {n: float(np.median(list(rates[n].values()))) for n in PEERS if n in rates}
    return max(medians, key=medians.__getitem__) if medians else None


def _wait(head: str, quantile: str, least: int = 0) -> Column:
    return Column(head, lambda row: duration(row["wait_ns"][quantile]), least)


def _jain(head: str, window: str, least: int = 0) -> Column:
    def text(row: dict) -> str:
        value = row["jain"][window]
        return "-" if value is None else f"{value:.3f}"

    return Column(head, text, least)


def columns(_cell: dict, baseline: str) -> list[Column]:
    """Rate, ratio, longest wait and fairness stay; what refines them needs a wider terminal."""
    return [
        *table.million("million\nsections/s", 4, wide=200),
        *table.ratio(baseline.split("/")[-1], wide=135),
        _wait("wait\np50", "p50", 160),
        _wait("wait\np99", "p99", 98),
        _wait("wait\np99.9", "p99.9", 135),
        _wait("wait\np99.99", "p99.99", 200),
        _wait("longest\nwait", "max"),
        _jain("Jain\n10 ms", "10ms", 200),
        _jain("Jain\n100 ms", "100ms"),
        _jain("Jain\n1 s", "1s", 135),
        table.cpu(2, 98),
        table.switches(1, 160),
    ]
