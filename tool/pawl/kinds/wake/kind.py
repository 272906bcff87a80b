# SPDX-License-Identifier: MIT
"""The kind "wake"."""

from __future__ import annotations

from pawl.core.kind import NUMBER, Kind
from pawl.kinds.wake import plan, table
from pawl.kinds.wake.command import COMMAND


def figures(result: dict):
    from pawl.kinds.wake import plot

    return plot.figures(result)


KIND = Kind(
    name="wake",
    title="How long sleeping threads take to wake",
    driver=plan.DRIVER,
    baseline=plan.BASELINE,
    command=COMMAND,
    figures=figures,
    competes=True,
    above_zero=True,
    workload=table.workload,
    heading=table.heading,
    cell_keys={"delay_ms": NUMBER, "hog": bool, "wakes": int},
    sample_keys={"wakes_ns": list, "cpu_ns": NUMBER, "waited_ns": NUMBER},
    sound=table.sound,
    summarise=table.summarise,
    losses=table.losses,
    less_is_better=True,
    nulls=plan.NULLS,
    per_round=table.latencies,
    what="way to wait",
    ranks_from=128,
    columns=table.columns,
)
