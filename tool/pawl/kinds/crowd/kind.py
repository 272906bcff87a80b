# SPDX-License-Identifier: MIT
"""The kind "crowd"."""

from __future__ import annotations

from pawl.core.kind import NUMBER, Kind
from pawl.kinds.crowd import plan, table
from pawl.kinds.crowd.command import COMMAND


def figures(result: dict):
    from pawl.kinds.crowd import plot

    return plot.figures(result)


KIND = Kind(
    name="crowd",
    title="Locks under a crowd of threads",
    driver=plan.DRIVER,
    baseline=plan.BASELINE,
    command=COMMAND,
    figures=figures,
    competes=True,
    workload=table.workload,
    label=table.label,
    heading=table.heading,
    cell_keys={
        "section_us": NUMBER,
        "outside_us": NUMBER,
        "writes": NUMBER,
        "hog": bool,
        "seconds": NUMBER,
    },
    sample_keys={
        "wait_ns": dict,
        "jain": dict,
        "cpu_seconds": NUMBER,
        "ctx_voluntary": NUMBER,
        "ctx_involuntary": NUMBER,
    },
    nested_keys=table.NESTED_KEYS,
    summarise=table.summarise,
    names_losses=True,
    nulls=((plan.OFF, plan.MAIN),),
    explained=plan.ROWS,
    what="strategy/lock",
    ranks_from=135,
    columns=table.columns,
)
