# SPDX-License-Identifier: MIT
"""The rows of `pawl bench pairs`: rates, shown as the time that a pair takes."""

from pawl.core import table
from pawl.core.table import Column

# What the first part of a row's name stands for.
MODES = (
    ("r", "take and drop R"),
    ("s", "take and drop S, the state that one thread can hold beside readers"),
    ("w", "take and drop W, or lock and unlock a mutex"),
    ("a", "take and drop A"),
    (
        "floor",
        "no lock: an empty loop, an increment, or the two locked additions that a pair needs",
    ),
)


def workload(_cell: dict) -> str:
    return "take and drop by one thread alone"


def as_cost(row: dict) -> dict:
    """The row in nanoseconds, its ratio in times the baseline's time."""

    def turned(key: str) -> float | None:
        return 1 / row[key] if row[key] else None

    return {
        "candidate": row["candidate"],
        "value": 1e9 / row["median"],
        "low": 1e9 / row["q3"],
        "high": 1e9 / row["q1"],
        "ratio": turned("ratio_to_baseline"),
        "ratio_ci95_low": turned("ratio_ci95_high"),
        "ratio_ci95_high": turned("ratio_ci95_low"),
    }


def columns(_cell: dict, baseline: str) -> list[Column]:
    def quartiles(row: dict) -> str:
        cost = as_cost(row)
        return f"{cost['low']:.2f}..{cost['high']:.2f}"

    return [
        Column("ns\na pair", lambda row: f"{as_cost(row)['value']:.2f}"),
        Column("\nquartiles", quartiles, 88),
        Column(f"times\n{baseline.split('/')[-1]}", lambda row: table.times(as_cost(row)["ratio"])),
        Column("95 %\ninterval", lambda row: table.interval(as_cost(row))),
    ]
