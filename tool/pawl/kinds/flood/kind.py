# SPDX-License-Identifier: MIT
"""The kind "flood"."""

from __future__ import annotations

from pawl.core.kind import NUMBER, Kind
from pawl.kinds.crowd import plan as crowd
from pawl.kinds.flood import plan, table


def figures(result: dict):
    from pawl.kinds.flood import plot

    return plot.figures(result)


def comparisons(result: dict):
    from pawl.kinds.flood import verdict

    return verdict.comparisons(result)


KIND = Kind(
    name="flood",
    title="A writer in a flood of readers",
    driver=crowd.DRIVER,
    baseline=plan.BASELINE,
    figures=figures,
    workload=table.workload,
    label=table.label,
    heading=table.heading,
    cell_keys={"section_us": NUMBER, "period_us": NUMBER, "hog": bool, "seconds": NUMBER},
    sample_keys={"wait_ns": dict, "waits": list, "writes": NUMBER, "cpu_seconds": NUMBER},
    nested_keys={"wait_ns": {n: NUMBER for n in (*table.QUANTILES, "max")}},
    sound=table.sound,
    summarise=table.summarise,
    losses=table.losses,
    comparisons=comparisons,
    explained=crowd.ROWS,
    what="strategy/lock",
    ranks_from=130,
    columns=table.columns,
)
