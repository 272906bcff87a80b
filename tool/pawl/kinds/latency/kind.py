# SPDX-License-Identifier: MIT
"""The kind "latency"."""

from __future__ import annotations

from pawl.core.kind import NUMBER, Kind
from pawl.kinds.latency import plan, samples, table
from pawl.kinds.latency.command import COMMAND


def figures(result: dict):
    from pawl.kinds.latency import plot

    return plot.figures(result)


def comparisons(result: dict):
    from pawl.kinds.latency import verdict

    return verdict.comparisons(result)


KIND = Kind(
    name="latency",
    title="Latencies of a lock that handlers read",
    driver=plan.DRIVER,
    baseline=plan.BASELINE,
    command=COMMAND,
    figures=figures,
    workload=table.workload,
    cell_keys={
        "scenario": str,
        "seconds": NUMBER,
        "slow_section_us": NUMBER,
        "write_section_us": NUMBER,
        "handler_period_ms": NUMBER,
    },
    sample_keys={"realtime_error": str, "counter": dict},
    sample_optional={"rescued": int, "rows": list},
    sound=samples.sound,
    summarise=samples.summarise,
    losses=samples.no_losses,
    comparisons=comparisons,
    explained=plan.ROWS,
    show=table.show,
    views=table.no_views,
    body=table.body,
)
