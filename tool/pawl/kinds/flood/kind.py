# SPDX-License-Identifier: MIT
"""The kind "flood"."""

from __future__ import annotations

from pawl.core.kind import NUMBER, Kind
from pawl.kinds.crowd.plan import DRIVER
from pawl.kinds.flood import plan, table


def figures(result: dict):
    from pawl.kinds.flood import plot

    return plot.figures(result)


KIND = Kind(
    name="flood",
    title="A writer in a flood of readers",
    driver=DRIVER,
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
    what="strategy/lock",
    ranks_from=130,
    columns=table.columns,
)
