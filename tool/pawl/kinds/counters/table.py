# SPDX-License-Identifier: MIT
"""The rows of `pawl bench counters`: nanoseconds an operation."""

from __future__ import annotations

from pawl.core import groups, stats, table
from pawl.core.groups import group_of
from pawl.core.table import Column
from pawl.kinds.counters.plan import BASELINES, GROUPS, RIVALS, baseline_of


def workload(cell: dict) -> str:
    return GROUPS[cell["group"]]


def heading(cell: dict) -> str:
    base = BASELINES[cell["group"]]
    text = (f"{workload(cell)}\n@ threads that do it at once; + what one more thread does; ratios "
            f"are of times, with {base} at as many threads")
    return text + table.not_pinned(cell)


def summarise(samples: list[dict], _baseline: str, order: list[str]) -> list[dict]:
    """One row a candidate: one thread first, the quickest first."""
    found, rates = groups.times(samples), stats.rates(samples)
    return groups.ordered([groups.row(name, found, rates, baseline_of(name)) for name in order
                           if found.get(name)])


def sound(sample: dict) -> bool:
    return groups.known(sample["candidate"], GROUPS)


def losses(rows: list[dict]) -> list[dict]:
    """Our rows whose whole interval lies above the baseline: slower beyond the noise."""
    return [r for r in rows if "/pawl_" in r["candidate"] and group_of(r["candidate"]) in RIVALS
            and r["ratio_ci95_low"] is not None and r["ratio_ci95_low"] > 1]


def columns(_cell: dict, _baseline: str) -> list[Column]:
    ratio, interval = table.ratio("", wide=100)
    return [*groups.time_columns(wide=100),
            Column("million/s\nin all", lambda row: f"{row['million_per_second']:.3f}"),
            Column("times one\nthread", lambda row: table.times(row["scaling"])),
            Column("times the\nbaseline", ratio.text), interval]
