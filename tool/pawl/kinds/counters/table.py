# SPDX-License-Identifier: MIT
"""The rows of `pawl bench counters`: nanoseconds an operation."""

from pawl.core import groups, table
from pawl.core.compare import Comparison
from pawl.core.groups import group_of
from pawl.core.table import Column
from pawl.kinds.counters.plan import BASELINES, GROUPS, MAIN, RIVALS, baseline_of


def workload(cell: dict) -> str:
    return GROUPS[cell["group"]]


def heading(cell: dict) -> str:
    base = BASELINES[cell["group"]]
    text = (
        f"{workload(cell)}\n@ threads that do it at once; + what one more thread does; ratios "
        f"are of times, with {base} at as many threads"
    )
    return text + table.not_pinned(cell)


def summarise(samples: list[dict], _baseline: str, order: list[str]) -> list[dict]:
    return groups.summarise(samples, order, baseline_of)


def sound(sample: dict) -> bool:
    return groups.known(sample["candidate"], GROUPS)


def losses(rows: list[dict]) -> list[dict]:
    return [
        r
        for r in rows
        if "/pawl_" in r["candidate"] and group_of(r["candidate"]) in RIVALS and groups.is_slower(r)
    ]


def columns(_cell: dict, _baseline: str) -> list[Column]:
    return groups.timed_columns("times the\nbaseline")


def comparisons(result: dict) -> list[Comparison]:
    return groups.comparisons(result, GROUPS, MAIN, baseline_of)
