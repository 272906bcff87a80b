# SPDX-License-Identifier: MIT
"""The rows of `pawl bench crowd --flood`: the waits of the writer, and what the readers do."""

from pawl.core import stats, table
from pawl.core.table import Column, counted, duration
from pawl.kinds.flood.plan import FLOOR

QUANTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p99.9": 0.999}


def workload(cell: dict) -> str:
    hog = ", beside a CPU hog" if cell["hog"] else ""
    return f"a writer among readers with sections of {cell['section_us']:g} us{hog}"


def label(cell: dict) -> str:
    return f"{workload(cell)}, {counted(cell['threads'], 'reader')}"


def heading(cell: dict) -> str:
    text = (
        f"{label(cell)}\nit comes every {cell['period_us'] / 1000:g} ms; {FLOOR} is how late "
        "an alarm wakes it without any lock, net is a wait less that"
    )
    return text + table.not_pinned(cell)


def waits(samples: list[dict]) -> dict:
    """Quantiles of the writer's waits over all rounds together, each within 1/16 of its value."""
    found = stats.quantiles((pair for s in samples for pair in s["waits"]), QUANTILES)
    return found | {"max": max((s["wait_ns"]["max"] for s in samples), default=0)}


def net(row: dict, floor: dict | None) -> dict | None:
    """What the lock adds to what the scheduler alone does to a thread that wants the CPU."""
    if floor is None or row["candidate"] == FLOOR:
        return None
    return {q: max(0, row["wait_ns"][q] - floor["wait_ns"][q]) for q in (*QUANTILES, "max")}


def summarise(samples: list[dict], baseline: str, order: list[str]) -> list[dict]:
    """One row a candidate, the shortest p99.9 of the writer first; rates are the readers'."""
    rows = stats.rows(samples, baseline, order)
    for row in rows:
        own = stats.of_candidate(samples, row["candidate"])
        row |= {"wait_ns": waits(own), "writes": sum(s["writes"] for s in own), **stats.cpu(own)}
    floor = next((r for r in rows if r["candidate"] == FLOOR), None)
    for row in rows:
        row["net_ns"] = net(row, floor)
    return sorted(rows, key=lambda row: (row["wait_ns"]["p99.9"], row["wait_ns"]["max"]))


def sound(sample: dict) -> bool:
    return stats.are_buckets(sample["waits"])


def losses(_rows: list[dict]) -> list[dict]:
    """Rates of readers that a writer holds up are no loss."""
    return []


def _wait(head: str, quantile: str, least: int = 0) -> Column:
    return Column(head, lambda row: duration(row["wait_ns"][quantile]), least)


def _net(head: str, quantile: str) -> Column:
    return Column(head, lambda row: duration((row["net_ns"] or {}).get(quantile)))


def columns(_cell: dict, _baseline: str) -> list[Column]:
    rate, _quartiles = table.million("million\nreads/s", 4)
    return [
        Column("writes", lambda row: f"{row['writes']:,}", 130),
        _wait("writer's\np50", "p50"),
        _wait("\np99", "p99", 92),
        _wait("\np99.9", "p99.9"),
        _wait("\nmax", "max"),
        _net("net\np99.9", "p99.9"),
        _net("net\nmax", "max"),
        Column(rate.head, rate.text, 130),
        table.cpu(2, 130),
    ]
