# SPDX-License-Identifier: MIT
"""The rows of `pawl bench crate`: nanoseconds an operation."""

from pawl.core import groups, table
from pawl.core.compare import Comparison
from pawl.core.table import Column
from pawl.kinds.crate.plan import GROUPS, OURS, PEER, baseline_of


def workload(cell: dict) -> str:
    return GROUPS[cell["group"]]


def heading(cell: dict) -> str:
    text = (
        f"{workload(cell)}\n@ threads that do it at once, on one lock; ratios are of times, "
        f"with {PEER} at as many threads"
    )
    return text + table.not_pinned(cell)


def summarise(samples: list[dict], _baseline: str, order: list[str]) -> list[dict]:
    return groups.summarise(samples, order, baseline_of)


def sound(sample: dict) -> bool:
    return groups.known(sample["candidate"], GROUPS)


def losses(rows: list[dict]) -> list[dict]:
    return [r for r in rows if f"/{OURS}" in r["candidate"] and groups.is_slower(r)]


def columns(_cell: dict, _baseline: str) -> list[Column]:
    return groups.timed_columns(f"times\n{PEER}")


def comparisons(result: dict) -> list[Comparison]:
    return groups.comparisons(result, GROUPS, dict.fromkeys(GROUPS, (OURS,)), baseline_of)
