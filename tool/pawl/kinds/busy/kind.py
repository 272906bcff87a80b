# SPDX-License-Identifier: MIT
"""The kind "busy"."""

from __future__ import annotations

from pawl.core.kind import NUMBER, Kind
from pawl.kinds.busy import plan, table
from pawl.kinds.crowd import plan as crowd


def figures(result: dict):
    from pawl.kinds.busy import plot

    return plot.figures(result)


def comparisons(result: dict):
    from pawl.kinds.busy import verdict

    return verdict.comparisons(result)


KIND = Kind(
    name="busy",
    title="Sleeping locks on a machine that others use too",
    driver=crowd.DRIVER,
    baseline=plan.BASELINE,
    figures=figures,
    workload=table.workload,
    label=table.label,
    heading=table.heading,
    cell_keys={
        "scene": str,
        "cpus": NUMBER,
        "busy": NUMBER,
        "section_us": NUMBER,
        "outside_us": NUMBER,
        "writes": NUMBER,
        "deadline_us": NUMBER,
        "seconds": NUMBER,
    },
    sample_keys={
        "wait_ns": dict,
        "wait_mean_ns": NUMBER,
        "waits": list,
        "overruns": list,
        "expired": NUMBER,
        "cpu_seconds": NUMBER,
        "ctx_voluntary": NUMBER,
        "ctx_involuntary": NUMBER,
    },
    nested_keys={"wait_ns": {n: NUMBER for n in (*table.SHARES, "max")}},
    sound_cell=plan.is_known,
    sound=table.sound,
    summarise=table.summarise,
    losses=table.losses,
    comparisons=comparisons,
    explained=crowd.ROWS,
    what="strategy/lock",
    ranks_from=135,
    columns=table.columns,
    more=table.more,
)
