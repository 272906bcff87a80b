# SPDX-License-Identifier: MIT
"""The rows of `pawl bench readers`."""

import numpy as np

from pawl.core import grid, stats, table
from pawl.core.kind import NUMBER
from pawl.core.table import Column, counted, duration
from pawl.kinds.readers.plan import NULL, SCENES, WITH_SEEK

QUANTILES = ("p50", "p99", "p99.9")
NESTED_KEYS = {"wait_ns": {n: NUMBER for n in (*QUANTILES, "max")}}


def section(us: float) -> str:
    return f"{us * 1000:g} ns" if us < 1 else f"{us:g} us"


def workload(cell: dict) -> str:
    if cell["scene"] == "write":
        return f"a writer alone, {counted(cell['registered'], 'registered thread')} asleep"
    if cell["scene"] == "seek":
        return f"a seeker beside a looping reader, sections of {section(cell['section'])}"
    if cell["scene"] == "flood":
        return "a writer each millisecond among looping readers"
    locks = "one lock" if cell["locks"] == 1 else f"{cell['locks']} locks"
    return f"sections of {section(cell['section'])}, {cell['writes']:g} % writes, {locks}"


def label(cell: dict) -> str:
    if cell["scene"] == "flood":
        return f"{workload(cell)}, {counted(cell['threads'], 'reader')}"
    return workload(cell) + (f", {grid.threads(cell)}" if cell["scene"] == "mix" else "")


def heading(cell: dict) -> str:
    text = f"{label(cell)}\n{SCENES[cell['scene']]}"
    null = next((r for r in cell["summary"] if r["candidate"] == NULL), None)
    if null and null.get("ratio_to_baseline") is not None:
        text += f"; the same lock once more: {null['ratio_to_baseline']:.3f} of itself (noise)"
    return text + table.not_pinned(cell)


def waits(samples: list[dict]) -> dict:
    """Quantiles as the median of the rounds, the maximum over all of them."""
    found = {q: float(np.median([s["wait_ns"][q] for s in samples])) for q in QUANTILES}
    return found | {"max": max(s["wait_ns"]["max"] for s in samples)}


def summarise(samples: list[dict], baseline: str, order: list[str]) -> list[dict]:
    rows = stats.rows(samples, baseline, order)
    for row in rows:
        own = stats.of_candidate(samples, row["candidate"])
        threads, ops = own[0]["threads"], sum(s["ops"] for s in own)
        busy = sum(s["seconds"] for s in own) * threads
        row |= {
            "op_ns": busy / ops * 1e9 if ops else None,
            "wait_ns": waits(own),
            "writes": sum(s["writes"] for s in own),
            **stats.cpu(own),
        }
    return rows


def belongs(cell: dict, name: str) -> bool:
    return cell["scene"] != "seek" or name in WITH_SEEK


def _op(row: dict) -> str:
    if row["op_ns"] is None:
        return "-"
    return f"{row['op_ns']:.2f} ns" if row["op_ns"] < 100 else duration(row["op_ns"])


def _wait(head: str, quantile: str, least: int) -> Column:
    return Column(
        head, lambda row: duration(row["wait_ns"][quantile]) if row["writes"] else "-", least
    )


def columns(cell: dict, baseline: str) -> list[Column]:
    rates = [
        *table.million("million\nsections/s", 3, wide=160),
        Column("time\na section", _op),
        *table.ratio(baseline.split("/")[-1]),
    ]
    if cell["scene"] != "flood" and not cell["writes"]:
        return rates
    return [
        *rates,
        _wait("writer's\nwait p50", "p50", 160),
        _wait("wait\np99", "p99", 120),
        _wait("wait\np99.9", "p99.9", 0),
        _wait("longest\nwait", "max", 135),
    ]
